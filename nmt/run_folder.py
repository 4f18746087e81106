"""The run folder: all that a translation needs, in one place.

run.json                 the version of this folder's format and of the nmt that made it, and the
                         configuration file and overrides that it was started with
config.yaml              the resolved configuration
data/                    tokenizers, raw validation and test pairs, the preparation's report, what
                         training saw
metrics.jsonl            one line a validation
best.safetensors         the weights with the best validation score
last.safetensors         the weights after the last update
averaged.safetensors     the moving average of the weights, where training.average_decay is set
datastore.safetensors    what training met at each position, for decoding.neighbours
checkpoint.pt            the whole training state, to go on from
pictures/                what `nmt plot` has drawn
tensorboard/             what TensorBoard reads, where training.tensorboard is set
ctranslate2/             the model as CTranslate2 reads it, in a folder for each kind of weights
exported/                the model and its tokenizers for other programs, by `nmt export`
"""

import glob
import json
import math
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    PositiveInt,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from nmt import __version__
from nmt.choices import Weights
from nmt.config import Config, Origin
from nmt.config_files import dump_config, load_config
from nmt.corpus.json_files import first_problem
from nmt.corpus.manifest import read_manifest, run_files
from nmt.corpus.prepared import Example, PreparedData, read_examples, read_report
from nmt.corpus.report import Report
from nmt.corpus.seen import Seen, read_seen
from nmt.errors import UserError, writing
from nmt.locks import locked

FORMAT = 2  # of the run folder; 1 had no run.json
RUNS = Path("runs")
_LOCK = ".lock"
_HEADER = "run.json"
_REMEDY = "copy the run folder again, or train it anew"
_A_DAY = 24 * 60 * 60.0  # seconds


class Sample(TypedDict):
    """A validation sentence, as it is translated."""

    source: str
    reference: str
    translation: str


_Number = Annotated[FiniteFloat, Field(default=math.nan)]


@with_config(ConfigDict(extra="allow"))
class Validation(TypedDict):
    """A line of the metrics; what another version of nmt did not write of it is NaN, or no samples.

    minutes: of training; train_loss: since the last validation, with dropout; loss, perplexity,
    accuracy: per token of the validation split; bleu: of greedy translations
    """

    update: int
    epoch: Annotated[int, Field(default=0)]
    minutes: _Number
    learning_rate: _Number
    train_loss: _Number
    loss: _Number
    perplexity: _Number
    accuracy: _Number
    bleu: _Number
    samples: Annotated[list[Sample], Field(default_factory=list)]


def quality(line: Validation, best: Literal["bleu", "loss"]) -> float:
    """Return by what `training.best` compares validations: the greater, the better."""
    return line["bleu"] if best == "bleu" else -line["loss"]


class _Header(BaseModel):
    """What `run.json` says."""

    format: PositiveInt = FORMAT
    nmt: str = __version__
    config: str = ""  # the file that the run was started with
    overrides: list[str] = []  # given with it, and when the run was resumed


class RunFolder:
    """Names the files of a run; opening one reads nothing but its configuration."""

    def __init__(self, path: Path):
        self.path = path
        self.data = path / "data"
        self.metrics = path / "metrics.jsonl"
        self.checkpoint = path / "checkpoint.pt"
        self.datastore = path / "datastore.safetensors"
        self.converted = path / "ctranslate2"

    @property
    def config(self) -> Config:
        """The configuration that the run was trained with last."""
        return load_config(self.path / "config.yaml")

    @property
    def origin(self) -> Origin:
        """The configuration file and the overrides that the run was started and resumed with."""
        header = _read_header(self.path)
        return Origin(header.config, tuple(header.overrides))

    def write_config(self, config: Config) -> None:
        """Write the format that this folder follows, the resolved configuration and its origin."""
        file, overrides = config.origin.file, config.origin.overrides
        if file == str(self.path / "config.yaml"):  # resumed
            file, overrides = self.origin.file, self.origin.overrides + overrides
        last = {override.partition("=")[0].strip(): override for override in overrides}
        header = _Header(config=file, overrides=list(last.values()))
        with replacing(self.path / _HEADER) as partial:
            partial.write_text(header.model_dump_json() + "\n", encoding="utf-8")
        with replacing(self.path / "config.yaml") as partial:
            partial.write_text(dump_config(config), encoding="utf-8")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from training in this folder while the context lasts.

        Makes the folder where there is none yet.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        message = (
            f"{self.path}: another training is at work here; wait for it or name another --run"
        )
        with locked(self.path / _LOCK, message, wait=False):
            yield

    def weights(self, which: Weights) -> Path:
        """Return the file of one kind of weights."""
        return self.path / f"{which}.safetensors"

    def examples(self, split: str) -> list[Example]:
        """Return the raw validation or test pairs."""
        return read_examples(self.data / f"{split}.jsonl", _REMEDY)

    @property
    def report(self) -> Report:
        """The report of the preparation."""
        return read_report(self.data, _REMEDY)

    @property
    def seen(self) -> Seen:
        """What training has seen."""
        return read_seen(self.data, self.config.data.seed)

    def read_metrics(self) -> list[Validation]:
        """Return the validations so far, in order."""
        if not self.metrics.exists():
            return []
        shape = TypeAdapter(Validation)
        try:
            with self.metrics.open("rb") as file:
                return [shape.validate_json(line, strict=True) for line in file]
        except ValidationError as error:
            raise UserError(
                f"{self.metrics}: damaged: {first_problem(error)}; delete its broken line"
            ) from None

    def best_validation(self) -> Validation | None:
        """Return the validation of the best weights, as `training.best` says; None before any."""
        measure = self.config.training.best
        lines = [line for line in self.read_metrics() if not math.isnan(line[measure])]
        return max(lines, key=lambda line: quality(line, measure), default=None)

    def write_metrics(self, lines: list[Validation]) -> None:
        """Replace the metrics, whole or not at all."""
        known = [{k: v for k, v in line.items() if v == v} for line in lines]  # without NaN
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in known)
        with replacing(self.metrics) as partial:
            partial.write_text(text, encoding="utf-8")


def require_free(path: Path) -> None:
    """Refuse a path that a new run would overwrite."""
    if not _is_free(path):
        raise UserError(f"{path}: exists already; name another --run, or add --resume to go on")


def _is_free(path: Path) -> bool:
    return not path.exists() or (path.is_dir() and all(p.name == _LOCK for p in path.iterdir()))


def create_run(path: Path, config: Config, prepared: PreparedData) -> RunFolder:
    """Create a run folder and copy into it what translating will need of the prepared data.

    Where it cannot be made whole, nothing of it is left but the folder itself. To be called while
    the folder is held, so that two trainings do not write the same one.
    """
    require_free(path)
    run = RunFolder(path)
    try:
        run.data.mkdir(parents=True, exist_ok=True)
        for file in run_files(prepared.folder):
            with replacing(run.data / file.name) as partial:
                partial.write_bytes(file.read_bytes())
        run.write_config(config)
    except BaseException:
        discard_beginning(run)
        raise
    return run


def discard_beginning(run: RunFolder) -> None:
    """Delete a run that has no checkpoint and no weights, but for its lock: it is of no use."""
    if not run.checkpoint.exists() and not any(run.path.glob("*.safetensors")):
        shutil.rmtree(run.data, ignore_errors=True)
        for name in ("config.yaml", _HEADER):
            (run.path / name).unlink(missing_ok=True)


def delete_run(run: RunFolder) -> None:
    """Delete a run, unless a training is at work in it."""
    if run.path.is_symlink():
        raise UserError(f"{run.path}: is a link; delete {run.path.resolve()} instead")
    with run.held():
        (run.path / "config.yaml").unlink()  # first: what is left by an error is no run
        shutil.rmtree(run.path)


def open_run(path: Path) -> RunFolder:
    """Open the run at `path`; raises `UserError` if there is none."""
    if not (path / "config.yaml").is_file():
        raise UserError(f"{path}: not a run folder (it has no config.yaml)")
    _read_header(path)
    return RunFolder(path)


def _read_header(run: Path) -> _Header:
    """Read run.json; refuse a later format than this. An earlier one is read: `FORMER_FIELDS`."""
    file = run / _HEADER
    if not file.exists():
        return _Header(format=1)
    try:
        stored = _Header.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise UserError(f"{file}: damaged: {first_problem(error)}; {_REMEDY}") from None
    if stored.format > FORMAT:
        raise UserError(
            f"{file.parent}: written by nmt {stored.nmt} in format {stored.format}, but this is "
            f"nmt {__version__}, which reads up to format {FORMAT}; update nmt to use this run"
        )
    return stored


def require_same_data(run: RunFolder, prepared: PreparedData) -> None:
    """Refuse prepared data other than what the run has been trained on, as it is on disk now."""
    before, now = read_manifest(run.data), read_manifest(prepared.folder)
    if before is None or now is None or before.fingerprint != now.fingerprint:
        raise UserError(
            f"{run.path}: the corpus, or the way nmt prepares it, has changed since this run "
            "began; start a new run"
        )


def newest_run(file: str, name: str = "*", option: str = "--run FOLDER") -> RunFolder:
    """Open the run under ./runs trained last of those that have the file, as best.safetensors.

    `name` is that of the run, or of the first if there are NAME-2, NAME-3, … too; `*` is any.
    `option` is how the user may name a run instead.
    """
    named = re.compile(".*" if name == "*" else rf"{re.escape(name)}(-\d+)?")
    folders = [folder for folder in RUNS.glob("*") if named.fullmatch(folder.name)]
    runs = [f for f in folders if (f / "config.yaml").is_file() and (f / file).is_file()]
    if not runs:
        raise UserError(
            f"no run {RUNS / name} with {file} here; train one with `nmt train`, or name it: "
            f"{option}"
        )
    return open_run(max(runs, key=last_change))


def new_run_path(name: str) -> Path:
    """Return ./runs/NAME, or NAME-2, NAME-3, … where that is taken."""
    number = 1
    while not _is_free(path := RUNS / (name if number == 1 else f"{name}-{number}")):
        number += 1
    return path


def last_change(folder: Path) -> float:
    """Return when a run was trained last: the time of its newest file."""
    newest = 0.0
    for path in folder.iterdir():
        # Half written, or the lock, or what training needs not have written.
        if path.name.startswith(".") or path.name == "datastore.safetensors":
            continue
        with suppress(FileNotFoundError):  # replaced or deleted meanwhile
            found = path.stat()
            # Files only: a picture drawn into a run's folder of pictures is no training.
            if stat.S_ISREG(found.st_mode):
                newest = max(newest, found.st_mtime)
    return newest


def require_folder(output: Path) -> None:
    """Refuse an output in a folder that is not there."""
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}; make it first")


def require_file(output: Path) -> None:
    """Refuse an output that no file can be written to, before the work is done, not after."""
    require_folder(output)
    if output.is_dir():
        raise UserError(f"{output}: is a folder; name a file to write")
    # A file is replaced by a new one beside it.
    place = output if output.exists() and not output.is_file() else output.resolve().parent
    if not os.access(place, os.W_OK):
        raise UserError(f"{output}: {place} cannot be written to; name another file")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it into place when the block ends well.

    Raises `UserError` where the disk refuses; what was at `path` is then still there.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")  # others may be at work
    try:
        with writing(path):
            _remove_remains(path)
            partial.touch()
            mode = partial.stat().st_mode
            yield partial
            partial.chmod(mode)  # safetensors writes files that others may not read
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_remains(path: Path) -> None:
    """Delete what processes that were killed a day ago have left beside `path`."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with suppress(FileNotFoundError):
            if time.time() - partial.stat().st_mtime > _A_DAY:
                partial.unlink()
