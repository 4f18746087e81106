"""Fine-tuning: starts from a run's weights, vocabularies and architecture, with new data."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from torch import nn

from nmt.config.choices import Weights
from nmt.config.config import Config
from nmt.config.data import CorpusConfig, CorpusPart, DataConfig
from nmt.config.model import TRAINING_ONLY
from nmt.config.training import ModelPart
from nmt.config.yaml_files import override_config
from nmt.corpus.preparing.parent_run import TEXT_FIELDS, require_equal
from nmt.corpus.tokenizers.registry import vocabulary_files
from nmt.errors import UserError, no_such_weights
from nmt.model.transformer import Transformer
from nmt.runs.finding import open_run
from nmt.runs.folder import RunFolder
from nmt.runs.weights import read_weights

LOW_PEAK = 1e-3  # learning rate; with 3e-4, one or two epochs learn less of a new domain
_CORPUS_FIELDS = {f"data.{name}" for name in (*CorpusConfig.model_fields, "corpora")}
_STRICTER: dict[str, Callable[..., object]] = {  # of the values of a filter in two sections
    **dict.fromkeys(("max_ratio", "max_character_ratio"), min),
    **dict.fromkeys(("min_letters", "drop_copies", "drop_mojibake", "check_languages"), max),
}
_PARTS: dict[ModelPart, tuple[str, ...]] = {
    "encoder": ("encoder.", "encoder_norm."),
    "decoder": ("decoder.", "decoder_norm."),
    "embeddings": ("source_embedding.", "target_embedding."),
}


def config_from(
    run: RunFolder,
    weights: Weights,
    given: Config | None,
    overrides: list[str],
    mix: float | None = None,
) -> Config:
    """Return the configuration for fine-tuning a run.

    given: provides data, training and, unless it lacks this section, decoding; None: the run's own.
    Model, tokenizer and text processing are those of the run. The peak learning rate is at most
    `LOW_PEAK` and at most the run's, unless overridden. mix: share of each batch that is drawn from
    the run's original corpus

    Raises `UserError` if the weights do not exist, or if `given` names other languages, or tags
    that an imported model does not know.
    """
    if not run.weights(weights).is_file():
        raise no_such_weights(run.weights(weights))
    former = run.config
    for name in ("source_language", "target_language"):
        if given and name in given.data.model_fields_set:
            new, old = getattr(given.data, name), getattr(former.data, name)
            require_equal(f"{given.origin.file}: data.{name}", new, old, run.path)
    # Corpora first, since --mix adds the run's to those that are set.
    corpora = [each for each in overrides if each.partition("=")[0] in _CORPUS_FIELDS]
    others = [each for each in overrides if each not in corpora]
    base = override_config(given or former, corpora, f"--from {run.path}")
    known = former.data.imported_tags
    for part in base.data.corpora if known else ():
        if part.tag not in (None, *known):
            raise UserError(
                f"{base.origin.file}: data.corpora: tag {part.tag}: unknown to {run.address}; "
                f"expected one of {', '.join(known[:20])}{', …' if len(known) > 20 else ''}"
            )
    data = base.data.model_copy(
        update={
            name: getattr(former.data, name)
            for name in (*TEXT_FIELDS["data"], "restore_case", "address")
        }
    )
    if former.data.disjoint_splits:  # the run's held-out sentences stay out, on both sides
        data = data.model_copy(update={"disjoint_splits": True})
    if mix is not None:
        data = _mixed(data, run, mix)
    training = base.training.model_copy(
        update={
            "initial_weights": run.weights(weights),
            "learning_rate": min(
                base.training.learning_rate, LOW_PEAK, former.training.learning_rate
            ),
        }
    )
    decoding = former.decoding.model_copy(update={"glossary": run.glossary})
    config = base.model_copy(
        update={
            "decoding": given.decoding if given and sets_decoding(given) else decoding,
            "data": data,
            "tokenizer": former.tokenizer.model_copy(update={"run": run.path}),
            "model": former.model,
            "training": training,
        }
    )
    options = ["--from", run.address]
    options += ["--weights", weights] if weights != "best" else []
    options += ["--mix", f"{mix:g}"] if mix is not None else []
    origin = replace(base.origin, fine_tuning=shlex.join(options))
    return override_config(config.with_origin(origin), others, f"--from {run.path}")


def sets_decoding(given: Config) -> bool:
    """Return whether a configuration file has the section `decoding`; otherwise, the run's fits."""
    return "decoding" in given.model_fields_set


def _mixed(new: DataConfig, run: RunFolder, share: float) -> DataConfig:
    """Return `new` with its corpora and those of the run.

    Only its own provide held-out pairs. Each filter for unusable pairs is the stricter of the two,
    because the run's corpora may need it.
    """
    former = run.config.data
    if former.source == "imported":
        raise UserError("--mix needs the run's corpus, and that of an imported one is unknown")
    if len(new.corpora) > 1 and not all(part.weight for part in new.corpora):
        raise UserError("--mix needs a weight for each corpus in data.corpora; set them all")
    sizes = [corpus["train"] for corpus in run.report.get("corpora", [])]
    if former.corpora and len(sizes) != len(former.corpora):
        raise UserError(
            f"{run.data / 'report.json'}: lists different corpora from {run.path / 'config.yaml'}; "
            "restore both files, or omit --mix"
        )
    parts = (
        *_weighted(new, [1] * len(new.corpora), round(1 - share, 6)),
        *(part.model_copy(update={"held_out": False}) for part in _weighted(former, sizes, share)),
    )
    alone = {name: field.default for name, field in CorpusConfig.model_fields.items()}
    changed = {**alone, "corpora": parts, "mixing_temperature": 1.0}
    for name, stricter in _STRICTER.items():
        values = (getattr(section, name) for section in (new, former))
        changed[name] = stricter(filter(None, values), default=getattr(new, name))
    return new.model_copy(update=changed)


def _weighted(data: DataConfig, sizes: list[int], share: float) -> list[CorpusPart]:
    """Return the section's corpora with weights that add up to `share`.

    sizes: number of training pairs of each, which determines its share if it has no weight
    """
    if not data.corpora:
        fields = {name: getattr(data, name) for name in CorpusConfig.model_fields}
        return [CorpusPart(**fields, weight=share)]
    weights = [
        part.weight or max(1, size) ** (1 / data.mixing_temperature)
        for part, size in zip(data.corpora, sizes, strict=True)
    ]
    return [
        part.model_copy(update={"weight": share * weight / sum(weights)})
        for part, weight in zip(data.corpora, weights, strict=True)
    ]


def load_initial(model: Transformer, config: Config) -> None:
    """Read `training.initial_weights`, if set, into the model.

    Raises `UserError` if they are damaged, or do not fit the model or the vocabulary.
    """
    path = config.training.initial_weights
    if path is None:
        return
    assert config.tokenizer.run  # the configuration requires it
    weights_run, vocabulary_run = open_run(path.parent), open_run(config.tokenizer.run)
    for name in vocabulary_files(config.tokenizer):
        if _content(weights_run.data / name) != _content(vocabulary_run.data / name):
            raise UserError(
                f"training.initial_weights: {weights_run.path} has a different vocabulary from "
                f"tokenizer.run {vocabulary_run.path}; set both to the same run"
            )
    former = weights_run.config.model
    for name in type(former).model_fields:
        if name not in TRAINING_ONLY:
            new, old = (getattr(each, name) for each in (config.model, former))
            require_equal(f"model.{name}", new, old, path.parent)
    read_weights(model, path)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def freeze(model: nn.Module, parts: tuple[ModelPart, ...]) -> None:
    """Freeze these parts of the model; output weights are frozen if tied to frozen embeddings."""
    prefixes = tuple(prefix for part in parts for prefix in _PARTS[part])
    for name, parameter in model.named_parameters():
        if prefixes and name.startswith(prefixes):
            parameter.requires_grad_(False)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise UserError("training.freeze: nothing is left to train; remove a part from the list")
