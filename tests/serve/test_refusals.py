"""Requests that the server refuses: the status, and what the message names."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from nmt.serve.limits import Limits

SENTENCE = "Anna sings today."
PAIR = {"source": "en", "target": "de"}
REQUEST = {"q": SENTENCE, **PAIR}
JSON, FORM = (
    {"Content-Type": kind} for kind in ("application/json", "application/x-www-form-urlencoded")
)
NO_TEXT = "must be a string or a list of strings"


def posted(path: str, status: int, named: str, **request: Any) -> tuple[str, int, str, Any]:
    return path, status, named, request


REFUSED = [
    # Hosts and origins
    *(
        posted("/translate", 400, "Host", json=REQUEST, headers={"Host": host})
        for host in ("evil.example", "localhost.evil.example:5000", "", "127.0.0.2")
    ),
    posted("/translate", 400, "Host", json=REQUEST, headers=[("host", "localhost")] * 2),
    *(
        posted("/translate", 400, "Origin", json=REQUEST, headers={"Origin": origin})
        for origin in ("https://other.example", "null", "http://[")
    ),
    # Bodies
    *(
        posted("/translate", 400, "", content=content, headers=JSON)
        for content in (
            *(b"", b"{", b"[]", b"\xff\xfe\x00", b"[" * 100_000, b'{"q": ' * 50_000),
            b'{"q": "\xff", "source": "en", "target": "de"}',
            b'{"q": "\\ud800", "source": "en", "target": "de"}',
            b'{"q": ' + b"9" * 10_000 + b"}",
        )
    ),
    *(
        posted(path, 400, "send UTF-8", content=form, headers=FORM)
        for path in ("/translate", "/detect", "/v1/translate")
        for form in (b"q=\xf6", b"q=%F6", b"q=%ED%A0%80")
    ),
    posted("/translate?q=%F6&source=en&target=de", 400, "send UTF-8"),
    *(
        posted("/translate", 400, "", content=b"--y\r\n", headers={"Content-Type": kind})
        for kind in ("multipart/form-data; boundary=x", "multipart/form-data")
    ),
    *(
        posted(path, 400, f"either {name} or {name}[], not both", **{part: {**fields, other: "x"}})
        for path, name, fields in (
            ("/translate", "q", REQUEST),
            ("/detect", "q", {"q": "x"}),
            ("/v1/translate", "text", {"text": ["x", "y"]}),
        )
        for other in (f"{name}[]", f"{name}[0]")
        for part in ("data", "params")
    ),
    posted("/translate", 415, "text/xml", content=b"<q/>", headers={"Content-Type": "text/xml"}),
    # Fields
    posted("/translate", 400, "missing q parameter", json=PAIR),
    posted("/translate", 400, "missing target parameter", json={"q": "x", "source": "en"}),
    posted("/translate", 400, "xx is not supported", json=REQUEST | {"target": "xx"}),
    *(
        posted("/translate", 400, "en is not available as a target", json=REQUEST | languages)
        for languages in ({"source": "de", "target": "en"}, {"source": "auto", "target": "en"})
    ),
    posted("/translate", 400, "format", json=REQUEST | {"format": "pdf"}),
    posted("/translate", 400, "alternatives", json=REQUEST | {"alternatives": 1000}),
    *(
        posted(path, 400, f"{field}: {NO_TEXT}", json={**PAIR, field: value})
        for path, field in (("/translate", "q"), ("/v1/translate", "text"))
        for value in (7, ["x", 7], ["a", *range(100_000)])
    ),
    *(
        posted("/v1/translate", 400, named, json={"text": "x", **fields})
        for named, fields in (
            ("typo: unknown parameter", {"typo": 1}),
            ("text: must be a string or a list of strings", {"text": 1}),
            ("glossary: must be text", {"glossary": 1}),
            ("too many invalid fields", {f"x{number}": 1 for number in range(5000)}),
            ("/etc is not a run here", {"run": "/etc"}),
            ("xx is not supported", {"source": "xx"}),
            ("n_best", {"n_best": 0}),
            ("beams", {"beams": True}),
            ("stream", {"stream": 0}),
            ("data.address", {"address": "sie"}),
            ("address", {"address": "er"}),
            ("line 1", {"glossary": "Anna\n"}),
            ("prefix", {"text": ["a", "b"], "prefix": "Ben"}),
            ("20 sentences", {"text": [SENTENCE] * 21, "attention": True}),
        )
    ),
    *(
        posted("/v1/alternatives", 400, named, json={"text": SENTENCE, **fields})
        for named, fields in (
            ("one sentence", {"text": f"{SENTENCE}\n{SENTENCE}"}),
            ("one sentence", {"text": " "}),
            ("text", {"text": [SENTENCE]}),
            ("the model cannot write it", {"prefix": "漢 "}),
            ("prefix", {"prefix": "x" * 10_001}),
            ("n_best", {"n_best": 11}),
            ("/etc is not a run here", {"run": "/etc"}),
            ("beam", {"beam": True}),
        )
    ),
    posted("/v1/compare", 400, "runs", json={"runs": ["toy"]}),
    # Files
    *(
        posted("/translate_file", 400, "format not supported", data=PAIR, files={"file": file})
        for file in (("letter.pdf", b"x"), ("letter", b"x"), ("../../etc/passwd", b"x"))
    ),
    posted("/translate_file", 400, "not JSON", data=PAIR, files={"file": ("en.json", b'{"a": ')}),
    posted("/translate_file", 400, "missing file parameter", data=PAIR),
    posted("/translate_file", 400, "curl -F file=@NAME", data={**PAIR, "file": "letter.txt"}),
]


def assert_refused(
    client: TestClient, path: str, status: int, named: str, request: dict[str, Any]
) -> None:
    answer = client.post(path, **request)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert named in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert len(answer.content) < 1000


@pytest.mark.parametrize(("path", "status", "named", "request_"), REFUSED)
def test_requests_are_refused(
    client: TestClient, path: str, status: int, named: str, request_: dict[str, Any]
) -> None:
    assert_refused(client, path, status, named, request_)


@pytest.mark.parametrize(
    ("path", "named", "fields"),
    [
        (
            "/translate",
            "request (101 characters) exceeds text limit (100 characters)",
            {"q": "x" * 101},
        ),
        ("/translate", "6 sentences", {"q": ["One goes. Two go. Three go."] * 2}),
        ("/translate", "6 texts", {"q": ["<p>a</p><p>b</p>"] * 3, "format": "html"}),
        ("/translate", "6 texts", {"q": [""] * 6, "source": "auto"}),
        ("/v1/translate", "6 texts", {"text": [""] * 6}),
        ("/v1/alternatives", "(101 characters) exceeds", {"text": "x" * 101}),
    ],
)
def test_too_much_text_is_refused(
    make_client: Callable[..., TestClient], path: str, named: str, fields: dict[str, Any]
) -> None:
    client = make_client(limits=Limits(characters=100, sentences=5))
    assert_refused(client, path, 400, named, {"json": {**PAIR, **fields}})


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/page/../app.py", 404),
        ("/page/%2e%2e/app.py", 404),
        ("/v1/runs/..%2f..%2fetc", 404),
        ("/download_file/guess/letter.txt", 404),
        ("/translate", 405),
    ],
)
def test_unknown_paths_and_methods_are_refused(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert (answer.status_code, list(json.loads(answer.text))) == (status, ["error"])
