"""`nmt serve` as a process: errors, start and shutdown."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest
import requests
from starlette.datastructures import UploadFile

from nmt.decoding.translator import Translation
from nmt.errors import UserError
from nmt.runs.folder import RUNS, RunFolder
from nmt.serve.app import OPERATIONS
from nmt.serve.glossaries import Glossaries
from nmt.serve.limits import Limits
from nmt.serve.operations import Operation
from nmt.serve.served_run import ServedRun
from nmt.serve.server import bind, hosts_of, origins_of, read_keys
from nmt.serve.service import Service
from tests.cli.command_line import nmt

START = [sys.executable, "-m", "nmt", "serve", "--port", "0"]


@pytest.fixture
def running(trained_run: RunFolder) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [*START, "--run", str(trained_run.path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = ""
        while not address:
            line = process.stderr.readline()
            assert line, "the server exited"
            address = (re.findall(r"http://\S+", line) or [""])[0]
        yield process, address
        process.kill()


def ask(address: str, text: list[str]) -> list[str]:
    body = json.dumps({"q": text, "source": "en", "target": "de"}).encode()
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/translate", body, kind)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return list(json.load(answer)["translatedText"])


def place(address: str) -> tuple[str, int]:
    host, port = address.removeprefix("http://").split(":")
    return host, int(port)


def accepts(address: str) -> bool:
    try:
        socket.create_connection(place(address), 60).close()
    except OSError:
        return False
    return True


HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\n"


def head(body: bytes) -> bytes:
    """Return the head of a request with this body, without the empty line at its end."""
    return HEAD + b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_sigterm_finishes_current_requests(running: tuple[subprocess.Popen[str], str]) -> None:
    process, address = running
    assert ask(address, ["Anna sings today."]) == ["Anna singt heute."]
    body = json.dumps({"q": "Ben reads often.", "source": "en", "target": "de"}).encode()
    with socket.create_connection(place(address), 60) as connection:
        connection.sendall(head(body) + b"Expect: 100-continue\r\n\r\n")
        assert b"100 Continue" in connection.recv(1000)  # the server waits for the body
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not accepts(address))
        connection.sendall(body)
        answer = connection.makefile("rb").read()
    assert b"Ben liest oft." in answer
    process.wait(30)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "add --api-key or --api-keys, or --public"),
        (["--public", "--api-key", "x"], "omit one of them"),
        (["--api-key", " "], "--api-key: is empty"),
        (["--api-key", "zwölf"], "use printable ASCII characters only"),
        (["--api-keys", "missing.txt"], "missing.txt: cannot be read"),
        (["--public", "--host", "no such host"], "cannot listen there"),
        (["--public", "--host", "ä..b"], "cannot listen there"),
        (["--allow-origin", "example.com"], "such as https://example.com"),
        (["--allow-host", "http://nmt.example"], "such as nmt.example.com"),
        (["--run", "toy", "--run", "./toy"], "--run toy: given twice"),
        (["--glossaries", "missing"], "create it first"),
    ],
)
def test_unsafe_and_invalid_options_are_refused(
    arguments: list[str], message: str, tmp_path: Path, trained_run: RunFolder
) -> None:
    (tmp_path / "toy").symlink_to(trained_run.path)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run(
        [*START, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


_WITHOUT_PYTORCH = """
import sys

sys.modules["torch"] = None

from pathlib import Path

from starlette.testclient import TestClient

from nmt.decoding.loading import load_translator
from nmt.runs.folder import RunFolder
from nmt.serve.app import make_app
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Service

folder = RunFolder(Path(sys.argv[1]))
translator = load_translator(folder, engine="ctranslate2")
app = make_app(Service([ServedRun("toy", folder, translator, "ctranslate2")]))
with TestClient(app, base_url="http://localhost") as client:
    body = {"q": "Anna sings today.", "source": "en", "target": "de"}
    print(client.post("/translate", json=body).json()["translatedText"])
    print({"spacy", "sacrebleu", "docx", "selectolax"}.intersection(sys.modules))
    body |= {"q": "<p>Anna <b>sings</b> today.</p>", "format": "html"}
    print(client.post("/translate", json=body).json()["translatedText"])
    body = {"text": "Anna sings today.", "attention": True}
    print(client.post("/v1/translate", json=body).json()["texts"][0]["sentences"][0]["problem"])
"""


def test_without_pytorch_everything_except_attention_works(trained_run: RunFolder) -> None:
    command = [sys.executable, "-c", _WITHOUT_PYTORCH, str(trained_run.path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == [
        "Anna singt heute.",
        "set()",  # the slow packages imported for the first response
        "<p>Anna <b>singt</b> heute.</p>",
        "this needs PyTorch, which is not installed: pip install torch",
    ]


def test_the_options_set_keys_limits_and_what_is_listed(
    trained_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Glossaries(tmp_path).add("mine", "en", "de", "hat\tMütze")
    made: list[Service] = []

    def recorded(*arguments: Any) -> Service:
        made.append(Service(*arguments))
        return made[-1]

    def closed(sockets: list[socket.socket]) -> None:
        for each in sockets:
            each.close()

    monkeypatch.setattr("nmt.serve.service.Service", recorded)
    monkeypatch.setattr("nmt.serve.server.make_server", lambda *_: SimpleNamespace(run=closed))
    command = ("serve", "--run", trained_run.path, "--port", 0)
    limits = ("--requests-per-minute", 3, "--max-characters", 7, "--timeout", 2)
    options: list[tuple[object, ...]] = [
        ("--host", "0.0.0.0", "--api-key", "k", *limits, "--glossaries", tmp_path),
        (),
        ("--allow-host", "example.org"),
    ]
    for more in options:
        assert nmt(*command, *more).returncode == 0
    assert list(made[0].access.keys) == ["k"]
    assert made[0].key_required
    assert made[0].limits == Limits(characters=7, seconds=2, per_minute=3)
    assert [service.glossaries.list() for service in made] == [[kept], [], []]
    assert [service.runs_folder for service in made] == [None, RUNS, None]


def test_only_harmless_addresses_need_no_key() -> None:
    free = {operation.path for operation in OPERATIONS if not operation.needs_key}
    assert free == {"/languages", "/health", "/frontend/settings", "/download_file/{secret}/{name}"}


def test_a_port_in_use_is_reported() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(UserError, match="choose another --port"):
            bind("127.0.0.1", other.getsockname()[1])


def test_connections_set_tcp_nodelay() -> None:
    with (
        bind("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_accepted_host_names_depend_on_the_address_and_the_options() -> None:
    assert hosts_of("127.0.0.1", []) == ["127.0.0.1", "localhost", "[::1]"]
    assert hosts_of("192.168.1.2", ["nmt.example"])[-2:] == ["192.168.1.2", "nmt.example"]
    assert hosts_of("0.0.0.0", []) == []
    assert "nmt.example" in hosts_of("0.0.0.0", ["nmt.example"])
    assert "[2001:db8::1]:80" in hosts_of("127.0.0.1", ["[2001:db8::1]:80"])
    for wrong in ("http://nmt.example", "*.example", "2001:db8::1", "a b", ""):
        with pytest.raises(UserError, match="must be a host name"):
            hosts_of("127.0.0.1", [wrong])


def test_allowed_origins_are_written_as_browsers_send_them() -> None:
    given = ["https://Other.example/", "http://localhost:8080", "http://a:80", "https://b:443", "*"]
    expected = ["https://other.example", "http://localhost:8080", "http://a", "https://b", "*"]
    assert origins_of(given) == expected
    other = ["chrome-extension://abc", "app://obsidian.md", "http://[::1]:5000"]
    assert origins_of(other) == other


@pytest.mark.parametrize(
    "site", ["", "example.com", "https://", "https://a.example/page", "null", "https://*.a"]
)
def test_anything_else_is_no_origin(site: str) -> None:
    with pytest.raises(UserError, match="must be a scheme and a host"):
        origins_of([site])


def test_keys_are_read_one_per_line(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text("# Anna\none\n\n  two \n", encoding=encoding)
        assert read_keys(path) == ["one", "two"]
    path.write_text("# none\n", encoding="utf-8")
    with pytest.raises(UserError, match="contains no API key"):
        read_keys(path)


def test_a_client_that_disconnects_early_is_not_an_error(
    running: tuple[subprocess.Popen[str], str],
) -> None:
    process, address = running
    with socket.create_connection(place(address)) as client:
        client.sendall(HEAD + b"Content-Length: 99\r\n\r\n{")
    assert ask(address, ["Anna sings today."]) == ["Anna singt heute."]
    process.terminate()
    assert process.stderr
    assert "Traceback" not in process.stderr.read()


def test_an_abandoned_request_is_not_translated(
    start_server: Callable[..., str], served: ServedRun
) -> None:
    free = threading.Event()

    class Waiting(ServedRun):
        def translate(self, lines: Sequence[str], n: int) -> list[list[Translation]]:
            free.wait(60)
            return served.translate(lines, n)

    service = Service([Waiting("toy", served.folder, served.translator, "pytorch")])
    text = json.dumps({"q": ["Anna sings today."] * 500, "source": "en", "target": "de"}).encode()
    with socket.create_connection(place(start_server(service))) as client:
        client.sendall(head(text) + b"\r\n" + text)
        wait_until(lambda: service.batcher.waiting > 0)
    wait_until(lambda: service.batcher.waiting == 0)
    free.set()


@pytest.fixture
def impatient(start_server: Callable[..., str]) -> tuple[str, int]:
    """The address of a server that waits half a second for its clients."""
    return place(start_server(limits=Limits(seconds=0.5)))


SLOW = [
    (b"", b""),
    (b"POST /transl", b"a"),
    (HEAD, b"X-A: 1\r\n"),
    (head(bytes(9999)) + b"\r\n{", b" "),
]


@pytest.mark.parametrize(("start", "drop"), SLOW)
def test_a_request_that_arrives_too_slowly_is_aborted(
    impatient: tuple[str, int], start: bytes, drop: bytes
) -> None:
    with socket.create_connection(impatient, timeout=0.1) as client:
        client.sendall(start)
        assert b" 408 " in drip(client, drop)


def test_an_incomplete_request_is_aborted_after_its_response(impatient: tuple[str, int]) -> None:
    with socket.create_connection(impatient, timeout=0.1) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n")
        answer = drip(client, b"x")
    assert b" 200 " in answer
    assert b" 408 " not in answer


def drip(client: socket.socket, drop: bytes) -> bytes:
    """Send bytes every tenth of a second; return what is received until the connection closes."""
    found = b""
    for _ in range(100):
        try:
            client.sendall(drop)
            more = client.recv(10_000)
        except TimeoutError:
            continue
        except ConnectionError:
            return found
        if not more:
            return found
        found += more
    raise AssertionError("the connection is still open")


def test_a_response_that_the_client_does_not_read_is_aborted(impatient: tuple[str, int]) -> None:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(impatient)
        with pytest.raises(ConnectionError):  # noqa: PT012
            for _ in range(500):
                client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                time.sleep(0.02)


def test_pipelined_requests_are_limited(impatient: tuple[str, int]) -> None:
    with socket.create_connection(impatient, timeout=10) as client, pytest.raises(ConnectionError):
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500_000)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /health HTTP/1.1\r\n" + b"ab:cd\r\n" * 20_000,
        b"GET /" + b"x" * 1_000_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"ab:cd\r\n" * 20_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"x" * 1_000_000,
    ],
)
def test_endless_headers_are_refused(start_server: Callable[..., str], sent: bytes) -> None:
    address = start_server()
    with socket.create_connection(place(address), 60) as client:
        with suppress(ConnectionError):
            client.sendall(sent)
        with suppress(ConnectionError):
            answer = client.recv(10_000)
            assert not answer or answer.startswith(b"HTTP/1.1 431 ")
            assert client.recv(10_000) == b""  # closed
    assert ask(address, ["Anna sings today."]) == ["Anna singt heute."]


def test_stray_line_breaks_do_not_keep_a_connection_open(impatient: tuple[str, int]) -> None:
    with socket.create_connection(impatient, timeout=30) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in client.recv(10_000)
        client.sendall(b"\r\n")
        while client.recv(10_000):  # until the server closes the connection
            pass


def test_idle_connections_are_kept_alive(impatient: tuple[str, int]) -> None:
    client = HTTPConnection(*impatient)
    client.request("GET", "/health")
    client.getresponse().read()
    first = client.sock
    time.sleep(0.7)
    client.request("GET", "/health")
    assert client.getresponse().status == 200
    assert client.sock is first
    client.close()


def test_a_client_that_sends_too_much_receives_the_reason(start_server: Callable[..., str]) -> None:
    address = start_server(limits=Limits(body=300_000))
    for _ in range(5):
        with pytest.raises(HTTPError) as refused:
            ask(address, ["x" * 3_000_000])
        assert refused.value.code == 413
        assert b"larger than 300000 bytes" in refused.value.read()


def test_links_have_the_scheme_that_the_proxy_passes_on(start_server: Callable[..., str]) -> None:
    url = f"{start_server()}/translate_file"
    data, files = {"source": "en", "target": "de"}, {"file": ("a.txt", b"Anna sings today.")}
    for scheme in ("http", "https"):
        proxy = {"X-Forwarded-Proto": scheme}
        found = requests.post(url, data, files=files, headers=proxy, timeout=60)
        assert found.json()["translatedFileUrl"].startswith(f"{scheme}://127.0.0.1:")


@pytest.mark.parametrize("each", [each for each in OPERATIONS if each.body], ids=lambda e: e.path)
def test_examples_of_requests_are_valid(each: Operation) -> None:
    """The page with the documentation shows them as commands."""
    assert each.example
    assert each.body
    file = {"file": UploadFile(io.BytesIO())} if each.file else {}
    assert each.body.model_validate(dict(each.example) | file)


def test_the_openapi_document_is_printed() -> None:
    found = nmt("serve", "--export-openapi")
    assert found.returncode == 0
    assert "/translate" in json.loads(found.stdout)["paths"]


def test_a_proxy_on_this_machine_passes_on_the_client(start_server: Callable[..., str]) -> None:
    url = f"{start_server(limits=Limits(per_minute=1))}/languages"
    for client, status in (("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.2", 429)):
        proxy = {"X-Forwarded-For": client}
        assert requests.get(url, headers=proxy, timeout=60).status_code == status
