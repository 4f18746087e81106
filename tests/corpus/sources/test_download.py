"""Downloads are complete and verified, or leave no file; a local server simulates the faults."""

import contextlib
import errno
import gzip
import hashlib
import http.server
import io
import multiprocessing
import re
import socket
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from unittest.mock import Mock

import pytest
import requests

from nmt.corpus.sources.download import CHUNK, cache_folder, download, git_blob_id
from nmt.errors import UserError

CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2
MODULE = "nmt.corpus.sources.download"


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


BLOB = blob_id(CONTENT)


class Server(http.server.ThreadingHTTPServer):
    """Answers each request with the next of `answers`, and keeps repeating the last one."""

    def __init__(self, target: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: tuple[Answer, ...] = ()
        self.ranges: list[str | None] = []
        self.target = target

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/corpus.pkl"

    def send(self, *answers: "Answer", ending: str = "", **options: Any) -> bytes:
        """Download to `target`, and return its content; the URL may have a further ending."""
        self.answers = answers or self.answers
        return download(self.url + ending, self.target, **options).read_bytes()

    def refusal(self, *answers: "Answer", ending: str = "", **options: Any) -> str:
        """Return the error of a download that fails."""
        self.answers = answers
        return refusal(self.url + ending, self.target, **options)

    def write_partial(self, content: bytes) -> None:
        self.target.parent.mkdir()
        self.target.with_name("corpus.pkl.partial").write_bytes(content)

    @property
    def left(self) -> list[str]:
        """The files in the folder, except the lock."""
        return sorted(path.name for path in self.target.parent.iterdir() if path.name != ".lock")


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        number = len(self.server.ranges)
        self.server.ranges.append(self.headers["Range"])
        self.server.answers[min(number, len(self.server.answers) - 1)](self)

    def reply(self, status: int, body: bytes = b"", **headers: str | int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


Answer: TypeAlias = Callable[[Handler], None]


def answer(status: int, body: bytes = b"", **headers: str | int) -> Answer:
    return lambda handler: handler.reply(status, body, **headers)


def serving(content: bytes) -> Answer:
    """Answer as servers normally do, including range requests."""

    def serve(handler: Handler) -> None:
        found = re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")
        start, total = int(found[1]) if found else 0, len(content)
        if start >= total:
            handler.reply(416, Content_Length=0)
            return
        where = {"Content_Range": f"bytes {start}-{total - 1}/{total}"} if found else {}
        handler.reply(206 if found else 200, content[start:], Content_Length=total - start, **where)

    return serve


SIZE = len(CONTENT)
NORMAL = serving(CONTENT)
FULL = answer(200, CONTENT, Content_Length=SIZE)
CUT_OFF = answer(200, CONTENT[:HALF], Content_Length=SIZE)
WRONG_RANGE = answer(
    206, CONTENT[7:], Content_Length=SIZE - 7, Content_Range=f"bytes 7-{SIZE - 1}/{SIZE}"
)
WRONG_CONTENT = answer(200, CONTENT[::-1], Content_Length=SIZE)


def failing(status: int) -> Answer:
    return answer(status, b"sorry", Content_Length=5)


def packed(kind: str, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    if kind == ".gz":
        return gzip.compress(CONTENT, mtime=0)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        # Without a date, `writestr` takes the time of day.
        archive.writestr(zipfile.ZipInfo("deu.txt"), CONTENT, method)
    return buffer.getvalue()


def damaged(kind: str) -> bytes:
    content = bytearray(packed(kind))
    content[len(content) // 2] ^= 1
    return bytes(content)


both_kinds = pytest.mark.parametrize("kind", [".gz", ".zip"])


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "corpus.pkl"


@pytest.fixture
def server(target: Path) -> Iterator[Server]:
    with Server(target) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    monkeypatch.setattr(f"{MODULE}._pause", taken.append)
    return taken


def refusal(url: str, target: Path, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        download(url, target, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ------------------------------------------------------------------------------- complete downloads


def test_a_file_is_downloaded_once_and_a_damaged_one_replaced(server: Server) -> None:
    for _ in range(2):
        assert server.send(NORMAL, git_blob=BLOB) == server.send() == CONTENT
        assert server.left == ["corpus.pkl"]
        server.target.write_bytes(CONTENT[:-1])
    assert len(server.ranges) == 2


def test_refresh_downloads_files_without_a_known_hash_again(server: Server) -> None:
    server.target.parent.mkdir()
    server.target.write_bytes(b"old")
    assert server.send(NORMAL) == b"old"
    assert server.send(refresh=True) == server.send(git_blob=BLOB, refresh=True) == CONTENT
    assert len(server.ranges) == 1


@pytest.mark.parametrize("blob", [None, BLOB])
@pytest.mark.parametrize("after", [[NORMAL], [FULL], [WRONG_RANGE, FULL]])
def test_a_cut_off_transfer_is_resumed_or_restarted(
    server: Server, pauses: list[float], after: list[Answer], blob: str | None
) -> None:
    assert server.send(CUT_OFF, *after, git_blob=blob) == CONTENT
    first, second = server.ranges[:2]
    assert first is None
    assert second is not None
    # The last chunk before the cut may be lost.
    assert HALF - CHUNK <= int(second.removeprefix("bytes=").removesuffix("-")) <= HALF
    assert len(pauses) == len(after)


@pytest.mark.parametrize(
    ("partial", "blob", "ranges"),
    [
        (CONTENT[:100], BLOB, ["bytes=100-"]),
        (b"stale", None, [None]),  # which cannot be verified
        (b"stale", BLOB, ["bytes=5-", None]),
        (CONTENT, BLOB, [f"bytes={SIZE}-", None]),
        (CONTENT + b"more", BLOB, [f"bytes={SIZE + 4}-", None]),
    ],
)
def test_partial_files_of_earlier_runs_are_resumed_only_if_they_can_be_verified(
    server: Server, partial: bytes, blob: str | None, ranges: list[str | None]
) -> None:
    server.write_partial(partial)
    assert server.send(NORMAL, git_blob=blob) == CONTENT
    assert server.ranges == ranges


@both_kinds
def test_partial_downloads_of_a_compressed_file_are_resumed_if_they_match(
    server: Server, kind: str
) -> None:
    for partial, requests_made in ((packed(kind)[:1000], 1), (b"PK and something else", 3)):
        server.write_partial(partial)
        assert server.send(serving(packed(kind)), ending=kind) == packed(kind)
        assert len(server.ranges) == requests_made
        server.target.unlink()
        (server.target.parent / ".lock").unlink()
        server.target.parent.rmdir()


def test_server_errors_are_retried(server: Server, pauses: list[float]) -> None:
    assert server.send(failing(500), failing(503), NORMAL, git_blob=BLOB) == CONTENT
    assert len(pauses) == 2
    assert pauses[1] > pauses[0] > 0


def test_a_server_may_ask_to_wait(server: Server, pauses: list[float]) -> None:
    waits = [
        answer(status, Retry_After=wait, Content_Length=0)
        for status, wait in ((429, 7), (503, 86400))
    ]
    server.send(*waits, NORMAL, git_blob=BLOB)
    assert pauses == [7, 60]


def test_a_redirect_is_followed_also_when_resuming(server: Server) -> None:
    redirect = answer(302, Location="/elsewhere", Content_Length=0)
    assert server.send(redirect, CUT_OFF, redirect, NORMAL, git_blob=BLOB) == CONTENT
    assert server.ranges[2] == server.ranges[3] is not None


def test_a_missing_length_is_accepted(server: Server) -> None:
    assert server.send(answer(200, CONTENT), git_blob=BLOB) == CONTENT


@both_kinds
def test_a_truncated_archive_without_content_length_is_downloaded_again(
    server: Server, kind: str
) -> None:
    content = packed(kind)
    assert server.send(answer(200, content[:-100]), answer(200, content), ending=kind) == content
    assert server.ranges == [None, None]


def test_a_gzip_file_stays_one_if_the_server_calls_it_an_encoding(server: Server) -> None:
    content = packed(".gz")
    reply = answer(200, content, Content_Length=len(content), Content_Encoding="gzip")
    assert server.send(reply, ending=".gz") == content


def test_an_encoded_body_of_unknown_length(server: Server) -> None:
    """As servers send that compress on the fly: in chunks, without a length."""
    content = packed(".gz")

    def chunked(end: bytes) -> Answer:
        def reply(handler: Handler) -> None:
            handler.protocol_version = "HTTP/1.1"
            handler.reply(200, Content_Encoding="gzip", Transfer_Encoding="chunked")
            for start in range(0, len(content), 100):
                chunk = content[start : start + 100]
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            handler.wfile.write(end)
            handler.close_connection = True

        return reply

    assert "interrupted" in server.refusal(chunked(end=b""))
    assert server.send(chunked(end=b"0\r\n\r\n"), git_blob=BLOB) == CONTENT


def test_a_server_that_falls_silent_is_asked_to_continue(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MODULE}.TIMEOUTS", (1, 0.2))
    over = threading.Event()

    def silent(handler: Handler) -> None:
        CUT_OFF(handler)
        over.wait(20)

    assert server.send(silent, NORMAL) == CONTENT
    over.set()


def test_nmt_sends_its_own_user_agent(server: Server) -> None:
    agents: list[str] = []

    def note(handler: Handler) -> None:
        agents.append(handler.headers["User-Agent"])
        NORMAL(handler)

    server.send(note)
    assert "nmt/" in agents[0]
    assert "requests" not in agents[0]


@both_kinds
@pytest.mark.usefixtures("immediate_progress")
def test_checking_a_large_file_shows_the_elapsed_time(
    server: Server, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.send(serving(packed(kind)), ending=kind)
    assert f"checking corpus.pkl{kind}: 00:00" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("reply", "ending", "options", "requests_made", "named"),
    [
        (failing(500), "", {}, 3, "500"),
        (failing(500), "", {"git_blob": BLOB}, 3, "500"),
        (failing(404), "", {}, 1, "404"),
        (answer(200, CONTENT, Content_Length=HALF), "", {"git_blob": BLOB}, 1, BLOB),
        (WRONG_CONTENT, "", {"git_blob": BLOB}, 1, blob_id(CONTENT[::-1])),
        (answer(200, CONTENT), "", {"max_bytes": 1000}, 1, "1000 bytes"),
        (FULL, "", {"max_bytes": 1000}, 1, "1000 bytes"),
        (answer(302, Location="http://[::1", Content_Length=0), "", {}, 1, "redirects"),
        (answer(302, Location="http://a@[zz]/", Content_Length=0), "", {}, 1, "redirects"),
        (FULL, "/train.en.gz", {}, 1, "gzip"),  # as the page of a captive portal
        (answer(200, damaged(".gz")), ".gz", {}, 3, "damaged"),
        (answer(200, damaged(".zip")), ".zip", {}, 3, "damaged"),
        (answer(200, packed(".gz")), ".gz", {"max_unpacked": 1000}, 1, "1,000 bytes"),
        (answer(200, packed(".zip")), ".zip", {"max_unpacked": 1000}, 1, "1,000 bytes"),
        (answer(200, packed(".zip", zipfile.ZIP_BZIP2)), ".zip", {}, 1, "method"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_no_file(
    server: Server,
    reply: Answer,
    ending: str,
    options: dict[str, Any],
    requests_made: int,
    named: str,
) -> None:
    message = server.refusal(reply, ending=ending, **options)
    assert message.startswith(server.url)
    assert named in message
    assert len(server.ranges) == requests_made
    assert server.left == []


def test_an_overstated_length_is_an_error(server: Server) -> None:
    server.refusal(answer(200, CONTENT, Content_Length=10**7))
    assert len(server.ranges) == 3
    assert "corpus.pkl" not in server.left


def test_wrong_content_keeps_the_existing_file(server: Server) -> None:
    server.target.parent.mkdir()
    server.target.write_bytes(b"edited")
    server.refusal(WRONG_CONTENT, git_blob=BLOB)
    assert server.target.read_bytes() == b"edited"


@pytest.mark.parametrize(
    ("limit", "requests_made", "named"),
    [("SPEED_SECONDS", 3, "slower than"), ("MAX_SECONDS", 1, "incomplete after")],
)
def test_a_download_from_a_slow_server_is_aborted(
    server: Server, limit: str, requests_made: int, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(handler: Handler) -> None:
        handler.reply(200, Content_Length=SIZE)
        for byte in range(100):
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)

    monkeypatch.setattr(f"{MODULE}.{limit}", 0.1)
    assert named in server.refusal(slow, git_blob=BLOB)
    assert len(server.ranges) == requests_made
    assert "corpus.pkl" not in server.left


def test_headers_that_never_end_are_given_up(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{MODULE}.RESPONSE_SECONDS", 0.3)
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def trickle() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not ended.wait(0.02):
                    connection.sendall(b"x")

        for _ in range(3):
            threading.Thread(target=trickle, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/corpus.pkl"
        assert "too long to respond" in refusal(url, target)
        ended.set()
    assert not target.exists()


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("getaddrinfo", socket.gaierror("Temporary failure in name resolution")),
        ("socket", OSError(errno.ENETUNREACH, "Network is unreachable")),
    ],
)
def test_without_a_network_one_attempt_is_enough(
    target: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch, method: str, error: OSError
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(socket, method, fail)
    if method == "socket":  # the name is known
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("::1", 80))])
    message = refusal("http://corpora.example/corpus.pkl", target)
    assert ": download failed once (no connection, " in message
    assert "); offline, train on the built-in " in message
    assert "--config everyday.yaml" in message
    assert pauses == []


def test_an_unreachable_server_is_tried_three_times(target: Path, pauses: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/corpus.pkl"
    message = refusal(url, target)
    assert message.startswith(f"{url}: download failed 3 times (no connection, ")
    assert "data.path" in message
    assert pauses == [0.5, 1.0]


def test_wrong_addresses_and_settings_of_the_network_are_named(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "check the address" in refusal("nonsense://x", target)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/bundle.pem")
    message = refusal("https://127.0.0.1:9/corpus.pkl", target)
    assert "/nowhere/bundle.pem" in message
    assert "REQUESTS_CA_BUNDLE" in message
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    without_socks = requests.exceptions.InvalidSchema("Missing dependencies for SOCKS support.")
    monkeypatch.setattr(requests, "get", Mock(side_effect=without_socks))
    message = refusal("http://192.0.2.1/corpus.pkl", target)
    assert "SOCKS" in message
    assert "proxy settings" in message


def test_a_folder_that_cannot_be_created_is_reported(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    server.target = tmp_path / "file" / "corpus.pkl"
    assert "cannot be written" in server.refusal(NORMAL)
    assert server.ranges == []


def test_a_full_disk_is_reported_and_the_download_is_resumed_later(
    server: Server, full_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    with full_disk(HALF):
        message = server.refusal(NORMAL, git_blob=BLOB)
    assert message.startswith(f"{server.target}: cannot be written (File too large; ")
    server.send(git_blob=BLOB)
    assert server.ranges == [None, f"bytes={HALF}-"]


# -------------------------------------------------------------------------------- several processes


def test_concurrent_downloads_do_not_interfere(server: Server) -> None:
    server.answers = (CUT_OFF, NORMAL)
    arguments: Any = {"args": (server.url, server.target), "kwargs": {"git_blob": BLOB}}
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=download, **arguments) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert server.target.read_bytes() == CONTENT
    assert len(server.ranges) == 2


def test_without_locks_each_download_has_its_own_file(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_locks = Mock(side_effect=OSError(37, "No locks available"))
    monkeypatch.setattr("filelock.FileLock.acquire", no_locks)
    server.write_partial(b"another's")
    assert server.send(CUT_OFF, NORMAL, git_blob=BLOB) == CONTENT
    assert server.left == ["corpus.pkl", "corpus.pkl.partial"]
    assert server.target.with_name("corpus.pkl.partial").read_bytes() == b"another's"


def test_the_cache_folder_is_named_after_nmt() -> None:
    assert "nmt" in cache_folder().parts


def test_git_blob_id_of_the_tutorials_file(corpora: Path) -> None:
    path = corpora / "english-german-test.pkl"
    assert git_blob_id(path) == "e052ffd3a05102cfa11f384b6a8f7cbefb982626"
