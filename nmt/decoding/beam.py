"""Beam search: the best few hypotheses side by side (Graves 2012; Sutskever et al. 2014)."""

import torch
from torch import Tensor

from nmt.decoding.greedy import next_log_probabilities
from nmt.decoding.hypothesis import Hypothesis, finish, length_penalty
from nmt.decoding.stepwise import S, Stepwise
from nmt.special_tokens import EOS, PAD, SOS

_DEAD = float("-inf")
_BLOCK = 128  # columns


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
    beams = [_Sentence(int(limit), beam_size, alpha, n_best) for limit in limits]
    active = list(range(len(beams)))
    state = model.start(source)
    width = 1  # places a sentence
    sums = source.new_zeros((len(beams), 1), dtype=torch.float)  # (sentences, width)
    written = source.new_full((len(beams), 1), SOS)  # (sentences * width, length)
    while active:
        must_end = (state.length >= limits).repeat_interleave(width)
        steps = next_log_probabilities(model, written[:, -1], state, must_end)
        if required is not None:
            goes_on = _lacks(written, required.repeat_interleave(width, 0)) & ~must_end
            steps[:, EOS] = steps[:, EOS].masked_fill(goes_on, _DEAD)
        best, places, tokens = _best_candidates(sums, steps, beam_size)
        first_row = torch.arange(len(active), device=source.device)[:, None] * width
        origins = first_row + places  # (sentences, candidates): rows of `written`
        best = _take_finished(beams, active, best, tokens, origins, written)
        # Living candidates move to the front; places that none needs are given up.
        sums, order = best.sort(dim=1, descending=True, stable=True)
        width = max(1, int((sums > _DEAD).sum(1).max()))
        sums, order = sums[:, :width], order[:, :width]
        best_living = sums[:, 0].tolist()
        alive = [i for i, s in enumerate(active) if beams[s].goes_on(best_living[i])]
        kept = torch.tensor(alive, dtype=torch.long, device=source.device)
        sums, order = sums[kept], order[kept]
        rows = origins[kept].gather(1, order)
        last = tokens[kept].gather(1, order)
        written = torch.cat([written[rows.flatten()], last.view(-1, 1)], dim=1)
        if alive:
            state.select(rows)
        limits = limits[kept]
        required = None if required is None else required[kept]
        active = [active[i] for i in alive]
    return [beam.best() for beam in beams]


def _lacks(written: Tensor, required: Tensor) -> Tensor:
    """Tell which rows lack a required piece: (rows, length), (rows, pieces) → (rows,)."""
    there = (written[:, :, None] == required[:, None, :]).any(1) | (required == PAD)
    return ~there.all(1)


def _best_candidates(sums: Tensor, steps: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the candidates with the highest sums, best first.

    sums: (sentences, width); steps: (sentences * width, vocabulary) → their sums, the places of the
    hypotheses that they continue, and their tokens: (sentences, candidates) each
    """
    # Those of a sentence are among the best of each of its hypotheses.
    log_probabilities, tokens = _largest(steps, min(count, steps.shape[1]))
    totals = (sums.view(-1, 1) + log_probabilities).view(len(sums), -1)
    best, choices = totals.topk(min(count, totals.shape[1]), dim=1)
    places = choices // tokens.shape[1]
    return best, places, tokens.view(len(sums), -1).gather(1, choices)


def _largest(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return what `x.topk(count, dim=1)` does, on a CPU in less than half its time.

    The largest of a row are in those of its blocks whose own largest are. x: (rows, columns) → the
    largest and their columns, (rows, count) each; which of equals come first is left open
    """
    blocks = x[:, : x.shape[1] // _BLOCK * _BLOCK].view(len(x), -1, _BLOCK)
    if blocks.shape[1] <= count:
        return x.topk(count, dim=1)
    chosen = blocks.amax(2).topk(count, dim=1).indices[:, :, None]  # (rows, count, 1)
    columns = (chosen * _BLOCK + torch.arange(_BLOCK, device=x.device)).flatten(1)
    rest = torch.arange(blocks.shape[1] * _BLOCK, x.shape[1], device=x.device)
    columns = torch.cat([columns, rest.expand(len(x), -1)], dim=1)
    largest, places = x.gather(1, columns).topk(count, dim=1)
    return largest, columns.gather(1, places)


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
        reachable = best_living / length_penalty(self.limit + 1, self.alpha)
        best = self.best()
        return len(best) < self.n_best or best[-1].score < reachable


def _take_finished(
    beams: list[_Sentence],
    active: list[int],
    best: Tensor,
    tokens: Tensor,
    origins: Tensor,
    written: Tensor,
) -> Tensor:
    """Collect candidates that end; return the sums with all but the living ones at -inf.

    best, tokens, origins: (sentences, candidates), best first
    """
    free = torch.tensor([beams[i].free for i in active], device=best.device)
    rank = torch.arange(best.shape[1], device=best.device)
    valid = (rank < free[:, None]) & (best > _DEAD)
    ends = valid & (tokens == EOS)
    sentences, candidates = ends.nonzero(as_tuple=True)
    if len(sentences):  # seldom; fetched from the device at once
        hypotheses = written[origins[sentences, candidates], 1:].tolist()
        ended = best[sentences, candidates].tolist()
        for i, ids, sum_ in zip(sentences.tolist(), hypotheses, ended, strict=True):
            beams[active[i]].add(ids, sum_)
    return best.masked_fill(~valid | ends, _DEAD)
