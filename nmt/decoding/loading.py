"""From a run folder to a translator, or from several to an ensemble."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import torch

from nmt.config import DecodingConfig
from nmt.config_files import load_config
from nmt.corpus.tokenizers import KNOWN_WORDS, load_tokenizers, vocabulary_files
from nmt.decoding.datastore import Datastore
from nmt.decoding.neighbours import Neighbours
from nmt.decoding.translator import Translator
from nmt.device import choose_device
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.model.weights import load_weights
from nmt.run_folder import RunFolder, Weights

if TYPE_CHECKING:
    from nmt.decoding.ctranslate2 import ComputeType

Engine = Literal["pytorch", "ctranslate2"]


def load_translator(
    run: RunFolder,
    *others: RunFolder,
    weights: Weights = "best",
    overrides: Sequence[str] = (),
    device: torch.device | None = None,
    engine: Engine = "pytorch",
    compute_type: "ComputeType" = "float32",
    compiled: bool = True,
) -> Translator:
    """Open a run for translation; `overrides` may change fields of its decoding section.

    `others` make an `Ensemble` with it, which decodes as the first run says; raises `UserError`
    where one of them reads text in another way. `engine` is what searches, `compute_type` the
    numbers in which CTranslate2 does. `compiled`: see `ModelSearch`; for a few sentences, loading
    the loops takes longer than they save. With `decoding.neighbours`, each run needs its datastore.
    """
    if others and engine == "ctranslate2":
        raise UserError("--engine ctranslate2 translates with one run; name one --run, not several")
    for override in overrides:
        if not override.startswith("decoding."):
            raise UserError(f"--set {override}: a trained run takes decoding.* only")
    config = load_config(run.path / "config.yaml", overrides)
    if config.decoding.neighbours and engine == "ctranslate2":
        raise UserError(
            "decoding.neighbours: CTranslate2 cannot look them up; translate without: "
            "--set decoding.neighbours=0"
        )
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    for other in others:
        _require_same_reading(run, other)
    device = device or choose_device()
    if engine == "ctranslate2" and device.type != "cuda":
        device = torch.device("cpu")  # the only other one that the library knows
    runs = [run, *others]
    models = [
        load_weights(
            each.weights(weights),
            each.config.model,
            tokenizers.source.size,
            tokenizers.target.size,
            device,
        )
        for each in runs
    ]
    longest = min(each.report["lengths"]["source"]["longest"] for each in runs)
    model, *more = models
    search = None
    if engine == "ctranslate2":
        from nmt.decoding.ctranslate2 import CTranslate2Search  # seldom, and takes time

        alpha = config.decoding.length_penalty
        search = CTranslate2Search(model, tokenizers, alpha, compute_type)
    neighbours = _neighbours(config.decoding, runs, models, weights)
    return Translator(
        model,
        tokenizers,
        config.data,
        config.decoding,
        longest_source=longest,
        others=more,
        search=search,
        neighbours=neighbours,
        compiled=compiled,
    )


def _neighbours(
    config: DecodingConfig, runs: Sequence[RunFolder], models: Sequence[Transformer], kind: Weights
) -> list[Neighbours]:
    """Open each run's datastore, where neighbours are to be looked up."""
    if not config.neighbours:
        return []
    return [
        Neighbours(
            Datastore.load(run.datastore, run.weights(kind), model),
            config.neighbours,
            config.neighbour_share,
            config.neighbour_temperature,
        )
        for run, model in zip(runs, models, strict=True)
    ]


def _require_same_reading(first: RunFolder, other: RunFolder) -> None:
    expected, found = _reading(first), _reading(other)
    differences = [name for name, value in expected.items() if found.get(name) != value]
    if differences:
        raise UserError(
            f"{other.path}: cannot translate together with {first.path}, as they differ in "
            f"{', '.join(differences)}; name runs that were trained on the same prepared data"
        )


def _reading(run: RunFolder) -> dict[str, object]:
    """Return by name all that decides which ids a text becomes: fields, and the files' bytes."""
    config = run.config
    fields = {
        "data": ("source_language", "target_language", "unicode", "lowercase", "carry_over"),
        "tokenizer": ("kind", "word_mark"),
    }
    files = [run.data / name for name in (*vocabulary_files(config.tokenizer), KNOWN_WORDS)]
    return {
        f"{section}.{name}": getattr(getattr(config, section), name)
        for section, names in fields.items()
        for name in names
    } | {path.name: path.read_bytes() for path in files if path.exists()}
