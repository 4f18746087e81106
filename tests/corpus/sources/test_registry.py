"""Every kind of corpus opens in the configured direction, or is refused."""

import gzip
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.config.data import SOURCES, DataConfig
from nmt.corpus.sources import download as module
from nmt.corpus.sources.corpus import Corpus
from nmt.corpus.sources.download import git_blob_id
from nmt.corpus.sources.named import (
    MULTI30K_BLOBS,
    MULTI30K_LANGUAGES,
    MULTI30K_SPLITS,
    MULTI30K_URL,
    TATOEBA_URL,
    TUTORIAL_BLOB,
    TUTORIAL_URL,
)
from nmt.corpus.sources.readers import Split
from nmt.corpus.sources.registry import KINDS, open_corpus
from nmt.errors import UserError

TO_ENGLISH = {"source_language": "de", "target_language": "en"}
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


def opened(source: str, **fields: Any) -> Corpus:
    return open_corpus(DataConfig(source=source, **fields))  # type: ignore[arg-type]


def read_all(source: str, **fields: Any) -> None:
    corpus = opened(source, **fields)
    for split in corpus.files:
        list(corpus.pairs(split))


def refusal(source: str, **fields: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_all(source, **fields)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_each_source_has_rules_and_an_entry() -> None:
    assert KINDS.keys() == SOURCES.keys()


@pytest.mark.parametrize(
    ("header", "source", "target"),
    [
        ("Italian\tEnglish", "it", "en"),
        ("Italian\tEnglish", "en", "it"),
        ("target\tsource", "en", "de"),
        ("source\ttarget", "de", "en"),
        ("target\tsource", "fr", "it"),
    ],
)
def test_a_header_in_the_opposite_order_is_refused_until_columns_are_swapped(
    tmp_path: Path, header: str, source: str, target: str
) -> None:
    path = tmp_path / "a.tsv"
    fields = {"path": path, "source_language": source, "target_language": target}
    path.write_text(f"{header}\nx\ty\n")
    assert "; swap the columns" in refusal("tsv", **fields)
    path.write_text("\t".join(header.split("\t")[::-1]) + "\ny\tx\n")
    expected = ("x", "y") if target == "en" else ("y", "x")
    assert list(opened("tsv", **fields).pairs("train")) == [expected]


def write_pickle(path: Path, *pairs: tuple[str, str]) -> Path:
    np.array(pairs).dump(path)
    return path


def write_lines(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture(autouse=True)
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path, object]]:
    """Instead of downloading, record the request and write a small corpus."""
    asked: list[tuple[str, Path, object]] = []

    def download(
        url: str, destination: Path, *, git_blob: str | None = None, refresh: bool = False
    ) -> Path:
        asked.append((url, destination, git_blob))
        destination.parent.mkdir(parents=True, exist_ok=True)
        if destination.suffix == ".pkl":
            return write_pickle(destination, ("go", "geh"))
        return write_lines(destination, url.removeprefix(MULTI30K_URL))

    monkeypatch.setattr("nmt.corpus.sources.download.download", download)
    monkeypatch.setattr("nmt.corpus.sources.download.cache_folder", lambda: tmp_path / "cache")
    return asked


@pytest.mark.parametrize("source", ["pickle", "multi30k", "tatoeba"])
@pytest.mark.parametrize("refresh", [False, True])
def test_files_are_downloaded_again_on_request(
    source: str, refresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    pretended = module.download

    def download(*arguments: Any, refresh: bool = False, **named: Any) -> Path:
        seen.append(refresh)
        return pretended(*arguments, **named)

    monkeypatch.setattr(module, "download", download)
    open_corpus(DataConfig(source=source), refresh)  # type: ignore[arg-type]
    assert set(seen) == {refresh}


def test_a_pickle_has_english_first(tmp_path: Path) -> None:
    path = write_pickle(tmp_path / "a.pkl", ("go", "geh"), ("hi", "hallo"))
    corpus = opened("pickle", path=path)
    assert corpus.files == {"train": (path,)}
    assert list(corpus.pairs("train")) == [("go", "geh"), ("hi", "hallo")]
    assert next(opened("pickle", path=path, **TO_ENGLISH).pairs("train")) == ("geh", "go")


def test_the_tutorials_file_is_downloaded(
    tmp_path: Path, downloads: list[tuple[str, Path, object]]
) -> None:
    cached = tmp_path / "cache" / "english-german-both.pkl"
    assert list(opened("pickle").pairs("train")) == [("go", "geh")]
    assert downloads == [(TUTORIAL_URL, cached, TUTORIAL_BLOB)]
    assert list(opened("pickle", **TO_ENGLISH).pairs("train")) == [("geh", "go")]
    assert "en → fr" in refusal("pickle", target_language="fr")
    assert len(downloads) == 2


@pytest.mark.parametrize("source", ["pickle", "tsv"])
def test_given_splits_are_read(tmp_path: Path, source: str) -> None:
    paths = {}
    for split in SPLITS:
        path = tmp_path / f"{split}.txt"
        paths[f"{split}_path"] = path
        if source == "pickle":
            write_pickle(path, (split, "x"))
        else:
            write_lines(path, f"{split}\tx")
    corpus = opened(source, **paths)
    assert {split: list(corpus.pairs(split)) for split in corpus.files} == {
        split: [(split, "x")] for split in SPLITS
    }


def test_a_test_split_can_be_given_with_a_corpus_to_split(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.tsv", "go\tgeh")
    assert set(opened("tsv", path=path, test_path=path).files) == {"train", "test"}


def test_tsv_has_english_first(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.tsv", "go\tgeh")
    assert list(opened("tsv", path=path).pairs("train")) == [("go", "geh")]
    assert list(opened("tsv", path=path, **TO_ENGLISH).pairs("train")) == [("geh", "go")]
    other = opened("tsv", path=path, source_language="nl", target_language="de")
    assert list(other.pairs("train")) == [("go", "geh")]
    for target in ("en", "eng"):
        long = opened("tsv", path=path, source_language="deu", target_language=target)
        assert list(long.pairs("train")) == [("geh", "go")]
    same = opened("tsv", path=path, source_language="en", target_language="en")
    assert list(same.pairs("train")) == [("go", "geh")]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.csv.gz"])
def test_other_tables_than_tsv_name_their_source(tmp_path: Path, name: str) -> None:
    assert "set source: table" in refusal("tsv", path=tmp_path / name)


@pytest.mark.parametrize("given", ["a.en", "a.de.xz"])
def test_one_of_two_parallel_files_finds_its_partner(tmp_path: Path, given: str) -> None:
    for name in ("a.en", "a.de.xz"):
        (tmp_path / name).touch()
    found = open_corpus(DataConfig(source="parallel", path=tmp_path / given)).files["train"]
    assert [path.name for path in found] == ["a.en", "a.de.xz"]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_parallel_files_are_given_by_stem_or_by_name(tmp_path: Path, ending: str) -> None:
    english = write_lines(tmp_path / f"a.b.en{ending}", "go")
    german = write_lines(tmp_path / f"a.b.de{ending}", "geh")
    for path in (tmp_path / "a.b", (english, german)):
        corpus = opened("parallel", path=path)
        assert corpus.files == {"train": (english, german)}
        assert list(corpus.pairs("train")) == [("go", "geh")]
    swapped = opened("parallel", path=tmp_path / "a.b", **TO_ENGLISH)
    assert list(swapped.pairs("train")) == [("geh", "go")]


def test_multi30k_is_downloaded(tmp_path: Path, downloads: list[tuple[str, Path, object]]) -> None:
    corpus = opened("multi30k", **TO_ENGLISH)
    assert len(downloads) == 6
    assert downloads[0] == (
        MULTI30K_URL + "train.de.gz",
        tmp_path / "cache" / "multi30k" / "train.de.gz",
        MULTI30K_BLOBS["train.de"],
    )
    assert [list(corpus.pairs(split)) for split in SPLITS] == [
        [(f"{name}.de.gz", f"{name}.en.gz")] for name in ("train", "val", "test_2016_flickr")
    ]
    assert "en → nl" in refusal("multi30k", target_language="nl")


def test_every_file_of_multi30k_is_verified() -> None:
    splits = MULTI30K_SPLITS.values()
    assert set(MULTI30K_BLOBS) == {f"{s}.{code}" for s in splits for code in MULTI30K_LANGUAGES}


def test_multi30k_is_read_from_a_folder(
    tmp_path: Path, downloads: list[tuple[str, Path, object]]
) -> None:
    for name in ("train", "val", "test_2016_flickr"):
        write_lines(tmp_path / f"{name}.en.gz", name)
        write_lines(tmp_path / f"{name}.de", f"{name} auf Deutsch")
    corpus = opened("multi30k", path=tmp_path)
    assert list(corpus.pairs("test")) == [("test_2016_flickr", "test_2016_flickr auf Deutsch")]
    assert not downloads
    (tmp_path / "val.de").unlink()
    assert "val.de: no such file, with or without .gz" in refusal("multi30k", path=tmp_path)


def test_tatoeba_is_downloaded_for_either_direction(
    tmp_path: Path, downloads: list[tuple[str, Path, object]]
) -> None:
    opened("tatoeba")
    opened("tatoeba", source_language="fr", target_language="en")
    opened("tatoeba", target_language="zh")  # Mandarin
    opened("tatoeba", source_language="ka", target_language="eng")
    assert [asked[:2] for asked in downloads] == [
        (TATOEBA_URL + f"{code}-eng.zip", tmp_path / "cache" / "tatoeba" / f"{code}-eng.zip")
        for code in ("deu", "fra", "cmn", "kat")
    ]
    assert "deu → fra" in refusal("tatoeba", source_language="de", target_language="fr")
    assert "deu → deu" in refusal("tatoeba", source_language="de", target_language="de")


ATTRIBUTION = "CC-BY 2.0 (France) Attribution: tatoeba.org #2877272 (CM) & #8597805 (Roujin)"


def test_tatoeba_is_read_from_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "deu-eng.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_about.txt", "about")
        archive.writestr("deu.txt", f"Go.\tGeh.\t{ATTRIBUTION}\nHi.\tGrüß Gott!\t{ATTRIBUTION}\n")
    plain = write_lines(tmp_path / "deu.txt", "1\t2", "Go.\tGeh.", "Hi.\tGrüß Gott!")
    for copy in (path, plain):
        corpus = opened("tatoeba", path=copy)
        assert list(corpus.pairs("train")) == [("Go.", "Geh."), ("Hi.", "Grüß Gott!")]
        assert "CC BY 2.0" in corpus.licence
        assert next(opened("tatoeba", path=copy, **TO_ENGLISH).pairs("train")) == ("Geh.", "Go.")


def test_the_sample_is_read_in_either_direction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for split in SPLITS:
        for language in ("en", "de"):
            write_lines(tmp_path / f"{split}.{language}", f"{split} {language}")
    monkeypatch.setattr("nmt.shipped.SAMPLE_CORPUS", tmp_path)
    assert list(opened("sample").pairs("test")) == [("test en", "test de")]
    assert list(opened("sample", **TO_ENGLISH).pairs("train")) == [("train de", "train en")]
    assert "fr" in refusal("sample", target_language="fr")
    assert "en → en" in refusal("sample", source_language="en", target_language="en")


def test_the_everyday_corpus_is_read_in_either_direction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("train/b", "train/a", "words/c", "validation", "test"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_lines(tmp_path / f"{name}.tsv", f"{name} en\t{name} de")
    monkeypatch.setattr("nmt.shipped.EVERYDAY_CORPUS", tmp_path)
    train = [
        ("train/a en", "train/a de"),
        ("train/b en", "train/b de"),
        ("words/c en", "words/c de"),
    ]
    corpus = opened("everyday")
    assert list(corpus.pairs("train")) == train
    assert list(corpus.pairs("test")) == [("test en", "test de")]
    assert list(opened("everyday", **TO_ENGLISH).pairs("train")) == [(b, a) for a, b in train]
    assert "fr" in refusal("everyday", target_language="fr")


def test_home_folders_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = write_lines(tmp_path / "a.en", "go\tgeh")
    write_lines(tmp_path / "a.de", "geh")
    assert opened("tsv", path="~/a.en").files == {"train": (path,)}
    assert opened("parallel", path="~/a").files["train"][0] == path
    assert opened("parallel", path=["~/a.en", "~/a.de"]).files["train"][0] == path
    assert "home" in refusal("tsv", path="~nobody-of-this-name/a.en")


@pytest.mark.parametrize("path", ["none.tsv", "x" * 5000, "nul\0"])
@pytest.mark.parametrize("source", ["pickle", "tsv", "parallel", "multi30k"])
def test_missing_files_are_refused(tmp_path: Path, source: str, path: str) -> None:
    assert "no such file" in refusal(source, path=tmp_path / path)


@pytest.mark.parametrize("path", ["", "/"])
@pytest.mark.parametrize("source", ["pickle", "tsv"])
def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path, source: str, path: str) -> None:
    assert "is a folder, not a file" in refusal(source, path=tmp_path / path)


def test_a_pipe_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or device, not a file" in refusal("tsv", path=tmp_path / "pipe")


def test_a_missing_file_of_a_parallel_pair_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.en", "go")
    assert f"{tmp_path / 'a.de'}: no such file" in refusal("parallel", path=tmp_path / "a")
    assert "no such file" in refusal("parallel", path=[path, tmp_path / "a.de"])


@pytest.mark.parametrize("source", ["pickle", "tsv", "multi30k"])
def test_only_parallel_accepts_two_paths(tmp_path: Path, source: str) -> None:
    assert "takes a single path" in refusal(source, path=[tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize("source", ["pickle", "tsv", "parallel"])
def test_empty_files_are_refused(tmp_path: Path, source: str) -> None:
    path = write_lines(tmp_path / "a.en")
    write_lines(tmp_path / "a.de")
    name = tmp_path / "a" if source == "parallel" else path
    assert str(path) in refusal(source, path=name)


def corpora() -> Path:
    folder = os.environ.get("NMT_CORPORA")
    if not folder:
        pytest.skip("NMT_CORPORA is not set")
    return Path(folder)


def test_the_real_tatoeba_is_read_as_tsv() -> None:
    pairs = list(opened("tsv", path=corpora() / "tatoeba-deu.txt").pairs("train"))
    assert len(pairs) == 50_001
    assert pairs[0] == ("Go.", "Geh.")


def test_the_real_tatoeba_is_read_by_name() -> None:
    corpus = opened("tatoeba", path=corpora() / "tatoeba-deu.txt", **TO_ENGLISH)
    assert next(corpus.pairs("train")) == ("Geh.", "Go.")


def test_the_real_tutorial_is_read() -> None:
    paths = {
        "train_path": corpora() / "english-german-train.pkl",
        "test_path": corpora() / "english-german-test.pkl",
    }
    corpus = opened("pickle", **paths)
    assert sum(1 for _ in corpus.pairs("train")) == 9000
    assert next(corpus.pairs("test")) == ("im a purist", "ich bin ein purist")


def test_the_real_multi30k_is_read() -> None:
    corpus = opened("multi30k", path=corpora() / "multi30k")
    counts = [sum(1 for _ in corpus.pairs(split)) for split in SPLITS]
    assert counts == [29_000, 1_014, 1_000]


@pytest.mark.parametrize("name", MULTI30K_BLOBS)
def test_the_hashes_of_the_real_multi30k_match(name: str) -> None:
    path = corpora() / "multi30k" / f"{name}.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in NMT_CORPORA")
    assert git_blob_id(path) == MULTI30K_BLOBS[name]
