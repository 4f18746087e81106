"""What finds translations of a batch of ids: the models here, or an engine of somebody else's."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Protocol

import torch

from nmt.compiling import with_loops
from nmt.decoding.beam import beam_search
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.fast_decoder import FastDecoder
from nmt.decoding.greedy import greedy_search
from nmt.decoding.hypothesis import Hypothesis
from nmt.decoding.neighbours import Neighbours
from nmt.decoding.next_pieces import BestPieces, best_pieces
from nmt.decoding.stepwise import Stepwise
from nmt.model.padding import pad
from nmt.model.transformer import Transformer


class Search(Protocol):
    """Finds the best translations of a batch."""

    def __call__(
        self, sources: list[list[int]], limits: list[int], beam_size: int, n_best: int
    ) -> list[list[Hypothesis]]:
        """Return each sentence's `n_best` hypotheses, best first.

        sources: ids, each with <eos>; limits: most pieces of each output; beam_size: hypotheses
        kept, no fewer than `n_best`; 1 is greedy search
        """


class ModelSearch:
    """Greedy and beam search with one model, or with several as an `Ensemble`.

    alpha: the length penalty; neighbours: each model's, or none; compiled: whether
    `compiled_decoders` do the work, where there are any: they keep a copy of the weights
    """

    def __init__(
        self,
        models: Sequence[Transformer],
        alpha: float,
        neighbours: Sequence[Neighbours] = (),
        compiled: bool = False,
    ):
        self._models = models
        pairs = list(zip_longest(models, neighbours))
        found = compiled_decoders(pairs) if compiled else None
        decoders, self._choose = found or ([FastDecoder(*pair) for pair in pairs], best_pieces)
        self._writer: Stepwise[Any] = Ensemble(decoders) if len(models) > 1 else decoders[0]
        self._device = next(models[0].parameters()).device
        self._alpha = alpha

    def __call__(
        self,
        sources: list[list[int]],
        limits: list[int],
        beam_size: int,
        n_best: int,
        required: list[list[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """See `Search`; required: pieces that each output must hold before it may end by itself."""
        source = pad(sources).to(self._device)
        most = torch.tensor(limits, device=self._device)
        for model in self._models:
            if (
                model.training
            ):  # asking first: telling every module takes a tenth of a short sentence
                model.eval()
        if beam_size == 1 and not required:
            found = greedy_search(self._writer, source, most, self._alpha, self._choose)
            return [[hypothesis] for hypothesis in found]
        pieces = pad(required).to(self._device) if required else None
        return beam_search(
            self._writer, source, most, beam_size, self._alpha, n_best, pieces, self._choose
        )


def compiled_decoders(
    pairs: Sequence[tuple[Transformer, Neighbours | None]],
) -> tuple[Sequence[Stepwise[Any]], BestPieces] | None:
    """Return models' `CompiledDecoder`s and their `best_pieces`: on a CPU, in float32.

    pairs: each model, and the neighbours that are mixed in, if any. None for other models, and
    where the loops cannot be compiled, see `with_loops`.
    """
    weight = pairs[0][0].target_embedding.tokens.weight
    if not weight.is_cpu or weight.dtype != torch.float32:
        return None

    def make_ready() -> tuple[Sequence[Stepwise[Any]], BestPieces]:
        from nmt.decoding import compiled  # needs Numba

        decoders = [compiled.CompiledDecoder(*pair) for pair in pairs]
        decoders[0].warm_up()
        return decoders, compiled.best_pieces

    return with_loops("decoding", make_ready)
