"""Beam search (Graves 2012; Sutskever et al. 2014)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.search.length_penalty import best_first, scored_hypothesis
from nmt.decoding.search.lexical_constraints import PER_GROUP, LexicalConstraints
from nmt.decoding.search.next_tokens import best_tokens
from nmt.decoding.search.stepwise import S, Stepwise
from nmt.device import to_device
from nmt.special_tokens import BOS, EOS

_DEAD = float("-inf")


@torch.inference_mode()
def beam_search(
    model: Stepwise[S],
    source: Tensor,
    limits: Tensor,
    beam_size: int,
    alpha: float,
    n_best: int = 1,
    constraints: LexicalConstraints | None = None,
    offset: float = 5.0,
) -> list[list[Hypothesis]]:
    """Translate a batch; return each sentence's `n_best` hypotheses, best first.

    source: (batch, source) ids; limits: (batch,), on the CPU, longest output, including <eos>;
    alpha, offset: length penalty; constraints: phrases that outputs must contain before they end.

    Each step considers the 2 · `beam_size` most probable continuations of a sentence. Of the first
    `beam_size`, those that end are set aside; the best `beam_size` that do not end continue, so the
    beam stays full. A sentence is finished when `beam_size` hypotheses have ended, including the
    best candidate of some step, or when its limit is reached. The `beam_size` most probable ones
    are then ranked with the length penalty. CTranslate2 follows the same rules.

    With constraints, hypotheses that lack the same number of their tokens form a group. The groups
    take turns to fill the beam (Post and Vilar 2018), which has room for at least two hypotheses of
    each, and the search continues while an unfinished one could still become one of the `n_best`
    most probable.
    """
    if constraints:
        beam_size = max(beam_size, PER_GROUP * constraints.groups)
    sentences = [
        _Sentence(limit, beam_size, alpha, offset, n_best, constraints is not None)
        for limit in limits.tolist()
    ]
    active = list(range(len(sentences)))
    state = model.init_state(source)
    sums = source.new_zeros((len(active), 1), dtype=torch.float)  # (sentences, hypotheses)
    tokens = source.new_full((len(active), 1), BOS)  # (sentences, hypotheses)
    written: NDArray[np.int32] = np.empty((len(active), 0), np.int32)  # (rows, length)
    while True:
        logits = model.step(tokens.flatten(), state)
        found, best = best_tokens(logits, 2 * beam_size, constraints)
        candidates = _best_candidates(sums, found, best, 2 * beam_size, constraints)
        unfinished = _best_unfinished(*candidates, beam_size)
        # The only values of this step that the CPU waits for.
        fetched = _fetch(
            *(torch.cat(pair, dim=1) for pair in zip(candidates, unfinished, strict=True))
        )
        count = candidates[0].shape[1]
        for place, number in enumerate(active):
            sums_of, rows_of, tokens_of = (part[place, :count] for part in fetched)
            sentences[number].take(sums_of, rows_of, tokens_of, written)
        living_sums, living_rows, living_tokens = (part[:, count:] for part in fetched)
        kept = [
            i
            for i, s in enumerate(active)
            if sentences[s].continues(state.length, living_sums[i].max())
        ]
        if not kept:
            return [sentence.best(n_best) for sentence in sentences]
        sums, rows, tokens = unfinished
        if len(kept) < len(active):
            active = [active[place] for place in kept]
            chosen = to_device(torch.tensor(kept), source.device)
            sums, rows, tokens = (part.index_select(0, chosen) for part in unfinished)
        written = np.column_stack([written[living_rows[kept].ravel()], living_tokens[kept].ravel()])
        state.select(rows)
        if constraints:
            constraints.select(rows.flatten(), tokens.flatten())


def _best_candidates(
    sums: Tensor,
    log_probabilities: Tensor,
    tokens: Tensor,
    count: int,
    constraints: LexicalConstraints | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the continuations with the highest sums of log-probabilities, best first.

    sums: (sentences, hypotheses); log_probabilities, tokens: (rows, best next tokens), one row
    per hypothesis; constraints: its groups take turns → sums, continued rows and tokens, each
    (sentences, count), or fewer if there are fewer
    """
    sentences, width = sums.shape
    totals = (sums.view(-1, 1) + log_probabilities).view(sentences, -1)
    count = min(count, totals.shape[1])
    if constraints:
        best, choices = constraints.allocate_beam(totals, tokens, count)
    else:
        best, choices = totals.topk(count, dim=1)
    first = torch.arange(sentences, device=sums.device)[:, None] * width
    rows = first + choices // log_probabilities.shape[1]
    return best, rows, tokens.view(sentences, -1).gather(1, choices)


def _best_unfinished(
    sums: Tensor, rows: Tensor, tokens: Tensor, beam_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best candidates that do not end, padded with candidates of -∞."""
    ends = tokens == EOS
    order = ends.byte().argsort(dim=1, stable=True)[:, :beam_size]
    unfinished = sums.masked_fill(ends, _DEAD)
    return unfinished.gather(1, order), rows.gather(1, order), tokens.gather(1, order)


def _fetch(
    sums: Tensor, rows: Tensor, tokens: Tensor
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Copy three tensors of one shape from the device at once."""
    bits, at, written = (
        torch.stack([sums.view(torch.int32), rows.int(), tokens.int()]).cpu().numpy()
    )
    return bits.view(np.float32), at, written


@dataclass
class _Sentence:
    """The hypotheses of one sentence that have ended."""

    limit: int
    beam_size: int
    alpha: float
    offset: float
    n_best: int
    exhaustive: bool
    """Whether to continue while an unfinished hypothesis could still become one of the `n_best`
    most probable, and to drop truncated hypotheses if there are complete ones.
    """
    ended: list[Hypothesis] = field(default_factory=list)
    best_has_ended: bool = False

    def take(
        self,
        sums: NDArray[np.float32],
        rows: NDArray[np.int32],
        tokens: NDArray[np.int32],
        written: NDArray[np.int32],
    ) -> None:
        """Set aside the candidates that end, and at the limit all of them.

        sums, rows, tokens: of the candidates, best first; written: tokens of their rows
        """
        at_limit = written.shape[1] + 1 >= self.limit
        ends = (tokens[: self.beam_size] == EOS) | at_limit
        ends &= sums[: self.beam_size] > _DEAD
        for place in np.flatnonzero(ends).tolist():
            token = [] if tokens[place] == EOS else [int(tokens[place])]
            ids = [*written[rows[place]].tolist(), *token]
            self.ended.append(
                scored_hypothesis(ids, float(sums[place]), self.alpha, not token, self.offset)
            )
        self.best_has_ended |= bool(ends[0])

    def continues(self, length: int, best_living: float) -> bool:
        """Return whether to continue from hypotheses of this length, given the best sum."""
        if length >= self.limit or best_living == _DEAD:
            return False
        if self.exhaustive:
            best = self._most_probable(self.ended)[: self.n_best]
            return len(best) < self.n_best or best_living > best[-1].log_probability
        if len(self.ended) < self.beam_size:
            return True
        return not self.best_has_ended

    def best(self, count: int) -> list[Hypothesis]:
        """Return the best hypotheses, best first."""
        if not self.exhaustive:
            return best_first(self._most_probable(self.ended))[:count]
        complete = [hypothesis for hypothesis in self.ended if hypothesis.complete]
        # All truncated ones are from the last step, those that lack the fewest tokens first.
        return best_first(self._most_probable(complete))[:count] or self.ended[:count]

    def _most_probable(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        """Return the `beam_size` most probable hypotheses, most probable first."""
        return sorted(hypotheses, key=lambda h: -h.log_probability)[: self.beam_size]
