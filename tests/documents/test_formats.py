"""Documents: only their text is translated; everything else is preserved."""

import copy
import io
import json
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pytest
from docx.document import Document
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.shared import Pt
from docx.text.paragraph import Paragraph

from nmt.documents.errors import DocumentError
from nmt.documents.formats import encoding_of, read_document, text_of

Translate = Callable[[str, bytes], bytes]


TEXTS = {  # English sentences are replaced by German ones, and nothing else changes
    "film.SRT": "1\r\n00:00:01,000 --> 00:00:02,500\r\nAnna sings today.\r\nBen reads often.\r\n"
    "\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nIda cooks at night.\r\n",
    "README.md": "# Anna sings today.\n\n- Ben *reads* often.\n\n```\nIda works at night.\n```\n\n"
    '![](a.png "Anna sings today.")\n\nBen reads often. ![Ida cooks at night.](b.png)\n',
    "a.txt": "* * *\nAnna sings today.\n12.5 %\n",
    "mark.txt": "\ufeffBen reads often. ½",
    "mark.html": "\ufeffBen reads often. ½",
    "symbols.html": "<p>Anna sings today.</p><p>12.5 %</p><h2>—</h2>",
    "page.xhtml": '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">'
    '<head><meta name="a"/></head><body><p>Anna sings today.<br/></p><p></p></body></html>',
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
def test_only_the_text_of_a_document_changes(translate: Translate, name: str) -> None:
    expected = TEXTS[name]
    for english, german in GERMAN.items():
        expected = expected.replace(english, german)
    assert translate(name, TEXTS[name].encode()).decode() == expected


def test_line_breaks_within_html_text_are_spaces(translate: Translate) -> None:
    html = "<p>\n  Ben reads\n  <b>often.</b>\n</p>"
    found = translate("page.html", html.encode()).decode()
    assert re.sub("</?b>", "", found) == "<p>\n  Ben liest oft.\n</p>"


@pytest.mark.parametrize(
    "time", ["00:00:01:000 --> 00:00:02:500", "01:02,500 --> 01:03", "-0:00:01,0\t-->0:00:01"]
)
def test_subtitles_with_unusual_times_and_blank_lines_are_translated(
    translate: Translate, time: str
) -> None:
    text = "1\n{}\n{}\n\n{}\n\n2\n{}\n{}\n"
    english = "Anna sings today.", "Ben reads often."
    german = "Anna singt heute.", "Ben liest oft."
    given = text.format(time, *english, time, english[0])
    expected = text.format(time, *german, time, german[0])
    assert translate("film.srt", given.encode()).decode() == expected


def test_subtitles_keep_their_formatting(translate: Translate) -> None:
    lines = {
        "<i>Anna sings today.</i>": "<i>Anna singt heute.</i>",
        r"{\an8}<b> Ben reads often.</b>": r"{\an8}<b> Ben liest oft.</b>",
        "Ida <i>cooks</i> at night.": "Ida <i>kocht</i> nachts.",
        "<i>Anna</i> sings today.": "<i>Anna</i> singt heute.",
        r"{\an8}Ben reads <b>often.</b>": r"{\an8}Ben liest <b>oft.</b>",
        r"{\i1}Ben reads{\i0} often.": r"{\i1}Ben liest{\i0} oft.",
        "<i></i>": "<i></i>",
        "♪ 12:30 ♪": "♪ 12:30 ♪",
    }
    time = "1\n00:00:01,000 --> 00:00:02,500\n"
    source, expected = ("\n".join(texts) for texts in (lines, lines.values()))
    found = translate("film.srt", (time + source).encode())
    assert found.decode() == time + expected


def test_strings_in_json_are_translated(translate: Translate) -> None:
    tree = {"Anna sings today.": "Anna sings today.", "n": [1, "Ben <b>reads</b> often.", "a_b"]}
    found = json.loads(translate("en.json", json.dumps(tree).encode()))
    expected = ["Anna singt heute.", [1, "Ben <b>liest</b> oft.", "a_b"]]
    assert list(found) == list(tree)
    assert list(found.values()) == expected


def test_placeholders_in_json_are_kept(translate: Translate) -> None:
    """The toy model knows no placeholders, and would write others or none."""
    source = json.dumps(["Anna sings {count} today.", "{{user}} reads often.", "%s"])
    first, second, third = json.loads(translate("en.json", source.encode()))
    assert (first.count("{count}"), second.count("{{user}}"), third) == (1, 1, "%s")


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.md", "a.srt", "a.json"])
def test_invisible_characters_around_sentences_are_removed(translate: Translate, name: str) -> None:
    text = "\u2066Anna sings today.\u2069 Ben reads often.\u200e"
    before = "1\n00:00:01,000 --> 00:00:02,000\n" if name == "a.srt" else ""
    mark = '"' if name == "a.json" else ""
    content = f"{before}{mark}{text}{mark}"
    found = translate(name, content.encode()).decode()
    assert found == content.replace(text, "Anna singt heute. Ben liest oft.")


@pytest.mark.parametrize(("charset", "expected"), [("iso-8859-1", "&#252;"), ("UTF-8", "ü")])
def test_html_is_right_in_the_character_set_that_it_declares(
    translate: Translate, charset: str, expected: str
) -> None:
    head = f'<head><script charset="utf-8"></script><meta charset="{charset}"></head>'
    html = f'<html>{head}<body translate="no">&uuml;</body></html>'
    found = translate("page.html", html.encode())
    assert expected.encode() in found
    assert f'charset="{charset}"'.encode() in found


def test_word_documents_keep_formats_tables_and_headers(translate: Translate) -> None:
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
    found = in_word(translate, document)
    first, second = found.paragraphs
    assert first.text == "Ben liest oft."
    assert any(run.bold for run in first.runs)
    assert second.text == "Anna singt heute.\nIda kocht nachts."
    assert found.tables[0].cell(0, 0).text == "Clara tanzt oft."
    assert found.sections[0].header.paragraphs[0].text == "David schwimmt heute."
    assert found.sections[0].footer.paragraphs[0].text == "Ben liest oft."


def test_word_documents_are_proofed_in_the_target_language(translate: Translate) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run("Anna sings today.")
    run._r.get_or_add_rPr().append(_element("<w:lang w:val='en-GB' w:eastAsia='ja-JP'/>"))
    found = in_word(translate, document)
    [language] = found.paragraphs[0]._p.xpath(".//w:lang")
    assert language.values() == ["de-DE", "ja-JP"]
    assert "de-DE" in found.styles.element.xpath("string(.//w:lang/@w:val)")


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
def test_the_text_of_a_paragraph_is_translated(translate: Translate, name: str) -> None:
    content, expected = PARAGRAPHS[name]
    assert paragraph(translate, content)._p.xpath("string()") == expected


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_references_to_notes_do_not_split_a_text(translate: Translate, kind: str) -> None:
    reference = f"<w:{kind}Reference w:id='1'/><w:t>.</w:t></w:r>"
    found = paragraph(translate, BOLD.replace(".</w:t></w:r>", f"</w:t>{reference}"))
    assert found.text == "Anna singt heute."
    [element] = found._p.xpath(f"w:r/w:{kind}Reference")
    assert element.getparent().getnext().text == "."


BOLD = "<w:r><w:rPr><w:b/></w:rPr><w:t>Anna sings today.</w:t></w:r>"


@pytest.mark.parametrize("between", ["br", "tab", "cr"])
def test_text_beside_something_else_in_a_run_is_translated(
    translate: Translate, between: str
) -> None:
    more = f"<w:{between} w:id='1'/><w:t>Ben reads often.</w:t></w:r>"
    found = paragraph(translate, BOLD.replace("</w:r>", more))
    assert found._p.xpath("string()") == "Anna singt heute.Ben liest oft."
    [element] = found._p.xpath(f"w:r/w:{between}")
    assert element.getparent().getprevious().text == "Anna singt heute."
    assert all(run.bold for run in found.runs)


def test_hyphens_that_do_not_break_are_part_of_the_text(translate: Translate) -> None:
    hyphen = "<w:t>Anna</w:t><w:noBreakHyphen/><w:t>Ida sings today.</w:t>"
    found = paragraph(translate, f"<w:r>{hyphen}</w:r>")
    assert len(found.runs) == 1
    assert "singt" in found.text


def test_raised_numbers_stay_behind_their_word(translate: Translate) -> None:
    raised = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>1</w:t></w:r>"
    texts = (f"<w:r><w:t>{text}</w:t></w:r>" for text in ("Anna sings today", "."))
    found = paragraph(translate, raised.join(texts))
    assert found.text == "Anna singt heute1."
    assert [run.text for run in found.runs if run.font.superscript] == ["1"]


@pytest.mark.parametrize("note_kind", ["footnote", "endnote"])
def test_notes_are_translated(translate: Translate, note_kind: str) -> None:
    document = docx.Document()
    name = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{note_kind}s"
    kind = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{note_kind}s+xml"
    text = "<w:p><w:r><w:t>Ben reads often.</w:t></w:r></w:p>"
    note = _element(f"<w:{note_kind} w:id='1'>{text}</w:{note_kind}>")
    notes = Part(PackURI(f"/word/{note_kind}s.xml"), kind, note.getparent().xml.encode())
    document.part.relate_to(notes, name)
    found = in_word(translate, document)
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
    translate: Translate, xml: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO(_saved(docx.Document()))
    changed = io.BytesIO()
    with zipfile.ZipFile(content) as archive, zipfile.ZipFile(changed, "w") as copied:
        for name in archive.namelist():
            copied.writestr(name, xml if name == "word/document.xml" else archive.read(name))
    monkeypatch.setattr("docx.Document", lambda _: pytest.fail("parsed"))
    with pytest.raises(DocumentError, match="cannot be read") as refused:
        translate("a.docx", changed.getvalue())
    assert not refused.value.too_large


def test_documents_of_very_many_parts_are_refused(translate: Translate) -> None:
    content = io.BytesIO(_saved(docx.Document()))
    with zipfile.ZipFile(content, "a") as archive:
        for number in range(1000):
            archive.writestr(f"word/{number}.xml", "")
    assert_too_large(translate, content.getvalue())


def test_photos_do_not_count_as_text(translate: Translate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.documents.word_files._MOST_UNPACKED", 2_000_000)
    content = io.BytesIO(_saved(docx.Document()))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("word/media/a.jpg", b"\xff\xd8\xff\xe0" + b"<" * 3_000_000)
    translate("a.docx", content.getvalue())
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/media/b.jpg", b"\xff\xd8\xff\xe0" + b"<" * 3_000_000)
    assert_too_large(translate, content.getvalue(), "grows by more than 2 MB")


def test_a_long_format_is_not_copied_many_times(translate: Translate) -> None:
    document = docx.Document()
    run = document.add_paragraph().add_run()
    run.font.name = "x" * 1_000_000
    run._r.extend(_element(xml) for xml in ("<w:t>x</w:t>", "<w:tab/>") for _ in range(50))
    assert_too_large(translate, _saved(document))


def test_a_header_of_two_sections_is_translated_once(translate: Translate) -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "David swims today."
    document.add_section()
    first, second = (section._sectPr for section in document.sections)
    second.insert(0, copy.deepcopy(first[0]))
    found = in_word(translate, document)
    for section in found.sections:
        assert section.header.paragraphs[0].text == "David schwimmt heute."


def test_a_small_word_document_of_very_many_elements_is_refused(translate: Translate) -> None:
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(_saved(docx.Document()))) as original,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for file in original.infolist():
            part = original.read(file)
            archive.writestr(file, part.replace(b"<w:body>", b"<w:body>" + b"<w:p/>" * 500_000))
    assert_too_large(translate, content.getvalue(), "500,000 tags")


def _element(xml: str) -> Any:
    names = {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    }
    declared = " ".join(f"xmlns:{name}='{uri}'" for name, uri in names.items())
    return parse_xml(f"<w:p {declared}>{xml}</w:p>")[0]


def in_word(translate: Translate, document: Document) -> Document:
    """Translate a Word document."""
    return docx.Document(io.BytesIO(translate("a.docx", _saved(document))))


def paragraph(translate: Translate, content: str) -> Paragraph:
    """Translate a Word document of one paragraph with this content."""
    document = docx.Document()
    document.add_paragraph()._p.extend(list(_element(f"<w:p>{content}</w:p>")))
    [found] = in_word(translate, document).paragraphs
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
    translate: Translate, method: int
) -> None:
    content = _bomb(method).replace(struct.pack("<I", 60_000_000), struct.pack("<I", 100))
    tracemalloc.start()
    with pytest.raises(DocumentError):
        translate("a.docx", content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


def assert_too_large(translate: Translate, content: bytes, message: str = ".") -> None:
    with pytest.raises(DocumentError, match=message) as refused:
        translate("a.docx", content)
    assert refused.value.too_large


def test_the_text_of_each_format_is_known_before_it_is_translated() -> None:
    time = "1\n00:00:01,000 --> 00:00:02,000\n"
    for name, content in {
        "a.txt": "Ben reads.",
        "a.srt": f"{time}Ben reads.\n",
        "a.md": "# Ben reads.\n\n```\ncode\n```\n",
        "a.html": '<p title="Attributes are not read first.">Ben <b>reads</b>.</p>',
        "a.json": '{"a": "Ben reads.", "b": 1}',
        "a.po": 'msgid "Ben reads."\nmsgstr ""\n',
    }.items():
        assert text_of(name, content.encode()) == "Ben reads.", name


def test_texts_are_counted_before_a_document_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file may have millions of texts."""
    counted = []

    def refuse(texts: int) -> None:
        counted.append(texts)
        raise DocumentError("too many texts")

    def unexpected(*given: object, **named: object) -> None:
        pytest.fail("built")

    monkeypatch.setattr("nmt.documents.formats.Formatted", unexpected)
    monkeypatch.setattr("nmt.documents.html_markup.Markup", unexpected)
    for name, content in {"a.txt": "a\n12\n" * 3, "a.json": '["a", "<p>a</p>", "a"]'}.items():
        assert text_of(name, content.encode()).startswith("a\n")
        with pytest.raises(DocumentError, match="too many texts"):
            read_document(name, content.encode(), seen=refuse)
    assert counted == [3, 3]


def test_other_formats_are_refused() -> None:
    for read in (text_of, encoding_of):
        with pytest.raises(DocumentError, match=r"use \.txt, .*\.docx"):
            read("a.pdf", b"%PDF")
