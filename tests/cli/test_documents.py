"""`nmt translate` of documents: each format, what does not fit them, and what is reported."""

import sys
from pathlib import Path

import pytest

from nmt.runs.folder import RunFolder

from .command_line import PAIR, assert_refused, imported_by, nmt, text

docx = pytest.importorskip("docx", reason="the extra `documents` is not installed")
pytestmark = pytest.mark.usefixtures("in_empty_folder")

TIME = "00:00:01.000 --> 00:00:02.500\n"
PO = """#: a.c
msgid "Anna sings today."
msgstr ""

msgid "Ben reads."
msgstr "Ben liest."
"""
UNIT = "<trans-unit id='1'><source>Anna <g id='1'>sings</g> today.</source></trans-unit>"
XLIFF = (
    "<xliff version='1.2'><file source-language='en' target-language='de'>"
    f"<body>{UNIT}</body></file></xliff>"
)
TEXTS = {  # a document, in which English sentences are to become German ones
    "film.srt": f"1\n{TIME}Anna sings today.\n\n2\n{TIME}12.5 %\n",
    "film.VTT": f"WEBVTT\n\n{TIME}Anna sings today.\n",
    "page.html": '<html lang="en"><head></head><body><p title="Ben reads often.">'
    "Anna sings today.</p></body></html>",
    "README.md": "# Anna sings today.\n\n- Ben *reads* often.\n\n```\ncode\n```\n",
    "en.json": '{"Anna sings today.": ["Anna sings today.", 1, "a_b"]}\n',
}
GERMAN = {
    "Anna sings today.": "Anna singt heute.",
    "Ben reads often.": "Ben liest oft.",
    "Ben *reads* often.": "Ben *liest* oft.",
    'lang="en"': 'lang="de"',
    '{"Anna singt heute."': '{"Anna sings today."',  # a key
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_document_is_translated_to_standard_output(
    name: str, trained_run: RunFolder
) -> None:
    Path(name).write_text(TEXTS[name])
    expected = TEXTS[name]
    for english, german in GERMAN.items():
        expected = expected.replace(english, german)
    done = nmt("translate", "--run", trained_run.path, "--input", name)
    assert (text(done.stdout), text(done.stderr)) == (expected, "")
    output = f"out{Path(name).suffix.lower()}"
    assert nmt("translate", "--run", trained_run.path, "-i", name, "-o", output).returncode == 0
    assert Path(output).read_text() == expected
    assert {path.name for path in Path().iterdir()} == {name, output}


def test_a_word_document_is_translated(trained_run: RunFolder) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Ben ")
    paragraph.add_run("reads").bold = True
    paragraph.add_run(" often.")
    document.save("letter.docx")
    given = ["translate", "--run", trained_run.path, "--input", "letter.docx"]
    done = nmt(*given, "--output", "brief.docx")
    assert (done.returncode, text(done.stdout), text(done.stderr)) == (0, "", "")
    [found] = docx.Document("brief.docx").paragraphs
    assert found.text == "Ben liest oft."
    assert [run.text.strip() for run in found.runs if run.bold] == ["liest"]


def test_the_empty_targets_of_a_translation_file_are_filled(trained_run: RunFolder) -> None:
    Path("de.po").write_text(PO)
    done = nmt("translate", "--run", trained_run.path, "--input", "de.po", "--output", "out.po")
    assert text(done.stdout) == "filled 1 targets; unchanged: 1\n"
    fuzzy = PO.replace("msgid", "#, fuzzy\nmsgid", 1)
    assert Path("out.po").read_text() == fuzzy.replace('""', '"Anna singt heute."')
    done = nmt("translate", "--run", trained_run.path, "--input", "out.po", "--output", "again.po")
    assert text(done.stdout) == "filled 0 targets; unchanged: 2\n"
    assert Path("again.po").read_text() == Path("out.po").read_text()
    done = nmt("translate", "--run", trained_run.path, "-i", "de.po", "-o", "de.po")
    assert (done.returncode, Path("de.po").read_text()) == (0, Path("out.po").read_text())


def test_a_target_that_gets_only_a_tag_counts_as_filled(trained_run: RunFolder) -> None:
    units = "".join(
        f"<trans-unit id='{i}'><source>{each}</source></trans-unit>"
        for i, each in enumerate(("Ben reads.", "<x id='1'/>"))
    )
    head = "<xliff version='1.2'><file source-language='en' target-language='de'><body>"
    Path("a.xlf").write_text(f"{head}{units}</body></file></xliff>")
    done = nmt("translate", "--run", trained_run.path, "--input", "a.xlf", "--output", "b.xlf")
    assert text(done.stdout) == "filled 2 targets; unchanged: 0\n"


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_may_be_named(trained_run: RunFolder) -> None:
    Path("de.po").write_text(PO)
    command = ["translate", "--run", trained_run.path, "--output", "/dev/stdout", "--input"]
    done = nmt(*command, "de.po")
    assert text(done.stdout).endswith('msgstr "Ben liest."\n')
    assert text(done.stderr) == "filled 1 targets; unchanged: 1\n"


def test_texts_without_their_terms_are_named(trained_run: RunFolder) -> None:
    Path("terms.tsv").write_text("Anna\tBen\ntoday\tmorgen\n")
    given = ["--glossary", "terms.tsv", "--set", "decoding.temperature=1e-3"]
    for name, content in {"de.po": PO, "page.html": "<p>Anna <b>sings</b> today.</p>"}.items():
        Path(name).write_text(content)
        files = ["--input", name, "--output", f"new-{name}"]
        done = nmt("translate", "-v", "--run", trained_run.path, *given, *files)
        for term in ("Anna → Ben", "today → morgen"):
            assert f'text "Anna sings today." lacks {term}' in text(done.stderr)
        assert "could not place 2 of the glossary's terms" in text(done.stderr)


def test_the_memory_is_used_first(trained_run: RunFolder) -> None:
    Path("m.tsv").write_text("Anna sings today\tHeute singt Anna")
    given = ["translate", "-v", "--run", trained_run.path, "--memory", "m.tsv"]
    Path("a.xlf").write_text(XLIFF)
    done = nmt(*given, "--input", "a.xlf", "--output", "b.xlf")
    assert "filled 1 targets, 1 of them from the memory" in text(done.stdout)
    written = Path("b.xlf").read_text()
    assert 'state-qualifier="leveraged-tm"' in written
    assert "</g>" in written.partition("<target")[2]
    assert "Heute" in written
    Path("a.md").write_text("Anna sings today.\n\nBen reads often.\n")
    done = nmt(*given, "--input", "a.md")
    assert text(done.stdout) == "Heute singt Anna.\n\nBen liest oft.\n"
    assert 'text "Anna sings today." is from the memory' in text(done.stderr)
    Path("a.md").write_text("Anna sings today. Ben reads often.\n")
    done = nmt(*given, "--input", "a.md")
    assert 'text "Anna sings today. Ben reads often." is partly from the m' in text(done.stderr)


def test_doubtful_translations_are_named(trained_run: RunFolder) -> None:
    Path("a.md").write_text("Anna sings æ today.\n")
    short = ["--set", "decoding.max_length_factor=0", "--set", "decoding.max_length_extra=1"]
    done = nmt("translate", "-v", "--run", trained_run.path, "--input", "a.md", *short)
    assert 'text "Anna sings æ today.": translation truncated' in text(done.stderr)
    assert 'text "Anna sings æ today.": the model cannot read: æ' in text(done.stderr)


def test_text_in_a_code_page_is_recognized(trained_run: RunFolder) -> None:
    spoken = "Für größere Bären gibt es süße Äpfel in der Küche – überall."
    Path("film.srt").write_bytes(f"1\n{TIME}{spoken}\nAnna sings today.\n".encode("cp1252"))
    done = nmt("translate", "--run", trained_run.path, "--input", "film.srt")
    assert text(done.stdout).endswith("\nAnna singt heute.\n")
    assert text(done.stderr).startswith("film.srt: is cp1252; its translation is UTF-8\n")
    Path("page.html").write_bytes(f"<p>{spoken}</p>".encode("cp1252"))  # written as ASCII
    done = nmt("translate", "--run", trained_run.path, "--input", "page.html")
    assert "cp1252" not in text(done.stderr)
    for encoding in ("cp1252", "utf-16-le"):
        Path("a.txt").write_bytes(f"{spoken}\n\tAnna sings today.\n".encode(encoding))
        done = nmt("translate", "--run", trained_run.path, "--input", "a.txt")
        assert text(done.stdout).endswith("\n\tAnna singt heute.\n")
        assert text(done.stderr).startswith(f"a.txt: is {encoding}; its translation is UTF-8\n")


def test_a_document_is_translated_with_progress(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, int]] = []

    def in_bursts(items: object, description: str, total: int, unit: str) -> object:
        shown.append((description, total))
        return items

    monkeypatch.setattr("nmt.progress.in_bursts", in_bursts)
    Path("a.md").write_text("Anna sings today.\n\nBen reads often.\n")
    assert nmt("translate", "--run", trained_run.path, "--input", "a.md").returncode == 0
    assert shown[0] == ("translating a.md", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("de.po", "--output"),
        ("a.docx", "a.docx: name a file to write with --output"),
        (
            "a.md --output b.txt",
            "b.txt: a document keeps its format; choose a name that ends with .md",
        ),
        ("de.po --output b.xlf", "ends with .po"),
        ("a.md --output a.md", "a.md: is the input"),
        ("a.md --output ./a.md", "a.md: is the input"),
        (
            "a.md --n-best 2 --scores",
            "a document cannot be combined with --n-best and --scores; omit them",
        ),
        ("a.md --alignment", "--alignment"),
        ("a.md --prefix a.md", "a document cannot be combined with --prefix; omit it"),
        ("de.po --output out.po --tag x", "a document cannot be combined with --tag; omit it"),
        ("a.docx --output b.docx", "cannot be read; check the file, or save it again"),
        ("a.json", "; or translate its lines: nmt translate < a.json"),
        ("bad.po --output out.po", "bad.po: line 1"),
        ("a.tmx.gz --output out.tmx", "a.tmx.gz: is compressed; unpack it first"),
        ("a.csv", "format not supported; use .txt, .srt, "),
        ("a.csv --output b.csv", "; or translate its lines: nmt translate < a.csv"),
        ("a.jsonl", "nmt translate < a.jsonl"),
        ("a.pdf", ".docx, .tmx, "),
        ("zero.txt", "zero bytes and is not UTF-16: it is not text; check the file"),
        ("a.xhtml --output b.html", "ends with .xhtml"),
        ("a.txt --output out.docx", "out.docx: only a .docx file is translated into one"),
    ],
)
def test_what_does_not_fit_a_document_is_refused(
    trained_run: RunFolder, arguments: str, message: str
) -> None:
    Path("de.po").write_text(PO)
    Path("bad.po").write_text('msgid "a')
    Path("a.docx").write_bytes(b"PK\x03\x04")
    Path("zero.txt").write_bytes(b"My dog\0My cat\n")
    names = ("a.md", "a.txt", "a.json", "a.tmx.gz", "a.csv", "a.jsonl", "a.pdf", "a.xhtml")
    for name in names:
        Path(name).write_text("Anna sings today.\n")
    before = {path.name for path in Path().iterdir()}
    command = ["translate", "--run", trained_run.path, "--input", *arguments.split()]
    assert_refused(*command, message=message)
    assert {path.name for path in Path().iterdir()} == before


def test_lines_of_a_document_are_translated_from_standard_input(trained_run: RunFolder) -> None:
    done = nmt("translate", "--run", trained_run.path, stdin=b"# Anna sings today.\n")
    assert text(done.stdout) == "# Anna singt heute.\n"


def test_a_missing_package_names_its_extra(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, module in {"docx": "word_files", "selectolax.lexbor": "html_markup"}.items():
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, f"nmt.documents.{module}", raising=False)
    extra = "pip install 'nmt-trainer[documents]'"
    for name, remedy in {"a.docx": extra, "a.html": f"{extra}; or translate its lines"}.items():
        Path(name).write_bytes(b"PK\x03\x04")
        given = ["--input", name, "--output", f"new-{name}"]
        assert_refused("translate", "--run", trained_run.path, *given, message=remedy)


def test_formats_placed_without_attention_come_with_a_warning(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.cli.documents.find_spec", lambda name: None)
    for content, warned in {"Anna *sings* today.": True, "Anna sings today.": False}.items():
        Path("a.md").write_text(content)
        done = nmt("translate", "--run", trained_run.path, "--input", "a.md")
        assert ("without PyTorch" in text(done.stderr)) is warned


def test_only_documents_import_their_readers_and_never_the_server(trained_run: RunFolder) -> None:
    Path("a.html").write_text("<p>Anna <b>sings</b> today.</p>")
    command = ["translate", "--run", trained_run.path]
    imported = imported_by(*command, PAIR[0])
    assert "nmt.decoding.translator" in imported
    assert not [name for name in imported if name.startswith(("nmt.documents", "nmt.serve"))]
    imported = imported_by(*command, "--input", "a.html")
    assert "nmt.documents.html_markup" in imported
    assert not [name for name in imported if name.startswith(("nmt.serve", "starlette", "docx"))]
