"""The sources of sentence pairs: one entry for each value of `data.source`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from textwrap import shorten

from nmt.config.data import SOURCES, CorpusConfig, CorpusPart, DataConfig, Source, format_at
from nmt.config.languages import two_letters
from nmt.corpus.sources import named
from nmt.corpus.sources.corpus import Corpus, Listing
from nmt.corpus.sources.named import english_is_last
from nmt.corpus.sources.paths import (
    corpus_name,
    existing,
    expanded,
    given_paths,
    ignoring_os_errors,
    pair_of,
    parallel_files,
    require_pairs,
    single,
    single_files,
)
from nmt.corpus.sources.readers import (
    Split,
    damage_explained,
    open_zip,
    read_parallel,
    read_tsv,
    text_members,
)
from nmt.corpus.sources.translation_files import read_translation_files, translation_files
from nmt.errors import UserError

_TABLES = (".csv", ".json", ".jsonl", ".parquet", ".arrow")
# mtdata knows the addresses and papers of corpora, but not their licences.
_MTDATA_LICENCE = "see the corpus's address in `mtdata list`"
# German–English pairs, according to OPUS' web pages.
_OPUS = {
    "News-Commentary/v16": "294,498",
    "TED2020/v1": "296,354",
    "Europarl/v8": "1,961,119",
    "Tatoeba/v2023-04-12": "?",
}


def open_corpora(data: DataConfig, refresh: bool = False) -> list[Corpus]:
    """Find or download all selected corpora: one, or those of `data.corpora`."""
    if not data.corpora:
        corpus = open_corpus(data, refresh)
        return [replace(corpus, name=data.source, decodes_entities=data.decode_entities)]
    return [
        replace(
            open_corpus(_select(data, part), refresh),
            decodes_entities=data.decode_entities,
            name=part.label,
            tag=part.tag,
            held_out=part.held_out,
        )
        for part in data.corpora
    ]


def likely_source(path: Path) -> Source:
    """Return the source that reads a file or folder, judged by its name and the files in it."""
    name = path.name.lower()
    if found := format_at(str(path)):
        return found
    if name.endswith((".pkl", ".pickle")):
        return "pickle"
    if name.endswith(".tei"):
        return "freedict"
    if name.endswith(".zip") and _is_moses(path):
        return "opus"
    if path.is_dir() or name.removesuffix(".gz").endswith(_TABLES):
        return "table"
    with suppress(UserError):
        pair_of(path, DataConfig(source="parallel", path=path))
        return "parallel"
    return "tsv"


def _is_moses(path: Path) -> bool:
    """Return whether a zip is like those of OPUS: without a text file that `read_tsv` reads."""
    if ignoring_os_errors(path.is_file):  # not a pipe, which may never end
        with suppress(UserError), damage_explained(path), open_zip(path) as archive:
            return not text_members(archive)
    return False


def _select(data: DataConfig, part: CorpusPart) -> DataConfig:
    """Return the section as if it selected this corpus alone."""
    fields = {name: getattr(part, name) for name in CorpusConfig.model_fields}
    return data.model_copy(update={**fields, "corpora": ()})


def open_corpus(data: DataConfig, refresh: bool = False) -> Corpus:
    """Find or download the corpus that `data` selects, without reading it.

    `refresh` downloads files again, except those with a known hash.

    Pickle and TSV files have two columns, source and target, except that English always comes
    first, as in the files of O'Rahilly's tutorial, Anki and Tatoeba. The columns are therefore
    swapped if English is the target. Raises `UserError` if a file is missing or the corpus lacks a
    language.
    """
    return KINDS[data.source].open(data, refresh)


def open_pairs(path: Path, languages: tuple[str, str]) -> Corpus:
    """Open pairs named outside a configuration: TMX, XLIFF or PO; any other file has tabs.

    Their only split is "train". Raises `UserError` if they are missing, or the first is faulty.
    """
    source, target = languages
    fields = {"path": path, "source_language": source, "target_language": target}
    data = DataConfig.model_validate(fields)
    is_of_tool = bool(SOURCES[data.source].extensions)
    if not (is_of_tool and path.is_dir()):
        require_pairs(path)
    corpus = open_corpus(data if is_of_tool else data.model_copy(update={"source": "tsv"}))
    if is_of_tool:
        corpus = replace(corpus, read=partial(corpus.read, remedy="choose another file or run"))
    next(corpus.pairs("train"), None)
    return corpus


def list_corpora(languages: tuple[str, str]) -> Iterator[Listing]:
    """Yield the corpora that are available by name for a pair of languages, in either direction."""
    codes = two_letters(languages[0]), two_letters(languages[1])
    return chain.from_iterable(kind.listed(codes) for kind in KINDS.values())


def _open_tsv(data: DataConfig, refresh: bool) -> Corpus:
    for path in given_paths(data).values():
        name = single(path, data).name.lower().removesuffix(".gz")
        if name.endswith(_TABLES):
            raise UserError(f"{path}: is not tab-separated; set source: table")
    english_last = english_is_last(*data.languages)
    columns = data.languages[::-1] if english_last else data.languages
    read = partial(read_tsv, languages=columns, target_first=english_last)
    return Corpus(single_files(data), read, english_last)


def _open_parallel(data: DataConfig, refresh: bool) -> Corpus:
    return Corpus(parallel_files(data), read_parallel)


def _open_translation_files(data: DataConfig, refresh: bool) -> Corpus:
    read = partial(read_translation_files, format_=data.source, languages=data.languages)
    files = {
        split: translation_files(existing(single(path, data)), data.source)
        for split, path in given_paths(data).items()
    }
    return Corpus(files, read, has_gaps=True)


def _refuse_imported(data: DataConfig, refresh: bool) -> Corpus:
    raise UserError(
        "data.source: the text that an imported model was trained on is unknown; name "
        "pairs of your own with --config, and omit --mix"
    )


def _open_opus(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.opus import download_opus, opus_licence, read_moses

    languages = data.languages
    path = expanded(single(data.path, data)) if data.path else Path()
    if not ignoring_os_errors(path.is_file):
        if path.suffix.lower() == ".zip":
            raise UserError(f"{path}: no such file; correct data.path, or name a corpus of OPUS")
        path = download_opus(corpus_name(data), languages, refresh)
    read = partial(read_moses, languages=languages)
    return Corpus({"train": (path,)}, read, licence=opus_licence(path))


def _open_freedict(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.freedict import open_freedict

    return open_freedict(data, refresh)


def _list_freedict(languages: tuple[str, str]) -> Iterator[Listing]:
    from nmt.corpus.sources.freedict import list_freedict

    return list_freedict(languages)


def _list_opus(languages: tuple[str, str]) -> Iterator[Listing]:
    from nmt.corpus.sources.download import cache_folder
    from nmt.corpus.sources.opus import OPUS_URL, opus_licence

    pair = "-".join(sorted(languages))
    for corpus, german_pairs in _OPUS.items():
        name, version = corpus.split("/")
        url = f"{OPUS_URL}OPUS-{corpus}/moses/{pair}.txt.zip"
        file = cache_folder() / "opus" / f"{name}-{version}-{pair}.zip"
        licence = opus_licence(file) if file.is_file() else "see LICENSE"
        licence = shorten(licence, 60, placeholder=" …")
        pairs = german_pairs if pair == "de-en" else "?"
        yield Listing(f"source: opus, path: {corpus}", pairs, licence, url, (file,))


def _open_mtdata(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.opus import fetch_mtdata, read_mtdata

    fetched = fetch_mtdata(corpus_name(data), refresh)
    read = partial(read_mtdata, languages=data.languages)
    return Corpus({"train": (fetched,)}, read, licence=_MTDATA_LICENCE)


def _list_mtdata(languages: tuple[str, str]) -> Iterator[Listing]:
    yield Listing("source: mtdata, path: IDENTIFIER", "?", "varies", "`mtdata list`")


def _open_table(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.tables import files_by_split, read_table, table_files

    found: dict[Split, tuple[Path, ...]] = {}
    for split, given in given_paths(data).items():
        path = existing(single(given, data))
        if data.path and split == "train":
            found |= _require_train(files_by_split(path), data)
        else:
            found[split] = table_files(path)
    read = partial(read_table, languages=data.languages, columns=data.columns)
    return Corpus(_without_held_out(found, data), read)


def _open_hub(data: DataConfig, refresh: bool) -> Corpus:
    from nmt.corpus.sources.tables import hub_files, read_table

    files, licence = hub_files(corpus_name(data), data.subset, data.revision, refresh)
    read = partial(read_table, languages=data.languages, columns=data.columns)
    return Corpus(_require_train(files, data), read, licence=licence)


def _list_hub(languages: tuple[str, str]) -> Iterator[Listing]:
    from nmt.corpus.sources.tables import downloaded_hub_files

    if {*languages} == {"en", "de"}:
        address = "https://huggingface.co/datasets/wmt/wmt14"
        fields = "source: hub, path: wmt/wmt14, subset: de-en"
        files = tuple(chain(*downloaded_hub_files("wmt/wmt14", "de-en", None).values()))
        yield Listing(fields, "4,508,785", "see its card", address, files)


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


def _list_nothing(languages: tuple[str, str]) -> Iterator[Listing]:
    return iter(())


@dataclass(frozen=True)
class SourceKind:
    """How to open the corpora of a source, and which of them to list."""

    open: Callable[[DataConfig, bool], Corpus]
    """Finds or downloads the corpus that the section selects; True: downloads it again."""
    listed: Callable[[tuple[str, str]], Iterator[Listing]] = _list_nothing
    """Yields its corpora in two languages, given in the codes of two letters."""


KINDS: Mapping[Source, SourceKind] = {  # in the order of the list
    "everyday": SourceKind(named.open_everyday, named.list_everyday),
    "sample": SourceKind(named.open_sample, named.list_sample),
    "pickle": SourceKind(named.open_pickle, named.list_pickle),
    "multi30k": SourceKind(named.open_multi30k, named.list_multi30k),
    "tatoeba": SourceKind(named.open_tatoeba, named.list_tatoeba),
    "freedict": SourceKind(_open_freedict, _list_freedict),
    "opus": SourceKind(_open_opus, _list_opus),
    "hub": SourceKind(_open_hub, _list_hub),
    "mtdata": SourceKind(_open_mtdata, _list_mtdata),
    "tsv": SourceKind(_open_tsv),
    "parallel": SourceKind(_open_parallel),
    "table": SourceKind(_open_table),
    "tmx": SourceKind(_open_translation_files),
    "xliff": SourceKind(_open_translation_files),
    "po": SourceKind(_open_translation_files),
    "imported": SourceKind(_refuse_imported),
}
