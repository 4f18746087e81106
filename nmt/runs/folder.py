"""The run folder: everything that a translation needs, in one place.

run.json                 versions of the folder's format and of nmt, and the configuration file and
                         overrides that the run was started with
config.yaml              the resolved configuration
data/                    tokenizers, raw validation and test pairs, the report of prepare, and
                         facts about the training text
metrics.jsonl            one line per validation
updates.jsonl            loss and learning rate of every tenth update, and of the last one if
                         training was interrupted
best.safetensors         the weights with the best validation score
last.safetensors         the weights after the last update
ema.safetensors          the exponential moving average of the weights, if
                         training.average_decay is set
checkpoint_average.safetensors
                         the mean of the last validations' weights, by `nmt average`
validated/               the weights of the last validations, by update, as
                         training.keep_validated says
glossary.tsv             the glossary, if decoding.glossary is set; or .csv, .txt, .tbx or .xml
datastore.safetensors    training positions for decoding.knn_k
checkpoint.pt            the complete training state, for resuming
checkpoint.previous.pt   the previous one, in case of damage
pictures/                what `nmt plot` has drawn
tensorboard/             logs for TensorBoard, if training.tensorboard is set
ctranslate2/             the model in CTranslate2's format, one folder per kind of weights
exported/                what `nmt export` wrote
README.md, LICENSE       the model card and licence of an imported or downloaded model, also after
                         fine-tuning
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

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
from typing_extensions import NotRequired, TypedDict

from nmt import __version__
from nmt.config.choices import Best, Weights
from nmt.config.config import Config, Origin
from nmt.config.yaml_files import config_name, dump_config, load_config
from nmt.corpus.prepared import Example, read_examples, read_report
from nmt.corpus.preparing.manifest import require_undamaged
from nmt.corpus.preparing.report import PreparationReport
from nmt.corpus.preparing.statistics import TrainingStatistics, read_statistics
from nmt.errors import UserError, resume
from nmt.files.json_files import FailFastList, first_problem, read_json_lines
from nmt.files.locks import locked
from nmt.files.output_files import replacing
from nmt.files.small_files import read_small
from nmt.runs.selection import Selection

FORMAT = 2  # of the run folder; 1 had no run.json
RUNS = Path("runs")  # where `nmt train` makes them
HUB = "hf:"  # at the start of the address of a run on the Hugging Face Hub
LOCK = ".lock"
HEADER = "run.json"
REPORT = "report.json"
CARD = "README.md"
LICENCE = "LICENSE"
_FORMER_WEIGHTS: dict[Weights, str] = {  # their names in older runs
    "ema": "averaged",
    "checkpoint_average": "mean",
}
# The run's own files, written only while it is held.
_OWN = (HEADER, "config.yaml", "metrics.jsonl", "updates.jsonl", "checkpoint.pt", "*.safetensors")
_REMEDY = "copy the run folder again, or train it again"


class Sample(TypedDict):
    """A validation sentence and its translation."""

    source: str
    reference: str
    translation: str


_Count = Annotated[int, Field(ge=0, le=10**12)]
_Number = Annotated[FiniteFloat, Field(default=math.nan)]


@with_config(ConfigDict(extra="allow"))
class Validation(TypedDict):
    """A line of metrics.jsonl; values that another version of nmt did not write are NaN or empty.

    minutes: of training; train_loss, train_accuracy: per token since the last validation, with
    dropout; loss, perplexity, accuracy: per token of the validation split; bleu: of greedy
    translations; chrf: of the same, in languages that BLEU cannot score; pairs: number of pairs
    translated
    """

    update: _Count
    epoch: Annotated[_Count, Field(default=0)]
    minutes: _Number
    learning_rate: _Number
    train_loss: _Number
    train_accuracy: _Number
    loss: _Number
    perplexity: _Number
    accuracy: _Number
    bleu: _Number
    chrf: NotRequired[FiniteFloat]
    pairs: NotRequired[_Count]
    samples: Annotated[FailFastList[Sample], Field(default_factory=list)]


class UpdatePoint(TypedDict):
    """A line of updates.jsonl; loss: mean cross-entropy per token of this update, with dropout."""

    update: _Count
    loss: FiniteFloat
    learning_rate: FiniteFloat


def measure_and_score(line: Validation) -> tuple[str, float]:
    """Return the measure that selects weights, and its score: BLEU, or chrF where it is there."""
    return ("chrF", line["chrf"]) if "chrf" in line else ("BLEU", line["bleu"])


def score_of(line: Validation) -> str:
    """Return the score that selects weights, such as "BLEU 23.51"."""
    measure, score = measure_and_score(line)
    return f"{measure} {score:.2f}"


def add_validation(selection: Selection, line: Validation, best: Best) -> None:
    """Add a validation to those from which the best is selected; best: see `training.best`."""
    score = measure_and_score(line)[1] if best == "bleu" else None
    selection.add(line["update"], line["loss"], score, line.get("pairs", 0))


class _Header(BaseModel):
    """The content of `run.json`."""

    format: PositiveInt = FORMAT
    nmt: str = __version__
    config: str = ""  # the file that the run was started with
    overrides: list[str] = []  # at the start, and when resuming
    fine_tuning: str = ""  # --from and further options


class RunFolder:
    """Locates the files of a run; opening one reads only its configuration."""

    def __init__(self, path: Path, address: str | None = None):
        self.path = path
        self.address = address or str(path)  # as the user named it, such as hf:user/name
        self.data = path / "data"
        self.metrics = path / "metrics.jsonl"
        self.updates = path / "updates.jsonl"
        self.checkpoint = path / "checkpoint.pt"
        self.previous_checkpoint = path / "checkpoint.previous.pt"
        self.datastore = path / "datastore.safetensors"
        self.converted = path / "ctranslate2"
        self.pictures = path / "pictures"

    @cached_property  # reading YAML takes as long as translating a sentence
    def config(self) -> Config:
        """The configuration that the run was last trained with."""
        try:
            return load_config(self.path / "config.yaml", of_run=True)
        except UserError as error:  # its remedies are for configurations that the user writes
            file = str(self.path / "config.yaml")
            causes = [  # what follows the file's name, without remedies and descriptions
                file + re.split(r"; | \(", line.rpartition(file)[2])[0]
                for line in str(error).split("\n")
            ]
            raise UserError(
                "\n".join(causes) + "; correct it, copy the run folder again, or use another run"
            ) from None

    @property
    def origin(self) -> Origin:
        """The configuration file and the overrides that the run was started and resumed with."""
        header = read_header(self.path)
        return Origin(header.config, tuple(header.overrides), header.fine_tuning)

    def write_config(self, config: Config) -> None:
        """Write the format version, the resolved configuration and its origin.

        Copies `decoding.glossary` into the folder. Raises `UserError` if it does not exist.
        """
        origin = config.origin
        if origin.file == config_name(self.path / "config.yaml"):  # resumed
            origin = replace(self.origin, overrides=self.origin.overrides + origin.overrides)
        last = {override.partition("=")[0].strip(): override for override in origin.overrides}
        header = _Header(
            config=origin.file, overrides=list(last.values()), fine_tuning=origin.fine_tuning
        )
        with replacing(self.path / HEADER) as partial:
            partial.write_text(header.model_dump_json() + "\n", encoding="utf-8")
        with replacing(self.path / "config.yaml") as partial:
            partial.write_text(dump_config(self._with_own_glossary(config)), encoding="utf-8")
        self.__dict__.pop("config", None)  # read it again

    def _with_own_glossary(self, config: Config) -> Config:
        given = config.decoding.glossary
        if given is None:
            return config
        own = self.path / f"glossary{given.suffix.lower()}"
        if given != Path(own.name) or not own.exists():  # otherwise the run was resumed
            try:
                content = given.read_bytes()
            except OSError as error:
                reason = error.strerror or "unreadable"
                raise UserError(
                    f"decoding.glossary: {given} cannot be read: {reason}; name a file of terms"
                ) from None
            with replacing(own) as partial:
                partial.write_bytes(content)
        decoding = config.decoding.model_copy(update={"glossary": Path(own.name)})
        return config.model_copy(update={"decoding": decoding})

    @property
    def glossary(self) -> Path | None:
        """The run's own glossary, if it has one."""
        name = self.config.decoding.glossary
        return self.path / name.name if name else None  # a hostile run may name a path

    @property
    def can_be_resumed(self) -> bool:
        """Whether training can continue here, from a checkpoint or from the start."""
        has_checkpoint = self.checkpoint.exists() or self.previous_checkpoint.exists()
        return has_checkpoint or self.has_only_begun

    @property
    def has_only_begun(self) -> bool:
        """Whether training has started here but has not written a checkpoint yet."""
        results = (*self.path.glob("checkpoint*.pt"), *self.path.glob("*.safetensors"))
        if results or not is_header_of_nmt(self.path / HEADER):
            return False
        # The first checkpoint is written before the first update, so before any validation.
        validated = self.metrics.is_file() and self.metrics.stat().st_size > 0
        return not validated and not self.validated()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from training in this folder within the context.

        Creates the folder if necessary, and deletes partial copies of the run's own files that
        killed processes left; other partial files may be in use, such as an output of
        `nmt translate`.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        message = (
            f"{self.path}: another process is training here; wait for it, stop it, or choose "
            "another run"
        )
        # The last pattern is safetensors'.
        patterns = (*(f".{name}.*.partial" for name in _OWN), ".tmp??????")
        with locked(self.path / LOCK, message, wait=False) as alone:
            for folder in (self.path, self.path / "validated") if alone else ():
                for pattern in patterns:
                    for remains in folder.glob(pattern):
                        remains.unlink(missing_ok=True)
            yield

    def weights(self, which: Weights) -> Path:
        """Return the file of one kind of weights."""
        present = self.path / f"{which}.safetensors"
        if which in _FORMER_WEIGHTS and not present.exists():
            former = self.path / f"{_FORMER_WEIGHTS[which]}.safetensors"
            return former if former.exists() else present
        return present

    def validated(self) -> list[Path]:
        """Return the weights kept from validations, oldest first."""
        found = (self.path / "validated").glob("[0-9]*.safetensors")
        kept = [path for path in found if path.stem.isascii() and path.stem.isdecimal()]
        return sorted(kept, key=lambda path: int(path.stem))

    def validated_weights(self, update: int) -> Path:
        """Return the file of the weights kept from one validation."""
        return self.path / "validated" / f"{update}.safetensors"

    def examples(self, split: str) -> list[Example]:
        """Return the raw validation or test pairs."""
        path = self.data / f"{split}.jsonl"
        examples = read_examples(path)
        require_undamaged([path])
        return examples

    @property
    def name(self) -> str:
        """The name of the folder, or NAME or NAME@REVISION for hf:USER/NAME@REVISION."""
        if self.address.startswith(HUB):
            return self.address.partition("/")[2].replace("/", "-")
        return self.path.name if self.path.name not in ("", "..") else self.path.resolve().name

    @cached_property
    def report(self) -> PreparationReport:
        """The report of `prepare`."""
        if self.has_only_begun and not (self.data / REPORT).exists():
            with locked(self.path / LOCK, f"{self.path}: is being prepared; wait", wait=False):
                pass
            raise UserError(
                f"{self.path}: has no checkpoint yet; start it again with {resume(self.path)}"
            )
        return read_report(self.data)

    @property
    def seen(self) -> TrainingStatistics:
        """Facts about the training text."""
        return read_statistics(self.data, self.config.data.seed)

    def read_metrics(self) -> list[Validation]:
        """Return the validations so far, in order."""
        if not self.metrics.exists():
            return []
        try:
            return read_json_lines(self.metrics, Validation)
        except ValueError as error:
            raise UserError(f"{self.metrics}: damaged: {error}; delete this line") from None

    def read_updates(self) -> list[UpdatePoint]:
        """Return the points of the training curve in order, up to the first damaged one."""
        points: list[UpdatePoint] = []
        if self.updates.exists():
            shape = TypeAdapter(UpdatePoint)
            with self.updates.open("rb") as file, suppress(ValidationError):
                for line in file:
                    points.append(shape.validate_json(line, strict=True))
        return points

    def best_validation(self, metrics: list[Validation]) -> Validation | None:
        """Return the validation of the best weights by `training.best`, or None.

        metrics: from `read_metrics`
        """
        found = self._selection(metrics)
        if found.best is None:
            return None
        return next(line for line in metrics if line["update"] == found.best_update)

    def _selection(self, metrics: list[Validation]) -> Selection:
        measure, found = self.config.training.best, Selection()
        for line in metrics:
            if not math.isnan(line[measure]):
                add_validation(found, line, measure)
        return found

    def limit_while_learning(self) -> str:
        """Return the field that ended training while validation loss was still falling, or "".

        It was falling if the last validation has the lowest loss, by at least 1% unless patience
        ended training, which waits for such minima. A completed cosine schedule does not count:
        with a rate of zero, nothing more is learned.
        """
        metrics = self.read_metrics()
        losses = [line["loss"] for line in metrics]
        if len(losses) < 2 or losses[-1] >= min(losses[:-1]):
            return ""
        last, settings = metrics[-1], self.config.training
        if settings.target_bleu and last["bleu"] >= settings.target_bleu:
            return ""
        if settings.patience and self._selection(metrics).stale >= settings.patience:
            return "training.patience"
        if losses[-1] > 0.99 * min(losses[:-1]):
            return ""
        if settings.max_minutes and last["minutes"] >= settings.max_minutes:
            return "training.max_minutes"
        if settings.schedule == "cosine":
            return ""
        if settings.max_updates and last["update"] >= settings.max_updates:
            return "training.max_updates"
        return "training.epochs" if last["epoch"] >= settings.epochs else ""

    def write_metrics(self, lines: list[Validation]) -> None:
        """Replace the metrics atomically."""
        known = [{k: v for k, v in line.items() if v == v} for line in lines]  # without NaN
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in known)
        with replacing(self.metrics) as partial:
            partial.write_text(text, encoding="utf-8")


def read_header(run: Path) -> _Header:
    """Read run.json; refuse later formats. For earlier ones, see `FORMER_FIELDS`."""
    file = run / HEADER
    if not file.exists():
        return _Header(format=1)
    try:
        stored = _Header.model_validate_json(read_small(file))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}; {_REMEDY}") from None
    except ValidationError as error:
        raise UserError(f"{file}: damaged: {first_problem(error)}; {_REMEDY}") from None
    if stored.format > FORMAT:
        raise UserError(
            f"{file.parent}: written by nmt {stored.nmt} in format {stored.format}, but this is "
            f"nmt {__version__}, which reads up to format {FORMAT}; update nmt to use this run"
        )
    return stored


def is_header_of_nmt(header: Path) -> bool:
    """Return whether nmt wrote this run.json, and not another program."""
    try:
        stored = _Header.model_validate_json(read_small(header))
    except (OSError, ValidationError):
        return False
    return {"format", "nmt"} <= stored.model_fields_set
