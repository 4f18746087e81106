"""The manifest of prepared data, `prepared.json`: what the folder was made from, and its files.

It is written last and so marks the folder as complete. It is copied into run folders along with the
small files, whose checksums it lists.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.errors import UserError
from nmt.files.checksums import DAMAGED, checksums, is_damaged
from nmt.files.json_files import unreadable
from nmt.files.small_files import read_small

FORMAT = 5
MANIFEST = "prepared.json"
_SMALL = (".json", ".jsonl", ".model", ".keys")


@dataclass(frozen=True)
class Manifest:
    """The content of `prepared.json`."""

    folder: Path
    fingerprint: str
    files: dict[str, int]
    """Sizes in bytes, by file name."""
    checksums: dict[str, str] = field(default_factory=dict)
    """Hexadecimal SHA-256 of the files that are copied into run folders."""
    inherited: str | None = None
    """`ParentRunData.checksum` of `tokenizer.run`, or None."""

    def is_complete(self) -> bool:
        """Return whether all listed files exist and have their recorded size."""
        try:
            return all((self.folder / n).stat().st_size == size for n, size in self.files.items())
        except OSError:
            return False


def run_files(folder: Path) -> list[Path]:
    """Return the files of prepared data that a run folder needs: all except the sentence ids."""
    return sorted(path for path in folder.iterdir() if path.suffix in _SMALL)


def write_manifest(
    folder: Path,
    data: DataConfig,
    tokenizer: TokenizerConfig,
    fingerprint: str,
    inherited: str | None = None,
) -> None:
    """Write the manifest of a complete folder."""
    manifest = {
        "format": FORMAT,
        "fingerprint": fingerprint,
        "files": {path.name: path.stat().st_size for path in sorted(folder.iterdir())},
        "checksums": checksums(run_files(folder)),
        "data": data.model_dump(mode="json"),
        "tokenizer": tokenizer.model_dump(mode="json"),
        "inherited": inherited,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None if it is missing or damaged."""
    try:
        stored = json.loads(read_small(folder / MANIFEST))
        checksums = dict(stored.get("checksums", {}))  # format 4 had none
        inherited = stored.get("inherited")
        files = dict(stored["files"])
        return Manifest(folder, str(stored["fingerprint"]), files, checksums, inherited)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def require_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; raises `UserError` if it is missing or damaged."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise unreadable(folder / MANIFEST, "missing or damaged")
    return manifest


def require_same_data(run_data: Path, fingerprint: str) -> None:
    """Refuse data that differs from the data in a run folder, which the run was trained on."""
    if require_manifest(run_data).fingerprint != fingerprint:
        raise changed(run_data)


def require_same_vocabulary(run_data: Path, prepared: Path, names: list[str]) -> None:
    """Refuse vocabularies that differ from the run's although the corpus is the same."""
    before, now = (require_manifest(folder).checksums for folder in (run_data, prepared))
    if any(name in before and before[name] != now.get(name) for name in names):
        raise UserError(
            f"{run_data.parent}: the libraries on this machine build another vocabulary than the "
            "run has; install the versions with which it was started, or start a new run"
        )


def changed(run_data: Path) -> UserError:
    """Return the error for data that differs from a run's."""
    return UserError(
        f"{run_data.parent}: since this run started, the corpus has changed, or the way nmt "
        "prepares it, or (with --from) the original run; start a new run"
    )


def require_undamaged(paths: list[Path]) -> None:
    """Raise `UserError` if a file of prepared data does not match the manifest beside it."""
    manifest = read_manifest(paths[0].parent)
    listed = manifest.checksums if manifest else {}
    for path in paths:
        if path.name in listed and path.is_file() and is_damaged(path, listed[path.name]):
            raise unreadable(path, DAMAGED)
