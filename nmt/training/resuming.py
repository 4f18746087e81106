"""How to resume a training run, and which fields may change when resuming."""

from typing import Any

from nmt.config.config import Config
from nmt.config.data import CORPUS_PATHS
from nmt.config.yaml_files import written
from nmt.errors import UserError, resume
from nmt.runs.folder import RunFolder
from nmt.training.distributed import Worker

_FIXED = (  # of the training section
    "seed",
    "best",
    "validate_pairs",
    "accumulate",
    "freeze",
    "initial_weights",
    "batch_tokens",
    "batch_sentences",
    "drop_last",
    "join_pairs",
    "optimizer",
    "betas",
    "epsilon",
    "weight_decay",
    "average_decay",
)


def resuming_command(run: RunFolder, worker: Worker) -> str:
    """Return the command that resumes a run."""
    return resume(run.path, worker.command)


def saved_settings(config: Config) -> dict[str, Any]:
    """Return the settings to store in a checkpoint: config.yaml may be edited before resuming."""
    training = config.training.model_dump(mode="json", include=set(_FIXED))
    sections = {"model": config.model.model_dump(mode="json"), "training": training}
    return {
        f"{name}.{field}": x for name, fields in sections.items() for field, x in fields.items()
    }


def require_saved_settings(saved: dict[str, Any], settings: dict[str, Any]) -> None:
    """Raise `UserError` if `saved_settings` differ; fields that one version lacks are ignored."""
    for field in sorted(saved.keys() & settings.keys()):
        _require_unchanged(field, saved[field], settings[field])


def _require_unchanged(field: str, old: object, new: object) -> None:
    if old != new:
        raise UserError(
            f"{field}: this run uses {written(old)}, not {written(new)}; start a new run to change "
            "it"
        )


def require_same_settings(before: Config, now: Config) -> None:
    """Raise `UserError` if a field that the saved state depends on has changed."""
    fixed = set(saved_settings(before))
    movable = {*CORPUS_PATHS, "corpora"}
    fixed |= {f"data.{name}" for name in type(before.data).model_fields if name not in movable}
    fixed |= {f"tokenizer.{name}" for name in type(before.tokenizer).model_fields if name != "run"}
    for field in sorted(fixed):
        section, name = field.split(".")
        old, new = (getattr(getattr(config, section), name) for config in (before, now))
        _require_unchanged(field, old, new)
    old_parts, new_parts = (
        [part.model_dump(exclude={*CORPUS_PATHS}) for part in config.data.corpora]
        for config in (before, now)
    )
    if old_parts != new_parts:
        raise UserError("data.corpora: only the paths may change; start a new run to change more")
