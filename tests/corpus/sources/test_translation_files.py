from pathlib import Path
from typing import Any

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.sources.corpus import Corpus
from nmt.corpus.sources.registry import open_corpus
from nmt.corpus.sources.translation_files import _TmxReader
from nmt.errors import UserError
from nmt.files import xml_files
from tests.files_of_tools import PO, TMX, XLIFF, ToolFile, before


def opened(path: Path, **fields: Any) -> Corpus:
    return open_corpus(DataConfig(path=path, **fields))


def pairs_in(path: Path, **fields: Any) -> list[tuple[str, str]]:
    return list(opened(path, **fields).pairs("train"))


def tmx(*units: str, version: str = "1.4") -> str:
    head = '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">'
    header = '<header creationtool="x" segtype="sentence" srclang="en"><note>N</note></header>'
    body = "".join(f"<tu>{unit}</tu>" for unit in units)
    return f'{head}<tmx version="{version}">{header}<body>{body}</body></tmx>'


def variants(**texts: str) -> str:
    return "".join(
        f'<tuv xml:lang="{code.replace("_", "-")}"><prop type="x">P</prop><seg>{text}</seg></tuv>'
        for code, text in texts.items()
    )


@pytest.mark.parametrize(
    "file", [*XLIFF.values(), *TMX.values(), *PO.values()], ids=[*XLIFF, *TMX, *PO]
)
def test_the_finished_pairs_of_files_as_tools_write_them(file: ToolFile, tmp_path: Path) -> None:
    path = tmp_path / file.name
    path.write_text(before(file.text), encoding="utf-8")
    assert [pair for pair in pairs_in(path) if all(pair)] == file.pairs


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory.tmx"


def test_the_source_follows_from_the_ending() -> None:
    assert DataConfig(path=Path("a.TMX")).source == "tmx"
    assert DataConfig(train_path=Path("a.tmx.gz")).source == "tmx"
    assert DataConfig(path=Path("a.sdlxliff")).source == "xliff"
    assert DataConfig(path=Path("de.po")).source == "po"
    assert DataConfig(source="tsv", path=Path("a.tmx")).source == "tsv"
    assert DataConfig(path=Path("a.pkl")).source == "pickle"


def test_a_memory_has_a_pair_for_each_unit(memory: Path) -> None:
    memory.write_text(
        tmx(
            variants(en_US="Print", de_DE="Drucken", fr="Imprimer"),
            variants(DE="Öffnen", EN_gb="Open"),
            variants(eng="Close the\n   file", deu="Datei schließen"),
        )
    )
    expected = [("Print", "Drucken"), ("Open", "Öffnen"), ("Close the file", "Datei schließen")]
    assert pairs_in(memory) == expected
    swapped = {"source_language": "de", "target_language": "en"}
    assert pairs_in(memory, **swapped) == [(b, a) for a, b in expected]
    assert pairs_in(memory, target_language="fr")[0] == ("Print", "Imprimer")


def test_the_old_attribute_for_the_language_is_read(memory: Path) -> None:
    unit = '<tuv lang="EN"><seg>one</seg></tuv><tuv lang="DE"><seg>eins</seg></tuv>'
    memory.write_text(tmx(unit, version="1.1"))
    assert pairs_in(memory) == [("one", "eins")]


def test_markup_is_left_out_and_highlighted_text_kept(memory: Path) -> None:
    english = (
        'Press <bpt i="1">&lt;b&gt;</bpt>OK<ept i="1">&lt;/b&gt;</ept> <hi>now</hi>'
        '<ph x="1">{0}<sub>a tip</sub></ph>.<it pos="begin">&lt;i&gt;</it>'
        "<ut>\\par</ut>First<ph>&lt;br/&gt;</ph>second"
    )
    memory.write_text(tmx(variants(en=english, de="x")))
    assert pairs_in(memory) == [("Press OK now.First second", "x")]


PLAIN = variants(en="a", de="b")


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (PLAIN, ("a", "b")),
        (variants(en=" a &amp;lt;\r\n b ", de=""), ("a &lt; b", "")),
        (variants(en="a&#10;b&nbsp;c", de="<![CDATA[<d>]]> e"), ("a b c", "<d> e")),
        (variants(en="<!-- no -->a", de="<hi>b</hi>"), ("a", "b")),
        (variants(en_US="a", en_GB="c"), ("a", "")),
        (variants(en="a", fr="c", de="b"), ("a", "b")),
        ("<note>n</note><prop type='x'>p</prop><prop type=\"y\">q</prop>" + PLAIN, ("a", "b")),
        (PLAIN.replace("<tuv", '<tuv changeid="x y"').replace("<seg>", "\n <seg>"), ("a", "b")),
        (PLAIN.replace("xml:lang", "lang"), ("a", "b")),
        (PLAIN.replace("<tuv", '<tuv lang="fr"'), ("a", "b")),
        (f"<!--{PLAIN}</tu><tu>{PLAIN}-->{variants(en='c', de='d')}", ("c", "d")),
        (PLAIN.replace('"', "'"), ("a", "b")),
        ("", ("", "")),
    ],
)
def test_equal_units_are_read_alike_whether_plain_units_precede_them(
    memory: Path, unit: str, expected: tuple[str, str]
) -> None:
    memory.write_text(tmx(unit, unit, PLAIN, PLAIN, unit, PLAIN), newline="")
    assert pairs_in(memory) == [expected, expected, ("a", "b"), ("a", "b"), expected, ("a", "b")]


def test_plain_units_do_without_the_parser(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    end = _TmxReader.end
    monkeypatch.setattr(_TmxReader, "end", lambda *args: parsed.append(args[1]) or end(*args))
    memory.write_text(tmx(*[PLAIN] * 9))
    assert len(pairs_in(memory)) == 9
    assert parsed.count("tu") == 1


@pytest.mark.parametrize("block", [1, 7, 2**18])
def test_blocks_of_any_size_are_read(
    memory: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xml_files, "_BLOCK", block)
    memory.write_text(tmx(variants(en="a &lt; b&nbsp;c", de="<![CDATA[<d>]]> e"), variants(en="f")))
    assert pairs_in(memory) == [("a < b c", "<d> e"), ("f", "")]


def test_units_without_a_translation_are_counted_in_training_only(
    memory: Path, tmp_path: Path
) -> None:
    held_out = tmp_path / "test.tmx"
    for path in (memory, held_out):
        path.write_text(tmx(variants(en="a", de="b"), variants(en="c"), variants(en="", de="d")))
    corpus = opened(memory, test_path=held_out)
    assert list(corpus.pairs("train")) == [("a", "b"), ("c", ""), ("", "d")]
    assert list(corpus.pairs("test")) == [("a", "b")]


def test_the_source_follows_from_the_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("b.xlf", "old/a.SDLXLIFF", ".hidden"):
        (tmp_path / name).touch()
    assert DataConfig(path=tmp_path).source == "xliff"
    (tmp_path / "de.po").touch()
    assert DataConfig(path=tmp_path).source == "pickle"
    assert DataConfig(path=Path("~nobody-of-this-name/x.po")).source == "po"


def test_a_folder_of_memories_is_one_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    (folder / "old").mkdir(parents=True)
    (folder / "b.tmx").write_text(tmx(variants(en="b", de="B")))
    (folder / "old" / "a.TMX").write_text(tmx(variants(en="a", de="A")))
    (folder / "readme.txt").write_text("-")
    assert pairs_in(folder, source="tmx") == [("b", "B"), ("a", "A")]
    with pytest.raises(UserError, match="memories"):
        opened(folder, source="po")


@pytest.mark.parametrize(
    "content",
    [
        tmx(variants(en="a", fr="b")),
        tmx(),
        "<html/>",
        tmx(PLAIN, PLAIN, "<tuv>"),
        tmx(PLAIN, PLAIN, variants(en="a", de="&unknown;")),
        tmx(PLAIN, PLAIN, "<tu>" * 500),
        f'<!DOCTYPE tmx [<!ENTITY a "b">]>{tmx().partition("dtd")[2][3:]}',
        tmx(variants(en="a", de="x" * (2**20 + 1))),
        tmx(variants(en="a", de="<hi>" * 500 + "</hi>" * 500)),
    ],
)
def test_unusable_memories_are_refused(memory: Path, content: str) -> None:
    memory.write_text(content)
    with pytest.raises(UserError, match=r"memory\.tmx") as caught:
        pairs_in(memory)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(memory: Path) -> None:
    with pytest.raises(UserError, match=r"memory\.tmx"):
        opened(memory)


# ----------------------------------------------------------------------------------------- XLIFF


def xliff(*units: str, target: str = ' target-language="de-DE"') -> str:
    head = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    body = "".join(units)
    return f'{head}<file source-language="en-US"{target}><body>{body}</body></file></xliff>'


def unit(target: str, attributes: str = "") -> str:
    suggestion = "<alt-trans><source>s</source><target>t</target></alt-trans>"
    return (
        f"<trans-unit id='1' {attributes}><source>He <g id='1'>runs</g><x id='2'/></source>"
        f"{target}{suggestion}<note>n</note></trans-unit>"
    )


@pytest.mark.parametrize(
    ("target", "attributes", "expected"),
    [
        ("<target>Er läuft</target>", "", "Er läuft"),
        ("<target state='translated'>Er läuft</target>", "", "Er läuft"),
        ("<target state='needs-review-translation'>Er läuft</target>", "", ""),
        ("<target state='new'>Er läuft</target>", "", ""),
        ("<target/>", "", ""),
        ("", "", ""),
        ("<target>Er läuft</target>", "translate='no'", ""),
        ("<target>Er läuft</target>", "mq:status='ManuallyConfirmed'", "Er läuft"),
        ("<target>Er läuft</target>", "mq:status='NotStarted'", ""),
    ],
)
def test_only_finished_units_have_a_translation(
    tmp_path: Path, target: str, attributes: str, expected: str
) -> None:
    path = tmp_path / "a.xlf"
    path.write_text(xliff(unit("<target>ja</target>"), unit(target, attributes)))
    assert pairs_in(path) == [("He runs", "ja"), ("He runs", expected)]


def test_marked_segments_are_paired_by_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "a.sdlxliff"
    marked = (
        "<{0}><mrk mtype='seg' mid='1'>{1}</mrk> <g id='3'><mrk mtype='seg' mid='2'>{2}</mrk></g>"
        "</{0}>"
    )
    states = "<sdl:seg-defs><sdl:seg id='1' conf='Translated'/><sdl:seg id='2' {}/></sdl:seg-defs>"
    source = "<source>One. Two.</source>" + marked.format("seg-source", "One.", "Two.")
    target = marked.format("target", "Eins.", "Zwei.")
    units = [
        f"<trans-unit id='x'>{source}{target}{states.format(state)}</trans-unit>"
        for state in ("conf='ApprovedTranslation'", "conf='Draft'")
    ]
    path.write_text(xliff(*units, f"<trans-unit id='x'>{source}</trans-unit>"))
    assert pairs_in(path) == [
        ("One.", "Eins."),
        ("Two.", "Zwei."),
        ("One.", "Eins."),
        ("Two.", ""),
        ("One.", ""),
        ("Two.", ""),
    ]


def test_version_2_is_read_with_its_segments(tmp_path: Path) -> None:
    path = tmp_path / "a.xliff"
    path.write_text(
        '<xliff version="2.1" srcLang="de" trgLang="en"><file id="f"><unit id="u">'
        "<originalData><data id='d'>b</data></originalData>"
        '<segment state="final"><source>Eins <pc id="1">zwei</pc></source>'
        "<target>One two</target></segment><ignorable><source> </source></ignorable>"
        '<segment state="initial"><source>Drei</source><target>?</target></segment>'
        "</unit></file></xliff>"
    )
    expected = [("Eins zwei", "One two"), ("Drei", "")]
    assert pairs_in(path, source_language="de", target_language="en") == expected
    assert pairs_in(path) == [(b, a) for a, b in expected]


def test_files_in_other_languages_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    path.write_text(xliff(unit("<target>il court</target>"), target=' target-language="fr"'))
    with pytest.raises(UserError, match=r"a\.xlf"):
        pairs_in(path)


# -------------------------------------------------------------------------------------------- PO


def test_finished_entries_of_po_files_are_pairs(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_text(
        'msgid ""\nmsgstr ""\n"Language: de_AT\\n"\n'
        '"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        'msgid "Open\\n"\n"file"\nmsgstr "Datei öffnen"\n\n'
        '#, fuzzy\nmsgid "Close"\nmsgstr "Öffnen"\n\n'
        'msgid "Print"\nmsgstr ""\n\n'
        'msgid "one file"\nmsgid_plural "%d files"\n'
        'msgstr[0] "eine Datei"\nmsgstr[1] "%d Dateien"\n'
        '\n#~ msgid "old"\n#~ msgstr "alt"\n',
        encoding="utf-8",
    )
    assert pairs_in(path) == [
        ("Open file", "Datei öffnen"),
        ("Close", ""),
        ("Print", ""),
        ("one file", "eine Datei"),
        ("%d files", "%d Dateien"),
    ]


@pytest.mark.parametrize("content", ["msgid", 'msgid ""\nmsgstr ""\n"Language: fr\\n"\n', "\0"])
def test_unusable_po_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "de.po"
    path.write_text(content)
    with pytest.raises(UserError, match=r"de\.po"):
        pairs_in(path)
