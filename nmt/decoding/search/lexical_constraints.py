"""Phrases that translations must contain (grid beam search, Hokamp and Liu 2017)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from nmt.model.padding import pad
from nmt.special_tokens import EOS, PAD


class LexicalConstraints:
    """How much of its required phrases each hypothesis of a beam contains.

    phrases: for each sentence, the phrases that its translation must contain, each a list of pieces
    that must be adjacent, of which the first is not repeated; not_after: pieces that may not follow
    a phrase directly. Rows are hypotheses: at first one per sentence, later those chosen
    by `select`.
    """

    def __init__(
        self,
        phrases: Sequence[Sequence[list[int]]],
        not_after: Sequence[int],
        device: torch.device,
    ):
        most = max(map(len, phrases))
        flat = pad([phrase for each in phrases for phrase in [*each, *[[]] * (most - len(each))]])
        self._phrases = flat.view(len(phrases), most, -1).to(device)  # (rows, phrases, pieces)
        self._written = self._phrases.new_zeros(self._phrases.shape[:2])  # (rows, phrases)
        self._not_after = torch.tensor(not_after, dtype=torch.long).to(device)
        self._phrase_ended = self._phrases.new_zeros(len(phrases), dtype=torch.bool)
        #: Number of groups of hypotheses: those that lack 0, 1, … pieces.
        self.groups = 1 + max(sum(map(len, each)) for each in phrases)

    def next_pieces(self) -> Tensor:
        """Return the next piece of each phrase that is not complete: (rows, phrases), padded."""
        pieces = self._next()
        repeated = (pieces[:, :, None] == pieces[:, None, :]).tril(-1).any(2)
        return pieces.masked_fill(repeated, PAD)

    def forbid(self, log_probabilities: Tensor) -> None:
        """Set to -∞ what a row may not write next: (rows, target_size), changed in place."""
        unfinished = (self._next() != PAD).any(1)
        log_probabilities[:, EOS].masked_fill_(unfinished, float("-inf"))
        banned = self._phrase_ended[:, None].expand(-1, len(self._not_after))
        after = log_probabilities[:, self._not_after].masked_fill(banned, float("-inf"))
        log_probabilities[:, self._not_after] = after

    def allocate_beam(self, totals: Tensor, pieces: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Take candidates from the groups in turn: the best of each, the second best, and so on.

        totals: (sentences, candidates), sums of log-probabilities; pieces: (rows, pieces), those of
        the candidates → totals and places, (sentences, count) each
        """
        best, places = totals.sort(1, descending=True)
        lacks = self._lacking(pieces).view(totals.shape).gather(1, places)
        numbered = one_hot(lacks, self.groups).cumsum(1)  # in each group: 1, 2, …
        turn = numbered.gather(2, lacks[:, :, None])[:, :, 0] * self.groups + lacks
        order = turn.masked_fill(best.isinf(), turn.numel() * self.groups).argsort(1)[:, :count]
        return best.gather(1, order), places.gather(1, order)

    def select(self, rows: Tensor, pieces: Tensor) -> None:
        """Continue with these rows, each followed by one piece: (rows,) each."""
        self._phrases, self._written = self._phrases[rows], self._written[rows]
        before, self._written = self._written, self._after(pieces[:, None])[:, 0]
        lengths = (self._phrases != PAD).sum(2)
        self._phrase_ended = ((self._written > before) & (self._written == lengths)).any(1)

    def _lacking(self, pieces: Tensor) -> Tensor:
        """Count the pieces that each row would still lack after any of these: (rows, pieces)."""
        written = self._after(pieces)
        lengths = (self._phrases != PAD).sum(2)[:, None, :]
        incomplete = written < lengths
        # Phrases may begin alike, but a row is in the middle of at most one.
        return (lengths * incomplete).sum(2) - (written * incomplete).amax(2)

    def _next(self) -> Tensor:
        padded = torch.cat([self._phrases, torch.full_like(self._phrases[:, :, :1], PAD)], dim=2)
        return padded.gather(2, self._written[:, :, None])[:, :, 0]

    def _after(self, pieces: Tensor) -> Tensor:
        """Return how much of each phrase is written after any of these: (rows, pieces, phrases)."""
        due, before = self._next()[:, None, :], self._written[:, None, :]
        added = pieces[:, :, None]
        begun = (added == self._phrases[:, None, :, 0]).long()
        return torch.where(due == PAD, before, torch.where(added == due, before + 1, begun))
