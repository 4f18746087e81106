"""Downloads runs from the Hugging Face Hub, for `--run hf:USER/NAME`.

Only weights, YAML, JSON, SentencePiece models, model cards, hashes and a glossary are downloaded:
nothing that could run. A checkpoint, which PyTorch would unpickle, is not downloaded. If a
repository has no run but a Marian model of `transformers`, a run is made of it once, in the cache.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from nmt.config.choices import Weights
from nmt.corpus.sources.download import cache_folder
from nmt.errors import UserError, is_full_disk, missing_extra, one_line, write_error, writing
from nmt.files.locks import locked
from nmt.progress import Bar
from nmt.runs.folder import CARD, HUB, LICENCE

RUN_FILES = [
    *("run.json", "config.yaml", "metrics.jsonl"),
    *(f"glossary{ending}" for ending in (".tsv", ".csv", ".txt", ".tbx", ".xml")),
    *(f"data/*{ending}" for ending in (".json", ".jsonl", ".model", ".keys")),
    *(f"{which}.safetensors" for which in get_args(Weights)),
]
_MARIAN_FILES = [
    *("config.json", "generation_config.json", "tokenizer_config.json"),
    *("vocab.json", "target_vocab.json", "source.spm", "target.spm"),
]
_LARGEST = 2**33  # bytes of all files of a download


def import_hub() -> Any:
    """Return the library; raises `UserError` if it is not installed."""
    try:
        import huggingface_hub
    except ImportError:
        raise missing_extra("the Hugging Face Hub", "hub") from None
    return huggingface_hub


def download_run(address: str) -> Path:
    """Return the folder of the run at hf:USER/NAME or hf:USER/NAME@REVISION, in the cache.

    Unchanged files are not downloaded again; without a network, the cached run is used. Each
    version has a folder of its own, so an interrupted update cannot mix two of them. Raises
    `UserError` if there is neither a run nor a model that can be imported.
    """
    folder = _download(address, [*RUN_FILES, *_MARIAN_FILES, CARD, LICENCE])
    if (folder / "config.yaml").is_file():
        return folder
    if not (folder / "config.json").is_file():
        raise UserError(
            f"{address}: neither a run of nmt (it has no config.yaml) nor a model of transformers; "
            "check the name"
        )
    run = cache_folder() / "imported" / folder.parent.parent.name / folder.name
    with writing(run):
        run.parent.mkdir(parents=True, exist_ok=True)
    waiting = f"waiting for another process to import {address}"
    with locked(run.parent / f".{run.name}.lock", waiting):
        if not run.exists():
            _import(address, folder, run)
    return run


def _import(address: str, folder: Path, run: Path) -> None:
    """Download the weights, and make a run of the model."""
    from nmt.runs.importing import WEIGHTS, import_run, require_marian

    try:
        require_marian(folder)
        for name in WEIGHTS:
            _download(address, [name])
            if (folder / name).is_file():
                break
        import_run(folder, run, address)
    except UserError as error:
        given = str(error).removeprefix(f"{address}: ")
        raise UserError(f"{address}: {given}") from None


def _download(address: str, files: list[str]) -> Path:
    """Download those of the files that the repository has; return the folder of its version.

    Without a network, the folder is that of an earlier download, if it was complete.
    """
    library = import_hub()
    name, _, revision = address.removeprefix(HUB).partition("@")
    cache = cache_folder() / "runs"
    wanted: dict[str, Any] = {
        "revision": revision or None,
        "cache_dir": cache,
        "allow_patterns": files,
        "tqdm_class": Bar,  # shows nothing if all files are there already
    }
    try:
        try:
            found = library.model_info(name, revision=revision or None, files_metadata=True)
        except Exception:
            with suppress(Exception):
                return Path(library.snapshot_download(name, local_files_only=True, **wanted))
            raise
        _require_bounded(address, library, found.siblings, files)
        return Path(library.snapshot_download(name, **wanted))
    except UserError:
        raise
    except Exception as error:  # the possible exceptions have no common base class
        if is_full_disk(error):
            raise write_error(cache, error) from None
        raise UserError(
            f"{address}: cannot be downloaded: {one_line(error)[:300]}; check the name and your "
            "network; for a private run, log in with hf auth login"
        ) from None


def _require_bounded(address: str, library: Any, entries: Any, files: list[str]) -> None:
    """Raise `UserError` if those of the files that the repository has are too large together."""
    sizes = {entry.rfilename: entry.size or 0 for entry in entries}
    size = sum(
        sizes[name] for name in library.utils.filter_repo_objects(sizes, allow_patterns=files)
    )
    if size > _LARGEST:
        raise UserError(
            f"{address}: its files are too large, {size / 2**30:.1f} GiB in place of at most "
            f"{_LARGEST // 2**30}; choose another repository"
        )
