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
def archive(tmp_path: Path) -> Path:
    return tmp_path / "de-en.txt.zip"


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


def opus(path: str | Path, source: str = "en", target: str = "de") -> DataConfig:
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
    # OPUS has this pair of languages in the other order.
    assert pairs(opus("News-Commentary/v16", "de", "nl")) == forward
    assert (cache / "opus" / "News-Commentary-v16-de-nl.zip").exists()


def test_the_licence_is_the_first_paragraph(archive: Path) -> None:
    for written, read in (
        ("The same license\nas the sources.\n", "The same license as the sources."),
        ("\n\nCC BY 4.0\n \nlong text", "CC BY 4.0"),
        (" \n", "see its README"),
    ):
        archive.write_bytes(moses_zip(licence=written))
        assert open_corpus(opus(archive)).licence == read
    before, after = moses_zip().split(b"LICENSE", 1)
    archive.write_bytes(before + b"LICENSE\xff" + after[1:])  # the text begins after its name
    assert open_corpus(opus(archive)).licence == "see https://opus.nlpl.eu"
    assert len(pairs(opus(archive))) == 2


@pytest.mark.usefixtures("server")
def test_unknown_corpora_and_other_names_are_refused(cache: Path) -> None:
    refused = ["News-Commentary/v99", "News-Commentary", "../v16", "a/b/c", "none.zip"]
    for name, reason in zip(refused, ["404", *["NAME/VERSION"] * 3, "no such file"], strict=True):
        with pytest.raises(UserError, match=reason):
            pairs(opus(name))
    assert not list(cache.rglob("*.zip"))


def test_a_zip_file_on_disk_is_read_or_refused(archive: Path) -> None:
    archive.write_bytes(moses_zip())
    assert pairs(opus(archive))[1] == (ENGLISH[1], GERMAN[1])
    with pytest.raises(UserError, match=" fr"):
        pairs(opus(archive, "fr"))
    # Damaged LZMA raises an exception of its own.
    lzma = moses_zip(method=zipfile.ZIP_LZMA).replace(b"\x5d\x00\x00", b"\xff\x00\x00")
    for content, reason in (
        (moses_zip(german=GERMAN[:1]), r"\.en and .*\.de .*: 2 and 1"),
        (moses_zip()[:-30], "cannot be read"),
        (lzma, "unsupported compression method"),
    ):
        archive.write_bytes(content)
        with pytest.raises(UserError, match=rf"de-en\.txt\.zip.*{reason}"):
            pairs(opus(archive))
    assert open_corpus(opus(archive)).licence == "see https://opus.nlpl.eu"


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


def test_mtdata_is_called_again_on_request(program: Path) -> None:
    data = mtdata("Statmt-europarl-10-deu-eng")
    open_corpus(data)
    program.write_text(program.read_text().replace("Good day.", "Hello."))
    assert pairs(data) == [("Good day.", "Guten Tag.")]
    open_corpus(data, refresh=True)
    assert pairs(data) == [("Hello.", "Guten Tag.")]


@pytest.mark.usefixtures("program", "immediate_progress")
def test_a_long_download_by_mtdata_shows_the_elapsed_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs(mtdata("Statmt-europarl-10-deu-eng"))
    assert "mtdata echo Statmt-europarl-10-deu-eng: 00:00" in capsys.readouterr().err


def test_two_processes_do_not_mix_their_output_of_mtdata(program: Path, cache: Path) -> None:
    text = program.read_text()
    program.write_text(text.replace("\n", "\nimport time; time.sleep(0.5)\n", 1))
    corpus = mtdata("Statmt-europarl-10-deu-eng")
    with ThreadPoolExecutor() as pool:  # locks also work between threads
        found = list(pool.map(pairs, [corpus, corpus]))
    assert found == [[("Good day.", "Guten Tag.")]] * 2


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
