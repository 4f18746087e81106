"""The PyTorch engine: the reference, which supports everything."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from nmt.config.choices import EngineName, Weights
from nmt.config.decoding import DecodingConfig
from nmt.decoding.attention import cross_attention
from nmt.decoding.engines.interface import Constraints
from nmt.decoding.search.batches import make_batches
from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.beginnings import WithBeginnings
from nmt.decoding.search.datastore import Datastore
from nmt.decoding.search.ensemble import Ensemble
from nmt.decoding.search.forbidden import WithoutForbiddenPhrases
from nmt.decoding.search.greedy import greedy_search
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.search.length_penalty import best_first
from nmt.decoding.search.lexical_constraints import PER_GROUP, LexicalConstraints, count_groups
from nmt.decoding.search.nearest_neighbours import Neighbours, WithNeighbours
from nmt.decoding.search.next_words import continuations
from nmt.decoding.search.sampling import Sampler, count_earlier
from nmt.decoding.search.stepwise import Stepwise
from nmt.model.padding import pad
from nmt.model.transformer import Transformer
from nmt.ops.threads import TORCH_LOCK, parallel_map
from nmt.runs.folder import RunFolder
from nmt.runs.weights import load_weights


def open_runs(
    runs: Sequence[RunFolder], weights: Weights, decoding: DecodingConfig, device: torch.device
) -> "PyTorchEngine":
    """Load the models of runs with the same vocabularies.

    Raises `UserError` for damaged weights or datastores.
    """
    sizes = runs[0].report["vocabulary_size"]
    models = [
        load_weights(
            run.weights(weights), run.config.model, sizes["source"], sizes["target"], device
        )
        for run in runs
    ]
    if not decoding.knn_k:
        return PyTorchEngine(models)
    neighbours = [
        Neighbours(
            Datastore.load(run.datastore, run.weights(weights), model),
            decoding.knn_k,
            decoding.knn_weight,
            decoding.knn_temperature,
        )
        for run, model in zip(runs, models, strict=True)
    ]
    return PyTorchEngine(models, neighbours)


class PyTorchEngine:
    """Searches with one model, or several as an `Ensemble`; see `Engine`.

    models: with the same vocabularies, on one device; neighbours: one per model, or empty
    """

    name: EngineName = "pytorch"
    workers = 1

    def __init__(self, models: Sequence[Transformer], neighbours: Sequence[Neighbours] = ()):
        self.models = models
        members: list[Stepwise[Any]] = list(models)
        if neighbours:
            members = [WithNeighbours(*pair) for pair in zip(models, neighbours, strict=True)]
        self._writer = Ensemble(members) if len(members) > 1 else members[0]
        self._device = models[0].output.weight.device

    @property
    def max_length(self) -> int:
        """The longest source or target of all models, in tokens."""
        return min(model.config.max_length for model in self.models)

    def __call__(
        self,
        sources: Sequence[list[int]],
        limits: Sequence[int],
        decoding: DecodingConfig,
        n_best: int = 1,
        constraints: Constraints | None = None,
    ) -> list[list[Hypothesis]]:
        """Search; on a CPU, batches are searched in parallel."""
        for model in self.models:
            if model.training:  # check first: setting the mode of every module takes time
                model.eval()
        on_cpu = self._device.type == "cpu"
        threads = torch.get_num_threads() if on_cpu else 1
        # Batch only sentences with equally many groups: the largest number sets the beam size.
        groups = [1] * len(sources)
        if constraints:
            groups = list(map(count_groups, constraints.phrases))
        batches = []
        for count in sorted(set(groups), reverse=True):
            alike = [i for i, each in enumerate(groups) if each == count]
            width = max(decoding.hypotheses(n_best), PER_GROUP * count if constraints else 1)
            tokens = [len(sources[i]) * width for i in alike]
            made = make_batches(tokens, decoding.batch_tokens, threads)
            batches += [[alike[i] for i in batch] for batch in made]
        earlier = count_earlier(sources)  # before they are put into batches

        def search(batch: list[int]) -> list[list[Hypothesis]]:
            return self._search_batch(
                [sources[i] for i in batch],
                [limits[i] for i in batch],
                [earlier[i] for i in batch],
                decoding,
                n_best,
                constraints.of(batch) if constraints else None,
            )

        with TORCH_LOCK:
            results = parallel_map(search, batches) if on_cpu else list(map(search, batches))
        found: list[list[Hypothesis]] = [[] for _ in sources]
        for batch, hypotheses in zip(batches, results, strict=True):
            for i, each in zip(batch, hypotheses, strict=True):
                found[i] = each
        return found

    def continuations(
        self,
        source: list[int],
        written: Sequence[int],
        count: int,
        limit: int,
        ended: Callable[[list[int]], bool],
    ) -> list[list[int]]:
        """Return what may follow the tokens `written` in a translation; see `continuations`."""
        ids = torch.tensor([source], device=self._device)
        with TORCH_LOCK:
            return continuations(self._writer, ids, written, count, limit, ended)

    def cross_attention(self, source: Sequence[int], written: Sequence[int]) -> Tensor:
        """Return the attention of the first model; see `cross_attention`."""
        with TORCH_LOCK:
            return cross_attention(self.models[0], source, written)

    def _search_batch(
        self,
        sources: list[list[int]],
        limits: list[int],
        earlier: list[int],
        decoding: DecodingConfig,
        n_best: int,
        constraints: Constraints | None,
    ) -> list[list[Hypothesis]]:
        alpha, offset = decoding.length_penalty, decoding.length_offset
        writer: Stepwise[Any] = self._writer
        if constraints and any(constraints.beginnings):
            # Sampling has a row for each translation.
            times = n_best if decoding.temperature else 1
            begun = [each for each in constraints.beginnings for _ in range(times)]
            writer = WithBeginnings(writer, begun, constraints.spellings)
        if constraints and any(constraints.forbidden):
            writer = WithoutForbiddenPhrases(writer, constraints.forbidden)
        if constraints and (decoding.temperature or not any(constraints.phrases)):
            constraints = None
        if decoding.temperature:
            return self._sample(writer, sources, limits, earlier, decoding, n_best)
        source = pad(sources).to(self._device)
        most = torch.tensor(limits)
        beam_size = max(decoding.beam_size, n_best)
        if beam_size == 1 and not constraints:
            found = greedy_search(writer, source, most, alpha, offset=offset)
            return [[hypothesis] for hypothesis in found]
        lexical = (
            LexicalConstraints(
                constraints.phrases, constraints.continuing, self._device, constraints.closing
            )
            if constraints
            else None
        )
        return beam_search(writer, source, most, beam_size, alpha, n_best, lexical, offset)

    def _sample(
        self,
        writer: Stepwise[Any],
        sources: list[list[int]],
        limits: list[int],
        earlier: list[int],
        decoding: DecodingConfig,
        count: int,
    ) -> list[list[Hypothesis]]:
        """Draw this many translations of each sentence, one row each; best first."""
        rows = [ids for ids in sources for _ in range(count)]
        source = pad(rows).to(self._device)
        most = torch.tensor(limits).repeat_interleave(count)
        numbers = [number * count + i for number in earlier for i in range(count)]
        sampler = Sampler(decoding, rows, numbers)
        alpha, offset = decoding.length_penalty, decoding.length_offset
        drawn = greedy_search(writer, source, most, alpha, sampler, offset)
        return [best_first(drawn[i : i + count]) for i in range(0, len(drawn), count)]
