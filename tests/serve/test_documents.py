"""Documents: only their text is translated; everything else is preserved."""

import asyncio
import copy
import io
import json
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docx
import pytest
from docx.document import Document
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.shared import Pt
from docx.text.paragraph import Paragraph
from starlette.testclient import TestClient

from nmt.decoding.loading import load_translator
from nmt.runs.folder import RunFolder
from nmt.serve import documents
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun

PAIR = {"source": "en", "target": "de"}


def translate(client: TestClient, name: str, content: bytes) -> bytes:
    answer = client.post("/translate_file", data=PAIR, files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return client.get(urlsplit(answer.json()["translatedFileUrl"]).path).content


TEXTS = {  # English sentences are replaced by German ones, and nothing else changes
    "film.SRT": "1\r\n00:00:01,000 --> 00:00:02,500\r\nAnna sings today.\r\nBen reads often.\r\n"
    "\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nIda cooks at night.\r\n",
    "README.md": "# Anna sings today.\n\n- Ben *reads* often.\n\n```\nIda works at night.\n```\n",
    "a.txt": "* * *\nAnna sings today.\n12.5 %\n",
    "mark.txt": "\ufeffBen reads often. ½",
    "mark.html": "\ufeffBen reads often. ½",
    "symbols.html": "<p>Anna sings today.</p><p>12.5 %</p><h2>—</h2>",
    "page.html": '<!DOCTYPE html><html lang="en"><head><style>x</style></head><body><p><sup>1</sup>'
    "Ben reads often.</p></body></html>",
}
GERMAN = {
    "Anna sings today.": "Anna singt heute.",
    "Ben reads often.": "Ben liest oft.",
    "Ben *reads* often.": "Ben *liest* oft.",
    "Ida cooks at night.": "Ida kocht nachts.",
    'lang="en"': 'lang="de"',
}


@pytest.mark.parametrize("name", TEXTS)
def test_only_the_text_of_a_document_changes(client: TestClient, name: str) -> None:
    expected = TEXTS[name]
    for english, german in GERMAN.items():
        expected = expected.replace(english, german)
    assert translate(client, name, TEXTS[name].encode()).decode() == expected


def test_line_breaks_within_html_text_are_spaces(client: TestClient) -> None:
    html = "<p>\n  Ben reads\n  <b>often.</b>\n</p>"
    found = translate(client, "page.html", html.encode()).decode()
    assert re.sub("</?b>", "", found) == "<p>\n  Ben liest oft.\n</p>"


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


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.md", "a.srt", "a.json"])
def test_invisible_characters_around_sentences_are_removed(client: TestClient, name: str) -> None:
    text = "\u2066Anna sings today.\u2069 Ben reads often.\u200e"
    before = "1\n00:00:01,000 --> 00:00:02,000\n" if name == "a.srt" else ""
    mark = '"' if name == "a.json" else ""
    content = f"{before}{mark}{text}{mark}"
    found = translate(client, name, content.encode()).decode()
    assert found == content.replace(text, "Anna singt heute. Ben liest oft.")


@pytest.mark.parametrize(("charset", "expected"), [("iso-8859-1", "&#252;"), ("UTF-8", "ü")])
def test_html_is_right_in_the_character_set_that_it_declares(
    client: TestClient, charset: str, expected: str
) -> None:
    head = f'<head><script charset="utf-8"></script><meta charset="{charset}"></head>'
    html = f'<html>{head}<body translate="no">&uuml;</body></html>'
    found = translate(client, "page.html", html.encode())
    assert expected.encode() in found
    assert f'charset="{charset}"'.encode() in found


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
    found = in_word(client, document)
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
    found = in_word(client, document)
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


ANNA, BEN, IDA = (
    f"<w:r><w:t>{text}</w:t></w:r>"
    for text in ("Anna sings today.", "Ben reads often.", "Ida cooks at night.")
)
MARKS = (
    "<w:bookmarkStart w:id='1' w:name='x'/><w:proofErr w:type='spellStart'/>"
    "<w:commentRangeEnd w:id='2'/><w:r><w:rPr/><w:commentReference w:id='2'/></w:r>"
)
PARAGRAPHS = {  # the content of a paragraph, and the text of its translation
    "symbols": ("<w:r><w:t>* * * 2019</w:t></w:r>", "* * * 2019"),
    "line break": ("<w:r><w:t>Ben reads\noften.</w:t></w:r>", "Ben liest oft."),
    **{
        mark: (f"<w:r><w:t>Ben reads of</w:t><w:{mark}/><w:t>ten.</w:t></w:r>", "Ben liest oft.")
        for mark in ("lastRenderedPageBreak", "softHyphen")
    },
    "marks": (
        f"<w:r><w:t>Anna sings </w:t></w:r>{MARKS}<w:r><w:t>today.</w:t></w:r>",
        "Anna singt heute.",
    ),
    # Text stays on its side of what lies in between.
    **{
        name: (f"{ANNA}{between}{IDA}", f"Anna singt heute.{expected}Ida kocht nachts.")
        for name, between, expected in (
            ("equation", "<m:oMath><m:r><m:t>x+1</m:t></m:r></m:oMath>", "x+1"),
            ("insertion", f"<w:ins w:id='1' w:author='a'>{BEN}</w:ins>", "Ben liest oft."),
            ("smart tag", f"<w:smartTag w:uri='x'>{BEN}</w:smartTag>", "Ben liest oft."),
            ("control", f"<w:sdt><w:sdtContent>{BEN}</w:sdtContent></w:sdt>", "Ben liest oft."),
            ("field", f"<w:fldSimple w:instr='TITLE'>{BEN}</w:fldSimple>", "Ben liest oft."),
            ("deletion", "<w:del w:id='1'><w:r><w:delText>x</w:delText></w:r></w:del>", "x"),
        )
    },
}


@pytest.mark.parametrize("name", PARAGRAPHS)
def test_the_text_of_a_paragraph_is_translated(client: TestClient, name: str) -> None:
    content, expected = PARAGRAPHS[name]
    assert paragraph(client, content)._p.xpath("string()") == expected


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_references_to_notes_do_not_split_a_text(client: TestClient, kind: str) -> None:
    reference = f"<w:{kind}Reference w:id='1'/><w:t>.</w:t></w:r>"
    found = paragraph(client, BOLD.replace(".</w:t></w:r>", f"</w:t>{reference}"))
    assert found.text == "Anna singt heute."
    [element] = found._p.xpath(f"w:r/w:{kind}Reference")
    assert element.getparent().getnext().text == "."


BOLD = "<w:r><w:rPr><w:b/></w:rPr><w:t>Anna sings today.</w:t></w:r>"


@pytest.mark.parametrize("between", ["br", "tab", "cr"])
def test_text_beside_something_else_in_a_run_is_translated(
    client: TestClient, between: str
) -> None:
    more = f"<w:{between} w:id='1'/><w:t>Ben reads often.</w:t></w:r>"
    found = paragraph(client, BOLD.replace("</w:r>", more))
    assert found._p.xpath("string()") == "Anna singt heute.Ben liest oft."
    [element] = found._p.xpath(f"w:r/w:{between}")
    assert element.getparent().getprevious().text == "Anna singt heute."
    assert all(run.bold for run in found.runs)


def test_hyphens_that_do_not_break_are_part_of_the_text(client: TestClient) -> None:
    hyphen = "<w:t>Anna</w:t><w:noBreakHyphen/><w:t>Ida sings today.</w:t>"
    found = paragraph(client, f"<w:r>{hyphen}</w:r>")
    assert len(found.runs) == 1
    assert "singt" in found.text


def test_raised_numbers_stay_behind_their_word(client: TestClient) -> None:
    raised = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>1</w:t></w:r>"
    texts = (f"<w:r><w:t>{text}</w:t></w:r>" for text in ("Anna sings today", "."))
    found = paragraph(client, raised.join(texts))
    assert found.text == "Anna singt heute1."
    assert [run.text for run in found.runs if run.font.superscript] == ["1"]


@pytest.mark.parametrize("note_kind", ["footnote", "endnote"])
def test_notes_are_translated(client: TestClient, note_kind: str) -> None:
    document = docx.Document()
    name = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{note_kind}s"
    kind = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{note_kind}s+xml"
    text = "<w:p><w:r><w:t>Ben reads often.</w:t></w:r></w:p>"
    note = _element(f"<w:{note_kind} w:id='1'>{text}</w:{note_kind}>")
    notes = Part(PackURI(f"/word/{note_kind}s.xml"), kind, note.getparent().xml.encode())
    document.part.relate_to(notes, name)
    found = in_word(client, document)
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
    found = in_word(client, document)
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
    files = {"file": (name, _bomb() if content is None else content)}
    answer = client.post("/translate_file", data=PAIR, files=files)
    assert (answer.status_code, "Invalid request" in answer.json()["error"]) == (status, True)


def _element(xml: str) -> Any:
    names = {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    }
    declared = " ".join(f"xmlns:{name}='{uri}'" for name, uri in names.items())
    return parse_xml(f"<w:p {declared}>{xml}</w:p>")[0]


def in_word(client: TestClient, document: Document) -> Document:
    """Translate a Word document."""
    return docx.Document(io.BytesIO(translate(client, "a.docx", _saved(document))))


def paragraph(client: TestClient, content: str) -> Paragraph:
    """Translate a Word document of one paragraph with this content."""
    document = docx.Document()
    document.add_paragraph()._p.extend(list(_element(f"<w:p>{content}</w:p>")))
    [found] = in_word(client, document).paragraphs
    return found


def _saved(document: Document) -> bytes:
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def _bomb(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.writestr("[Content_Types].xml", b" " * 60_000_000)
    return content.getvalue()


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
