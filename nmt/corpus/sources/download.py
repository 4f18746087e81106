"""Downloads files: resumes, verifies, and moves the complete file into place."""

import errno
import gzip
import hashlib
import lzma
import os
import re
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import urlsplit

import platformdirs
import requests
import urllib3

from nmt import __version__
from nmt.corpus.sources.readers import MAX_UNPACKED_BYTES, open_zip
from nmt.errors import UserError, escape_terminal, one_line, writing
from nmt.files.locks import locked
from nmt.progress import Bar, elapsed

MAX_BYTES = 2 * 2**30
ATTEMPTS = 3
TIMEOUTS = (10.0, 60.0)  # seconds to connect, seconds without a byte
RESPONSE_SECONDS = 300.0  # until the headers are complete, with all redirections
MAX_SECONDS = 6 * 3600.0  # for all attempts
MAX_WAIT = 60  # seconds before another attempt, if the server asks for them
MIN_SPEED, SPEED_SECONDS = 1000, 60.0  # bytes per second, averaged over this many seconds
CHUNK = 2**16  # bytes
# Some servers reject the default user agents of libraries.
USER_AGENT = f"Mozilla/5.0 (compatible; nmt/{__version__})"

_NO_ROUTE = (errno.ENETUNREACH, errno.EHOSTUNREACH)

_pause = time.sleep


def cache_folder() -> Path:
    """Return the folder for downloaded corpora, which may not exist yet."""
    return Path(platformdirs.user_cache_dir("nmt"))


def download(
    url: str,
    destination: Path,
    *,
    git_blob: str | None = None,
    refresh: bool = False,
    max_bytes: int = MAX_BYTES,
    max_unpacked: int = MAX_UNPACKED_BYTES,
) -> Path:
    """Download `url` to `destination` and return that path; keep an existing valid file.

    `git_blob` is the git blob id of the expected content. Without it, any existing file counts as
    valid unless `refresh` is set, and a new .gz, .xz or .zip file is unpacked as a check. Raises
    `UserError` if there is no network, the content is wrong or longer than `max_bytes`, the server
    is too slow, or the file cannot be written; `destination` is then unchanged.
    """
    with writing(destination):
        if _is_right(destination, git_blob) and (git_blob or not refresh):
            return destination
        destination.parent.mkdir(parents=True, exist_ok=True)
        with claim(destination) as partial:
            # Another process may have downloaded it while this one was waiting.
            if refresh or not _is_right(destination, git_blob):
                _fetch(url, partial, git_blob, max_bytes, max_unpacked)
                partial.replace(destination)
    return destination


def git_blob_id(path: Path) -> str:
    """Return the git blob id of a file, as 40 hexadecimal digits."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _is_right(path: Path, git_blob: str | None) -> bool:
    return path.is_file() and (git_blob is None or git_blob_id(path) == git_blob)


@contextmanager
def claim(destination: Path) -> Iterator[Path]:
    """Yield a path for the download that no other process writes to."""
    message = f"waiting for another download into {destination.parent}"
    with locked(destination.parent / ".lock", message) as alone:
        if alone:
            yield destination.with_name(f"{destination.name}.partial")
            return
        # If locking is unavailable, each download uses its own file, which cannot be resumed later.
        partial = destination.with_name(f"{destination.name}.{uuid.uuid4().hex}.partial")
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)


class NotThereError(UserError):
    """The server has no such file, or refuses access to it."""


class _CutOffError(Exception):
    """A failed transfer that is worth retrying after `wait` seconds; the message is the reason."""

    def __init__(self, message: str, wait: float = 0.0):
        super().__init__(message)
        self.wait = wait


class _UnreachableError(_CutOffError):
    """This machine has no route to the server, so another attempt would fail, too."""


def _fetch(
    url: str, partial: Path, git_blob: str | None, max_bytes: int, max_unpacked: int
) -> None:
    """Fill `partial` with the verified content of `url`."""
    if git_blob is None and _packing(url) not in _SIGNATURES:
        # A partial file may be from an older version of the remote file; there is no way to tell.
        partial.unlink(missing_ok=True)
    cause, wait = "", 0.0
    attempts = 0
    deadline = time.monotonic() + MAX_SECONDS
    for attempt in range(ATTEMPTS):
        if attempt:
            _pause(max(wait, 0.5 * 2 ** (attempt - 1)))
        try:
            resumed = _transfer(url, partial, max_bytes, deadline)
            _verify(url, partial, git_blob, max_unpacked, resumed)
            return
        except _CutOffError as error:
            cause, wait, attempts = str(error), error.wait, attempt + 1
            if isinstance(error, _UnreachableError):
                break
    times = "once" if attempts == 1 else f"{attempts} times"
    raise UserError(
        f"{url}: download failed {times} ({cause}); offline, train on the built-in English–German "
        "corpus (nmt train --config everyday.yaml), or download the file elsewhere and set "
        "data.path to it (in data.corpora: path; multi30k: to its folder)"
    )


_MISFIT = "the partial file from an earlier download does not match the file on the server"


def _verify(
    url: str, partial: Path, git_blob: str | None, max_unpacked: int, resumed: bool
) -> None:
    """Reject and delete wrong content; raise `_CutOffError` if starting over may help."""
    if git_blob is None:
        try:
            _unpack(url, partial, max_unpacked)
        except UserError:
            partial.unlink()
            if resumed:
                raise _CutOffError(_MISFIT) from None
            raise
        return
    found = git_blob_id(partial)
    if found == git_blob:
        return
    size = partial.stat().st_size
    partial.unlink()
    if resumed:
        raise _CutOffError(_MISFIT)
    raise UserError(
        f"{url}: wrong content, expected git blob {git_blob}, got {found} ({size} bytes); try "
        "again later, or get the file elsewhere and point data.path at it"
    )


# Magic numbers of archives; anything else may be the login page of a captive portal.
_SIGNATURES = {".gz": ("gzip", b"\x1f\x8b"), ".xz": ("xz", b"\xfd7"), ".zip": ("zip", b"PK")}


def _packing(url: str) -> str:
    return Path(urlsplit(url).path).suffix


def _unpack(url: str, partial: Path, max_unpacked: int) -> None:
    """Unpack a .gz, .xz or .zip file and discard the result, to detect damage and truncation."""
    kind = _packing(url)
    if kind not in _SIGNATURES:
        return
    name, signature = _SIGNATURES[kind]
    try:
        with partial.open("rb") as file:
            if file.read(2) != signature:
                raise UserError(
                    f"{url}: the response is not a {name} file; check your network, or download it "
                    "by hand and point data.path at it"
                )
        with elapsed(f"checking {Path(urlsplit(url).path).name}"):
            size = _unpacked_size(partial, kind, max_unpacked)
    except NotImplementedError:
        raise UserError(
            f"{url}: is compressed with a method that nmt does not read; download and unpack it "
            "by hand, and point data.path at the text (from OPUS: with source: parallel)"
        ) from None
    except (
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        lzma.LZMAError,
        zlib.error,
        zipfile.BadZipFile,
    ):
        partial.unlink()
        raise _CutOffError("the file is truncated or damaged") from None
    if size > max_unpacked:
        raise UserError(
            f"{url}: unpacks to more than {max_unpacked:,} bytes; unpack it by hand, and "
            "point data.path at the text (from OPUS: with source: parallel)"
        )


def _unpacked_size(partial: Path, kind: str, most: int) -> int:
    """Return the unpacked size in bytes; stop reading once it exceeds `most`."""
    size = 0
    if kind != ".zip":
        with (gzip.open if kind == ".gz" else lzma.open)(partial) as unpacked:
            while size <= most and (block := unpacked.read(CHUNK)):
                size += len(block)
        return size
    with open_zip(partial) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size <= most and archive.testzip():
            raise zipfile.BadZipFile
    return size


def _transfer(url: str, partial: Path, max_bytes: int, deadline: float) -> bool:
    """Try once to complete `partial`; return whether it contains bytes from earlier attempts."""
    start = partial.stat().st_size if partial.exists() else 0
    try:
        with _request(url, start) as response:
            if not _usable(response, start):
                partial.unlink(missing_ok=True)
                raise _CutOffError("the server cannot resume a download")
            # Status 200 means the whole file, whatever was requested.
            start = start if response.status_code == 206 else 0
            _save(response, partial, start, max_bytes, deadline)
    except urllib3.exceptions.HTTPError:
        raise _CutOffError("the connection was interrupted") from None
    except (requests.ConnectionError, requests.Timeout) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        unreachable = isinstance(reason, urllib3.exceptions.NameResolutionError) or (
            getattr(getattr(reason, "__cause__", None), "errno", None) in _NO_ROUTE
        )
        kind = _UnreachableError if unreachable else _CutOffError
        raise kind(f"no connection, {type(reason or error).__name__}") from None
    except requests.RequestException as error:
        raise UserError(
            f"{url}: cannot be downloaded ({one_line(error)[:200]}); check the address and the "
            "proxy settings"
        ) from None
    except ValueError:  # from urllib.parse, for example for http://[::1
        raise UserError(
            f"{url}: redirects to an invalid address; download the file elsewhere and point "
            "data.path at it"
        ) from None
    return start > 0


def _request(url: str, start: int) -> requests.Response:
    # With transfer compression, lengths and offsets would refer to compressed bytes.
    headers = {"Accept-Encoding": "identity", "User-Agent": USER_AGENT}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with elapsed(f"connecting to {urlsplit(url).hostname}"):
            response = _get(url, headers)
    except requests.RequestException:  # also an OSError
        raise
    except OSError as error:  # from `requests`, for a missing file of certificates
        raise UserError(
            f"{url}: cannot be downloaded ({one_line(error)[:200]}); check the settings of "
            "certificates, such as REQUESTS_CA_BUNDLE"
        ) from None
    status = response.status_code
    if status in (200, 206, 416):
        return response
    response.close()
    if status >= 500 or status in (408, 429):
        wait = response.headers.get("Retry-After", "")  # in seconds, or a date
        wait_s = min(int(wait), MAX_WAIT) if re.fullmatch(r"\d{1,9}", wait) else 0
        raise _CutOffError(f"the server responded with status {status}", wait_s)
    raise (NotThereError if status in (403, 404, 410) else UserError)(
        f"{url}: the server responded with status {status}; check the name of the corpus, or get "
        "the file elsewhere and point data.path at it"
    )


def _get(url: str, headers: dict[str, str]) -> requests.Response:
    """Return the response without its body.

    In a thread, because `requests` would wait for ever if a server sends headers byte by byte.
    """
    found: SimpleQueue[requests.Response | Exception] = SimpleQueue()

    def work() -> None:
        try:
            found.put(requests.get(url, headers=headers, stream=True, timeout=TIMEOUTS))
        except Exception as error:
            found.put(error)

    Thread(target=work, daemon=True).start()
    try:
        response = found.get(timeout=RESPONSE_SECONDS)
    except Empty:
        raise _CutOffError("the server took too long to respond") from None
    if isinstance(response, Exception):
        raise response
    return response


def _usable(response: requests.Response, start: int) -> bool:
    """Return whether the body is the whole file, or the rest of it from byte `start`."""
    if response.status_code == 200:
        return True
    found = re.match(r"bytes (\d{1,18})-", response.headers.get("Content-Range", ""))
    continued = found is not None and int(found[1]) == start > 0
    return response.status_code == 206 and continued and not _is_packed(response)


def _is_packed(response: requests.Response) -> bool:
    """Return whether the body is compressed for the transfer only."""
    if _packing(response.url) == ".gz":
        # Some servers declare the file's own compression, which is kept.
        return False
    return response.headers.get("Content-Encoding", "identity") != "identity"


def _save(
    response: requests.Response, partial: Path, start: int, max_bytes: int, deadline: float
) -> None:
    """Write the body into `partial` from byte `start`, and flush it to disk."""
    total = _total(response, start)
    size = start
    with partial.open("ab" if start else "wb") as file, _bar(partial.stem, start, total) as bar:
        for chunk in _chunks(response, deadline):
            size += len(chunk)
            if size > max_bytes:
                break
            file.write(chunk)
            bar.update(len(chunk))
        file.flush()
        os.fsync(file.fileno())
    if size > max_bytes:
        partial.unlink()
        raise UserError(f"{response.url}: longer than {max_bytes} bytes; check the address")
    if total is not None and size != total:
        if size > total:
            # Which bytes are surplus is unknown, so the download cannot be resumed.
            partial.unlink()
        raise _CutOffError(f"got {size} of {total} bytes")


def _chunks(response: requests.Response, deadline: float) -> Iterator[bytes]:
    """Yield the body as it arrives; raise an error if it arrives too slowly."""
    since, size, unpack = time.monotonic(), 0, _is_packed(response)
    while chunk := response.raw.read1(CHUNK, decode_content=unpack):
        yield chunk
        size += len(chunk)
        now = time.monotonic()
        if now > deadline:
            raise UserError(
                f"{response.url}: incomplete after {MAX_SECONDS / 3600:.0f} hours; try again, or "
                "download it by hand and point data.path at it"
            )
        if now - since > SPEED_SECONDS:
            if size < MIN_SPEED * (now - since):
                raise _CutOffError(f"slower than {MIN_SPEED} bytes per second")
            since, size = now, 0


def _total(response: requests.Response, start: int) -> int | None:
    """Return the length of the whole file in bytes, if the server sent it."""
    announced = response.headers.get("Content-Length", "")
    if _is_packed(response) or not re.fullmatch(r"\d{1,18}", announced):
        return None
    return start + int(announced)


def _bar(name: str, start: int, total: int | None) -> Bar:
    return Bar(
        desc=escape_terminal(name),
        initial=start,
        total=total,
        unit="B",
        unit_scale=True,
        leave=False,
    )
