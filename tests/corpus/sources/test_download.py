"""Downloads are complete and verified, or leave no file; a local server simulates the faults."""

import contextlib
import gzip
import hashlib
import http.server
import io
import multiprocessing
import os
import re
import socket
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn
from unittest.mock import Mock

import pytest
import requests

from nmt.corpus.sources.download import CHUNK, cache_folder, download, git_blob_id
from nmt.errors import UserError

FullDisk = Callable[[int], AbstractContextManager[None]]
CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Answers each request with the next of `answers`, and keeps repeating the last one."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Callable[[Handler], None]] = []
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/corpus.pkl"


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


def normal_server(handler: Handler) -> None:
    """Answer as servers normally do, including range requests."""
    serve(handler, CONTENT)


def serve(handler: Handler, content: bytes) -> None:
    found = re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")
    start, total = int(found[1]) if found else 0, len(content)
    if start >= total:
        handler.reply(416, Content_Length=0)
        return
    where = {"Content_Range": f"bytes {start}-{total - 1}/{total}"} if found else {}
    handler.reply(206 if found else 200, content[start:], Content_Length=total - start, **where)


def full_response(handler: Handler) -> None:
    handler.reply(200, CONTENT, Content_Length=len(CONTENT))


def cut_off(handler: Handler) -> None:
    handler.reply(200, CONTENT[:HALF], Content_Length=len(CONTENT))


def wrong_content(handler: Handler) -> None:
    handler.reply(200, CONTENT[::-1], Content_Length=len(CONTENT))


def understated_length(handler: Handler) -> None:
    handler.reply(200, CONTENT, Content_Length=HALF)


def wrong_range(handler: Handler) -> None:
    """Send a different range than requested."""
    where = f"bytes 7-{len(CONTENT) - 1}/{len(CONTENT)}"
    handler.reply(206, CONTENT[7:], Content_Length=len(CONTENT) - 7, Content_Range=where)


def failing(status: int) -> Callable[[Handler], None]:
    return lambda handler: handler.reply(status, b"sorry", Content_Length=5)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    monkeypatch.setattr("nmt.corpus.sources.download._pause", taken.append)
    monkeypatch.setenv("NO_PROXY", "*")
    return taken


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "corpus.pkl"


def left(target: Path) -> list[str]:
    """Return the files in the folder, except the lock."""
    return sorted(path.name for path in target.parent.iterdir() if path.name != ".lock")


def refusal(url: str, target: Path, **options: str | int | None) -> str:
    with pytest.raises(UserError) as caught:
        download(url, target, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_is_downloaded_once(server: Server, target: Path) -> None:
    server.answers = [normal_server]
    assert download(server.url, target, git_blob=BLOB) == target
    assert target.read_bytes() == CONTENT
    assert left(target) == ["corpus.pkl"]
    download(server.url, target, git_blob=BLOB)
    download(server.url, target)
    assert len(server.ranges) == 1


def test_a_damaged_file_is_replaced(server: Server, target: Path) -> None:
    server.answers = [normal_server]
    target.parent.mkdir()
    target.write_bytes(CONTENT[:-1])
    download(server.url, target, git_blob=BLOB)
    assert target.read_bytes() == CONTENT


def assert_resumed(server: Server) -> None:
    first, second = server.ranges[:2]
    assert first is None
    assert second is not None
    # The last chunk before the cut may be lost.
    assert HALF - CHUNK <= int(second.removeprefix("bytes=").removesuffix("-")) <= HALF


def test_a_cut_off_transfer_is_resumed(server: Server, target: Path, pauses: list[float]) -> None:
    server.answers = [cut_off, normal_server]
    download(server.url, target, git_blob=BLOB)
    assert_resumed(server)
    assert target.read_bytes() == CONTENT
    assert len(pauses) == 1


def test_a_cut_off_transfer_is_resumed_without_a_blob_id(server: Server, target: Path) -> None:
    server.answers = [cut_off, normal_server]
    download(server.url, target)
    assert_resumed(server)
    assert target.read_bytes() == CONTENT


def write_partial(target: Path, content: bytes) -> None:
    target.parent.mkdir()
    target.with_name("corpus.pkl.partial").write_bytes(content)


def test_partial_files_of_earlier_runs_are_resumed(server: Server, target: Path) -> None:
    server.answers = [normal_server]
    write_partial(target, CONTENT[:100])
    download(server.url, target, git_blob=BLOB)
    assert server.ranges == ["bytes=100-"]
    assert target.read_bytes() == CONTENT


def test_downloads_that_cannot_be_verified_are_not_resumed(server: Server, target: Path) -> None:
    server.answers = [normal_server]
    write_partial(target, b"stale")
    download(server.url, target)
    assert server.ranges == [None]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("partial", [b"stale", CONTENT, CONTENT + b"more"])
def test_stale_or_overlong_partial_files_are_discarded(
    server: Server, target: Path, partial: bytes
) -> None:
    server.answers = [normal_server]
    write_partial(target, partial)
    download(server.url, target, git_blob=BLOB)
    assert server.ranges == [f"bytes={len(partial)}-", None]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("answer", [full_response, wrong_range])
def test_the_download_restarts_if_the_server_ignores_the_range(
    server: Server, target: Path, answer: Callable[[Handler], None]
) -> None:
    server.answers = [cut_off, answer, full_response]
    download(server.url, target, git_blob=BLOB)
    assert_resumed(server)
    assert target.read_bytes() == CONTENT


def test_server_errors_are_retried(server: Server, target: Path, pauses: list[float]) -> None:
    server.answers = [failing(500), failing(503), normal_server]
    download(server.url, target, git_blob=BLOB)
    assert target.read_bytes() == CONTENT
    assert len(pauses) == 2
    assert pauses[1] > pauses[0] > 0


def test_a_server_may_ask_to_wait(server: Server, target: Path, pauses: list[float]) -> None:
    server.answers = [
        lambda handler: handler.reply(429, Retry_After=7, Content_Length=0),
        lambda handler: handler.reply(503, Retry_After=86400, Content_Length=0),
        normal_server,
    ]
    download(server.url, target, git_blob=BLOB)
    assert pauses == [7, 60]


def test_a_redirect_is_followed_also_when_resuming(server: Server, target: Path) -> None:
    def redirect(handler: Handler) -> None:
        handler.reply(302, Location="/elsewhere", Content_Length=0)

    server.answers = [redirect, cut_off, redirect, normal_server]
    download(server.url, target, git_blob=BLOB)
    assert target.read_bytes() == CONTENT
    assert server.ranges[2] == server.ranges[3] is not None


@pytest.mark.parametrize("blob", [None, BLOB])
def test_a_server_that_never_recovers_is_reported(
    server: Server, target: Path, blob: str | None
) -> None:
    server.answers = [failing(500)]
    assert "failed 3 times (the server responded with status 500)" in refusal(
        server.url, target, git_blob=blob
    )
    assert left(target) == []


def test_a_missing_file_is_not_retried(server: Server, target: Path) -> None:
    server.answers = [failing(404)]
    message = refusal(server.url, target)
    assert "404" in message
    assert "data.path" in message
    assert len(server.ranges) == 1
    assert left(target) == []


def test_an_overstated_length_is_an_error(server: Server, target: Path) -> None:
    server.answers = [lambda handler: handler.reply(200, CONTENT, Content_Length=10**7)]
    assert "failed 3 times" in refusal(server.url, target)
    assert "corpus.pkl" not in left(target)


def test_an_understated_length_is_detected(server: Server, target: Path) -> None:
    server.answers = [understated_length]
    assert "wrong content" in refusal(server.url, target, git_blob=BLOB)
    assert left(target) == []


def test_wrong_content_leaves_no_files(server: Server, target: Path) -> None:
    server.answers = [wrong_content]
    message = refusal(server.url, target, git_blob=BLOB)
    found = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT[::-1]).hexdigest()
    assert BLOB in message
    assert found in message
    assert left(target) == []


def test_wrong_content_keeps_the_existing_file(server: Server, target: Path) -> None:
    server.answers = [wrong_content]
    target.parent.mkdir()
    target.write_bytes(b"edited")
    refusal(server.url, target, git_blob=BLOB)
    assert target.read_bytes() == b"edited"


@pytest.mark.parametrize("kind", ["gz", "zip"])
@pytest.mark.usefixtures("immediate_progress")
def test_checking_a_large_file_shows_the_elapsed_time(
    server: Server, target: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [lambda handler: serve(handler, packed(kind))]
    download(f"{server.url}.{kind}", target)
    assert f"checking corpus.pkl.{kind}: 00:00" in capsys.readouterr().err


def test_a_log_in_page_is_not_kept_as_a_gzip_file(server: Server, target: Path) -> None:
    server.answers = [full_response]
    address = f"{server.url}/train.en.gz"
    with pytest.raises(UserError, match="not a gzip file"):
        download(address, target)
    assert left(target) == []


def packed(kind: str, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    if kind == "gz":
        return gzip.compress(CONTENT)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("deu.txt", CONTENT)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_a_truncated_archive_without_content_length_is_downloaded_again(
    server: Server, target: Path, kind: str
) -> None:
    content = packed(kind)
    server.answers = [
        lambda handler: handler.reply(200, content[:-100]),
        lambda handler: handler.reply(200, content),
    ]
    download(f"{server.url}.{kind}", target)
    assert target.read_bytes() == content
    assert server.ranges == [None, None]


def test_a_gzip_file_stays_one_if_the_server_calls_it_an_encoding(
    server: Server, target: Path
) -> None:
    content = packed("gz")
    server.answers = [
        lambda handler: handler.reply(
            200, content, Content_Length=len(content), Content_Encoding="gzip"
        )
    ]
    download(f"{server.url}.gz", target)
    assert target.read_bytes() == content


@pytest.mark.parametrize("whole", [True, False])
def test_an_encoded_body_of_unknown_length(server: Server, target: Path, whole: bool) -> None:
    """As servers send that compress on the fly: in chunks, without a length."""
    content = gzip.compress(CONTENT, mtime=0)

    def chunked(handler: Handler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.reply(200, Content_Encoding="gzip", Transfer_Encoding="chunked")
        for start in range(0, len(content), 100):
            chunk = content[start : start + 100]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        handler.wfile.write(b"0\r\n\r\n" if whole else b"")
        handler.close_connection = True

    server.answers = [chunked]
    if whole:
        download(server.url, target, git_blob=BLOB)
        assert target.read_bytes() == CONTENT
    else:
        assert "the connection was interrupted" in refusal(server.url, target)


@pytest.mark.parametrize("kind", ["gz", "zip"])
@pytest.mark.parametrize("remains", [1000, None])
def test_partial_downloads_of_a_compressed_file_are_resumed_if_they_match(
    server: Server, target: Path, kind: str, remains: int | None
) -> None:
    content = packed(kind)
    write_partial(target, content[:remains] if remains else b"PK and something else")
    server.answers = [lambda handler: serve(handler, content)]
    download(f"{server.url}.{kind}", target)
    assert target.read_bytes() == content
    assert len(server.ranges) == (1 if remains else 2)


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_a_damaged_compressed_file_is_not_kept(server: Server, target: Path, kind: str) -> None:
    content = bytearray(packed(kind))
    content[len(content) // 2] ^= 1
    server.answers = [lambda handler: handler.reply(200, bytes(content))]
    assert "truncated or damaged" in refusal(f"{server.url}.{kind}", target)
    assert left(target) == []


def test_a_zip_with_unusual_compression_is_downloaded_once_and_refused(
    server: Server, target: Path
) -> None:
    content = packed("zip", zipfile.ZIP_BZIP2)
    server.answers = [lambda handler: handler.reply(200, content)]
    assert "compressed with a method that nmt does not read" in refusal(f"{server.url}.zip", target)
    assert len(server.ranges) == 1
    assert left(target) == []


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_a_file_that_unpacks_to_too_many_bytes_is_not_kept(
    server: Server, target: Path, kind: str
) -> None:
    server.answers = [lambda handler: handler.reply(200, packed(kind))]
    message = refusal(f"{server.url}.{kind}", target, max_unpacked=1000)
    assert "unpacks to more than 1,000 bytes" in message
    assert left(target) == []


def slow_server(handler: Handler) -> None:
    handler.reply(200, Content_Length=len(CONTENT))
    for byte in range(100):
        handler.wfile.write(bytes([byte]))
        time.sleep(0.02)


def test_a_download_from_a_slow_server_is_aborted(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.sources.download.SPEED_SECONDS", 0.1)
    server.answers = [slow_server]
    assert "slower than 1000 bytes per second" in refusal(server.url, target, git_blob=BLOB)
    assert "corpus.pkl" not in left(target)


def test_a_download_has_a_time_limit(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.sources.download.MAX_SECONDS", 0.1)
    server.answers = [slow_server]
    assert "incomplete after" in refusal(server.url, target, git_blob=BLOB)
    assert len(server.ranges) == 1


def test_refresh_downloads_files_without_a_known_hash_again(server: Server, target: Path) -> None:
    server.answers = [normal_server]
    target.parent.mkdir()
    target.write_bytes(b"old")
    download(server.url, target)
    assert target.read_bytes() == b"old"
    download(server.url, target, refresh=True)
    assert target.read_bytes() == CONTENT
    download(server.url, target, git_blob=BLOB, refresh=True)
    assert len(server.ranges) == 1


def test_nmt_sends_its_own_user_agent(server: Server, target: Path) -> None:
    agents: list[str] = []

    def note(handler: Handler) -> None:
        agents.append(handler.headers["User-Agent"])
        normal_server(handler)

    server.answers = [note]
    download(server.url, target)
    assert "nmt/" in agents[0]
    assert "requests" not in agents[0]


@pytest.mark.parametrize("length", [{}, {"Content_Length": len(CONTENT)}])
def test_endless_bodies_are_aborted(server: Server, target: Path, length: dict[str, int]) -> None:
    server.answers = [lambda handler: handler.reply(200, CONTENT, **length)]
    assert "longer than 1000 bytes" in refusal(server.url, target, max_bytes=1000)
    assert left(target) == []


def test_a_missing_length_is_accepted(server: Server, target: Path) -> None:
    server.answers = [lambda handler: handler.reply(200, CONTENT)]
    download(server.url, target, git_blob=BLOB)
    assert target.read_bytes() == CONTENT


def test_headers_that_never_end_are_given_up(
    target: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.sources.download.RESPONSE_SECONDS", 0.3)
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
        assert "(the server took too long to respond)" in refusal(url, target)
        ended.set()
    assert not target.exists()


def test_without_a_network_one_attempt_is_enough(
    target: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown_name(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror("Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unknown_name)
    message = refusal("http://corpora.example/corpus.pkl", target)
    assert "failed once" in message
    assert "--config everyday.yaml" in message
    assert pauses == []


def test_an_unreachable_server_is_reported(target: Path, pauses: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/corpus.pkl"
    message = refusal(url, target)
    assert message.startswith(url)
    assert "offline" in message
    assert "download the file elsewhere" in message
    assert "data.path" in message
    assert pauses == [0.5, 1.0]


def test_an_invalid_address_is_reported(target: Path) -> None:
    assert "check the address" in refusal("nonsense://x", target)


def test_wrong_settings_of_the_network_are_named(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/bundle.pem")
    message = refusal("https://127.0.0.1:9/corpus.pkl", target)
    assert "/nowhere/bundle.pem" in message
    assert "check the settings of certificates" in message
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")

    def without_socks(*_: object, **__: object) -> None:
        raise requests.exceptions.InvalidSchema("Missing dependencies for SOCKS support.")

    monkeypatch.setattr(requests, "get", without_socks)
    message = refusal("http://192.0.2.1/corpus.pkl", target)
    assert "Missing dependencies for SOCKS support" in message
    assert "proxy settings" in message


def test_a_server_that_falls_silent_is_asked_to_continue(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.sources.download.TIMEOUTS", (1, 0.2))
    over = threading.Event()

    def silent(handler: Handler) -> None:
        handler.reply(200, CONTENT[:HALF], Content_Length=len(CONTENT))
        over.wait(20)

    server.answers = [silent, normal_server]
    download(server.url, target)
    over.set()
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("location", ["http://[::1", "http://a@[zz]/"])
def test_a_redirect_to_an_invalid_address_is_reported(
    server: Server, target: Path, location: str
) -> None:
    server.answers = [lambda handler: handler.reply(302, Location=location, Content_Length=0)]
    message = refusal(server.url, target)
    assert message.startswith(f"{server.url}: redirects to an invalid address; download")


def test_a_folder_that_cannot_be_created_is_reported(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    message = refusal(server.url, tmp_path / "file" / "corpus.pkl")
    assert "cannot be written" in message
    assert server.ranges == []


def test_a_full_disk_is_reported_and_the_download_is_resumed_later(
    server: Server, target: Path, full_disk: FullDisk
) -> None:
    server.answers = [normal_server]
    with full_disk(HALF):
        message = refusal(server.url, target, git_blob=BLOB)
    assert message.startswith(f"{target}: cannot be written (File too large; ")
    assert "free on its disk" in message
    download(server.url, target, git_blob=BLOB)
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_concurrent_downloads_do_not_interfere(server: Server, target: Path) -> None:
    server.answers = [cut_off, normal_server]
    context = multiprocessing.get_context("spawn")
    both = [
        context.Process(target=download, args=(server.url, target), kwargs={"git_blob": BLOB})
        for _ in range(2)
    ]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert target.read_bytes() == CONTENT
    assert len(server.ranges) == 2


def test_without_locks_each_download_has_its_own_file(
    server: Server, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_locks = Mock(side_effect=OSError(37, "No locks available"))
    monkeypatch.setattr("filelock.FileLock.acquire", no_locks)
    write_partial(target, b"another's")
    server.answers = [cut_off, normal_server]
    download(server.url, target, git_blob=BLOB)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["corpus.pkl", "corpus.pkl.partial"]
    assert target.with_name("corpus.pkl.partial").read_bytes() == b"another's"


def test_the_cache_folder_is_named_after_nmt() -> None:
    assert "nmt" in cache_folder().parts


def test_git_blob_id_of_the_tutorials_file() -> None:
    corpora = os.environ.get("NMT_CORPORA")
    if not corpora:
        pytest.skip("NMT_CORPORA is not set")
    path = Path(corpora) / "english-german-test.pkl"
    assert git_blob_id(path) == "e052ffd3a05102cfa11f384b6a8f7cbefb982626"
