"""LibreTranslate's API: its responses, its errors, and a third-party client."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import docx
import pytest
from libretranslatepy import LibreTranslateAPI
from starlette.testclient import TestClient

from nmt.cli.output import in_one_line
from nmt.decoding.loading import load_translator
from nmt.runs.folder import RunFolder
from nmt.serve import operations
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Access
from nmt.serve.translating import TextTranslator
from tests.cli.command_line import nmt, text

MakeClient = Callable[..., TestClient]
PAIR = {"source": "en", "target": "de"}
SENTENCE, GERMAN = "Anna sings today.", "Anna singt heute."
BEN, BEN_GERMAN = "Ben reads often.", "Ben liest oft."


def test_a_third_party_client_works_unchanged(start_server: Callable[..., str]) -> None:
    address = start_server(access=Access(keys=["secret"]))
    api = LibreTranslateAPI(address, api_key="secret")
    assert api.translate(SENTENCE, "en", "de") == GERMAN
    assert api.detect("Ben singt heute.")[0]["language"] == "de"
    assert {each["code"] for each in api.languages()} == {"en", "de"}
    with pytest.raises(HTTPError, match="403"):
        LibreTranslateAPI(address, api_key="guess").translate(SENTENCE, "en", "de")


ODD_TEXTS = [
    *("", " ", "\t", " \u3000 ", "\u2028", "x", "?!", "…", "Zora", "12,5 % — ½", "🙂 \u200b"),
    *(f"{start}{SENTENCE}{end}" for start in ("", " ", "\t ", "- ") for end in ("", "  ", "\xa0")),
    *(f"{SENTENCE}{gap}Ben reads at home." for gap in (" ", "  ", "\t", "\xa0", " \u2003", "\r ")),
    *(f"{SENTENCE.upper()}{end}" for end in ("..", " !", "\x00", "\x85 ", '" he said.')),
    *(" ".join([SENTENCE, "Mr. Ben reads.", "Ida cooks at 3.5 p.m. today."][:n]) for n in (2, 3)),
    *("Anna  sings\ttoday .", "Anna sings today.Ben reads.", "(Anna sings. Ben reads.)"),
    *(f"{SENTENCE} " * n for n in (2, 3, 9)),
    *("anna and ben and clara sing and read and dance and cook and swim at home and at night. " * n
      for n in (1, 2)),
    *("Fußgängerübergänge zu Hause.", "Anna… sings… today…", "Anna sings today\u3002Ben reads."),
]  # fmt: skip


def test_responses_equal_the_output_of_nmt_translate(
    make_client: MakeClient, trained_run: RunFolder, tmp_path: Path
) -> None:
    # One sentence per batch: rounding depends on the rest of a batch, and may decide between two
    # translations of a word that the model does not know.
    alone = "decoding.batch_tokens=1"
    translator = load_translator(trained_run, device="cpu", engine="pytorch", overrides=[alone])
    client = make_client(ServedRun("toy", trained_run, translator, "pytorch"))
    file = tmp_path / "texts.en"
    file.write_text("".join(text + "\n" for text in ODD_TEXTS), encoding="utf-8", newline="\n")
    command = ["translate", "--run", trained_run.path, "--engine", "pytorch", "-i", file]
    command += ["--set", alone]
    expected = text(nmt(*command).stdout).split("\n")[:-1]

    def translated(text: object) -> Any:
        return client.post("/translate", json={"q": text, **PAIR}).json()["translatedText"]

    texts = client.post("/v1/translate", json={"text": ODD_TEXTS}).json()["texts"]
    answers = {
        "one by one": [translated(text) for text in ODD_TEXTS],
        "a list": translated(ODD_TEXTS),
        "all lines of one text": translated("\n".join(ODD_TEXTS)).split("\n"),
        "v1": [text["translation"] for text in texts],
    }
    for name, found in answers.items():
        for given, translation, line in zip(
            ODD_TEXTS, found, map(str.strip, expected), strict=True
        ):
            # The server keeps white space: `nmt translate` keeps indentation only, and writes
            # spaces for tabs and line separators inside it.
            words = given.strip()
            before, _, after = given.partition(words) if words else (given, "", "")
            assert in_one_line(translation) == in_one_line(before + line + after), (name, given)


REQUEST = {"q": SENTENCE, **PAIR}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"json": REQUEST}, GERMAN),
        ({"data": REQUEST}, GERMAN),
        ({"files": {name: (None, value) for name, value in REQUEST.items()}}, GERMAN),
        ({"params": PAIR, "data": {"q": SENTENCE}}, GERMAN),
        ({"params": {**PAIR, "q": [SENTENCE, BEN]}}, [GERMAN, BEN_GERMAN]),
        ({"json": REQUEST | {"q": [SENTENCE, "", BEN]}}, [GERMAN, "", BEN_GERMAN]),
        ({"json": REQUEST | {"q": []}}, []),
        # As PHP writes lists
        ({"data": {"q[]": [BEN], **PAIR}}, [BEN_GERMAN]),
        ({"data": {"q[]": [BEN, BEN], **PAIR}}, [BEN_GERMAN, BEN_GERMAN]),
        ({"data": {"q[0]": BEN, "q[1]": SENTENCE, **PAIR}}, [BEN_GERMAN, GERMAN]),
        ({"json": REQUEST | {"format": "HTML"}}, GERMAN),
        ({"json": REQUEST | {"format": "", "alternatives": ""}}, GERMAN),
        ({"json": REQUEST | {"format": None, "alternatives": None}}, GERMAN),
        ({"json": REQUEST | {"source": "EN", "target": "DE"}}, GERMAN),
        ({"json": REQUEST | {"source": "en-US", "target": "de-DE"}}, GERMAN),
        ({"json": REQUEST | {"source": "en_GB", "target": "De"}}, GERMAN),
        ({"json": REQUEST | {"source": "English", "target": "ger"}}, GERMAN),
        ({"url": "http://localhost//translate", "json": REQUEST}, GERMAN),
        (
            {"json": REQUEST | {"q": f"\n  {SENTENCE}  {BEN}\r\n\r\n\tIda cooks at night.\n"}},
            f"\n  {GERMAN}  {BEN_GERMAN}\r\n\r\n\tIda kocht nachts.\n",
        ),
    ],
)
def test_a_text_or_a_list_is_translated(
    client: TestClient, request_: dict[str, Any], expected: str | list[str]
) -> None:
    answer = client.post(**{"url": "/translate"} | request_)
    assert (answer.status_code, answer.json()) == (200, {"translatedText": expected})


def test_alternatives_differ_from_the_best(client: TestClient) -> None:
    answer = client.post("/translate", json={"q": SENTENCE, "alternatives": 3, **PAIR}).json()
    assert answer["translatedText"] == GERMAN
    assert len({GERMAN, *answer["alternatives"]}) == 4
    several = client.post("/translate", json={"q": [SENTENCE], "alternatives": "3", **PAIR}).json()
    assert several["alternatives"] == [answer["alternatives"]]


def test_auto_selects_the_source_language_of_the_runs(client: TestClient) -> None:
    answer = client.post("/translate", json=REQUEST | {"source": "auto"}).json()
    assert answer["translatedText"] == GERMAN
    assert answer["detectedLanguage"] == {"confidence": 100.0, "language": "en"}


@pytest.fixture
def without_sentences(served: ServedRun, tmp_path: Path) -> ServedRun:
    """A run whose held-out sentences are missing."""
    folder = shutil.copytree(served.folder.path, tmp_path / "run")
    for split in ("validation", "test"):
        (folder / "data" / f"{split}.jsonl").unlink()
    return ServedRun("other", RunFolder(folder), served.translator, served.engine)


@pytest.fixture
def both_ways(
    make_client: MakeClient, served: ServedRun, without_sentences: ServedRun
) -> TestClient:
    """A server with a second run that claims to translate from German to English."""
    without_sentences.source, without_sentences.target = "de", "en"
    return make_client(served, without_sentences)


def test_auto_chooses_among_the_languages_translated_to_the_target(both_ways: TestClient) -> None:
    texts = [SENTENCE, "7", GERMAN]  # the last one is in the target language already
    request = {"q": texts, "source": "auto", "target": "de"}
    answer = both_ways.post("/translate", json=request).json()
    assert [answer["translatedText"][i] for i in (0, 2)] == [GERMAN, GERMAN]
    assert [each["language"] for each in answer["detectedLanguage"]] == ["en", "en", "de"]
    alone = both_ways.post("/translate", json={"q": "7", "source": "auto", "target": "en"}).json()
    assert alone["detectedLanguage"] == {"confidence": 0.0, "language": "de"}


def test_markup_does_not_count_for_the_language(both_ways: TestClient) -> None:
    html = f'<div class="singt heute liest oft kocht nachts"><p>{SENTENCE}</p></div>'
    request = {"q": html, "source": "auto", "target": "de", "format": "html"}
    answer = both_ways.post("/translate", json=request).json()
    assert answer["detectedLanguage"]["language"] == "en"
    assert GERMAN in answer["translatedText"]


def test_the_language_of_a_document_is_that_of_its_text(both_ways: TestClient) -> None:
    document = docx.Document()
    document.add_paragraph("Anna sings today.")
    content = io.BytesIO()
    document.save(content)
    files = {
        "a.docx": content.getvalue(),
        "a.html": b"<div class='singt heute abends oft'>Anna sings today.</div>",
        "a.srt": b"1\n00:00:01,000 --> 00:00:02,500\n<singt heute>Anna sings today.</singt>\n",
    }
    for name, sent in files.items():
        for target, changed in (("de", True), ("en", False)):
            data = {"source": "auto", "target": target}
            answer = both_ways.post("/translate_file", data=data, files={"file": (name, sent)})
            found = both_ways.get(urlsplit(answer.json()["translatedFileUrl"]).path).content
            assert (found != sent) == changed


def test_languages_are_detected_without_the_sentences_of_a_run(
    make_client: MakeClient, without_sentences: ServedRun
) -> None:
    answer = make_client(without_sentences).post("/translate", json=REQUEST | {"source": "auto"})
    assert answer.json()["translatedText"] == GERMAN


def test_detect_languages_health_and_settings_are_supported(client: TestClient) -> None:
    found = client.post("/detect", data={"q": "Anna liest zu Hause."}).json()
    assert [each["language"] for each in found] == ["de", "en"]
    assert found[0]["confidence"] > found[1]["confidence"]
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": []},
    ]
    assert client.get("/health").json() == {"status": "ok"}
    settings = client.get("/frontend/settings").json()
    assert settings["language"]["target"] == {"code": "de", "name": "German"}
    assert not settings["keyRequired"]
    assert ".docx" in settings["supportedFilesFormat"]


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("form", ["q=ö", "q=%C3%B6", "q=o&q=%C3%B6"])
def test_forms_are_utf8_with_or_without_percent_encoding(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(TextTranslator, "require_length", lambda self, given: texts.extend(given))
    content = f"{form}&source=en&target=de".encode()
    assert client.post("/translate", content=content, headers=FORM).status_code == 200
    assert texts[-1] == "ö"


def test_a_form_with_thousands_of_fields_is_refused_without_parsing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parsing millions of fields would take seconds, in which nobody else is served.
    parsed: list[str] = []
    monkeypatch.setattr(operations, "parse_qsl", lambda form, **how: parsed.append(form) or [])
    answer = client.post("/translate", content=b"q=x&" * 1001, headers=FORM)
    assert answer.json() == {"error": "Invalid request: more than 1000 fields"}
    assert parsed == [""]  # the query


def test_an_uploaded_file_may_have_any_field_name(client: TestClient) -> None:
    answer = client.post(
        "/translate_file", data={"file": "x", **PAIR}, files={"document": ("a.txt", SENTENCE)}
    )
    assert client.get(urlsplit(answer.json()["translatedFileUrl"]).path).text == GERMAN


def test_a_translated_document_can_be_downloaded(client: TestClient) -> None:
    file = ("letter one.txt", io.BytesIO(f"{SENTENCE}\n".encode()))
    answer = client.post("/translate_file", data=PAIR, files={"file": file})
    url = urlsplit(answer.json()["translatedFileUrl"])
    assert url.netloc == "localhost:5000"
    fetched = client.get(url.path)
    assert fetched.text == f"{GERMAN}\n"
    assert "letter%20one_de.txt" in fetched.headers["content-disposition"]
    assert fetched.headers["content-disposition"].startswith("attachment;")
