"""Loads the translator of a run, or of several as an ensemble, with the engine that fits."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.config.choices import Address, ComputeType, EngineChoice, EngineName, Weights
from nmt.config.config import Config
from nmt.config.decoding import DecodingConfig
from nmt.config.yaml_files import override_config
from nmt.corpus.preparing.parent_run import TEXT_FIELDS
from nmt.corpus.preparing.statistics import read_target_words
from nmt.corpus.text.training_placeholders import KNOWN_WORDS, RARE_NAMES
from nmt.corpus.tokenizers.registry import load_tokenizers, vocabulary_files
from nmt.decoding.engines import ctranslate2
from nmt.decoding.engines.interface import Engine
from nmt.decoding.glossary import Glossary
from nmt.decoding.segment_search import OutdatedError
from nmt.decoding.segments import TrainingLines
from nmt.decoding.translation_memory import Memory
from nmt.decoding.translator import Translator
from nmt.errors import UserError, is_out_of_memory, pytorch_missing
from nmt.files.checksums import identity
from nmt.runs.finding import open_run
from nmt.runs.folder import RunFolder

if TYPE_CHECKING:
    import torch

    from nmt.decoding.engines.pytorch import PyTorchEngine

_LOG = logging.getLogger(__name__)


def load_translator(
    run: RunFolder | Path | str,
    *others: RunFolder | Path | str,
    weights: Weights = "best",
    decoding: DecodingConfig | None = None,
    overrides: Sequence[str] = (),
    device: "str | torch.device | None" = None,
    engine: EngineChoice | None = None,
    compute_type: ComputeType | None = None,
    glossary: Path | str | None = None,
    memory: Path | str | None = None,
    address: Address | None = None,
) -> Translator:
    """Load a run for translation.

    others: further runs, for an `Ensemble` with the decoding section of the first; decoding: a
    section to use instead; overrides: of fields of that section; device: by default, the best
    available; engine: instead of `decoding.engine`; compute_type: precision in
    CTranslate2, or None for its default; glossary: a file of terms, see `Glossary.read`;
    memory: a file of earlier translations, see `Memory.read`; address: how to address readers

    With `decoding.knn_k`, each run needs its datastore. Raises `UserError` if a run is damaged
    or processes text differently from the first, or if the engine does not support the options.

    >>> load_translator("runs/sample").translate(["oscar likes to code"])
    """
    given = (run, *others)
    runs = [each if isinstance(each, RunFolder) else open_run(each) for each in given]
    first = runs[0]
    for override in overrides:
        if not override.startswith("decoding."):
            raise UserError(
                f"--set {override}: only fields of decoding can be set for a trained run, as in "
                "--set decoding.beam_size=2"
            )
    changes = [*overrides, *([f"decoding.engine={engine}"] if engine else [])]
    base = first.config.model_copy(update={"decoding": decoding or first.config.decoding})
    config = override_config(base, changes, str(first.path / "config.yaml"))
    place = None if device is None else str(device)
    choice = choose_engine(config, len(runs), place)
    _LOG.info("run              %s", ", ".join(str(run.path) for run in runs))
    _LOG.info("engine           %s", choice)
    if compute_type and choice.engine != "ctranslate2":
        raise UserError(f"--compute-type is for CTranslate2, but the engine is {choice}; omit it")
    tokenizers = load_tokenizers(config.data, config.tokenizer, first.data)
    for other in runs[1:]:
        _require_same_reading(first, other)
    lines = [TrainingLines.of(each.report, config.decoding) for each in runs]
    # No member of an ensemble gets longer lines than it was trained on.
    seen = TrainingLines(
        min(each.longest for each in lines),
        any(each.one_sentence_per_line for each in lines),
        lines[0].growth,
        min(each.usual for each in lines),
        all(each.end_in_marks for each in lines),
    )

    def open_pytorch() -> "PyTorchEngine":
        try:
            from nmt.decoding.engines import pytorch
            from nmt.device import choose_device
        except ModuleNotFoundError:
            raise pytorch_missing() from None
        if opened and (now := _identity(first, weights)) != opened:
            happened = "was trained further" if now else "has lost its weights"
            raise OutdatedError(f"this run {happened} since it was opened; open it again")
        try:
            where = choose_device(place, report=not opened)
        except Exception as error:  # CTranslate2 may use a GPU that PyTorch cannot, or fill it
            expected = isinstance(error, UserError) or is_out_of_memory(error)
            if not opened or not expected:
                raise
            _LOG.warning(f"PyTorch cannot use {place} here, and runs on the CPU")
            where = choose_device("cpu", report=False)
        return pytorch.open_runs(runs, weights, config.decoding, where)

    languages = config.data.languages
    named = config.decoding.glossary
    of_run = first.glossary if named == first.config.decoding.glossary else named
    terms = Glossary.read(Path(path), languages) if (path := glossary or of_run) else None
    known = Memory.read(Path(memory), languages) if memory else None
    loaded: Engine
    opened = None
    if choice.engine == "ctranslate2":
        opened = _identity(first, weights)
        loaded = ctranslate2.open_run(first, weights, config.decoding, place, compute_type)
        pytorch: Callable[[], PyTorchEngine] | None = open_pytorch
    else:
        loaded, pytorch = open_pytorch(), None
    return Translator(
        loaded,
        tokenizers,
        config.data,
        config.decoding,
        seen,
        pytorch,
        terms,
        known,
        address,
        read_target_words(first.data),
    )


def _identity(run: RunFolder, weights: Weights) -> str | None:
    path = run.weights(weights)
    return identity(path) if path.is_file() else None


@dataclass(frozen=True)
class Choice:
    """An engine and the reason for choosing it."""

    engine: EngineName
    why: str

    def __str__(self) -> str:
        return f"{self.engine} ({self.why})"


def choose_engine(config: Config, runs: int = 1, device: str | None = None) -> Choice:
    """Follow `decoding.engine`; `auto` is CTranslate2 if it supports this, otherwise PyTorch.

    runs: size of the ensemble; device: the requested one. Raises `UserError` if CTranslate2 is
    requested but cannot be used.
    """
    asked = config.decoding.engine
    if asked == "pytorch":
        return Choice("pytorch", "decoding.engine")
    reasons = ctranslate2.supports(config, runs, device)
    if not reasons:
        return Choice("ctranslate2", "the fastest" if asked == "auto" else "decoding.engine")
    if asked == "ctranslate2":
        raise UserError(
            f"decoding.engine: CTranslate2 cannot be used: {'; '.join(reasons)}; set it to auto, "
            "or omit --engine"
        )
    return Choice("pytorch", f"CTranslate2 cannot be used: {'; '.join(reasons)}")


def _require_same_reading(first: RunFolder, other: RunFolder) -> None:
    expected, found = _reading(first), _reading(other)
    differences = [name for name, value in expected.items() if found.get(name) != value]
    if differences:
        raise UserError(
            f"{other.path}: cannot form an ensemble with {first.path}, because they differ in "
            f"{', '.join(differences)}; choose runs that were trained on the same prepared data"
        )


def _reading(run: RunFolder) -> dict[str, object]:
    """Return everything that determines the ids of a text, by name: fields and file contents."""
    config = run.config
    names = (*vocabulary_files(config.tokenizer), KNOWN_WORDS, RARE_NAMES)
    files = [run.data / name for name in names]
    return {
        f"{section}.{name}": getattr(getattr(config, section), name)
        for section, names in TEXT_FIELDS.items()
        for name in names
    } | {path.name: path.read_bytes() for path in files if path.exists()}
