"""Documents: only their text is translated; everything else is preserved."""

import io
import struct
import tracemalloc
import zipfile
from urllib.parse import urlsplit

import docx
import pytest
from docx.shared import Pt
from starlette.testclient import TestClient

PAIR = {"source": "en", "target": "de"}


def translate(client: TestClient, name: str, content: bytes) -> bytes:
    answer = client.post("/translate_file", data=PAIR, files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return client.get(urlsplit(answer.json()["translatedFileUrl"]).path).content


def test_subtitles_keep_their_numbers_and_times(client: TestClient) -> None:
    text = (
        "1\r\n00:00:01,000 --> 00:00:02,500\r\nAnna sings today.\r\nBen reads often.\r\n\r\n"
        "2\r\n00:00:03,000 --> 00:00:04,000\r\nIda cooks at night.\r\n"
    )
    expected = (
        "1\r\n00:00:01,000 --> 00:00:02,500\r\nAnna singt heute.\r\nBen liest oft.\r\n\r\n"
        "2\r\n00:00:03,000 --> 00:00:04,000\r\nIda kocht nachts.\r\n"
    )
    assert translate(client, "film.SRT", text.encode()).decode() == expected


def test_html_keeps_everything_except_text(client: TestClient) -> None:
    html = "<!DOCTYPE html><html><head><style>x</style></head><body>Ben reads often.</body></html>"
    expected = html.replace("Ben reads often.", "Ben liest oft.")
    assert translate(client, "page.html", html.encode()).decode() == expected


def test_word_documents_keep_formats_tables_and_headers(client: TestClient) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Ben ")
    paragraph.add_run("reads").bold = True
    paragraph.add_run(" often.").font.size = Pt(20)
    broken = document.add_paragraph("Anna sings today.")
    broken.add_run().add_break()
    broken.add_run("Ida cooks at night.")
    document.add_table(1, 1).cell(0, 0).text = "Clara dances often."
    document.sections[0].header.paragraphs[0].text = "David swims today."
    content = io.BytesIO()
    document.save(content)
    found = docx.Document(io.BytesIO(translate(client, "letter.docx", content.getvalue())))
    first, second = found.paragraphs
    assert first.text == "Ben liest oft."
    assert any(run.bold for run in first.runs)
    assert second.text == "Anna singt heute.\nIda kocht nachts."
    assert found.tables[0].cell(0, 0).text == "Clara tanzt oft."
    assert found.sections[0].header.paragraphs[0].text == "David schwimmt heute."


def _bomb(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.writestr("[Content_Types].xml", b" " * 60_000_000)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("a.docx", b"no archive", 400),
        ("a.docx", b"", 400),
        ("a.txt", b"\xff\xfe\x00x", 400),
        ("a.docx", _bomb(), 413),
    ],
    ids=["no zip", "empty", "not UTF-8", "zip bomb"],
)
def test_damaged_documents_are_refused(
    client: TestClient, name: str, content: bytes, status: int
) -> None:
    answer = client.post("/translate_file", data=PAIR, files={"file": (name, content)})
    assert answer.status_code == status
    assert answer.json()["error"].startswith("Invalid request")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_document_that_understates_its_size_does_not_fill_the_memory(
    client: TestClient, method: int
) -> None:
    content = _bomb(method).replace(struct.pack("<I", 60_000_000), struct.pack("<I", 100))
    tracemalloc.start()
    answer = client.post("/translate_file", data=PAIR, files={"file": ("a.docx", content)})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status_code == 400
    assert peak < 50_000_000
