"""Dictionaries of FreeDict: read from TEI, and downloaded from a local server."""

import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.sources.registry import open_corpus
from nmt.errors import UserError

ENTRIES = """
<entry><form><orth>house</orth></form>
  <sense><cit type="trans"><quote>Haus</quote></cit><cit type="trans"><quote>Gebäude</quote></cit>
    <cit type="example"><quote>build a house</quote>
      <cit type="trans"><quote>ein Haus bauen</quote></cit>
      <cit type="trans"><quote>ein Gebäude bauen</quote></cit></cit>
    <xr type="syn"><ref>home</ref></xr></sense>
  <sense><note>nobility</note><cit type="trans"><quote>Geschlecht (Adel)</quote></cit></sense>
</entry>
<entry><form><orth>color</orth><orth>colour</orth></form>
  <cit type="trans"><quote>Farbe</quote></cit></entry>
<entry><form><orth>-able</orth></form>
  <sense><cit type="trans"><quote>-bar</quote></cit></sense></entry>
<entry><form><orth>address of/for</orth></form>
  <sense><cit type="trans"><quote>Anschrift</quote></cit></sense></entry>
<entry><form><orth>to allow sb. sth.</orth></form>
  <sense><cit type="trans"><quote>jdm. etw. erlauben</quote></cit></sense></entry>
<entry><form><orth>untranslated</orth></form><sense/></entry>
"""
PAIRS = [
    ("house", "Haus"),
    ("build a house", "ein Haus bauen"),
    ("house", "Geschlecht"),
    ("color", "Farbe"),
    ("colour", "Farbe"),
    ("to allow somebody something", "jemandem etwas erlauben"),
]


def tei(entries: str = ENTRIES) -> str:
    header = "<teiHeader><availability><p>Copyright A.</p> <p>GPL</p></availability></teiHeader>"
    return f'<?xml version="1.0"?><TEI>{header}<text><body>{entries}</body></text></TEI>'


def freedict(path: Path | None = None, source: str = "en", target: str = "de") -> DataConfig:
    return DataConfig(source="freedict", path=path, source_language=source, target_language=target)


def test_senses_and_examples_become_pairs(tmp_path: Path) -> None:
    path = tmp_path / "eng-deu.tei"
    path.write_text(tei(), encoding="utf-8")
    corpus = open_corpus(freedict(path))
    assert list(corpus.pairs("train")) == PAIRS
    assert corpus.licence == "Copyright A. GPL"
    swapped = open_corpus(freedict(path, "de", "en"))
    assert list(swapped.pairs("train")) == [pair[::-1] for pair in PAIRS]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("fra-eng.tei", tei()),  # other languages
        ("words.tei", tei()),  # a name without languages
        ("eng-deu.tei", tei("<entry>")),  # not well-formed
        ("eng-deu.tei", tei("")),  # no entries
        ("eng-deu.tei", '<!DOCTYPE TEI [<!ENTITY a "b">]>' + tei()),  # an entity
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=name):
        list(open_corpus(freedict(path)).pairs("train"))


class Server:
    """A server with files, by path; `asked` are the paths of all requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.url = ""

    def add(self, name: str, archive: bytes) -> None:
        """Add a dictionary to the list."""
        path = f"/{name}/freedict-{name}-1.src.tar.xz"
        self.files[path] = archive
        others = json.loads(self.files.get("/list", b"[]"))
        release = {"platform": "src", "URL": self.url + path}
        releases = [{"platform": "dictd", "URL": "http://nowhere"}, release]
        entry = {"name": name, "releases": releases}
        self.files["/list"] = json.dumps([{"software": {}}, *others, entry]).encode()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    known = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append(self.path)
            body = known.files.get(self.path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    monkeypatch.setattr("nmt.corpus.sources.freedict.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("nmt.corpus.sources.download._pause", lambda seconds: None)
    monkeypatch.setenv("NO_PROXY", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        known.url = f"http://127.0.0.1:{http_server.server_address[1]}"
        monkeypatch.setattr("nmt.corpus.sources.freedict.FREEDICT_URL", f"{known.url}/list")
        run = {"poll_interval": 0.01}
        thread = threading.Thread(target=http_server.serve_forever, kwargs=run)
        thread.start()
        yield known
        http_server.shutdown()
        thread.join()


def archive(name: str, content: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as files:
        for member, text in (("README", "about"), (name, content)):
            data = text.encode()
            info = tarfile.TarInfo(f"folder/{member}")
            info.size = len(data)
            files.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_a_dictionary_is_downloaded_once(server: Server) -> None:
    server.add("fra-eng", archive("fra-eng.tei", tei()))
    assert list(open_corpus(freedict(None, "fr", "en")).pairs("train")) == PAIRS
    swapped = open_corpus(freedict(None, "en", "fr"))  # there is no eng-fra
    assert next(swapped.pairs("train")) == PAIRS[0][::-1]
    assert len(server.asked) == 2
    open_corpus(freedict(None, "fr", "en"), refresh=True)
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    "content",
    [
        b"<html>a login page</html>",
        archive("eng-deu.tei", tei())[:200],
        archive("other.tei", tei()),
        archive("../eng-deu.tei", "")[:-30],
    ],
    ids=["not an archive", "truncated", "without a dictionary", "damaged"],
)
def test_a_damaged_archive_is_refused(server: Server, tmp_path: Path, content: bytes) -> None:
    server.add("eng-deu", content)
    with pytest.raises(UserError, match="eng-deu"):
        open_corpus(freedict())
    assert not list((tmp_path / "cache" / "freedict").glob("*eng-deu*"))


@pytest.mark.parametrize("listed", [b"<html>", b"[]", b"[1]", b'[{"name": "eng-deu"}]'])
def test_an_unusable_list_is_refused_and_not_kept(server: Server, listed: bytes) -> None:
    server.files["/list"] = listed
    for _ in range(2):
        with pytest.raises(UserError):
            open_corpus(freedict())
    assert server.asked == ["/list"] * 2
