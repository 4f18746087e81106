"""Downloads runs from the Hugging Face Hub, for `--run hf:USER/NAME`.

Only weights as safetensors, YAML, JSON, SentencePiece models, hashes and a glossary are downloaded:
nothing that could run. A checkpoint, which PyTorch would unpickle, is not downloaded.
"""

from pathlib import Path
from typing import Any, get_args

from nmt.config.choices import Weights
from nmt.corpus.sources.download import cache_folder
from nmt.errors import UserError, is_full_disk, missing_extra, one_line, unwritable
from nmt.runs.folder import HUB

RUN_FILES = [
    *("run.json", "config.yaml", "metrics.jsonl"),
    *(f"glossary{ending}" for ending in (".tsv", ".csv", ".txt", ".tbx", ".xml")),
    *(f"data/*{ending}" for ending in (".json", ".jsonl", ".model", ".keys")),
    *(f"{which}.safetensors" for which in get_args(Weights)),
]


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
    version has a folder of its own, so an interrupted update cannot mix two of them.
    """
    name, _, revision = address.removeprefix(HUB).partition("@")
    cache = cache_folder() / "runs"
    try:
        folder = import_hub().snapshot_download(
            name, revision=revision or None, cache_dir=cache, allow_patterns=RUN_FILES
        )
    except UserError:
        raise
    except Exception as error:  # the possible exceptions have no common base class
        if is_full_disk(error):
            raise unwritable(cache, error) from None
        raise UserError(
            f"{address}: cannot be downloaded: {one_line(error)[:300]}; check the name and your "
            "network; for a private run, log in with hf auth login"
        ) from None
    return Path(folder)
