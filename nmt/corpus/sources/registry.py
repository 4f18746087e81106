"""Opens the corpora that the `data` section of a configuration selects."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from nmt import shipped
from nmt.config.data import CorpusConfig, CorpusPart, DataConfig
from nmt.corpus.sources.readers import Pair, Split, read_parallel, read_pickle, read_tsv
from nmt.corpus.sources.translation_files import read_translation_files, translation_files
from nmt.corpus.text.languages import three_letters
from nmt.errors import UserError

_PACKED = (".gz", ".xz", ".bz2")
TATOEBA_URL = "https://www.manythings.org/anki/"
# Tatoeba names the single language, where ISO 639-1 has only the group that it belongs to.
_TATOEBA_CODES = {"fas": "pes", "lav": "lvs", "msa": "zsm", "nor": "nob", "zho": "cmn"}
_TATOEBA_LICENCE = "CC BY 2.0 FR, https://tatoeba.org, pairs chosen by https://www.manythings.org"
# mtdata knows the addresses and papers of corpora, but not their licences.
_MTDATA_LICENCE = "see the corpus's address in `mtdata list`"
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


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs in splits; a corpus with only "train" is split later by `prepare`."""

    files: Mapping[Split, tuple[Path, ...]]
    """The files behind each split, for the fingerprint."""
    read: Callable[..., Iterator[Pair]]
    """Reads the files of one split."""
    swapped: bool = False
    """Whether the target comes first in the files."""
    licence: str = ""
    """The licence; empty for the user's own files."""
    name: str = ""
    tag: str | None = None
    held_out: bool = True
    has_gaps: bool = False
    """Whether pairs with an empty side are units without a translation; see `pairs`."""

    def pairs(self, split: Split) -> Iterator[Pair]:
        """Yield the raw (source, target) text of each pair, without line endings.

        Validation and test splits leave out units without a translation; in training, cleaning
        counts them. Raises `UserError` if the files are invalid, possibly only after yielding other
        pairs.
        """
        empty = True
        for first, second in self.read(*self.files[split]):
            empty = False
            if self.has_gaps and split != "train" and not (first and second):
                continue
            yield (second, first) if self.swapped else (first, second)
        if empty:
            names = " and ".join(map(str, self.files[split]))
            raise UserError(
                f"{names}: contains no sentence pairs; download or create the file again"
            )


def open_corpora(data: DataConfig, refresh: bool = False) -> list[Corpus]:
    """Find or download all selected corpora: one, or those of `data.corpora`."""
    if not data.corpora:
        return [replace(open_corpus(data, refresh), name=data.source)]
    return [
        replace(
            open_corpus(_select(data, part), refresh),
            name=part.label,
            tag=part.tag,
            held_out=part.held_out,
        )
        for part in data.corpora
    ]


def _select(data: DataConfig, part: CorpusPart) -> DataConfig:
    """Return the section as if it selected this corpus alone."""
    fields = {name: getattr(part, name) for name in CorpusConfig.model_fields}
    return data.model_copy(update={**fields, "corpora": ()})


def english_is_last(source: str, target: str) -> bool:
    """Return whether only the target is English; files of pairs then have the target first."""
    return three_letters(target) == "eng" != three_letters(source)


def open_corpus(data: DataConfig, refresh: bool = False) -> Corpus:
    """Find or download the corpus that `data` selects, without reading it.

    `refresh` downloads files again, except those with a known hash.

    Pickle and TSV files have two columns, source and target, except that English always comes
    first, as in the files of O'Rahilly's tutorial, Anki and Tatoeba. The columns are therefore
    swapped if English is the target. Raises `UserError` if a file is missing or the corpus lacks a
    language.
    """
    languages = data.languages
    english_last = english_is_last(*languages)
    match data.source:
        case "pickle":
            if files := _single_files(data):
                return Corpus(files, read_pickle, english_last)
            files = {"train": (_download_tutorial(data, refresh),)}
            return Corpus(files, read_pickle, english_last, _TATOEBA_LICENCE)
        case "tsv":
            _refuse_tables(data)
            columns = languages[::-1] if english_last else languages
            read = partial(read_tsv, languages=columns, target_first=english_last)
            return Corpus(_single_files(data), read, english_last)
        case "parallel":
            return Corpus(_parallel_files(data), read_parallel)
        case "multi30k":
            files = _multi30k_files(data, refresh)
            return Corpus(files, read_parallel, licence=_MULTI30K_LICENCE)
        case "everyday":
            return Corpus(_everyday_files(data), _read_all_tsv, english_last, "MIT")
        case "imported":
            raise UserError(
                "data.source: the text that an imported model was trained on is unknown; name "
                "pairs of your own with --config, and omit --mix"
            )
        case "sample":
            return Corpus(_sample_files(data), read_parallel, licence="MIT")
        case "tatoeba":
            files = _single_files(data) or {"train": (_download_tatoeba(data, refresh),)}
            return Corpus(files, read_tsv, english_last, _TATOEBA_LICENCE)
        case "opus":
            return _open_opus(data, refresh)
        case "mtdata":
            from nmt.corpus.sources.opus import fetch_mtdata, read_mtdata

            fetched = fetch_mtdata(_name(data), refresh)
            read = partial(read_mtdata, languages=languages)
            return Corpus({"train": (fetched,)}, read, licence=_MTDATA_LICENCE)
        case "tmx" | "xliff" | "po":
            read = partial(read_translation_files, format_=data.source, languages=languages)
            files = {
                split: translation_files(_existing(_single(path, data)), data.source)
                for split, path in _given(data).items()
            }
            return Corpus(files, read, has_gaps=True)
        case "table" | "hub":
            return _open_table(data, refresh)


def _open_opus(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.opus import download_opus, opus_licence, read_moses

    languages = data.languages
    path = _expanded(_single(data.path, data)) if data.path else Path()
    if not _ignoring_os_errors(path.is_file):
        if path.suffix.lower() == ".zip":
            raise UserError(f"{path}: no such file; correct data.path, or name a corpus of OPUS")
        path = download_opus(_name(data), languages, refresh)
    read = partial(read_moses, languages=languages)
    return Corpus({"train": (path,)}, read, licence=opus_licence(path))


def _name(data: DataConfig) -> str:
    """Return the path as the name of a corpus: with slashes on Windows too."""
    return _single(data.path, data).as_posix() if data.path else ""


def _open_table(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.tables import files_by_split, hub_files, read_table, table_files

    languages = data.languages
    read = partial(read_table, languages=languages, columns=data.columns)
    if data.source == "hub":
        files, licence = hub_files(_name(data), data.subset, data.revision, refresh)
        return Corpus(_require_train(files, data), read, licence=licence)
    found: dict[Split, tuple[Path, ...]] = {}
    for split, given in _given(data).items():
        path = _existing(_single(given, data))
        if data.path and split == "train":
            found |= _require_train(files_by_split(path), data)
        else:
            found[split] = table_files(path)
    return Corpus(_without_held_out(found, data), read)


def _existing(path: Path) -> Path:
    path = _expanded(path)
    if not _ignoring_os_errors(path.exists):
        raise UserError(f"{path}: no such file; check the paths in the config's data section")
    return path


def _without_held_out(
    files: Mapping[Split, tuple[Path, ...]], data: DataConfig
) -> dict[Split, tuple[Path, ...]]:
    """Return the files without those for training that are also in another split."""
    held_out = {file.resolve() for split in files if split != "train" for file in files[split]}
    train = tuple(file for file in files["train"] if file.resolve() not in held_out)
    if not train:
        raise UserError(
            f"{data.path or data.train_path}: no training file is left, as all are named in "
            "data.validation_path or data.test_path; check the paths"
        )
    return {**files, "train": train}


def _require_train(
    files: Mapping[Split, tuple[Path, ...]], data: DataConfig
) -> dict[Split, tuple[Path, ...]]:
    if "train" not in files:
        raise UserError(f"{data.path}: has no training split, only {', '.join(files)}")
    return dict(files)


def _download_tatoeba(data: DataConfig, refresh: bool) -> Path:
    from nmt.corpus.sources.download import cache_folder, download

    languages = [three_letters(code) for code in data.languages]
    if languages.count("eng") != 1:
        raise UserError(
            f"data: tatoeba pairs English with another language, not {' → '.join(languages)}; set "
            "source_language and target_language, or use another corpus"
        )
    [other] = [language for language in languages if language != "eng"]
    name = tatoeba_archive(other)
    return download(TATOEBA_URL + name, cache_folder() / "tatoeba" / name, refresh=refresh)


def tatoeba_archive(other: str) -> str:
    """Return the name of the file with English and another language, given its three letters."""
    return f"{_TATOEBA_CODES.get(other, other)}-eng.zip"


def _download_tutorial(data: DataConfig, refresh: bool) -> Path:
    from nmt.corpus.sources.download import cache_folder, download

    _require_languages(data, ("en", "de"), "the corpus of O'Rahilly's tutorial")
    destination = cache_folder() / "english-german-both.pkl"
    return download(TUTORIAL_URL, destination, git_blob=TUTORIAL_BLOB, refresh=refresh)


def _given(data: DataConfig) -> dict[Split, Path | tuple[Path, Path]]:
    """Return the paths that are set; `path` counts as training data."""
    paths: dict[Split, Path | tuple[Path, Path] | None] = {
        "train": data.path or data.train_path,
        "validation": data.validation_path,
        "test": data.test_path,
    }
    return {split: path for split, path in paths.items() if path is not None}


def _single_files(data: DataConfig) -> dict[Split, tuple[Path, ...]]:
    return {split: (_file(_single(path, data)),) for split, path in _given(data).items()}


def _single(path: Path | tuple[Path, Path], data: DataConfig) -> Path:
    if isinstance(path, tuple):
        raise UserError(f"data: source `{data.source}` takes a single path, not a pair")
    return path


def _parallel_files(data: DataConfig) -> dict[Split, tuple[Path, ...]]:
    return {
        split: tuple(map(_file, path)) if isinstance(path, tuple) else _pair_of(path, data)
        for split, path in _given(data).items()
    }


def _sample_files(data: DataConfig) -> dict[Split, tuple[Path, ...]]:
    _require_languages(data, ("en", "de"), "the sample corpus")
    splits: tuple[Split, ...] = ("train", "validation", "test")
    return {split: _pair_of(shipped.SAMPLE_CORPUS / split, data) for split in splits}


def _everyday_files(data: DataConfig) -> dict[Split, tuple[Path, ...]]:
    """Return the files of the built-in corpus; the single words and phrases are training data."""
    _require_languages(data, ("en", "de"), "the everyday corpus")
    folder = shipped.EVERYDAY_CORPUS
    return {
        "train": tuple(sorted([*folder.glob("train/*.tsv"), *folder.glob("words/*.tsv")])),
        "validation": (folder / "validation.tsv",),
        "test": (folder / "test.tsv",),
    }


def _read_all_tsv(*files: Path) -> Iterator[Pair]:
    return chain.from_iterable(map(read_tsv, files))


def _multi30k_files(data: DataConfig, refresh: bool) -> dict[Split, tuple[Path, ...]]:
    if data.path is None:
        return _download_multi30k(data, refresh)
    folder = _expanded(_single(data.path, data))
    return {split: _pair_of(folder / name, data) for split, name in MULTI30K_SPLITS.items()}


def _download_multi30k(data: DataConfig, refresh: bool) -> dict[Split, tuple[Path, ...]]:
    from nmt.corpus.sources.download import cache_folder, download

    _require_languages(data, MULTI30K_LANGUAGES, "Multi30k")
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


def _require_languages(data: DataConfig, known: tuple[str, ...], corpus: str) -> None:
    languages = data.languages
    if not set(languages) <= set(known) or languages[0] == languages[1]:
        raise UserError(
            f"data: {corpus} covers only {', '.join(known)}, not {' → '.join(languages)}; set "
            "source_language and target_language, or use another corpus"
        )


def _refuse_tables(data: DataConfig) -> None:
    for path in _given(data).values():
        name = _single(path, data).name.lower().removesuffix(".gz")
        if name.endswith((".csv", ".json", ".jsonl", ".parquet", ".arrow")):
            raise UserError(f"{path}: is not tab-separated; set source: table")


def _pair_of(stem: Path, data: DataConfig) -> tuple[Path, Path]:
    """Return the files STEM.source_language and STEM.target_language; stem may be one of them."""
    name = stem.name
    for ending in _PACKED:
        name = name.removesuffix(ending)
    for language in data.languages:
        if name.endswith(f".{language}") and not _candidates(stem, language):
            stem = stem.with_name(name.removesuffix(f".{language}"))
            break
    return _side(stem, data.source_language), _side(stem, data.target_language)


def _side(stem: Path, language: str) -> Path:
    found = _candidates(stem, language)
    plain = _expanded(Path(f"{stem}.{language}"))
    return found[0] if found else _file(plain, ", with or without .gz, .xz or .bz2")


def _candidates(stem: Path, language: str) -> list[Path]:
    paths = [_expanded(Path(f"{stem}.{language}{ending}")) for ending in ("", *_PACKED)]
    return [path for path in paths if _ignoring_os_errors(path.is_file)]


def _file(path: Path, note: str = "") -> Path:
    path = _expanded(path)
    if not _ignoring_os_errors(path.is_file):
        problem = f"no such file{note}"
        if _ignoring_os_errors(path.exists):
            kind = "a folder" if _ignoring_os_errors(path.is_dir) else "a pipe or device"
            problem = f"is {kind}, not a file"
        raise UserError(
            f"{path}: {problem}; check the paths in the data section of the configuration (with "
            "--mix, also in the run's config.yaml)"
        )
    return path


def _ignoring_os_errors(test: Callable[[], bool]) -> bool:
    try:
        return test()
    except OSError:  # no access to a parent folder, or a name that is too long
        return False


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise UserError(f"{path}: unknown home directory; give the full path") from None
