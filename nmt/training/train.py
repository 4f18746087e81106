"""The stage `train`: teacher forcing on prepared data until a limit is reached.

>>> from nmt.config_files import load_config
>>> from nmt.training.train import train
>>> run = train(load_config("sample.yaml"), Path("runs/sample"))
"""

from contextlib import nullcontext
from pathlib import Path

from nmt.config import Config
from nmt.corpus.prepare import default_folder, prepare
from nmt.corpus.prepared import PreparedData, open_prepared
from nmt.decoding.engines.conversion import convert
from nmt.device import choose_device
from nmt.run_folder import (
    RunFolder,
    create_run,
    discard_beginning,
    open_run,
    require_free,
    require_same_data,
)
from nmt.training.distributed import Worker
from nmt.training.fill_datastore import fill_datastore, require_room
from nmt.training.resuming import require_same_settings
from nmt.training.tensorboard import require_tensorboard
from nmt.training.trainer import Trainer


def train(
    config: Config, folder: Path, resume: bool = False, worker: Worker | None = None
) -> RunFolder:
    """Train a model into a run folder; with `resume`, go on where the folder's checkpoint stands.

    Prepares the data first where needed. Raises `UserError` when the folder is in use, or, on
    resuming, when the corpus has changed or a field that the saved state depends on; other fields,
    such as limits and the learning rate, may change and are kept in the folder.

    Raises `KeyboardInterrupt` after a Ctrl-C or SIGTERM, with a checkpoint written; there is no
    datastore for `decoding.neighbours` then.

    worker: this process as `joined` returns it; by default it is the only one, on the best device
    """
    worker = worker or Worker(choose_device())
    if config.training.tensorboard:
        require_tensorboard()
    if not resume:
        if worker.is_main:
            require_free(folder)
        run = RunFolder(folder)
        prepared = _prepare(config, worker)
        trainer = Trainer(config, prepared, run, worker)
    else:
        run = open_run(folder)
        require_same_settings(run.config, config)
        prepared = _prepare(config, worker)
        require_same_data(run, prepared)
    if config.decoding.neighbours:
        require_room(prepared, config.model.d_model)
    with run.held() if worker.is_main else nullcontext():
        if resume:
            trainer = Trainer(config, prepared, run, worker, resume=True)
            if worker.is_main:
                run.write_config(config)
        elif worker.is_main:
            create_run(folder, config, prepared)
        try:
            went_on = trainer.run()
        except BaseException:
            if worker.is_main:
                discard_beginning(run)
            raise
        if worker.is_main:
            convert(run, "best")
        wanted = config.decoding.neighbours and (went_on or not run.datastore.exists())
        if wanted and worker.is_main:
            fill_datastore(run, prepared, "best", worker.device)
    return run


def _prepare(config: Config, worker: Worker) -> PreparedData:
    """Prepare in the main process; the others open what it has prepared."""
    sections = config.data, config.tokenizer
    return worker.main_first(
        main=lambda: prepare(config),
        others=lambda: open_prepared(default_folder(config), *sections),
    )
