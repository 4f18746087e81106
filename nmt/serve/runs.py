"""Runs as the page lists them, without paths of this machine."""

import math
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from typing_extensions import TypedDict

from nmt.config.data import CORPUS_PATHS, DataConfig
from nmt.config.yaml_files import describe_fields, written
from nmt.corpus.preparing.report import PreparationReport
from nmt.corpus.text.tags import show_tag
from nmt.errors import UserError
from nmt.files.private_paths import without_folders
from nmt.reports.summaries import NOTHING, summarize
from nmt.runs.finding import last_change, runs_in
from nmt.runs.folder import RunFolder, UpdatePoint, Validation
from nmt.serve.errors import ApiError
from nmt.serve.served_run import name_runs

if TYPE_CHECKING:
    from nmt.serve.service import Service


_MOST_POINTS = 500  # of a curve


class RunRow(TypedDict):
    """Summary of a run; null for values that do not exist yet.

    address: whether it learned forms of address; chrf: in languages that BLEU cannot score;
    seconds: since its last change
    """

    name: str
    served: bool
    source: str
    target: str
    address: bool
    config: str
    data: str
    parameters: int | None
    updates: int | None
    bleu: float | None
    chrf: float | None
    seconds: float | None


class ConfigField(TypedDict):
    """A field of the configuration."""

    name: str
    type: str
    value: str
    default: str
    description: str


class RunDetails(TypedDict):
    """Details of a run; updates: points of its training curve, evenly spaced."""

    name: str
    served: bool
    seconds: float
    metrics: list[Validation]
    updates: list[UpdatePoint]
    report: PreparationReport
    config: list[ConfigField]


def list_runs(service: "Service") -> list[RunRow]:
    """Return the runs, most recently trained first.

    Folders that cannot be read are left out, unless they are those of served runs.
    """
    rows: list[RunRow] = []
    summaries = {}  # those of unchanged runs are kept, since the page asks every few seconds
    for name, run in _named_folders(service):
        try:
            summary = service.summaries.get(run.path)
            if not summary or summary[0].changed != last_change(run.path):
                summary = summarize(run), run.config.data
        except (UserError, OSError):
            if served := service.runs.get(name):  # moved, deleted or damaged meanwhile
                unknown = dict.fromkeys(RunRow.__annotations__)
                known = {"config": NOTHING, "data": NOTHING, "address": False, "served": True}
                known |= {"name": name, "source": served.source, "target": served.target}
                rows.append(cast(RunRow, unknown | known))
            continue
        summaries[run.path] = found, data = summary
        rows.append(
            {
                "name": name,
                "served": name in service.runs,
                "source": data.source_language,
                "target": data.target_language,
                "address": data.address,
                "config": PurePath(found.config).name if found.config else NOTHING,
                "data": f"{_corpora(data)}, {found.pairs:,} pairs",
                "parameters": found.parameters,
                "updates": found.updates,
                "bleu": found.bleu,
                "chrf": found.chrf,
                "seconds": time.time() - found.changed,
            }
        )
    service.summaries = summaries
    return sorted(rows, key=lambda row: math.inf if row["seconds"] is None else row["seconds"])


def _corpora(data: DataConfig) -> str:
    """Return the names of the corpora, without folders."""
    return ", ".join(part.name or part.source for part in data.corpora) or data.source


def describe_run(service: "Service", name: str) -> RunDetails:
    """Return everything about a run; raises `ApiError` 404 if there is none of that name."""
    run = dict(_named_folders(service)).get(name)
    if run is None:
        raise ApiError(404, f"There is no run {name[:100]}")
    try:
        metrics, points, data = run.read_metrics(), run.read_updates(), run.config.data
        for sample in chain.from_iterable(line["samples"] for line in metrics):
            sample["source"] = show_tag(data, sample["source"])
        return {
            "name": name,
            "served": name in service.runs,
            "seconds": time.time() - last_change(run.path),
            "metrics": metrics,
            "updates": points[:: math.ceil(len(points) / _MOST_POINTS)] if points else [],
            "report": without_folders(run.report),
            "config": list(_config_fields(run)),
        }
    except (UserError, OSError):
        raise ApiError(404, f"The run {name[:100]} cannot be read") from None


def _named_folders(service: "Service") -> Iterator[tuple[str, RunFolder]]:
    """Yield the served runs, and the others in their folder if listing it is allowed."""
    served = {run.folder.path.resolve() for run in service.runs.values()}
    for name, each in service.runs.items():
        yield name, each.folder
    if service.runs_folder is not None:
        others = [r for r in runs_in(service.runs_folder) if r.path.resolve() not in served]
        yield from zip(name_runs(others, service.runs), others, strict=True)


def _config_fields(run: RunFolder) -> Iterator[ConfigField]:
    values = without_folders(run.config.model_dump())
    for name, type_, default, description in describe_fields():
        section, _, field = name.partition(".")
        value = values[section][field]
        yield {
            "name": name,
            "type": type_,
            "value": ", ".join(value)
            if field in CORPUS_PATHS and isinstance(value, list)
            else written(value),
            "default": default,
            "description": description,
        }
