"""The test sets of sacrebleu: wmt14/full, wmt20, multi30k/2018, iwslt17, and others."""

import difflib
import glob
import io
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, suppress
from pathlib import Path
from typing import Any

from sacrebleu.dataset import DATASETS

from nmt.config.languages import two_letters
from nmt.errors import UserError, is_full_disk, one_line, write_error, writing
from nmt.files.locks import locked
from nmt.progress import elapsed

TIMEOUT = 60.0  # seconds without a byte


def read_test_set(name: str, languages: tuple[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return the sources of a test set, and one or more lists of references.

    It is downloaded into sacrebleu's cache if necessary; partial downloads are deleted.
    Raises `UserError` if there is no such set, direction or network.
    """
    pair = "-".join(map(two_letters, languages))
    found = _find(name, pair)
    with _claimed(found):
        here = _sources(found, pair).exists()
        progress = nullcontext() if here else elapsed(f"downloading test set {name}")
        try:
            with progress, redirect_stderr(io.StringIO()), _timeout(TIMEOUT):
                sources = list(found.source(pair))
                rows = [[text.strip() for text in texts] for texts in found.references(pair)]
        except BaseException as error:
            mismatch = isinstance(error, SystemExit) and error.code == 1  # as sacrebleu exits
            interrupted = not mismatch and not isinstance(error, Exception)  # Ctrl-C, or SIGTERM
            if not (interrupted and here):
                _delete_files(found, pair)
            if interrupted:
                raise
            if isinstance(error, Exception) and is_full_disk(error):
                raise write_error(Path(found._outdir), error) from None
            what = "checksum mismatch" if mismatch else one_line(error)[:200]
            raise UserError(
                f"test set {name}: cannot be downloaded from {found.data[0]} ({what}); check your "
                "network, or pass a local copy with --source and --reference"
            ) from None
        if 0 < len(sources) == len(rows):
            return sources, list(map(list, zip(*rows, strict=True)))
        if here:
            _delete_files(found, pair)
    if here and not _sources(found, pair).exists():
        return read_test_set(name, languages)  # sacrebleu was killed while it wrote these files
    remedy = f"delete {found._outdir}" if here else "choose another one"
    raise UserError(
        f"test set {name}: has {len(sources)} sources and {len(rows)} references; {remedy}"
    )


@contextmanager
def _claimed(found: Any) -> Iterator[None]:
    """Keep other processes from downloading a test set, or deleting it, within the context."""
    lock = Path(f"{found._outdir}.lock")
    with writing(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
    message = f"waiting for another process to download {found.name}"
    with locked(lock, message, delete=True):
        yield


def _delete_files(found: Any, pair: str) -> None:
    """Delete what may be partial: sacrebleu would consider it complete the next time.

    Subfolders may be other test sets: wmt14/full is in the folder of wmt14.
    """
    shutil.rmtree(found._rawdir, ignore_errors=True)
    first = Path(found._get_txt_file_path(pair, ""))
    with suppress(OSError):
        for path in first.parent.glob(f"{glob.escape(first.name)}*"):
            path.unlink()
        first.parent.rmdir()  # if empty


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """Set how long to wait for a server that sends nothing; sacrebleu would wait forever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _find(name: str, pair: str) -> Any:  # the library is untyped
    if name not in DATASETS:
        close = difflib.get_close_matches(name, DATASETS, n=3)
        guess = f"did you mean {' or '.join(close)}? " if close else ""
        raise UserError(f"test set {name}: unknown; {guess}`nmt corpora --test-sets` lists them")
    if pair not in DATASETS[name].langpairs:
        raise UserError(
            f"test set {name}: not available for {pair}; `nmt corpora --test-sets --languages "
            f"{pair}` lists those that are"
        )
    return DATASETS[name]


def _sources(found: Any, pair: str) -> Path:
    """Return the file of the sources, which exists once a test set is downloaded."""
    return Path(found._get_txt_file_path(pair, "src"))


def list_test_sets(languages: tuple[str, str]) -> Iterator[tuple[str, str, str, int | None]]:
    """Yield each test set for this direction: name, description, address, number of lines.

    The number is None if the test set is not downloaded.
    """
    pair = "-".join(map(two_letters, languages))
    known: dict[str, Any] = DATASETS
    for name, found in known.items():
        if pair in found.langpairs:
            file = _sources(found, pair)
            lines = file.read_bytes().count(b"\n") if file.exists() else None
            yield name, one_line(found.description), found.data[0], lines
