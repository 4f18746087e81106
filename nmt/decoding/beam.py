"""Beam search: the best few hypotheses side by side (Graves 2012; Sutskever et al. 2014)."""

import torch
from torch import Tensor

from nmt.decoding.hypothesis import Hypothesis, finish, length_penalty
from nmt.decoding.next_pieces import best_pieces
from nmt.decoding.stepwise import S, Stepwise
from nmt.special_tokens import EOS, PAD, SOS

_DEAD = float("-inf")


@torch.inference_mode()
def beam_search(
    model: Stepwise[S],
    source: Tensor,
    limits: Tensor,
    beam_size: int,
    alpha: float,
    n_best: int = 1,
    required: Tensor | None = None,
) -> list[list[Hypothesis]]:
    """Translate a batch; return each sentence's `n_best` hypotheses, best first.

    source: (batch, source) ids; limits: (batch,), most pieces of each output; required: (batch,
    pieces), padded, what an output has to hold before it may end by itself.

    A hypothesis that ends leaves its place in the beam empty, so a beam of one is greedy search.
    A sentence is done when its beam is empty, or when no living hypothesis could still beat its
    `n_best` finished ones: log-probabilities only fall, so the best that a living one can reach is
    its present sum under the length penalty of the longest output.
    """
    beams = [_Sentence(limit, beam_size, alpha, n_best) for limit in limits.tolist()]
    active = list(range(len(beams)))
    first_limit = min(beam.limit for beam in beams)
    state = model.start(source)
    sums = source.new_zeros((len(beams), 1), dtype=torch.float)  # (sentences, places)
    written = source.new_full((len(beams), 1), SOS)  # (rows, length)
    while True:
        sentences, width = sums.shape
        must_end = goes_on = None
        if state.length >= first_limit:
            must_end = (state.length >= limits).repeat_interleave(width)
        if required is not None:
            goes_on = _lacks(written, required.repeat_interleave(width, 0))
        found, pieces = best_pieces(model.step(written[:, -1], state), beam_size, must_end, goes_on)
        shape = (sentences, width, -1)
        sums, places, tokens = _best_candidates(
            sums, found.view(shape), pieces.view(shape), beam_size
        )
        rows = torch.arange(sentences, device=source.device)[:, None] * width + places
        sums, order = _take_finished([beams[i] for i in active], sums, tokens, rows, written)
        if order is not None:
            rows, tokens = rows.gather(1, order), tokens.gather(1, order)
        best_living = sums[:, 0].tolist()
        alive = [i for i, s in enumerate(active) if beams[s].goes_on(best_living[i])]
        if not alive:
            return [beam.best() for beam in beams]
        if len(alive) < len(active):
            kept = torch.tensor(alive, device=source.device)
            sums, rows, tokens, limits = sums[kept], rows[kept], tokens[kept], limits[kept]
            required = None if required is None else required[kept]
            active = [active[i] for i in alive]
            first_limit = min(beams[i].limit for i in active)
        # Places that no sentence needs any more are given up.
        width = min(max(beams[i].free for i in active), sums.shape[1])
        sums, rows, tokens = sums[:, :width], rows[:, :width], tokens[:, :width]
        written = torch.cat([written[rows.flatten()], tokens.reshape(-1, 1)], dim=1)
        state.select(rows)


def _lacks(written: Tensor, required: Tensor) -> Tensor:
    """Tell which rows lack a required piece: (rows, length), (rows, pieces) → (rows,)."""
    there = (written[:, :, None] == required[:, None, :]).any(1) | (required == PAD)
    return ~there.all(1)


def _best_candidates(
    sums: Tensor, log_probabilities: Tensor, pieces: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the candidates with the highest sums, best first.

    sums: (sentences, places); log_probabilities, pieces: (sentences, places, best next pieces of
    each hypothesis), among which those of its sentence are → the candidates' sums, the places of
    the hypotheses that they continue, and their pieces: (sentences, count or all) each
    """
    totals = (sums[:, :, None] + log_probabilities).flatten(1)
    best, choices = totals.topk(min(count, totals.shape[1]), dim=1)
    return best, choices // pieces.shape[2], pieces.flatten(1).gather(1, choices)


class _Sentence:
    """The finished hypotheses of one sentence."""

    def __init__(self, limit: int, beam_size: int, alpha: float, n_best: int):
        self.limit = limit
        self.free = beam_size  # places in the beam that no finished hypothesis has left empty
        self.alpha = alpha
        self.n_best = n_best
        self.finished: list[Hypothesis] = []

    def add(self, ids: list[int], log_probability: float) -> None:
        """Take a hypothesis that has just written <eos>."""
        complete = len(ids) < self.limit
        self.finished.append(finish(ids, log_probability, self.alpha, complete))
        self.free -= 1

    def best(self) -> list[Hypothesis]:
        """Return the finished hypotheses, best first."""
        return sorted(self.finished, key=lambda h: -h.score)[: self.n_best]

    def goes_on(self, best_living: float) -> bool:
        """Whether a living hypothesis, the best with this sum, could still enter the n best."""
        if best_living == _DEAD:
            return False
        if len(self.finished) < self.n_best:
            return True
        reachable = best_living / length_penalty(self.limit + 1, self.alpha)
        return self.best()[-1].score < reachable


def _take_finished(
    beams: list[_Sentence], sums: Tensor, tokens: Tensor, rows: Tensor, written: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Collect candidates that end; return the sums of the others, and their order if it changes.

    beams: of the sentences; sums, tokens, rows: (sentences, candidates), best first; rows: which of
    `written` each continues → sums, best first, -inf behind the living ones, and which candidates
    they are
    """
    free = torch.tensor([[beam.free] for beam in beams], device=sums.device)
    rank = torch.arange(sums.shape[1], device=sums.device)
    sums = sums.masked_fill(rank >= free, _DEAD)
    ends = (tokens == EOS) & (sums > _DEAD)
    sentences, candidates = ends.nonzero(as_tuple=True)
    if not len(sentences):
        return sums, None
    # Seldom; fetched from the device at once.
    hypotheses = written[rows[sentences, candidates], 1:].tolist()
    ended = sums[sentences, candidates].tolist()
    for i, ids, sum_ in zip(sentences.tolist(), hypotheses, ended, strict=True):
        beams[i].add(ids, sum_)
    living, order = sums.masked_fill(ends, _DEAD).sort(dim=1, descending=True, stable=True)
    return living, order
