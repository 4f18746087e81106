"""Corpora that are built in or downloaded by name: how to open and to list each."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from nmt import shipped
from nmt.config.data import DataConfig
from nmt.config.languages import three_letters
from nmt.corpus.sources.corpus import Corpus, Listing
from nmt.corpus.sources.paths import expanded, pair_of, require_languages, single, single_files
from nmt.corpus.sources.readers import Pair, Split, read_parallel, read_pickle, read_tsv
from nmt.errors import UserError

TATOEBA_URL = "https://www.manythings.org/anki/"
# Tatoeba names the single language, where ISO 639-1 has only the group that it belongs to.
_TATOEBA_CODES = {"fas": "pes", "lav": "lvs", "msa": "zsm", "nor": "nob", "zho": "cmn"}
_TATOEBA_LICENCE = "CC BY 2.0 FR, https://tatoeba.org, pairs chosen by https://www.manythings.org"
TUTORIAL_URL = (
    "https://raw.githubusercontent.com/Rishav09/Neural-Machine-Translation-System/master/"
    "english-german-both.pkl"
)
TUTORIAL_BLOB = "55e268953059f252c5a125652ea67cd9a02e5936"
MULTI30K_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
MULTI30K_BLOBS = {  # git blob ids of the files
    "test_2016_flickr.cs": "2f2debe490017544d552c03e1433f5055bfc4b0b",
    "test_2016_flickr.de": "96b762cc43d913a5d23e5ec65acbc58a50d0a9b8",
    "test_2016_flickr.en": "c3c1142a4d12fa9d7736c81dca0dcea51975477e",
    "test_2016_flickr.fr": "b182503bf217d5d4d1030874de07bfcf26052b94",
    "train.cs": "3aed037d88c2d10a7df085e4a156d26fc4d89dbe",
    "train.de": "3869154c6298e22b3dc9ed3b17fd45bf00276b94",
    "train.en": "8226b4b333656238e113284cf738778e1287b52e",
    "train.fr": "9518a79e4aefbd3b99bd5887000c36e6a35de14b",
    "val.cs": "87ea5d95d679ad19868edd119c13772c83f61a01",
    "val.de": "0907cab7a248be8e15ac418d517343899351db18",
    "val.en": "8eb30ab9e5edd301e4c94330713c88513dd43dbc",
    "val.fr": "ab398432791947b7001173f065764887fb63c346",
}
_MULTI30K_LICENCE = "for non-commercial research and education; https://github.com/multi30k/dataset"
MULTI30K_LANGUAGES = ("en", "de", "fr", "cs")
MULTI30K_SPLITS: Mapping[Split, str] = {
    "train": "train",
    "validation": "val",
    "test": "test_2016_flickr",
}
_ENGLISH_GERMAN = ("en", "de")


def english_is_last(source: str, target: str) -> bool:
    """Return whether only the target is English; files of pairs then have the target first."""
    return three_letters(target) == "eng" != three_letters(source)


def open_everyday(data: DataConfig, refresh: bool) -> Corpus:
    """Open the built-in corpus; its single words and phrases are training data."""
    require_languages(data, _ENGLISH_GERMAN, "the everyday corpus")
    folder = shipped.EVERYDAY_CORPUS
    files: dict[Split, tuple[Path, ...]] = {
        "train": tuple(sorted([*folder.glob("train/*.tsv"), *folder.glob("words/*.tsv")])),
        "validation": (folder / "validation.tsv",),
        "test": (folder / "test.tsv",),
    }
    return Corpus(files, _read_all_tsv, english_is_last(*data.languages), "MIT")


def _read_all_tsv(*files: Path) -> Iterator[Pair]:
    return chain.from_iterable(map(read_tsv, files))


def list_everyday(languages: tuple[str, str]) -> Iterator[Listing]:
    """List it if it has the languages."""
    if {*languages} == {*_ENGLISH_GERMAN}:
        files = tuple(sorted(shipped.EVERYDAY_CORPUS.rglob("*.tsv")))
        count = sum(file.read_bytes().count(b"\n") for file in files)
        yield Listing("source: everyday", f"{count:,}", "MIT", "built in", files)


def open_sample(data: DataConfig, refresh: bool) -> Corpus:
    """Open the built-in generated sentences."""
    require_languages(data, _ENGLISH_GERMAN, "the sample corpus")
    splits: tuple[Split, ...] = ("train", "validation", "test")
    files = {split: pair_of(shipped.SAMPLE_CORPUS / split, data) for split in splits}
    return Corpus(files, read_parallel, licence="MIT")


def list_sample(languages: tuple[str, str]) -> Iterator[Listing]:
    """List it if it has the languages."""
    if {*languages} == {*_ENGLISH_GERMAN}:
        files = tuple(shipped.SAMPLE_CORPUS.iterdir())
        yield Listing("source: sample", "15,500", "MIT, generated", "built in", files)


def open_pickle(data: DataConfig, refresh: bool) -> Corpus:
    """Open pickles, by default that of O'Rahilly's tutorial."""
    english_last = english_is_last(*data.languages)
    if files := single_files(data):
        return Corpus(files, read_pickle, english_last)
    from nmt.corpus.sources.download import download

    require_languages(data, _ENGLISH_GERMAN, "the corpus of O'Rahilly's tutorial")
    path = download(TUTORIAL_URL, _tutorial(), git_blob=TUTORIAL_BLOB, refresh=refresh)
    return Corpus({"train": (path,)}, read_pickle, english_last, _TATOEBA_LICENCE)


def list_pickle(languages: tuple[str, str]) -> Iterator[Listing]:
    """List it if it has the languages."""
    if {*languages} == {*_ENGLISH_GERMAN}:
        yield Listing("source: pickle", "10,000", "CC BY 2.0 FR", TUTORIAL_URL, (_tutorial(),))


def _tutorial() -> Path:
    from nmt.corpus.sources.download import cache_folder

    return cache_folder() / "english-german-both.pkl"


def open_multi30k(data: DataConfig, refresh: bool) -> Corpus:
    """Open a folder of Multi30k, or download it."""
    if data.path is None:
        files = _download_multi30k(data, refresh)
    else:
        folder = expanded(single(data.path, data))
        files = {split: pair_of(folder / name, data) for split, name in MULTI30K_SPLITS.items()}
    return Corpus(files, read_parallel, licence=_MULTI30K_LICENCE)


def _download_multi30k(data: DataConfig, refresh: bool) -> dict[Split, tuple[Path, ...]]:
    from nmt.corpus.sources.download import cache_folder, download

    require_languages(data, MULTI30K_LANGUAGES, "Multi30k")
    folder = cache_folder() / "multi30k"
    return {
        split: tuple(
            download(
                f"{MULTI30K_URL}{name}.{language}.gz",
                folder / f"{name}.{language}.gz",
                git_blob=MULTI30K_BLOBS[f"{name}.{language}"],
                refresh=refresh,
            )
            for language in data.languages
        )
        for split, name in MULTI30K_SPLITS.items()
    }


def list_multi30k(languages: tuple[str, str]) -> Iterator[Listing]:
    """List it if it has the languages."""
    from nmt.corpus.sources.download import cache_folder

    if set(languages) <= set(MULTI30K_LANGUAGES):
        names = [f"{name}.{code}.gz" for name in MULTI30K_SPLITS.values() for code in languages]
        files = tuple(cache_folder() / "multi30k" / name for name in names)
        yield Listing("source: multi30k", "31,014", "non-commercial", MULTI30K_URL, files)


def open_tatoeba(data: DataConfig, refresh: bool) -> Corpus:
    """Open a file of Tatoeba's pairs, or download it."""
    files = single_files(data) or {"train": (_download_tatoeba(data, refresh),)}
    return Corpus(files, read_tsv, english_is_last(*data.languages), _TATOEBA_LICENCE)


def _download_tatoeba(data: DataConfig, refresh: bool) -> Path:
    from nmt.corpus.sources.download import download

    languages = [three_letters(code) for code in data.languages]
    if languages.count("eng") != 1:
        raise UserError(
            f"data: tatoeba pairs English with another language, not {' → '.join(languages)}; set "
            "source_language and target_language, or use another corpus"
        )
    [other] = [language for language in languages if language != "eng"]
    url, path = _tatoeba(other)
    return download(url, path, refresh=refresh)


def list_tatoeba(languages: tuple[str, str]) -> Iterator[Listing]:
    """List it if one of the languages is English."""
    if "en" in languages:
        [other] = [three_letters(code) for code in languages if code != "en"] or ["eng"]
        url, path = _tatoeba(other)
        pairs = "270,000+" if other == "deu" else "?"  # grows from year to year
        yield Listing("source: tatoeba", pairs, "CC BY 2.0 FR", url, (path,))


def _tatoeba(other: str) -> tuple[str, Path]:
    """Return the address and path of the file with English and another language."""
    from nmt.corpus.sources.download import cache_folder

    name = f"{_TATOEBA_CODES.get(other, other)}-eng.zip"
    return TATOEBA_URL + name, cache_folder() / "tatoeba" / name
