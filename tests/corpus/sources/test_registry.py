"""Every kind of corpus opens in the configured direction, or is refused."""

import gzip
import os
import re
import time
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
from nmt.corpus.sources.registry import KINDS, likely_source, open_corpora, open_corpus
from nmt.errors import UserError

TO_ENGLISH = {"source_language": "de", "target_language": "en"}
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


def opened(source: str, **fields: Any) -> Corpus:
    return open_corpus(DataConfig(source=source, **fields))  # type: ignore[arg-type]


def train(source: str, **fields: Any) -> list[tuple[str, str]]:
    return list(opened(source, **fields).pairs("train"))


def refusal(source: str, **fields: Any) -> str:
    def read() -> None:
        corpus = opened(source, **fields)
        for split in corpus.files:
            list(corpus.pairs(split))

    with pytest.raises(UserError) as caught:
        read()
    assert "\n" not in str(caught.value)
    return str(caught.value)


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
    assert train("tsv", **fields) == [expected]


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


def test_pickle_and_tsv_have_english_first(tmp_path: Path) -> None:
    path = write_pickle(tmp_path / "a.pkl", ("go", "geh"), ("hi", "hallo"))
    assert opened("pickle", path=path).files == {"train": (path,)}
    assert train("pickle", path=path) == [("go", "geh"), ("hi", "hallo")]
    assert train("pickle", path=path, **TO_ENGLISH)[0] == ("geh", "go")
    path = write_lines(tmp_path / "a.tsv", "go\tgeh")
    for source, target, swapped in (
        ("en", "de", False),
        ("de", "en", True),
        ("nl", "de", False),
        ("deu", "en", True),
        ("deu", "eng", True),
        ("en", "en", False),
    ):
        found = train("tsv", path=path, source_language=source, target_language=target)
        assert found == [("geh", "go") if swapped else ("go", "geh")]


def test_the_tutorials_file_is_downloaded(
    tmp_path: Path, downloads: list[tuple[str, Path, object]]
) -> None:
    cached = tmp_path / "cache" / "english-german-both.pkl"
    assert train("pickle") == [("go", "geh")]
    assert downloads == [(TUTORIAL_URL, cached, TUTORIAL_BLOB)]
    assert train("pickle", **TO_ENGLISH) == [("geh", "go")]
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


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.csv.gz"])
def test_other_tables_than_tsv_name_their_source(tmp_path: Path, name: str) -> None:
    assert "set source: table" in refusal("tsv", path=tmp_path / name)


@pytest.mark.parametrize("source", ["tsv", "table"])
@pytest.mark.parametrize("name", ["a.xlsx", "a.XLS", "a.ods"])
def test_spreadsheets_are_to_be_saved_as_csv(tmp_path: Path, source: str, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04")
    assert "is a spreadsheet; save it as CSV" in refusal(source, path=tmp_path / name)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_parallel_files_are_given_by_stem_or_by_name(tmp_path: Path, ending: str) -> None:
    english = write_lines(tmp_path / f"a.b.en{ending}", "go")
    german = write_lines(tmp_path / f"a.b.de{ending}", "geh")
    for path in (tmp_path / "a.b", (english, german), english, german):
        assert opened("parallel", path=path).files == {"train": (english, german)}
        assert train("parallel", path=path) == [("go", "geh")]
    assert train("parallel", path=tmp_path / "a.b", **TO_ENGLISH) == [("geh", "go")]
    packed = german.rename(tmp_path / "a.b.de.xz")
    assert opened("parallel", path=packed).files == {"train": (english, packed)}


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


def test_the_built_in_corpora_are_read_in_either_direction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for split in SPLITS:
        for language in ("en", "de"):
            write_lines(tmp_path / f"{split}.{language}", f"{split} {language}")
    for name in ("train/b", "train/a", "words/c", "validation", "test"):
        write_lines(tmp_path / f"{name}.tsv", f"{name} en\t{name} de")
    monkeypatch.setattr("nmt.shipped.SAMPLE_CORPUS", tmp_path)
    monkeypatch.setattr("nmt.shipped.EVERYDAY_CORPUS", tmp_path)
    for source, names in (("sample", ["train"]), ("everyday", ["train/a", "train/b", "words/c"])):
        assert train(source) == [(f"{name} en", f"{name} de") for name in names]
        assert train(source, **TO_ENGLISH) == [(f"{name} de", f"{name} en") for name in names]
        assert list(opened(source).pairs("test")) == [("test en", "test de")]
        assert "fr" in refusal(source, target_language="fr")
    assert "en → en" in refusal("sample", source_language="en", target_language="en")


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
    message = refusal(source, path=tmp_path / path)
    assert re.search("no such file[^;]*; give the path with --set data.path=FILE", message)


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    for name in ("pipe", "pipe.tmx", "pipe.xlf", "pipe.po", "pipe.csv", "pipe.json", "pipe.zip"):
        os.mkfifo(tmp_path / name)
        source = likely_source(tmp_path / name)
        assert "is a pipe or device" in refusal(source, path=tmp_path / name)
    path = write_lines(tmp_path / "a.en", "go")
    for given in (tmp_path / "a", [path, tmp_path / "a.de"]):
        assert f"{tmp_path / 'a.de'}: no such file" in refusal("parallel", path=given)
    for source in ("pickle", "tsv"):
        for folder in (tmp_path, "/"):
            assert "is a folder" in refusal(source, path=folder)
    for source in ("pickle", "tsv", "multi30k"):
        assert "a single path" in refusal(source, path=[tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize("source", ["pickle", "tsv", "parallel"])
def test_empty_files_are_refused(tmp_path: Path, source: str) -> None:
    path = write_lines(tmp_path / "a.en")
    write_lines(tmp_path / "a.de")
    name = tmp_path / "a" if source == "parallel" else path
    assert str(path) in refusal(source, path=name)


def test_the_real_corpora_are_read(corpora: Path) -> None:
    tatoeba = corpora / "tatoeba-deu.txt"
    pairs = train("tsv", path=tatoeba)
    assert (len(pairs), pairs[0]) == (50_001, ("Go.", "Geh."))
    assert train("tatoeba", path=tatoeba, **TO_ENGLISH)[0] == ("Geh.", "Go.")
    paths = {f"{n}_path": corpora / f"english-german-{n}.pkl" for n in ("train", "test")}
    corpus = opened("pickle", **paths)
    assert sum(1 for _ in corpus.pairs("train")) == 9000
    assert next(corpus.pairs("test")) == ("im a purist", "ich bin ein purist")
    corpus = opened("multi30k", path=corpora / "multi30k")
    counts = [sum(1 for _ in corpus.pairs(split)) for split in SPLITS]
    assert counts == [29_000, 1_014, 1_000]
    for name, blob in MULTI30K_BLOBS.items():
        path = corpora / "multi30k" / f"{name}.gz"
        assert not path.exists() or git_blob_id(path) == blob


@pytest.mark.parametrize(
    ("name", "source"),
    [
        *(("a.tsv", "tsv"), ("a.txt", "tsv"), ("a.csv", "table"), ("a.JSONL.gz", "table")),
        *(("a.tmx.gz", "tmx"), ("a.xlf", "xliff"), ("a.po", "po"), ("a.pkl", "pickle")),
        *(("par", "parallel"), ("par.en", "parallel"), ("par.de.gz", "parallel"), (".", "table")),
        *(("memories", "tmx"), ("messages", "po"), ("eng-deu.tei", "freedict")),
        *(("en-de.txt.zip", "opus"), ("deu-eng.zip", "tsv"), ("missing.zip", "tsv")),
    ],
)
def test_the_source_of_a_corpus_follows_from_its_name_or_its_files(
    name: str, source: str, tmp_path: Path
) -> None:
    for side in ("par.en", "par.de.gz"):
        (tmp_path / side).touch()
    if name in ("memories", "messages"):
        write_lines(tmp_path / name / f"a.{source}")
    for archive, members in (
        ("en-de.txt.zip", ("README", "a.en", "a.de")),
        ("deu-eng.zip", ("deu.txt",)),
    ):
        with zipfile.ZipFile(tmp_path / archive, "w") as file:
            for member in members:
                file.writestr(member, "")
    assert likely_source(tmp_path / name) == source


def test_entities_are_decoded_if_wanted(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("Say &quot;yes&quot; &amp; go\tSag &#8222;ja&#8220;\n")
    data = DataConfig(source="tsv", path=path)
    found = [open_corpora(data.model_copy(update={"decode_entities": each})) for each in (0, 1)]
    kept, decoded = (list(corpora[0].pairs("train")) for corpora in found)
    assert kept == [("Say &quot;yes&quot; &amp; go", "Sag &#8222;ja&#8220;")]
    assert decoded == [('Say "yes" & go', "Sag „ja“")]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("a.tmx", "is not XML"),
        ("a.xlf", "is not XML"),
        ("a.json", "is UTF-16"),
        ("a.jsonl", "is UTF-16"),
        ("a.csv", "is UTF-16"),
        ("a.tsv", "longer than"),
    ],
)
def test_a_file_of_zeros_is_refused_by_its_beginning(tmp_path: Path, name: str, named: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(2**30)  # takes no space
    before = time.process_time()
    assert named in refusal(likely_source(tmp_path / name), path=tmp_path / name)
    assert time.process_time() - before < 10
