"""Files of translation tools: only empty targets change, and everything else keeps its bytes."""

import time
from pathlib import Path

import pytest

from nmt.decoding.translator import Translation
from nmt.documents.formatting import Formatted, Part, link_by_position
from nmt.documents.texts import FoundText
from nmt.documents.translation_files import TranslationFile
from nmt.errors import UserError
from tests.files_of_tools import PO as TOOLS_PO
from tests.files_of_tools import TMX as TOOLS_TMX
from tests.files_of_tools import XLIFF as TOOLS_XLIFF
from tests.files_of_tools import ToolFile, after, before

from .translation_file_examples import PO, TMX, XLIFF, tmx, tu, unit, variant, xliff

EN_DE = ("en", "de")
NEW = Translation("", 0.0)  # not from the memory


def capitals(text: Formatted) -> list[Part]:
    """Pretend a translation: capitals, apart from fields; marks stay at their places."""
    marks = {number for _, number in text.marks_within(-1, len(text.text) + 1)}
    return [
        (piece.strip() if i in marks else piece if piece[:1] in "%{@" else piece.upper(), i)
        for i, piece in enumerate(text.pieces)
        if piece
    ]


def filled(name: str, content: bytes) -> bytes:
    file = TranslationFile(name, content, EN_DE)
    return file.written([FoundText(capitals(text), [NEW]) for text in file.texts])


@pytest.mark.parametrize(("name", "example"), XLIFF.values(), ids=list(XLIFF))
def test_xliff_files_are_filled(name: str, example: str) -> None:
    assert filled(name, before(example).encode()).decode() == after(example)


@pytest.mark.parametrize("example", TMX.values(), ids=list(TMX))
def test_tmx_files_are_filled(example: str) -> None:
    assert filled("a.tmx", before(example).encode()).decode() == after(example)


@pytest.mark.parametrize("example", PO.values(), ids=list(PO))
def test_po_files_are_filled(example: str) -> None:
    assert filled("a.po", before(example).encode()).decode() == after(example)


@pytest.mark.parametrize(
    "file",
    [*TOOLS_XLIFF.values(), *TOOLS_TMX.values(), *TOOLS_PO.values()],
    ids=[*TOOLS_XLIFF, *TOOLS_TMX, *TOOLS_PO],
)
def test_files_as_tools_write_them_are_filled(file: ToolFile) -> None:
    assert filled(file.name, before(file.text).encode()).decode() == after(file.text)


@pytest.mark.parametrize("example", [TMX["no variant"], XLIFF["indented"][1], PO["one entry"]])
def test_a_second_run_changes_nothing(example: str) -> None:
    name = "a.tmx" if "<tmx" in example else "a.xlf" if "<xliff" in example else "a.po"
    once = filled(name, before(example).encode())
    assert filled(name, once) == once


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1252", "utf-8-sig"])
def test_the_encoding_stays(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    head = f'<?xml version="1.0" encoding="{declared}"?>'
    example = tmx(
        tu(
            variant("en", "Käse"),
            "⟦" + variant("de", "KÄSE", more=' creationid="MT" creationtool="nmt"') + "⟧",
        ),
        head,
    )
    assert filled("a.tmx", before(example).encode(encoding)) == after(example).encode(encoding)


def test_a_translation_is_not_lost_in_the_encoding_of_its_file() -> None:
    content = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=ASCII\\n"\n\n'
    file = TranslationFile("a.po", content + b'msgid "a"\nmsgstr ""\n', EN_DE)
    found = file.written([FoundText([("ä", 0)], [NEW])]).decode()
    assert "charset=UTF-8" in found
    assert 'msgstr "ä"' in found


def test_values_of_other_attributes_stay() -> None:
    target = """<target note=" state='x' "/>"""
    found = filled("a.xlf", xliff(unit(f"<source>Yes</source>{target}")).encode()).decode()
    assert """note=" state='x' " state="needs-review-translation\"""" in found


def test_long_tags_and_fields_take_little_time() -> None:
    start = time.process_time()
    for text in ("a <" + "a" * 50_000, "a %" + "0" * 50_000):
        TranslationFile("a.po", f'msgid "{text}"\nmsgstr ""\n'.encode(), EN_DE)
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_units_of_the_memory_are_marked_as_such() -> None:
    file = TranslationFile("a.xlf", xliff(unit("<source>Yes</source>")).encode(), EN_DE)
    remembered = Translation("Ja", 0.0, from_memory=True)
    written = file.written([FoundText([("Ja", 0)], [remembered])])
    assert b'state-qualifier="leveraged-tm"' in written


def test_units_that_stay_are_counted() -> None:
    example = before(XLIFF["approved and translated"][1]).encode()
    file = TranslationFile("a.xlf", example, EN_DE)
    assert (len(file.texts), file.kept) == (0, 5)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xlf", b"<xliff"),
        ("a.xlf", b"<html/>"),
        ("a.tmx", b'<!DOCTYPE tmx [<!ENTITY a "b">]><tmx/>'),
        ("a.xlf", xliff(unit("<source>" + "<g>" * 200 + "</g>" * 200 + "</source>")).encode()),
        ("a.xlf", xliff(unit("<source>Oui</source>")).replace("en-US", "fr").encode()),
        ("a.xlf", xliff(unit("<source>Yes</source>"), 'target-language="fr"').encode()),
        ("a.tmx", tmx(tu(variant("fr", "Oui"))).encode()),
        ("a.tmx", tmx(tu()).encode("utf-8") + b"\xff"),
        ("a.po", b'msgid "a"\nmsgstr "\n'),
        ("a.po", b'"a"\n'),
        ("a.po", b'msgid ""\nmsgstr "Language: fr\\n"\n\nmsgid "a"\nmsgstr ""\n'),
        ("a.po", b'# charset=no-such\nmsgid "a"\nmsgstr ""\n'),
        ("a.po", b'# charset=undefined\nmsgid "a"\nmsgstr ""\n'),
        ("a.tmx.gz", b""),
        ("a.docx", b""),
    ],
)
def test_faulty_and_foreign_files_are_refused(name: str, content: bytes) -> None:
    with pytest.raises(UserError, match=rf"^{name}: "):
        TranslationFile(name, content, EN_DE)


def test_external_entities_are_not_loaded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.dtd"
    secret.write_text('<!ENTITY a "b">')
    head = f'<!DOCTYPE tmx SYSTEM "{secret}">'
    with pytest.raises(UserError):
        TranslationFile("a.tmx", tmx(tu(variant("en", "&a;")), head).encode(), EN_DE)


def test_the_links_of_words_decide_where_tags_go() -> None:
    source = "<source>the <g id='1'>red</g> car</source>"
    file = TranslationFile("a.xlf", xliff(unit(source)).encode(), EN_DE)
    [text] = file.texts
    assert text.text == "the red car"
    assert link_by_position(text.text, "das rote Auto", ()).weights.shape == (3, 3)
    parts = [("das ", 0), ("rote", 1), (" Auto", 2)]
    written = file.written([FoundText(parts, [NEW])])
    assert b"das <g id='1'>rote</g> Auto</target>" in written
