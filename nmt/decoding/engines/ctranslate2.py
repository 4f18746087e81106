"""The CTranslate2 engine (https://opennmt.net/CTranslate2): fast, and without PyTorch."""

import json
import logging
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from nmt.config.choices import ComputeType, EngineName, Weights
from nmt.config.config import Config
from nmt.config.decoding import DecodingConfig
from nmt.decoding.engines import conversion
from nmt.decoding.engines.interface import Constraints, unknown_fields
from nmt.decoding.search.batches import make_batches
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.search.length_penalty import best_first, scored_hypothesis
from nmt.errors import UserError, no_such_device, one_line
from nmt.runs.folder import RunFolder
from nmt.special_tokens import SUPPRESSED, UNK

_LOG = logging.getLogger(__name__)

# Processors that accumulate 8-bit products exactly. On other x86 processors, sums saturate at 16
# bits, which costs the sample's model 0.9 BLEU instead of 0.06 (measured with
# scripts/bench/compute_types.py of commit b563d5f).
_EXACT_INT8 = ("AVX512VNNI", "ASIMDDP")

# Size in bytes from which a converted model counts as large, about 33 million parameters. Several
# threads then share each batch, so that one sentence takes half the time. For many lines, a second
# copy of the model with one thread for each batch is a third faster.
_LARGE = 2**27
_SHARING = 4  # threads, at most
# Source tokens times hypotheses in a batch, for each thread that shares it; more overflow the
# caches, fewer leave threads idle.
_CPU_BATCH = 1536
_MANY = 2  # batches for each thread
_MOST_BEGINNINGS = 3  # of a translation, which are continued; more do not improve BLEU or chrF
DECODING_FIELDS = {
    *("engine", "beam_size", "length_penalty", "length_offset"),
    *("max_length_factor", "max_length_extra"),
    *("batch_tokens", "split_sentences", "replace_unknown", "knn_k", "knn_weight"),
    *("knn_temperature", "temperature", "top_k", "top_p", "seed", "glossary"),
    "new_words_margin",
}


def supports(config: Config, runs: int = 1, device: str | None = None) -> list[str]:
    """Return the reasons why this engine does not support the options, if any.

    runs: size of the ensemble; device: the requested one
    """
    reasons = conversion.unsupported(config.model)
    reasons += unknown_fields("decoding", config.decoding, DECODING_FIELDS)
    if config.decoding.knn_k:
        reasons.append("it does not support decoding.knn_k")
    if runs > 1:
        reasons.append("it supports only one run")
    if device is not None and device.partition(":")[0] not in ("cpu", "cuda"):
        reasons.append(f"it does not support device {device}")
    return reasons


def open_run(
    run: RunFolder,
    weights: Weights,
    decoding: DecodingConfig,
    device: str | None,
    compute_type: ComputeType | None,
) -> "CTranslate2Engine":
    """Open the converted model of a run; for errors see `CTranslate2Engine`."""
    seed = decoding.seed if decoding.temperature else None
    with conversion.converted(run, weights) as folder:
        return CTranslate2Engine(folder, run.config.model.max_length, device, compute_type, seed)


class CTranslate2Engine:
    """Searches with a converted model; see `Engine`.

    The library searches like `beam_search` but has a different length penalty. Therefore it returns
    all hypotheses of its beam with plain log-probabilities, and they are ranked here. Its
    probabilities are normalized without <pad> and <sos>.

    folder: written by `conversion`, with ids for tokens; device: by default, the best available;
    compute_type: precision, or None for `default_compute_type`; seed: for sampling, which then
    uses one thread to be reproducible
    Raises `UserError` if the library cannot open the model or does not support the precision here.
    """

    name: EngineName = "ctranslate2"

    def __init__(
        self,
        folder: Path,
        max_length: int,
        device: str | None = None,
        compute_type: ComputeType | None = None,
        seed: int | None = None,
    ):
        self.max_length = max_length
        self._folder = folder
        self._library, self._sharing = _load(folder, device, compute_type, seed)
        self._target_size = _target_size(folder)
        # One more than can search at once; the extra one prepares sentences or reads results.
        self.workers: int = self._library.num_translators + 1

    def __call__(
        self,
        sources: Sequence[list[int]],
        limits: Sequence[int],
        decoding: DecodingConfig,
        n_best: int = 1,
        constraints: Constraints | None = None,
    ) -> list[list[Hypothesis]]:
        """Search; constraints are not supported."""
        if constraints is not None:
            raise ValueError("CTranslate2 does not support constraints")
        hypotheses = decoding.hypotheses(n_best)
        library = self._library_for(sum(map(len, sources)) * hypotheses)
        if decoding.temperature:  # one by one, so that no sample is drawn twice
            batches = [[i] for i in range(len(sources))]
        else:
            # A call has a single limit, the highest. On a CPU, where smaller calls take no longer,
            # only sentences with equal limits share one.
            groups = [list(range(len(sources)))]
            if self._library.device == "cpu":
                groups = _by_limit(groups[0], limits)
            batches = self._make_batches(library, groups, sources, decoding, hypotheses)
        found = self._search(library, batches, sources, limits, decoding, hypotheses)
        # On a GPU, those that reached their own limit are searched again. This misses a sentence
        # whose longer hypothesis was dropped in favour of shorter ones.
        exceeding = []
        for batch in batches:
            highest = max(limits[i] for i in batch)
            for i in batch:
                if limits[i] < highest and any(len(h.ids) >= limits[i] - 1 for h in found[i]):
                    exceeding.append(i)
        groups = _by_limit(exceeding, limits)
        batches = self._make_batches(library, groups, sources, decoding, hypotheses)
        found |= self._search(library, batches, sources, limits, decoding, hypotheses)
        return [found[i][:n_best] for i in range(len(sources))]

    def continue_from(
        self,
        sources: Sequence[list[int]],
        beginnings: Sequence[list[list[int]]],
        limits: Sequence[int],
        decoding: DecodingConfig,
    ) -> list[list[Hypothesis]]:
        """Search from the most probable beginnings; see `ContinuingEngine`."""
        read = [_texts(ids[:-1]) for ids in sources]  # it adds <eos> itself
        scoring = [
            self._library.score_batch(
                [source] * len(options),
                list(map(_texts, options)),
                max_input_length=0,
                asynchronous=True,
            )
            for source, options in zip(read, beginnings, strict=True)
        ]
        beams = []
        for source, options, waiting, limit in zip(read, beginnings, scoring, limits, strict=True):
            sums = [
                sum(each.result().log_probs[: len(ids)])
                for ids, each in zip(options, waiting, strict=True)
            ]
            chosen = sorted(zip(sums, options, strict=True), reverse=True)[:_MOST_BEGINNINGS]
            waiting = self._library.translate_batch(
                [source] * len(chosen),
                target_prefix=[_texts(ids) for _, ids in chosen],
                **self._method(decoding, decoding.beam_size),
                **_options(limit),
            )
            # The library's scores do not include those of the beginnings.
            beams.append([(sum_, each) for (sum_, _), each in zip(chosen, waiting, strict=True)])
        return [
            best_first(
                hypothesis
                for sum_, waiting in beam
                for hypothesis in _rank(waiting.result(), limit, decoding, sum_)
            )
            for beam, limit in zip(beams, limits, strict=True)
        ]

    def _library_for(self, tokens: int) -> Any:
        """Return the library for a search; tokens: its source tokens times hypotheses."""
        threads = self._library.num_translators * self._sharing
        is_large = self._sharing > 1 and tokens >= _MANY * threads * _CPU_BATCH
        return self._for_many if is_large else self._library

    @cached_property
    def _for_many(self) -> Any:
        """The same model with a thread for each batch; opened on first use."""
        first = self._library
        threads = first.num_translators * self._sharing
        try:
            return _open(self._folder, first.device, 0, first.compute_type, threads, 1)
        except (RuntimeError, ValueError):  # the folder was temporary
            return first

    def _make_batches(
        self,
        library: Any,
        groups: list[list[int]],
        sources: Sequence[list[int]],
        decoding: DecodingConfig,
        hypotheses: int,
    ) -> list[list[int]]:
        """Divide groups of sentences, by their numbers, into batches."""
        most = decoding.batch_tokens
        if library.device == "cpu":
            sharing = self._sharing if library is self._library else 1
            most = min(most, _CPU_BATCH * sharing)
        batches = []
        for numbers in groups:
            tokens = [len(sources[i]) * hypotheses for i in numbers]
            made = make_batches(tokens, most, library.num_translators)
            batches += [[numbers[i] for i in batch] for batch in made]
        return batches

    def _search(
        self,
        library: Any,
        batches: list[list[int]],
        sources: Sequence[list[int]],
        limits: Sequence[int],
        decoding: DecodingConfig,
        hypotheses: int,
    ) -> dict[int, list[Hypothesis]]:
        """Search batches of sentences in parallel, each with its highest limit."""
        highest = [max(limits[i] for i in batch) for batch in batches]
        calls = [
            library.translate_batch(
                [_texts(sources[i][:-1]) for i in batch],  # it adds <eos> itself
                **self._method(decoding, hypotheses),
                **_options(limit),
            )
            for batch, limit in zip(batches, highest, strict=True)
        ]
        return {
            i: _rank(waiting.result(), limit, decoding)
            for batch, limit, call in zip(batches, highest, calls, strict=True)
            for i, waiting in zip(batch, call, strict=True)
        }

    def _method(self, decoding: DecodingConfig, hypotheses: int) -> dict[str, Any]:
        """Return the library's options for sampling or for a search."""
        if not decoding.temperature:
            return {"beam_size": hypotheses, "num_hypotheses": hypotheses}
        return {
            "beam_size": 1,
            # With a single candidate token, all samples are the same.
            "num_hypotheses": 1 if decoding.top_k == 1 else hypotheses,
            "sampling_temperature": decoding.temperature,
            # More than there are is an error; 0: all.
            "sampling_topk": decoding.top_k if decoding.top_k < self._target_size else 0,
            "sampling_topp": decoding.top_p,
        }


def _texts(ids: Sequence[int]) -> list[str]:
    """Return tokens as converted models name them."""
    return list(map(str, ids))


def _options(limit: int) -> dict[str, Any]:
    """Return the library's options that all searches share; limit: of the output, with <eos>."""
    return {
        "asynchronous": True,
        "min_decoding_length": 0,
        "max_decoding_length": limit,
        "max_input_length": 0,  # 0: none here; `Translator` respects the model's limit
        "suppress_sequences": [[str(token)] for token in SUPPRESSED],
        "return_scores": True,
        "length_penalty": 0.0,  # `_rank` applies ours
    }


def _by_limit(numbers: Sequence[int], limits: Sequence[int]) -> list[list[int]]:
    """Group sentences by their limits, the highest first, so that no long batch comes last."""
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for i in numbers:
        groups[limits[i]].append(i)
    return [groups[limit] for limit in sorted(groups, reverse=True)]


def _target_size(folder: Path) -> int:
    """Return the number of target tokens."""
    own, shared = (folder / f"{name}_vocabulary.json" for name in ("target", "shared"))
    tokens = json.loads((own if own.exists() else shared).read_bytes())
    if tokens != [str(i) for i in range(len(tokens))]:
        raise UserError(f"{folder}: damaged; delete it, and nmt converts the model again")
    return len(tokens)


def _rank(
    result: Any, limit: int, decoding: DecodingConfig, before: float = 0.0
) -> list[Hypothesis]:
    """Return hypotheses; before: log-probability that the library's scores do not include."""
    alpha, offset = decoding.length_penalty, decoding.length_offset
    return best_first(
        scored_hypothesis(list(map(int, tokens)), before + sum_, alpha, len(tokens) < limit, offset)
        for tokens, sum_ in zip(result.hypotheses, result.scores, strict=True)
    )


def _load(
    folder: Path, device: str | None, compute_type: ComputeType | None, seed: int | None
) -> tuple[Any, int]:
    """Return the library and the number of threads that share a batch."""
    import ctranslate2

    if seed is not None:
        ctranslate2.set_random_seed(seed)  # for threads started from now on

    chosen_here = device is None
    if device is None:
        device = "cuda" if ctranslate2.get_cuda_device_count() else "cpu"
    name, _, index = device.partition(":")
    count = ctranslate2.get_cuda_device_count()
    known_index = not index or index.isdecimal()
    if not known_index or (name == "cuda" and int(index or 0) >= count):
        raise no_such_device(device)
    known = ctranslate2.get_supported_compute_types(name)
    default = default_compute_type(name)
    if compute_type and compute_type not in known:
        raise UserError(
            f"--compute-type {compute_type}: CTranslate2 does not support it on this "
            f"{name}; use one of {', '.join(sorted(known.intersection(get_args(ComputeType))))}"
        )
    if name == "cuda":
        with suppress(ImportError):
            import torch  # noqa: F401  bundles cuBLAS, which CTranslate2 needs but lacks
    used = 1 if name == "cuda" or seed is not None else threads()
    model = folder / "model.bin"
    is_large = model.is_file() and model.stat().st_size >= _LARGE
    sharing = min(used, _SHARING) if is_large else 1
    try:
        kind = compute_type or default
        library = _open(folder, name, int(index or 0), kind, used // sharing, sharing)
        if name == "cuda":  # the first translation shows whether cuBLAS is available
            library.translate_batch([[str(UNK)]], max_decoding_length=1)
    except (RuntimeError, ValueError) as error:
        reason = one_line(error)[:200]
        if chosen_here and name == "cuda":
            _LOG.warning(
                "CTranslate2 cannot use the GPU and runs on the CPU: %s; use --engine pytorch to "
                "run on the GPU",
                reason,
            )
            return _load(folder, "cpu", compute_type, seed)
        raise UserError(
            f"CTranslate2 cannot open the model on {device}: {reason}; translate with --engine "
            "pytorch, or with another --device"
        ) from None
    _LOG.info("device           %s", device)
    return library, sharing


def _open(
    folder: Path, device: str, index: int, compute_type: str, batches: int, sharing: int
) -> Any:
    """Open a model; batches: how many at once; sharing: threads for each."""
    import ctranslate2

    with _keep_pytorch_threads():
        return ctranslate2.Translator(
            str(folder),
            device=device,
            device_index=index,
            compute_type=compute_type,
            inter_threads=batches,
            intra_threads=sharing,
        )


@contextmanager
def _keep_pytorch_threads() -> Iterator[None]:
    """Restore PyTorch's number of threads, which CTranslate2 may set to its own, often 1.

    It matters because PyTorch runs the searches that CTranslate2 does not support, such as those
    with a glossary.
    """
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(threads)


def default_compute_type(device: str) -> ComputeType:
    """Return the fastest type with the quality of float32: int8 if it is exact here."""
    if device != "cpu":
        return "float32"
    try:
        from numpy._core._multiarray_umath import (  # type: ignore[import-not-found]
            __cpu_features__ as features,
        )
    except ImportError:  # NumPy 1
        return "float32"
    return "int8" if any(features.get(name) for name in _EXACT_INT8) else "float32"


def threads() -> int:
    """Return the number of threads: OMP_NUM_THREADS, or one per processor."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
