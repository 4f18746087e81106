"""Corpora of OPUS and mtdata: downloaded from a local server, or printed by a program."""

import http.server
import io
import sys
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.sources.registry import open_corpus
from nmt.errors import UserError

ENGLISH = ["$10,000 Gold?", "Is it a bubble?"]
GERMAN = ["Steigt Gold auf 10.000 Dollar?", "Ist es eine Blase?"]


LICENCE = "\nCC BY-SA 4.0\n\nmore of it"


def moses_zip(
    english: list[str] = ENGLISH,
    german: list[str] = GERMAN,
    licence: str = LICENCE,
    pair: str = "de-en",
    method: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    first, second = pair.split("-")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("README", "about")
        archive.writestr("LICENSE", licence)
        archive.writestr(f"News-Commentary.{pair}.{first}", "\n".join(german) + "\n")
        archive.writestr(f"News-Commentary.{pair}.{second}", "\n".join(english) + "\n")
    return buffer.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.path.startswith("/OPUS-News-Commentary/v16/moses/")
        known &= self.path.endswith(("/de-en.txt.zip", "/nl-de.txt.zip"))
        body = moses_zip(pair=self.path.split("/")[-1][:5]) if known else b""
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("nmt.corpus.sources.opus.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path / "cache"


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        monkeypatch.setattr("nmt.corpus.sources.opus.OPUS_URL", url)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield
        server.shutdown()
        thread.join()


def opus(path: str, source: str = "en", target: str = "de") -> DataConfig:
    return DataConfig(
        source="opus", path=Path(path), source_language=source, target_language=target
    )


def pairs(config: DataConfig) -> list[tuple[str, str]]:
    return list(open_corpus(config).pairs("train"))


@pytest.mark.usefixtures("server")
def test_a_named_corpus_is_read_in_either_direction(cache: Path) -> None:
    forward = list(zip(ENGLISH, GERMAN, strict=True))
    assert pairs(opus("News-Commentary/v16")) == forward
    assert pairs(opus("News-Commentary/v16", "de", "en")) == [(b, a) for a, b in forward]
    assert open_corpus(opus("News-Commentary/v16")).licence == "CC BY-SA 4.0"
    assert [p.name for p in (cache / "opus").glob("*.zip")] == ["News-Commentary-v16-de-en.zip"]


@pytest.mark.usefixtures("server")
def test_a_pair_of_languages_that_is_not_in_alphabetical_order(cache: Path) -> None:
    swapped = list(zip(ENGLISH, GERMAN, strict=True))
    assert pairs(opus("News-Commentary/v16", "de", "nl")) == swapped
    [path] = (cache / "opus").glob("*.zip")
    assert path.name == "News-Commentary-v16-de-nl.zip"


def test_the_licence_is_the_first_paragraph(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt.zip"
    for written, read in (
        (
            "The same license\nas the original sources.\n",
            "The same license as the original sources.",
        ),
        ("\n\nCC BY 4.0\n \nlong text", "CC BY 4.0"),
        (" \n", "see its README"),
    ):
        path.write_bytes(moses_zip(licence=written))
        assert open_corpus(opus(str(path))).licence == read


def test_a_damaged_licence_does_not_prevent_reading_the_pairs(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt.zip"
    before, after = moses_zip().split(b"LICENSE", 1)
    path.write_bytes(before + b"LICENSE\xff" + after[1:])  # the text begins after its name
    assert open_corpus(opus(str(path))).licence == "see https://opus.nlpl.eu"
    assert len(pairs(opus(str(path)))) == 2


@pytest.mark.usefixtures("server")
def test_an_unknown_corpus_leaves_no_files(cache: Path) -> None:
    with pytest.raises(UserError, match="404"):
        pairs(opus("News-Commentary/v99"))
    assert not list(cache.rglob("*.zip"))


@pytest.mark.parametrize("name", ["News-Commentary", "../v16", "a/b/c", "none.zip"])
def test_other_names_are_refused(name: str) -> None:
    message = "no such file" if name == "none.zip" else "neither a file nor NAME/VERSION"
    with pytest.raises(UserError, match=message):
        pairs(opus(name))


def test_a_zip_file_on_disk_is_read(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt.zip"
    path.write_bytes(moses_zip())
    assert pairs(opus(str(path)))[1] == (ENGLISH[1], GERMAN[1])
    with pytest.raises(UserError, match="no text in fr"):
        pairs(opus(str(path), "fr"))
    path.write_bytes(moses_zip(german=GERMAN[:1]))
    with pytest.raises(
        UserError, match=r"\.en and .*\.de have different numbers of lines: 2 and 1"
    ):
        pairs(opus(str(path)))
    path.write_bytes(moses_zip()[:-30])
    with pytest.raises(UserError, match="cannot be read"):
        pairs(opus(str(path)))


def test_unusual_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt.zip"
    path.write_bytes(moses_zip(method=zipfile.ZIP_LZMA).replace(b"\x5d\x00\x00", b"\xff\x00\x00"))
    corpus = open_corpus(opus(str(path)))  # damaged LZMA raises an exception of its own
    assert corpus.licence == "see https://opus.nlpl.eu"
    with pytest.raises(UserError, match="unsupported compression method"):
        next(corpus.pairs("train"))


PROGRAM = """#!{python}
import sys
known = ("Statmt-europarl-10-deu-eng", "New-text-1-deu_AT-eng_GB")
if sys.argv[1] != "echo" or sys.argv[2] not in known:
    print("no such dataset", file=sys.stderr)
    sys.exit(3)
print("Guten Tag.\\tGood day.")
"""


@pytest.fixture
def program(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that prints what `mtdata echo` would."""
    path = tmp_path / "bin" / "mtdata"
    path.parent.mkdir()
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent))
    return path


def mtdata(name: str, source: str = "en", target: str = "de") -> DataConfig:
    return DataConfig(
        source="mtdata", path=Path(name), source_language=source, target_language=target
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no #!")
def test_mtdata_is_called_once_per_corpus(program: Path, cache: Path) -> None:
    assert pairs(mtdata("Statmt-europarl-10-deu-eng")) == [("Good day.", "Guten Tag.")]
    assert pairs(mtdata("New-text-1-deu_AT-eng_GB")) == [("Good day.", "Guten Tag.")]
    assert "mtdata list" in open_corpus(mtdata("Statmt-europarl-10-deu-eng")).licence
    program.unlink()
    assert pairs(mtdata("Statmt-europarl-10-deu-eng", "de", "en")) == [("Guten Tag.", "Good day.")]
    with pytest.raises(UserError, match="contains deu → eng, not eng → fra"):
        pairs(mtdata("Statmt-europarl-10-deu-eng", "en", "fr"))
    assert sorted(path.name for path in (cache / "mtdata").glob("[!.]*")) == [
        "New-text-1-deu_AT-eng_GB.tsv",
        "Statmt-europarl-10-deu-eng.tsv",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no #!")
def test_mtdata_is_called_again_on_request(program: Path) -> None:
    data = mtdata("Statmt-europarl-10-deu-eng")
    open_corpus(data)
    program.write_text(program.read_text().replace("Good day.", "Hello."))
    assert pairs(data) == [("Good day.", "Guten Tag.")]
    open_corpus(data, refresh=True)
    assert pairs(data) == [("Hello.", "Guten Tag.")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no #!")
@pytest.mark.usefixtures("program", "immediate_progress")
def test_a_long_download_by_mtdata_shows_the_elapsed_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs(mtdata("Statmt-europarl-10-deu-eng"))
    assert "mtdata echo Statmt-europarl-10-deu-eng: 00:00" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no #!")
def test_two_processes_do_not_mix_their_output_of_mtdata(program: Path, cache: Path) -> None:
    text = program.read_text()
    program.write_text(text.replace("\n", "\nimport time; time.sleep(0.5)\n", 1))
    corpus = mtdata("Statmt-europarl-10-deu-eng")
    with ThreadPoolExecutor() as pool:  # locks also work between threads
        found = list(pool.map(pairs, [corpus, corpus]))
    assert found == [[("Good day.", "Guten Tag.")]] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no #!")
def test_a_failure_of_mtdata_leaves_no_files(program: Path, cache: Path) -> None:
    with pytest.raises(UserError, match=r"failed \(no such dataset\)") as caught:
        pairs(mtdata("Statmt-none-1-deu-eng"))
    assert "\n" not in str(caught.value)
    assert not list((cache / "mtdata").glob("[!.]*"))
    with pytest.raises(UserError, match="not an mtdata identifier"):
        pairs(mtdata("--help"))
    program.unlink()
    with pytest.raises(UserError, match="pipx install mtdata"):
        pairs(mtdata("Statmt-none-1-deu-eng"))
