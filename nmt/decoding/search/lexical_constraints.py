"""Phrases that translations must contain (grid beam search, Hokamp and Liu 2017)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from nmt.model.padding import pad
from nmt.special_tokens import EOS, PAD

PER_GROUP = 2  # hypotheses in a beam; with one of each, translations are noticeably worse
Constraint = list[list[int]]
"""Phrases as tokens, one of which must be written (a disjunctive constraint, Hu et al. 2019)."""


def count_groups(constraints: Sequence[Constraint]) -> int:
    """Return the number of groups of hypotheses of a sentence: those that lack 0, 1, … tokens."""
    return 1 + sum(min(map(len, phrases)) for phrases in constraints)


class LexicalConstraints:
    """How much of its constraints each hypothesis of a beam contains.

    constraints: for each sentence, the constraints of which its translation must satisfy all. The
    tokens of a phrase must be adjacent; the first is not repeated. continuing: tokens that continue
    a word; a phrase directly before one of them is only part of a word, and does not count.
    closing: for each sentence, tokens that may not be written before its constraints are satisfied,
    like <eos>, unless they are part of a phrase.

    Rows are hypotheses: at first one per sentence, later those chosen by `select`.
    """

    def __init__(
        self,
        constraints: Sequence[Sequence[Constraint]],
        continuing: Sequence[int],
        device: torch.device,
        closing: Sequence[Sequence[int]] = (),
    ):
        flat = [[phrase for each in sentence for phrase in each] for sentence in constraints]
        most = max(map(len, flat))
        padded = pad([phrase for each in flat for phrase in [*each, *[[]] * (most - len(each))]])
        self._phrases = padded.view(len(flat), most, -1).to(device)  # (rows, phrases, tokens)
        # The number of each phrase's constraint. Padding has a number of its own.
        width = max(map(len, constraints)) + 1
        owners = torch.full((len(flat), most), width - 1)
        shortest = torch.zeros(len(flat), width, dtype=torch.long)
        for row, sentence in enumerate(constraints):
            numbers = [number for number, each in enumerate(sentence) for _ in each]
            owners[row, : len(numbers)] = torch.tensor(numbers, dtype=torch.long)
            for number, each in enumerate(sentence):
                shortest[row, number] = min(map(len, each))
        self._owners = owners.to(device)  # (rows, phrases)
        self._shortest = shortest.to(device)  # (rows, constraints), of their phrases
        self._written = torch.zeros_like(self._owners)  # (rows, phrases)
        self._met = self._shortest == 0  # (rows, constraints), by a phrase that is a whole word
        self._continuing = torch.tensor(continuing, dtype=torch.long).to(device)
        # (rows, tokens), padded with <eos>, which is one of them.
        self._closing = _closing(closing or [()] * len(flat), flat).to(device)
        #: Number of groups of hypotheses: those that lack 0, 1, … tokens.
        self.groups = max(map(count_groups, constraints))

    def next_tokens(self) -> Tensor:
        """Return the next token of each phrase that is still needed: (rows, phrases), padded."""
        needed = ~self._satisfied(self._written[:, None, :], self._met[:, None, :])[:, 0]
        tokens = self._next().masked_fill(~needed.gather(1, self._owners), PAD)
        repeated = (tokens[:, :, None] == tokens[:, None, :]).tril(-1).any(2)
        return tokens.masked_fill(repeated, PAD)

    def forbid(self, log_probabilities: Tensor) -> None:
        """Set to -∞ what a row may not write next: (rows, target_size), changed in place."""
        satisfied = self._satisfied(self._written[:, None, :], self._met[:, None, :])[:, 0].all(1)
        closing = log_probabilities.gather(1, self._closing)
        closing.masked_fill_(~satisfied[:, None], float("-inf"))
        log_probabilities.scatter_(1, self._closing, closing)

    def allocate_beam(self, totals: Tensor, tokens: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Take candidates from the groups in turn: the best of each, the second best, and so on.

        totals: (sentences, candidates), sums of log-probabilities; tokens: (rows, tokens), those of
        the candidates → totals and places, (sentences, count) each
        """
        best, places = totals.sort(1, descending=True)
        lacks = self._lacking(tokens).view(totals.shape).gather(1, places)
        numbered = one_hot(lacks, self.groups).cumsum(1)  # in each group: 1, 2, …
        turn = numbered.gather(2, lacks[:, :, None])[:, :, 0] * self.groups + lacks
        order = turn.masked_fill(best.isinf(), turn.numel() * self.groups).argsort(1)[:, :count]
        return best.gather(1, order), places.gather(1, order)

    def select(self, rows: Tensor, tokens: Tensor) -> None:
        """Continue with these rows, each followed by one token: (rows,) each."""
        self._phrases, self._written = self._phrases[rows], self._written[rows]
        self._owners, self._shortest = self._owners[rows], self._shortest[rows]
        self._met, self._closing = self._met[rows], self._closing[rows]
        written, met = self._after(tokens[:, None])
        self._written, self._met = written[:, 0], met[:, 0]

    def _lacking(self, tokens: Tensor) -> Tensor:
        """Count the tokens that each row would still lack after any of these: (rows, tokens)."""
        written, met = self._after(tokens)
        needed = ~self._satisfied(written, met)
        owners = self._owners[:, None, :].expand_as(written)
        shortest = self._shortest[:, None, :].expand_as(needed)
        # A longer phrase counts once it lacks fewer tokens than the shortest one.
        begun = shortest.gather(2, owners) - (self._lengths[:, None, :] - written)
        begun = begun.clamp(min=0) * needed.gather(2, owners)
        # Phrases may begin alike, but a row is in the middle of at most one.
        return (shortest * needed).sum(2) - begun.amax(2)

    @property
    def _lengths(self) -> Tensor:
        return (self._phrases != PAD).sum(2)

    def _satisfied(self, written: Tensor, met: Tensor) -> Tensor:
        """Return which constraints are met, or would be if the word ended here.

        written: (rows, tokens, phrases); met: (rows, tokens, constraints) → like `met`
        """
        complete = (written == self._lengths[:, None, :]).long()
        owners = self._owners[:, None, :].expand_as(complete)
        return met | (torch.zeros_like(met, dtype=torch.long).scatter_add(2, owners, complete) > 0)

    def _next(self) -> Tensor:
        padded = torch.cat([self._phrases, torch.full_like(self._phrases[:, :, :1], PAD)], dim=2)
        return padded.gather(2, self._written[:, :, None])[:, :, 0]

    def _after(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the state after any of these tokens: (rows, tokens).

        → how much of each phrase is written, (rows, tokens, phrases); which constraints are met,
        (rows, tokens, constraints)
        """
        due, before = self._next()[:, None, :], self._written[:, None, :]
        added = tokens[:, :, None]
        continues = torch.isin(added, self._continuing)
        ended = (due == PAD) & ~continues
        begun = (added == self._phrases[:, None, :, 0]).long()
        written = torch.where(ended, before, torch.where(added == due, before + 1, begun))
        owners = self._owners[:, None, :].expand_as(written)
        met = self._met[:, None, :].expand(-1, tokens.shape[1], -1)
        confirmed = torch.zeros_like(met, dtype=torch.long).scatter_add(2, owners, ended.long())
        return written, met | (confirmed > 0)


def _closing(tokens: Sequence[Sequence[int]], phrases: Sequence[Constraint]) -> Tensor:
    """Return <eos> and the tokens of each sentence that are in none of its phrases, padded."""
    ends = [
        [EOS, *set(own).difference(*inside)] for own, inside in zip(tokens, phrases, strict=True)
    ]
    longest = max(map(len, ends))
    return torch.tensor([[*each, *[EOS] * (longest - len(each))] for each in ends])
