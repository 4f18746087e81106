"""Documents: only their text is translated; everything else is preserved."""

import asyncio
import codecs
import copy
import io
import json
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import docx
import pytest
from docx.document import Document
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.shared import Pt
from starlette.testclient import TestClient

from nmt.serve import documents
from nmt.serve.limits import Limits

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


@pytest.mark.parametrize(
    "time", ["00:00:01:000 --> 00:00:02:500", "01:02,500 --> 01:03", "-0:00:01,0\t-->0:00:01"]
)
def test_subtitles_with_unusual_times_and_blank_lines_are_translated(
    client: TestClient, time: str
) -> None:
    text = "1\n{}\n{}\n\n{}\n\n2\n{}\n{}\n"
    english = "Anna sings today.", "Ben reads often."
    german = "Anna singt heute.", "Ben liest oft."
    given = text.format(time, *english, time, english[0])
    expected = text.format(time, *german, time, german[0])
    assert translate(client, "film.srt", given.encode()).decode() == expected


def test_subtitles_keep_their_formatting(client: TestClient) -> None:
    lines = {
        "<i>Anna sings today.</i>": "<i>Anna singt heute.</i>",
        r"{\an8}<b> Ben reads often.</b>": r"{\an8}<b> Ben liest oft.</b>",
        "Ida <i>cooks</i> at night.": "Ida kocht nachts.",
        "<i>Anna</i> sings today.": "Anna singt heute.",
        r"{\an8}Ben reads <b>often.</b>": r"{\an8}Ben liest oft.",
        r"{\i1}Ben reads{\i0} often.": "Ben liest oft.",
        "<i></i>": "<i></i>",
        "♪ 12:30 ♪": "♪ 12:30 ♪",
    }
    time = "1\n00:00:01,000 --> 00:00:02,500\n"
    source, expected = ("\n".join(texts) for texts in (lines, lines.values()))
    found = translate(client, "film.srt", (time + source).encode())
    assert found.decode() == time + expected


def test_markdown_keeps_everything_but_its_text(client: TestClient) -> None:
    source = "# Anna sings today.\n\n- Ben *reads* often.\n\n```\nIda cooks at night.\n```\n"
    expected = source.replace("Anna sings today.", "Anna singt heute.")
    expected = expected.replace("Ben *reads* often.", "Ben *liest* oft.")
    assert translate(client, "README.md", source.encode()).decode() == expected


def test_strings_in_json_are_translated(client: TestClient) -> None:
    tree = {"Anna sings today.": "Anna sings today.", "n": [1, "Ben <b>reads</b> often.", "a_b"]}
    found = json.loads(translate(client, "en.json", json.dumps(tree).encode()))
    expected = ["Anna singt heute.", [1, "Ben <b>liest</b> oft.", "a_b"]]
    assert list(found) == list(tree)
    assert list(found.values()) == expected


def test_placeholders_in_json_are_kept(client: TestClient) -> None:
    """The toy model knows no placeholders, and would write others or none."""
    source = json.dumps(["Anna sings {count} today.", "{{user}} reads often.", "%s"])
    first, second, third = json.loads(translate(client, "en.json", source.encode()))
    assert (first.count("{count}"), second.count("{{user}}"), third) == (1, 1, "%s")


def test_json_that_is_damaged_is_refused(client: TestClient) -> None:
    files = {"file": ("en.json", b'{"a": ')}
    answer = client.post("/translate_file", data=PAIR, files=files)
    assert answer.status_code == 400


def test_text_without_letters_is_kept(client: TestClient) -> None:
    html = "<p>Anna sings today.</p><p>12.5 %</p><h2>—</h2>"
    expected = html.replace("Anna sings today.", "Anna singt heute.")
    assert translate(client, "page.html", html.encode()).decode() == expected
    document = docx.Document()
    for text in ("2019", "* * *", "Ben reads often."):
        document.add_paragraph(text)
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    assert [each.text for each in found.paragraphs] == ["2019", "* * *", "Ben liest oft."]


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.md", "a.srt", "a.json"])
def test_invisible_characters_around_sentences_are_removed(client: TestClient, name: str) -> None:
    text = "\u2066Anna sings today.\u2069 Ben reads often.\u200e"
    before = "1\n00:00:01,000 --> 00:00:02,000\n" if name == "a.srt" else ""
    mark = '"' if name == "a.json" else ""
    content = f"{before}{mark}{text}{mark}"
    found = translate(client, name, content.encode()).decode()
    assert found == content.replace(text, "Anna singt heute. Ben liest oft.")


def test_symbols_in_plain_text_are_kept(client: TestClient) -> None:
    text = "* * *\nAnna sings today.\n12.5 %\n"
    found = translate(client, "a.txt", text.encode()).decode()
    assert found == text.replace("Anna sings today.", "Anna singt heute.")


@pytest.mark.parametrize(("charset", "expected"), [("iso-8859-1", "&#252;"), ("UTF-8", "ü")])
def test_html_is_right_in_the_character_set_that_it_declares(
    client: TestClient, charset: str, expected: str
) -> None:
    head = f'<head><script charset="utf-8"></script><meta charset="{charset}"></head>'
    html = f'<html>{head}<body translate="no">&uuml;</body></html>'
    found = translate(client, "page.html", html.encode())
    assert expected.encode() in found
    assert f'charset="{charset}"'.encode() in found


def test_a_byte_order_mark_is_kept(client: TestClient) -> None:
    for name in ("a.txt", "a.html"):
        found = translate(client, name, codecs.BOM_UTF8 + "Ben reads often. ü".encode())
        assert found.startswith(codecs.BOM_UTF8 + b"Ben liest oft.")


def test_line_breaks_within_html_and_word_text_are_spaces(client: TestClient) -> None:
    html = "<p>\n  Ben reads\n  <b>often.</b>\n</p>"
    found = translate(client, "page.html", html.encode()).decode()
    assert re.sub("</?b>", "", found) == "<p>\n  Ben liest oft.\n</p>"
    document = docx.Document()
    document.add_paragraph().add_run()._r.append(_element("<w:t>Ben reads\noften.</w:t>"))
    [paragraph] = docx.Document(
        io.BytesIO(translate(client, "a.docx", _saved(document)))
    ).paragraphs
    assert paragraph.text == "Ben liest oft."


def test_html_keeps_a_leading_mark_and_gets_the_target_language(client: TestClient) -> None:
    page = '<html lang="{}"><head></head><body><p><sup>1</sup>{}</p></body></html>'
    found = translate(client, "page.html", page.format("en", "Ben reads often.").encode())
    assert found.decode() == page.format("de", "Ben liest oft.")


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
    document.sections[0].footer.paragraphs[0].text = "Ben reads often."
    content = io.BytesIO()
    document.save(content)
    found = docx.Document(io.BytesIO(translate(client, "letter.docx", content.getvalue())))
    first, second = found.paragraphs
    assert first.text == "Ben liest oft."
    assert any(run.bold for run in first.runs)
    assert second.text == "Anna singt heute.\nIda kocht nachts."
    assert found.tables[0].cell(0, 0).text == "Clara tanzt oft."
    assert found.sections[0].header.paragraphs[0].text == "David schwimmt heute."
    assert found.sections[0].footer.paragraphs[0].text == "Ben liest oft."


def test_word_documents_are_proofed_in_the_target_language(client: TestClient) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run("Anna sings today.")
    run._r.get_or_add_rPr().append(_element("<w:lang w:val='en-GB' w:eastAsia='ja-JP'/>"))
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    [language] = found.paragraphs[0]._p.xpath(".//w:lang")
    assert language.values() == ["de-DE", "ja-JP"]
    assert "de-DE" in found.styles.element.xpath("string(.//w:lang/@w:val)")


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


BETWEEN = {
    "equation": ("<m:oMath><m:r><m:t>x+1</m:t></m:r></m:oMath>", "x+1"),
    "insertion": ("<w:ins w:id='1' w:author='a'>{run}</w:ins>", "Ben liest oft."),
    "smart tag": ("<w:smartTag w:uri='x' w:element='y'>{run}</w:smartTag>", "Ben liest oft."),
    "content control": ("<w:sdt><w:sdtContent>{run}</w:sdtContent></w:sdt>", "Ben liest oft."),
    "field": ("<w:fldSimple w:instr='TITLE'>{run}</w:fldSimple>", "Ben liest oft."),
    "deletion": ("<w:del w:id='1' w:author='a'><w:r><w:delText>x</w:delText></w:r></w:del>", "x"),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_text_stays_on_its_side_of_what_lies_in_between(client: TestClient, name: str) -> None:
    xml, expected = BETWEEN[name]
    document = docx.Document()
    paragraph = document.add_paragraph("Anna sings today.")
    paragraph._p.append(_element(xml.format(run="<w:r><w:t>Ben reads often.</w:t></w:r>")))
    paragraph.add_run("Ida cooks at night.")
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    text = found.paragraphs[0]._p.xpath("string()")
    assert text == f"Anna singt heute.{expected}Ida kocht nachts."


def test_bookmarks_comments_and_spelling_marks_do_not_split_a_text(client: TestClient) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Anna sings ")
    paragraph._p.append(_element("<w:bookmarkStart w:id='1' w:name='x'/>"))
    paragraph._p.append(_element("<w:proofErr w:type='spellStart'/>"))
    paragraph._p.append(_element("<w:commentRangeEnd w:id='2'/>"))
    paragraph._p.append(_element("<w:r><w:rPr/><w:commentReference w:id='2'/></w:r>"))
    paragraph.add_run("today.")
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    assert found.paragraphs[0].text == "Anna singt heute."


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_references_to_notes_do_not_split_a_text(client: TestClient, kind: str) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run("Anna sings today")
    run.bold = True
    run._r.extend([_element(f"<w:{kind}Reference w:id='1'/>"), _element("<w:t>.</w:t>")])
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    [paragraph] = found.paragraphs
    assert paragraph.text == "Anna singt heute."
    [reference] = paragraph._p.xpath(f"w:r/w:{kind}Reference")
    assert reference.getparent().getnext().text == "."


@pytest.mark.parametrize("between", ["br", "tab", "cr"])
def test_text_beside_something_else_in_a_run_is_translated(
    client: TestClient, between: str
) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run("Anna sings today.")
    run.bold = True
    run._r.append(_element(f"<w:{between} w:id='1'/>"))
    run._r.append(_element("<w:t>Ben reads often.</w:t>"))
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    [paragraph] = found.paragraphs
    assert paragraph._p.xpath("string()") == "Anna singt heute.Ben liest oft."
    [element] = paragraph._p.xpath(f"w:r/w:{between}")
    assert element.getparent().getprevious().text == "Anna singt heute."
    assert all(run.bold for run in paragraph.runs)


@pytest.mark.parametrize("mark", ["lastRenderedPageBreak", "softHyphen"])
def test_invisible_marks_do_not_split_text(client: TestClient, mark: str) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run("Anna sings to")
    run._r.append(_element(f"<w:{mark}/>"))
    run._r.append(_element("<w:t>day.</w:t>"))
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    assert found.paragraphs[0].text == "Anna singt heute."


def test_hyphens_that_do_not_break_are_part_of_the_text(client: TestClient) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run("Anna")
    run._r.extend([_element("<w:noBreakHyphen/>"), _element("<w:t>Ida sings today.</w:t>")])
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    assert len(found.paragraphs[0].runs) == 1
    assert "singt" in found.paragraphs[0].text


def test_raised_numbers_stay_behind_their_word(client: TestClient) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Anna sings today")
    paragraph.add_run("1").font.superscript = True
    paragraph.add_run(".")
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    assert found.paragraphs[0].text == "Anna singt heute1."
    [raised] = [run for run in found.paragraphs[0].runs if run.font.superscript]
    assert raised.text == "1"


@pytest.mark.parametrize("note_kind", ["footnote", "endnote"])
def test_notes_are_translated(client: TestClient, note_kind: str) -> None:
    document = docx.Document()
    name = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{note_kind}s"
    kind = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{note_kind}s+xml"
    text = "<w:p><w:r><w:t>Ben reads often.</w:t></w:r></w:p>"
    note = _element(f"<w:{note_kind} w:id='1'>{text}</w:{note_kind}>")
    notes = Part(PackURI(f"/word/{note_kind}s.xml"), kind, note.getparent().xml.encode())
    document.part.relate_to(notes, name)
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    [translated] = [each for each in found.part.package.iter_parts() if each.content_type == kind]
    assert b"<w:t>Ben liest oft.</w:t>" in translated.blob


@pytest.mark.parametrize(
    "xml",
    [
        '<?xml version="1.0" encoding="cp037"?><w:document/>'.encode("cp037"),  # EBCDIC
        b'<?xml version="1.0" encoding="UTF-7"?>+ADw-w:document/>',
        b"\xef\xbb\xbf<?xml version='1.0' encoding = 'utf-7'?>+ADw-w:document/>",
    ],
)
def test_encodings_that_hide_tags_are_refused(
    client: TestClient, xml: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO(_saved(docx.Document()))
    changed = io.BytesIO()
    with zipfile.ZipFile(content) as archive, zipfile.ZipFile(changed, "w") as copied:
        for name in archive.namelist():
            copied.writestr(name, xml if name == "word/document.xml" else archive.read(name))
    files = {"file": ("a.docx", changed.getvalue())}
    monkeypatch.setattr("docx.Document", lambda _: pytest.fail("parsed"))
    answer = client.post("/translate_file", data=PAIR, files=files)
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


def test_documents_of_very_many_parts_are_refused(client: TestClient) -> None:
    content = io.BytesIO(_saved(docx.Document()))
    with zipfile.ZipFile(content, "a") as archive:
        for number in range(1000):
            archive.writestr(f"word/{number}.xml", "")
    files = {"file": ("a.docx", content.getvalue())}
    assert client.post("/translate_file", data=PAIR, files=files).status_code == 413


def test_subtitles_with_too_many_lines_are_refused_early(
    make_client: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def recorded(line: str) -> tuple[str, str, str]:
        read.append(line)
        return "", line, ""

    monkeypatch.setattr("nmt.serve.subtitles._without_formatting", recorded)
    client = make_client(limits=Limits(sentences=5))
    files = {"file": ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n" + "Ben reads often.\n" * 99)}
    assert client.post("/translate_file", data=PAIR, files=files).status_code == 400
    assert len(read) == 6


def test_a_long_format_is_not_copied_many_times(client: TestClient) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run()
    run.font.name = "x" * 1_000_000
    run._r.extend(_element(xml) for xml in ("<w:t>x</w:t>", "<w:tab/>") for _ in range(50))
    files = {"file": ("a.docx", _saved(document))}
    answer = client.post("/translate_file", data=PAIR, files=files)
    assert answer.status_code == 413


def test_a_header_of_two_sections_is_translated_once(client: TestClient) -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "David swims today."
    document.add_section()
    first, second = (section._sectPr for section in document.sections)
    second.insert(0, copy.deepcopy(first[0]))
    found = docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))
    for section in found.sections:
        assert section.header.paragraphs[0].text == "David schwimmt heute."


def test_word_documents_are_searched_and_changed_outside_the_event_loop(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_loop = []

    def watch(name: str) -> None:
        function = getattr(documents, name)

        def watched(*args: object) -> object:
            with suppress(RuntimeError):
                in_loop.append(asyncio.get_running_loop())
            called.add(name)
            return function(*args)

        monkeypatch.setattr(documents, name, watched)

    called: set[str] = set()
    names = {"_open_docx", "_separate_text", "_replace_runs"}
    for name in names:
        watch(name)
    document = docx.Document()
    document.add_paragraph("Anna sings today.")
    translate(client, "a.docx", _saved(document))
    assert called == names
    assert not in_loop


def test_a_small_word_document_of_very_many_elements_is_refused(client: TestClient) -> None:
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(_saved(docx.Document()))) as original,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for file in original.infolist():
            part = original.read(file)
            archive.writestr(file, part.replace(b"<w:body>", b"<w:body>" + b"<w:p/>" * 500_000))
    answer = client.post("/translate_file", data=PAIR, files={"file": ("a.docx", content)})
    assert answer.status_code == 413
    assert "500,000 tags" in answer.json()["error"]


def _element(xml: str) -> Any:
    names = {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    }
    declared = " ".join(f"xmlns:{name}='{uri}'" for name, uri in names.items())
    return parse_xml(f"<w:p {declared}>{xml}</w:p>")[0]


def _saved(document: Document) -> bytes:
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


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
        ("a.txt", b"\xff\xfe\x00", 400),
        ("a.docx", _bomb(), 413),
    ],
    ids=["no zip", "empty", "half a character", "zip bomb"],
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


def test_files_of_translation_tools_are_filled(client: TestClient) -> None:
    unit = "<trans-unit id='1'><source>Anna <g id='1'>sings</g> today.</source>{}</trans-unit>"
    file = "<xliff version='1.2'><file source-language='en' target-language='de'>{}</file></xliff>"
    found = translate(client, "a.xlf", file.format(unit.format("")).encode()).decode()
    assert "Anna <g id='1'>singt</g> heute.</target>" in found
    po = 'msgid "Ben reads often."\nmsgstr "{}"\n'
    found = translate(client, "de.po", b"\xef\xbb\xbf" + po.format("").encode()).decode()
    assert found == "\ufeff#, fuzzy\n" + po.format("Ben liest oft.")
    answer = client.post("/translate_file", data=PAIR, files={"file": ("a.tmx", b"<tmx>")})
    assert answer.status_code == 400
    data = {"source": "auto", "target": "de"}
    files = {"file": ("de.po", po.format("").encode())}
    assert client.post("/translate_file", data=data, files=files).status_code == 200


def test_documents_follow_terms(client: TestClient) -> None:
    data = {**PAIR, "glossary": "today\tnachts"}
    files = {"file": ("a.txt", b"Anna sings today.")}
    answer = client.post("/translate_file", data=data, files=files)
    found = client.get(urlsplit(answer.json()["translatedFileUrl"]).path)
    assert "nachts" in found.text
    refused = client.post("/translate_file", data={**PAIR, "address": "sie"}, files=files)
    assert refused.status_code == 400
