"""Test sets by name, loaded by sacrebleu's own code from files instead of a server."""

import hashlib
import io
import socket
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from filelock import FileLock
from sacrebleu.dataset import DATASETS
from sacrebleu.dataset.plain_text import PlainTextDataset

from nmt.errors import UserError
from nmt.evaluation.test_sets import list_test_sets, read_test_set

EN_DE = ("en", "de")
TOY = (["Go.", "Hi!"], [["Geh.", "Hallo!"]])


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlainTextDataset:
    """A test set of two lines in a tar file, added to sacrebleu's."""
    archive = tmp_path / "server" / "toy.tgz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in (("toy.en", "Go.\nHi!\n"), ("toy.de", "Geh.\nHallo!\n")):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    found = PlainTextDataset(
        name="toy/2018",
        data=[archive.as_uri()],
        md5=[hashlib.md5(archive.read_bytes()).hexdigest()],
        description="a toy",
        langpairs={"en-de": ["toy.en", "toy.de"], "en-fr": ["toy.en", "toy.fr"]},
    )
    found._outdir = str(tmp_path / "cache" / "toy")
    found._rawdir = str(tmp_path / "cache" / "toy" / "raw")
    monkeypatch.setitem(DATASETS, "toy/2018", found)
    return found


def refusal(name: str, languages: tuple[str, str] = EN_DE) -> str:
    with pytest.raises(UserError) as caught:
        read_test_set(name, languages)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_test_set_is_downloaded_once(toy: PlainTextDataset, tmp_path: Path) -> None:
    assert ("toy/2018", "a toy", toy.data[0], None) in list_test_sets(EN_DE)
    assert read_test_set("toy/2018", EN_DE) == TOY
    (tmp_path / "server" / "toy.tgz").unlink()
    assert read_test_set("toy/2018", EN_DE) == TOY
    assert ("toy/2018", "a toy", toy.data[0], 2) in list_test_sets(EN_DE)
    assert read_test_set("toy/2018", ("eng", "deu")) == TOY
    assert ("toy/2018", "a toy", toy.data[0], 2) in list_test_sets(("eng", "deu"))


@pytest.mark.usefixtures("toy", "immediate_progress")
def test_a_slow_download_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    read_test_set("toy/2018", EN_DE)
    assert "downloading test set toy/2018: 00:00" in capsys.readouterr().err
    read_test_set("toy/2018", EN_DE)
    assert "downloading" not in capsys.readouterr().err


def test_all_references_are_read(toy: PlainTextDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "fieldnames", lambda pair: ["src", "ref:0", "ref:1"])
    toy.langpairs["en-de"] = ["toy.en", "toy.de", "toy.en"]
    assert read_test_set("toy/2018", EN_DE) == (TOY[0], [*TOY[1], TOY[0]])


@pytest.mark.parametrize(("sources", "references"), [("", ""), ("Go.\nHi!\n", "Geh.\n")])
def test_a_test_set_killed_while_it_was_unpacked_is_downloaded_again(
    toy: PlainTextDataset, tmp_path: Path, sources: str, references: str
) -> None:
    read_test_set("toy/2018", EN_DE)
    for side, text in (("src", sources), ("ref", references)):
        (tmp_path / f"cache/toy/toy_2018.en-de.{side}").write_text(text)
    assert read_test_set("toy/2018", EN_DE) == TOY


def test_an_incomplete_test_set_that_cannot_be_deleted_is_refused(
    toy: PlainTextDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_test_set("toy/2018", EN_DE)
    (tmp_path / "cache/toy/toy_2018.en-de.ref").write_text("Geh.\n")
    # As with a read-only folder, which root can write to.
    monkeypatch.setattr("nmt.evaluation.test_sets._delete_files", lambda *_: None)
    assert f"has 2 sources and 1 references; delete {toy._outdir}" in refusal("toy/2018")


def test_a_test_set_that_is_incomplete_on_the_server_is_refused(
    toy: PlainTextDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack = toy.process_to_text

    def without_references(pair: str) -> None:
        unpack(pair)
        Path(toy._get_txt_file_path(pair, "ref")).write_text("")

    monkeypatch.setattr(toy, "process_to_text", without_references)
    for _ in range(2):
        assert "has 2 sources and 0 references; choose another one" in refusal("toy/2018")


def test_a_missing_network_is_reported_in_one_line(toy: PlainTextDataset, tmp_path: Path) -> None:
    (tmp_path / "server" / "toy.tgz").unlink()
    assert "check your network" in refusal("toy/2018")
    assert not (tmp_path / "cache" / "toy").exists()


def test_a_full_disk_is_not_mistaken_for_a_network_error(
    toy: PlainTextDataset, tmp_path: Path, full_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    with full_disk(10):
        message = refusal("toy/2018")
    assert message.startswith(f"{tmp_path / 'cache' / 'toy'}: cannot be written (File too large; ")
    assert "free on its disk" in message
    assert read_test_set("toy/2018", EN_DE) == TOY


def test_a_damaged_download_is_deleted(toy: PlainTextDataset, tmp_path: Path) -> None:
    server = tmp_path / "server" / "toy.tgz"
    whole = server.read_bytes()
    server.write_bytes(whole[:-50])
    assert "checksum mismatch" in refusal("toy/2018")
    server.write_bytes(whole)
    assert read_test_set("toy/2018", EN_DE) == TOY


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interrupted_download_is_deleted(
    toy: PlainTextDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def interrupted(_: str) -> None:
        toy.maybe_download()
        (tmp_path / "cache/toy/toy_2018.en-de.src").write_text("Go.\n")
        raise stop

    with monkeypatch.context() as patch:
        patch.setattr(toy, "process_to_text", interrupted)
        with pytest.raises(type(stop)) as caught:
            read_test_set("toy/2018", EN_DE)
        assert caught.value is stop
    assert not (tmp_path / "cache" / "toy").exists()
    assert read_test_set("toy/2018", EN_DE) == TOY


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interruption_while_reading_keeps_a_test_set(
    toy: PlainTextDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def interrupted(_: str) -> None:
        raise stop

    read_test_set("toy/2018", EN_DE)
    (tmp_path / "server" / "toy.tgz").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(toy, "references", interrupted)
        with pytest.raises(type(stop)):
            read_test_set("toy/2018", EN_DE)
    assert read_test_set("toy/2018", EN_DE) == TOY


def test_processes_wait_for_each_others_downloads(toy: PlainTextDataset, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    with ThreadPoolExecutor() as pool:
        with FileLock(tmp_path / "cache" / "toy.lock"):
            later = pool.submit(read_test_set, "toy/2018", EN_DE)
            time.sleep(0.5)
            assert not (tmp_path / "cache" / "toy").exists()
        assert later.result() == TOY
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["toy"]


def test_other_test_sets_survive_a_failed_download(toy: PlainTextDataset, tmp_path: Path) -> None:
    """The folder of wmt14/full is in that of wmt14, and the text of other pairs is beside it."""
    read_test_set("toy/2018", EN_DE)
    others = [tmp_path / "cache/toy/full/wmt.en", tmp_path / "cache/toy/toy_2018.cs-de.src"]
    others[0].parent.mkdir()
    for other in others:
        other.write_text("Go.\n")
    refusal("toy/2018", ("en", "fr"))
    assert all(other.exists() for other in others)
    assert read_test_set("toy/2018", EN_DE) == TOY
    assert not list((tmp_path / "cache/toy").glob("*.en-fr.*"))


def test_a_silent_server_is_abandoned(
    toy: PlainTextDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.evaluation.test_sets.TIMEOUT", 0.1)
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.create_server(("127.0.0.1", 0)) as server:
        toy.data = [f"http://127.0.0.1:{server.getsockname()[1]}/toy.tgz"]
        assert "timed out" in refusal("toy/2018")
    assert socket.getdefaulttimeout() is None


def test_other_names_and_directions_are_refused(toy: PlainTextDataset) -> None:
    assert "did you mean wmt20" in refusal("wmt200")
    assert "did you mean" not in refusal("?")
    assert "not available for de-en" in refusal("toy/2018", ("de", "en"))
    assert "toy/2018" in [name for name, *_ in list_test_sets(EN_DE)]
    assert "toy/2018" not in [name for name, *_ in list_test_sets(("de", "en"))]


def test_sacrebleu_has_the_documented_test_sets() -> None:
    names = {name for name, *_ in list_test_sets(EN_DE)}
    assert {"wmt14/full", "wmt20", "multi30k/2018", "iwslt17"} <= names
