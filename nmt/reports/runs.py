"""Tables of runs: all of them in brief, or one in full. Nothing here loads a model.

>>> print(format_runs(summarize_runs(Path("runs"))))
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from nmt.config import Config
from nmt.config_files import load_config
from nmt.errors import UserError, one_line, unreadable_weights
from nmt.run_folder import RunFolder, Validation, Weights, last_change
from nmt.shipped import SHIPPED_CONFIGS

NOTHING = "–"


@dataclass(frozen=True)
class RunSummary:
    """What a row of the table shows; None where the run has not got that far.

    config: the configuration file that is nearest; data: the corpus and its training pairs;
    bleu: of the best weights, on validation; seconds: since the run last changed
    """

    name: str
    config: str
    data: str
    parameters: int | None
    updates: int | None
    bleu: float | None
    seconds: float


def summarize_runs(folder: Path) -> list[RunSummary | str]:
    """Return the runs in a folder, trained last first; then a line for each that is damaged.

    Raises `UserError` if there is none.
    """
    paths = [path.parent for path in folder.glob("*/config.yaml")]
    if not paths:
        raise UserError(f"no runs in {folder}; train one with `nmt train`, or name their folder")
    configs = known_configs()
    found: list[RunSummary] = []
    damaged: list[str] = []
    for path in sorted(paths):
        try:
            found.append(summarize(RunFolder(path), configs))
        except UserError as error:
            damaged.append(one_line(error))
        except OSError as error:
            reason = error.strerror or error
            damaged.append(f"{path}: cannot be read ({reason}); mend the folder's permissions")
    return [*sorted(found, key=lambda run: run.seconds), *damaged]


def summarize(run: RunFolder, configs: Mapping[str, Config]) -> RunSummary:
    """Read what a row shows of a run; `configs` as from `known_configs`."""
    config, metrics, best = run.config, run.read_metrics(), run.best_validation()
    file, changes = nearest_config(config, run.path.name, configs)
    pairs = run.report["pairs"]["train"]
    return RunSummary(
        name=run.path.resolve().name,
        config=file + (f" +{len(changes)}" if changes else ""),
        data=f"{config.data.source}, {pairs:,} pairs",
        parameters=count_stored(run),
        updates=metrics[-1]["update"] if metrics else None,
        bleu=best["bleu"] if best else None,
        seconds=time.time() - last_change(run.path),
    )


def known_configs() -> dict[str, Config]:
    """Load the files in ./configs and the shipped ones, each under the name that --config takes."""
    paths: dict[str, Path] = {}
    for folder in (Path("configs"), SHIPPED_CONFIGS):  # the former hide the latter
        for path in sorted(folder.rglob("*.yaml")):
            paths.setdefault(path.relative_to(folder).as_posix(), path)
    return _load(paths)


def nearest_config(
    config: Config, run_name: str, configs: Mapping[str, Config]
) -> tuple[str, list[str]]:
    """Return the name of the configuration that a run's comes nearest to, and the rest.

    Looked at are `configs`, and the file named after the run in the current folder, as runs are by
    default. The rest are the fields with other values: `section.field=…`.
    """
    stem = run_name.rstrip("0123456789").removesuffix("-") or run_name
    own = [path for name in (run_name, stem) if (path := Path(f"{name}.yaml")).is_file()]
    candidates = _load({path.name: path for path in own})
    candidates |= {name: known for name, known in configs.items() if name not in candidates}
    changes = {name: _changes(known, config) for name, known in candidates.items()}
    return min(changes.items(), key=lambda item: len(item[1]))


def _load(paths: Mapping[str, Path]) -> dict[str, Config]:
    found = {}
    for name, path in paths.items():
        with suppress(UserError):  # not a configuration of ours
            found[name] = load_config(path)
    return found


def _changes(base: Config, config: Config) -> list[str]:
    before, after = base.model_dump(mode="json"), config.model_dump(mode="json")
    return [
        f"{section}.{name}={_value(value)}"
        for section, fields in after.items()
        for name, value in fields.items()
        if before[section][name] != value
    ]


def count_stored(run: RunFolder) -> int | None:
    """Count the parameters in a run's weights, from the file's header alone; shared ones once."""
    from safetensors import SafetensorError, safe_open

    for which in get_args(Weights):
        if run.weights(which).exists():
            break
    else:
        return None
    path = run.weights(which)
    try:
        with safe_open(path, framework="numpy") as file:
            shapes: list[list[int]] = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise unreadable_weights(path, error) from None
    return sum(math.prod(shape) for shape in shapes)


# ----------------------------------------------------------------------------------------- as text


def format_runs(runs: Sequence[RunSummary | str]) -> str:
    """Return the table as text; damaged runs follow it, a line each."""
    heads = ["run", "config", "data", "parameters", "updates", "BLEU", "age"]
    rows = [
        [
            run.name,
            run.config,
            run.data,
            _number(run.parameters, ","),
            _number(run.updates, ","),
            _number(run.bleu, ".2f"),
            format_age(run.seconds),
        ]
        for run in runs
        if isinstance(run, RunSummary)
    ]
    damaged = [run for run in runs if isinstance(run, str)]
    return "\n".join([*_table(heads, rows, left=3), *damaged])


def format_run(run: RunFolder) -> str:
    """Return everything about one run as text."""
    config, report, metrics = run.config, run.report, run.read_metrics()
    file, changes = nearest_config(config, run.path.resolve().name, known_configs())
    model, data = config.model, config.data
    changed = last_change(run.path)
    when = datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M")
    sizes, pairs = report["vocabulary_size"], report["pairs"]
    facts = [
        ("run", str(run.path)),
        ("trained last", f"{when}, {format_age(time.time() - changed)} ago"),
        ("config", file + (" with" if changes else "")),
        *(("", change) for change in changes),
        ("data", f"{data.source}, {data.source_language} → {data.target_language}"),
        ("pairs", ", ".join(f"{split} {count:,}" for split, count in pairs.items())),
        ("pieces", f"{config.tokenizer.kind}, source {sizes['source']:,}, "
                   f"target {sizes['target']:,}"),
        ("model", f"{model.encoder_layers} + {model.decoder_layers} layers, {model.heads} heads, "
                  f"d_model {model.d_model}, d_ff {model.d_ff}, {model.norm}-norm, "
                  f"{model.positions} positions"),
        ("parameters", _number(count_stored(run), ",")),
    ]  # fmt: skip
    best = run.best_validation()
    if best:
        last, by = metrics[-1], config.training.best
        facts += [
            (
                "trained",
                f"{last['update']:,} updates, epoch {last['epoch']}, {last['minutes']:.1f} minutes",
            ),
            (
                "best weights",
                f"of update {best['update']:,}, by {'BLEU' if by == 'bleu' else by} on validation: "
                f"BLEU {best['bleu']:.2f}, loss {best['loss']:.3f}",
            ),
        ]
    files = [path for path in sorted(run.path.rglob("*")) if path.is_file()]
    shown = [path for path in files if run.data not in path.parents and path.name[0] != "."]
    facts += [
        ("files" if number == 0 else "", f"{path.relative_to(run.path)} ({_size(path)})")
        for number, path in enumerate(shown)
    ]
    lines = [f"{name:<17}{value}" for name, value in facts]
    if metrics:
        lines += ["", *_validations(metrics), "", *_samples(metrics[-1])]
    return "\n".join(lines)


def _validations(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = ["update", "epoch", "rate", "training loss", "loss", "perplexity", "accuracy", "BLEU"]
    formats = {
        "update": ",",
        "epoch": "d",
        "learning_rate": ".2e",
        "train_loss": ".3f",
        "loss": ".3f",
        "perplexity": ".2f",
        "accuracy": ".1%",
        "bleu": ".2f",
    }
    rows = [[format(line[name], form) for name, form in formats.items()] for line in metrics]
    return _table(heads, rows, left=0)


def _samples(line: Validation) -> list[str]:
    return [f"{sample['source']}  →  {sample['translation']}" for sample in line["samples"]]


def _table(heads: list[str], rows: list[list[str]], left: int) -> list[str]:
    """Align columns: the first `left` to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [heads, *rows]
    ]
    return [line.rstrip() for line in lines]


def format_age(seconds: float) -> str:
    """Return a time span in its largest unit.

    >>> format_age(7300)
    '2 h'
    """
    for unit, length in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= (2 if unit == "days" else 1) * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def _number(value: float | None, form: str) -> str:
    return NOTHING if value is None else format(value, form)


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # as YAML reads it, too


def _size(path: Path) -> str:
    size = float(path.stat().st_size)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
