"""The stage `train`: trains on prepared data until a limit is reached.

>>> from nmt.config.yaml_files import load_config
>>> from nmt.training.train import train
>>> run = train(load_config("sample.yaml"), Path("runs/sample"))
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import get_args

from nmt.config.choices import Weights
from nmt.config.config import Config
from nmt.corpus.prepared import PreparedData, open_prepared
from nmt.corpus.preparing.prepare import default_folder, prepare
from nmt.corpus.preparing.report import format_corpora, format_dropped, format_inherited
from nmt.decoding.engines.conversion import convert
from nmt.decoding.glossary import Glossary
from nmt.decoding.search.datastore import weights_of
from nmt.device import choose_device
from nmt.echo import echo
from nmt.files.checksums import identity
from nmt.runs.finding import open_run
from nmt.runs.folder import RunFolder
from nmt.runs.lifecycle import claimed, create_run, discard_beginning
from nmt.training.distributed import Worker
from nmt.training.fill_datastore import fill_datastore, require_room
from nmt.training.loop import Trainer, require_possible
from nmt.training.resuming import require_same_settings, resuming_command


def train(
    config: Config,
    folder: Path | str,
    resume: bool = False,
    worker: Worker | None = None,
    numbered: bool = False,
) -> RunFolder:
    """Train a model and write it to a run folder; with `resume`, continue from its checkpoint.

    Prepares the data first if necessary. Raises `UserError` if the folder is in use, or, when
    resuming, if the corpus or a field that the saved state depends on has changed. Other fields,
    such as limits and the learning rate, may change, and the folder stores the new values; if there
    is nothing left to train, it keeps its former `training` section. A run that was killed before
    its first checkpoint starts over, with or without `resume`.

    Raises `KeyboardInterrupt` after Ctrl-C, or after SIGTERM or SIGHUP during updates, with a
    checkpoint written if there has been an update, but without a datastore for
    `decoding.knn_k`.

    worker: this process, from `joined`; default: the only one, on the best device; numbered:
    whether to use FOLDER-2, FOLDER-3, … if the folder exists
    """
    folder = Path(folder)
    worker = worker or Worker(choose_device())
    require_possible(config)
    with _held(folder, resume, numbered, worker) as run:
        try:
            begin = not resume or run.has_only_begun
            trainer = (_begin if worker.gather(begin)[0] else _resume)(config, run, worker)
            trained = trainer.run()
        except Exception:
            if worker.is_main and not resume:
                discard_beginning(run)
            raise
        except BaseException:
            if worker.is_main and run.has_only_begun:
                again = resuming_command(run, worker)
                echo("interrupted before the first checkpoint; start again with", f"  {again}")
            raise
        # Also if already finished: it may have been killed here.
        if worker.is_main and run.weights("best").exists():
            convert(run, "best")
        wanted = config.decoding.knn_k and (trained or not _has_datastore(run))
        if wanted and worker.is_main:
            fill_datastore(run, trainer.prepared, "best", worker.device)
    return run


def _has_datastore(run: RunFolder) -> bool:
    """Return whether there is a datastore, built from weights that the run still has."""
    paths = map(run.weights, get_args(Weights))
    present = [identity(path) for path in paths if path.exists()]
    return run.datastore.exists() and weights_of(run.datastore) in present


@contextmanager
def _held(folder: Path, resume: bool, numbered: bool, worker: Worker) -> Iterator[RunFolder]:
    """Yield the run folder in every worker; the main one locks it within the context."""
    with ExitStack() as stack:
        if worker.is_main and resume:
            stack.enter_context(open_run(folder).held())
        elif worker.is_main:
            folder = stack.enter_context(claimed(folder, numbered)).path
        yield RunFolder(worker.gather(folder)[0])


def _begin(config: Config, run: RunFolder, worker: Worker) -> Trainer:
    if config.decoding.glossary:  # refuse a faulty one before training
        Glossary.read(config.decoding.glossary, config.data.languages)
    if worker.is_main:
        run.write_config(config)  # first: if this process is killed, the run can be resumed
    prepared = _prepare(config, worker)
    if worker.is_main:
        if inherited := prepared.report.get("inherited"):
            echo(*format_inherited(inherited))
        if dropped := {why: n for why, n in prepared.report["dropped"].items() if n}:
            echo(format_dropped(dropped))
        echo(*format_corpora(prepared.report, prepared.mixing_weights))
    trainer = Trainer(config, prepared, run, worker)
    if worker.is_main:
        create_run(run.path, config, prepared)
    return trainer


def _resume(config: Config, run: RunFolder, worker: Worker) -> Trainer:
    require_same_settings(run.config, config)
    prepared = _prepare(config, worker, run.data)
    trainer = Trainer(config, prepared, run, worker, resume=True)
    if trainer.is_complete:  # nothing is trained with the new settings of training
        config = _with_training_of(run.config, config)
    if worker.is_main and (not trainer.is_complete or config != run.config):
        run.write_config(config)
    return trainer


def _with_training_of(former: Config, config: Config) -> Config:
    """Return a configuration with the `training` section of another, also in its origin.

    Overrides of `config` are those made when resuming; `write_config` adds the former ones.
    """
    overrides = config.origin.overrides
    kept = tuple(each for each in overrides if each.partition(".")[0].strip() != "training")
    origin = replace(config.origin, overrides=kept)
    return config.model_copy(update={"training": former.training}).with_origin(origin)


def _prepare(config: Config, worker: Worker, run_data: Path | None = None) -> PreparedData:
    """Prepare in the main process; the others open the result."""
    sections = config.data, config.tokenizer
    prepared = worker.main_first(
        main=lambda: prepare(config, run_data=run_data),
        others=lambda: open_prepared(default_folder(config), *sections),
    )
    if config.decoding.knn_k:
        require_room(prepared, config.model.d_model)
    return prepared
