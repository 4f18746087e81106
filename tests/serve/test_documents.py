"""Documents over HTTP: translated as in `nmt.documents`, within limits, outside the event loop."""

import asyncio
import io
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import docx
import pytest
from starlette.testclient import TestClient

from nmt.decoding.loading import load_translator
from nmt.documents import word_files
from nmt.runs.folder import RunFolder
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun

PAIR = {"source": "en", "target": "de"}


def translate(client: TestClient, name: str, content: bytes) -> bytes:
    answer = client.post("/translate_file", data=PAIR, files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return client.get(urlsplit(answer.json()["translatedFileUrl"]).path).content


@pytest.mark.parametrize(("encoding", "named"), [("utf-8", None), ("cp1252", "cp1252")])
def test_the_encoding_of_text_is_recognized_and_told(
    client: TestClient, encoding: str, named: str | None
) -> None:
    text = "Anna sings today. Für größere Bären gibt es süße Äpfel in der Küche – überall."
    file = {"file": ("a.txt", text.encode(encoding))}
    answer = client.post("/translate_file", data=PAIR, files=file).json()
    assert answer.get("encoding") == named
    found = client.get(urlsplit(answer["translatedFileUrl"]).path).content
    assert found.decode().startswith("Anna singt heute.")


def test_subtitles_with_too_many_lines_are_refused_early(
    make_client: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def recorded(line: str) -> tuple[str, str, str]:
        read.append(line)
        return "", line, ""

    monkeypatch.setattr("nmt.documents.subtitles._divided", recorded)
    client = make_client(limits=Limits(sentences=5))
    files = {"file": ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n" + "Ben reads often.\n" * 99)}
    assert client.post("/translate_file", data=PAIR, files=files).status_code == 400
    assert len(read) == 6


def test_word_documents_are_searched_and_changed_outside_the_event_loop(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_loop = []

    def watch(name: str) -> None:
        function = getattr(word_files, name)

        def watched(*args: object) -> object:
            with suppress(RuntimeError):
                in_loop.append(asyncio.get_running_loop())
            called.add(name)
            return function(*args)

        monkeypatch.setattr(word_files, name, watched)

    called: set[str] = set()
    names = {"_open_docx", "_separate_text", "_replace_runs"}
    for name in names:
        watch(name)
    document = docx.Document()
    document.add_paragraph("Anna sings today.")
    content = io.BytesIO()
    document.save(content)
    translate(client, "a.docx", content.getvalue())
    assert called == names
    assert not in_loop


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("a.docx", b"no archive", 400),
        ("a.docx", b"", 400),
        ("a.txt", b"\xff\xfe\x00", 400),
        ("a.tmx", b"<tmx>", 400),
        ("a.docx", None, 413),
    ],
)
def test_damaged_documents_are_refused(
    client: TestClient, name: str, content: bytes | None, status: int
) -> None:
    if content is None:
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", b" " * 60_000_000)
        content = bomb.getvalue()
    files = {"file": (name, content)}
    answer = client.post("/translate_file", data=PAIR, files=files)
    assert (answer.status_code, "Invalid request" in answer.json()["error"]) == (status, True)


def test_files_of_translation_tools_are_filled(client: TestClient) -> None:
    unit = "<trans-unit id='1'><source>Anna <g id='1'>sings</g> today.</source>{}</trans-unit>"
    file = "<xliff version='1.2'><file source-language='en' target-language='de'>{}</file></xliff>"
    found = translate(client, "a.xlf", file.format(unit.format("")).encode()).decode()
    assert "Anna <g id='1'>singt</g> heute.</target>" in found
    po = 'msgid "Ben reads often."\nmsgstr "{}"\n'
    found = translate(client, "de.po", b"\xef\xbb\xbf" + po.format("").encode()).decode()
    assert found == "\ufeff#, fuzzy\n" + po.format("Ben liest oft.")
    data = {"source": "auto", "target": "de"}
    files = {"file": ("de.po", po.format("").encode())}
    assert client.post("/translate_file", data=data, files=files).status_code == 200
    files = {"file": ("\u202e\x1b[2Jx.po", b'msgid "a')}  # names are not repeated in messages
    answer = client.post("/translate_file", data=data, files=files)
    assert (answer.status_code, answer.json()["error"][:30]) == (
        400,
        "Invalid request: document.po: ",
    )


def test_documents_follow_terms(client: TestClient) -> None:
    data = {**PAIR, "glossary": "today\tnachts"}
    files = {"file": ("a.txt", b"Anna sings today.")}
    answer = client.post("/translate_file", data=data, files=files)
    found = client.get(urlsplit(answer.json()["translatedFileUrl"]).path)
    assert "nachts" in found.text
    refused = client.post("/translate_file", data={**PAIR, "address": "sie"}, files=files)
    assert refused.status_code == 400


def test_what_the_memory_has_is_taken_from_it_and_marked(
    make_client: Callable[..., TestClient], trained_run: RunFolder, tmp_path: Path
) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text("Anna sings. Ben reads.\tAnna singt, und Ben liest.\n")
    translator = load_translator(trained_run, memory=memory)
    client = make_client(ServedRun("toy", trained_run, translator, "pytorch"))
    unit = "<trans-unit id='1'><source>Anna sings. Ben reads.</source></trans-unit>"
    file = f"<file source-language='en' target-language='de'>{unit}</file>"
    found = translate(client, "a.xlf", f"<xliff version='1.2'>{file}</xliff>".encode()).decode()
    assert "Anna singt, und Ben liest.</target>" in found
    assert 'state-qualifier="leveraged-tm"' in found
    answer = client.post("/translate", json={**PAIR, "q": "Anna sings. Ben reads.\n"})
    assert answer.json()["translatedText"] == "Anna singt, und Ben liest.\n"


def test_terms_that_could_not_be_placed_in_a_document_are_told(
    make_client: Callable[..., TestClient], trained_run: RunFolder
) -> None:
    sampling = ["decoding.temperature=1e-3"]
    translator = load_translator(trained_run, overrides=sampling, engine="pytorch")
    client = make_client(ServedRun("toy", trained_run, translator, "pytorch"))
    for name in ("a.txt", "a.html"):
        data = {**PAIR, "glossary": "Anna\tBen"}
        files = {"file": (name, b"Anna sings today. Anna sings.")}
        answer = client.post("/translate_file", data=data, files=files).json()
        assert answer["missing_terms"] == ["Anna → Ben"]
