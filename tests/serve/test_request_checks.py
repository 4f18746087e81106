"""Requests that are refused before translation, and the headers of every response."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from nmt.serve.app import make_app
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Access, Service

MakeClient = Callable[..., TestClient]
REQUEST = {"q": "Anna sings today.", "source": "en", "target": "de"}
GERMAN = {"translatedText": "Anna singt heute."}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:5000", "127.0.0.1:5000", "[::1]:5000"])
def test_requests_to_localhost_are_accepted(client: TestClient, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("allowed", ["NMT.example", "nmt.example:8080"])
def test_an_allowed_host_is_accepted_with_any_port(make_client: MakeClient, allowed: str) -> None:
    client = make_client(access=Access(hosts=[allowed]))
    for host in ("nmt.example", "nmt.example:8080"):
        assert client.get("/health", headers={"Host": host}).status_code == 200


def test_only_allowed_origins_are_accepted(client: TestClient, make_client: MakeClient) -> None:
    own, other = ({"Origin": site} for site in ("http://localhost:5000", "https://other.example"))
    answer = client.post("/translate", json=REQUEST, headers=own)
    assert answer.json() == GERMAN
    assert "access-control-allow-origin" not in answer.headers
    open_to = make_client(access=Access(origins=["https://other.example"]))
    answer = open_to.post("/translate", json=REQUEST, headers=other)
    assert answer.headers["access-control-allow-origin"] == "https://other.example"
    asked = {"Method": "POST", "Headers": "authorization,content-type"}
    headers = other | {f"Access-Control-Request-{name}": value for name, value in asked.items()}
    assert open_to.options("/translate", headers=headers).status_code == 200
    assert open_to.post("/translate", json=REQUEST, headers={"Origin": "null"}).status_code == 400


def test_large_bodies_are_refused_with_and_without_content_length(make_client: MakeClient) -> None:
    client = make_client(limits=Limits(body=1000))
    content = b'{"q": "' + b"x" * 2000 + b'"}'
    kind = {"Content-Type": "application/json"}
    chunks = (content[start : start + 100] for start in range(0, len(content), 100))
    for sent in (content, chunks):
        answer = client.post("/translate", content=sent, headers=kind)
        assert answer.status_code == 413
        assert answer.json() == {"error": "Invalid request: larger than 1000 bytes"}


def test_keys_are_accepted_in_the_body_or_the_header(make_client: MakeClient) -> None:
    client = make_client(access=Access(keys=["one", "zwölf"]))
    for wrong in (REQUEST, {**REQUEST, "api_key": ""}, {**REQUEST, "api_key": "On"}):
        answer = client.post("/translate", json=wrong)
        assert answer.status_code == 403
        assert list(answer.json()) == ["error"]
    assert client.post("/translate", json={**REQUEST, "api_key": "zwölf"}).json() == GERMAN
    header = {"Authorization": "Bearer one"}
    assert client.post("/translate", json=REQUEST, headers=header).json() == GERMAN
    assert client.get("/v1/runs").status_code == 403
    assert client.get("/v1/runs", headers=header).status_code == 200
    assert client.get("/frontend/settings").json()["keyRequired"]


@pytest.mark.parametrize("charset", ["undefined", "punycode", "unicode_escape"])
@pytest.mark.parametrize("path", ["/translate", "/translate_file"])
def test_forms_in_odd_character_sets_are_refused(
    client: TestClient, charset: str, path: str
) -> None:
    fields = {**REQUEST, "q": r"\ud800\xff", 'file"; filename="\\ud800.txt': "x"}
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    content = "".join([*parts, "--x--\r\n"]).encode("latin-1")
    kind = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
    answer = client.post(path, content=content, headers=kind)
    assert answer.status_code == 400
    assert answer.json() == {"error": "Invalid request: the form cannot be decoded; send UTF-8"}


def test_guessing_keys_is_rate_limited_and_valid_keys_are_not(make_client: MakeClient) -> None:
    client = make_client(limits=Limits(per_minute=3), access=Access(keys=["right"]))
    guesses = [client.post("/translate", json={**REQUEST, "api_key": str(i)}) for i in range(5)]
    assert [guess.status_code for guess in guesses] == [403, 403, 403, 429, 429]
    assert client.post("/translate", json={**REQUEST, "api_key": "right"}).status_code == 200


def test_too_many_requests_get_retry_after(make_client: MakeClient) -> None:
    client = make_client(limits=Limits(per_minute=2))
    answers = [client.post("/translate", json=REQUEST) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["Retry-After"]) > 0
    assert client.get("/health").status_code == 200


def test_a_translation_that_takes_too_long_is_aborted(make_client: MakeClient) -> None:
    client = make_client(limits=Limits(seconds=0.001))
    many = ["Anna sings today."] * 500
    for path, body in (
        ("/translate", {**REQUEST, "q": many}),
        ("/v1/translate", {"text": many}),
        ("/v1/translate", {"text": many, "stream": True}),
    ):
        answer = client.post(path, json=body)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0


def test_every_response_has_strict_security_headers(client: TestClient) -> None:
    for path in ("/", "/docs", "/health", "/nothing", "/page/style.css"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_unexpected_errors_have_all_headers_too(
    served: ServedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*arguments: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(Service, "in_thread", fail)
    app = make_app(Service([served], access=Access(origins=["https://other.example"])))
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        answer = client.get("/openapi.json", headers={"Origin": "https://other.example"})
    assert (answer.status_code, answer.json()) == (500, {"error": "Internal error"})
    assert answer.headers["access-control-allow-origin"] == "https://other.example"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_addresses_name_the_path_under_which_a_proxy_serves_it(served: ServedRun) -> None:
    with TestClient(make_app(Service([served])), "http://localhost", root_path="/mt") as client:
        files = {"file": ("a.txt", b"Ben reads often.")}
        data = {"source": "en", "target": "de"}
        answer = client.post("/mt/translate_file", data=data, files=files).json()
        assert answer["translatedFileUrl"].startswith("http://localhost/mt/download_file/")
        assert '<base href="/mt/">' in client.get("/mt/").text
    with TestClient(make_app(Service([served])), "http://localhost") as client:
        assert 'href="/' not in client.get("/").text  # a proxy's path may be unknown
