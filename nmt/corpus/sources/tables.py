"""Tables of sentence pairs: Parquet, JSON, CSV, Arrow, and datasets of the Hugging Face Hub.

The library `datasets` (extra `hub`) reads them in blocks of rows.
"""

import codecs
import csv
import glob
import gzip
import hashlib
import json
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path, PurePosixPath
from textwrap import shorten
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import numpy as np

from nmt.config.languages import column_names
from nmt.corpus.sources.columns import SIDE_NAMES
from nmt.corpus.sources.download import cache_folder
from nmt.corpus.sources.readers import MAX_UNPACKED_BYTES, Pair, Split, warn_once
from nmt.errors import UserError, is_full_disk, missing_extra, one_line, write_error, writing
from nmt.files.json_files import read_json, write_json

if TYPE_CHECKING:
    import datasets

_LOG = logging.getLogger(__name__)

_BUILDERS = {  # of `datasets`, by file extension, to which .gz may be added
    ".parquet": "parquet",
    ".jsonl": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "arrow",
}
_ROWS = 1000
_SAMPLE = 2**20  # bytes
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SEPARATOR_LINE = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])\r?\n", re.IGNORECASE)
_DEEPEST = 1000  # nesting of a row in JSON
_LONGEST_PACKED = 64 * 2**20  # bytes of a line; JSON arrays may be one line
# Words in file names, and in split names on the Hub, that identify a split; also with `set` after
# them (`trainset`).
_SPLIT_WORDS: Mapping[Split, frozenset[str]] = {
    "validation": frozenset({"validation", "validate", "valid", "val", "dev", "newsdev"}),
    "test": frozenset(
        {"test", "testing", "tst", "devtest", "newstest", "heldout", "eval", "evaluation"}
    ),
    "train": frozenset({"train", "training"}),
}
_SPLITTING = 3  # increase it with each change of `split_names`: lists of Hub files hold its result


def table_files(path: Path) -> tuple[Path, ...]:
    """Return the files of a table.

    path: a file, or a folder, possibly nested, for example one written by `Dataset.save_to_disk`
    """
    if path.is_file():
        found = [path]
    else:
        found = sorted(
            file
            for file in path.rglob("*")
            if _is_table(file) and not _is_hidden(file.relative_to(path))
        )
    if not found or not all(map(_is_table, found)):
        extensions = ", ".join(_BUILDERS)
        raise UserError(f"{path}: no table ({extensions}) here; check data.path")
    return tuple(found)


def files_by_split(path: Path) -> dict[Split, tuple[Path, ...]]:
    """Return the files of a table by split, judged by their names; a single file is `train`."""
    names = [str(file.relative_to(path)) for file in table_files(path)]
    files: dict[Split, tuple[Path, ...]] = {}
    for name, split in split_names(names, str(path)).items():
        files[split] = (*files.get(split, ()), path / name)
    return files


def _is_table(file: Path) -> bool:
    described = file.name in ("dataset_dict.json", "dataset_info.json", "state.json")
    cached = file.name.startswith("cache-")  # by `Dataset.map`
    return _extension(file.name) in _BUILDERS and file.is_file() and not described and not cached


def _is_hidden(file: Path) -> bool:
    """Return whether a relative path is hidden, such as the backups of an editor."""
    return any(part.startswith(".") for part in file.parts)


def _extension(name: str) -> str:
    """Return the extension of a file name, in lower case and without `.gz`."""
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def split_names(names: Iterable[str], place: str) -> dict[str, Split]:
    """Return the split that each name of a file, or of a split on the Hub, refers to.

    Unrecognized names count as `train`. If another name contains that word, they may be test sets,
    and are skipped with a warning that names `place`.
    """
    found = {name: _split_name(name) for name in names}
    if "train" not in found.values():
        return {name: split or "train" for name, split in found.items()}
    if unknown := [name for name, split in found.items() if split is None]:
        skipped = shorten(", ".join(unknown), 200, placeholder=" …")
        _LOG.warning(
            f"{place}: skipping {skipped}: these may be test sets, because other names contain "
            "`train`; to train on them, rename them"
        )
    return {name: split for name, split in found.items() if split}


def _split_name(name: str) -> Split | None:
    found = re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    words = {word.lower().removesuffix("s").removesuffix("set") for word in found}
    return next((split for split, its in _SPLIT_WORDS.items() if words & its), None)


def read_table(
    *paths: Path, languages: tuple[str, str], columns: tuple[str, str] | None
) -> Iterator[Pair]:
    """Yield the source and target text of each row; a value that is not text counts as empty.

    columns: of source and target, such as `translation.en` for a nested field; by default, those
    with names such as `en`, `English`, `source` or `text_en`
    """
    for path in paths:
        names = columns
        try:
            for block in _blocks(path):
                names = names or _find_columns(block, languages, path)
                for row in zip(*(_column(block, name, path) for name in names), strict=True):
                    source, target = map(_text, row)
                    yield source, target
        except UserError:
            raise
        except Exception as error:  # the library does not document which exceptions it raises
            raise _unreadable(path, error) from None


def _text(value: object) -> str:
    if isinstance(value, bytes):  # as some writers of Parquet store text
        return value.decode("utf-8")
    return value if isinstance(value, str) else ""


def _blocks(path: Path) -> Iterator[Mapping[str, Sequence[object]]]:
    """Yield blocks of rows, by column."""
    rows = _open(path).iter(batch_size=_ROWS)
    if _BUILDERS[_extension(path.name)] != "csv":
        yield from rows
        return
    from pandas.errors import ParserError, ParserWarning

    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)  # of fields that have no column
            try:
                block = next(rows, None)
            except (ParserWarning, ParserError) as error:
                place = re.search(r"in line (\d+), saw \d+", str(error))
                if isinstance(error, ParserError) and not place:
                    raise
                what = f"line {place[1]} has" if place else "has rows with"
                raise UserError(
                    f"{path}: {what} more fields than the header, line 1; put quotation marks "
                    "around texts with the separator in them, or correct the header"
                ) from None
        if block is None:
            return
        yield block


def _open(path: Path) -> "datasets.IterableDataset":
    library = import_datasets()
    builder = _BUILDERS[_extension(path.name)]
    options: dict[str, Any] = {}
    if builder == "csv":
        # "None" and "null" are words, and the first column is never an index.
        options |= {"keep_default_na": False, "index_col": False}
    if _extension(path.name) == ".tsv":
        options |= {"sep": "\t", "quoting": csv.QUOTE_NONE}  # as the source `tsv` reads it
    try:
        if builder == "json":
            _check_json(path)
        elif path.suffix.lower() == ".gz":
            for _ in _lines(path):  # raises an error if one is too long
                pass
        if builder == "csv":  # pandas would guess a type for each block of rows
            import pandas

            options |= _csv_form(path)
            names = pandas.read_csv(path, nrows=0, **options).columns
            options["converters"] = dict.fromkeys(names, str)
        table = library.load_dataset(
            builder,
            data_files=[glob.escape(str(path))],
            split="train",
            streaming=True,
            **options,
        )
        # Images and sounds need libraries of their own, and are not needed.
        return table.decode(False) if table.features and builder in ("parquet", "arrow") else table
    except UserError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from None


def _csv_form(path: Path) -> dict[str, str | int]:
    """Return the encoding and the separator of a CSV file, where they are not the usual ones.

    Spreadsheets write semicolons where the comma separates decimals, and Windows' code page; Excel
    also a line such as sep=; before the header. Raises `UserError` for UTF-16.
    """
    form: dict[str, str | int] = {}
    with _unpacked(path) as file:
        start = file.read(_SAMPLE)
        _refuse_utf_16(start, path)
        decoder = codecs.getincrementaldecoder("utf-8")()
        block = start
        try:
            while block:
                decoder.decode(block)
                block = file.read(_SAMPLE)
        except UnicodeDecodeError:
            form["encoding"] = "cp1252"
            warn_once(f"{path}: is not UTF-8; reading it as Windows-1252")
    if found := _SEPARATOR_LINE.match(start):
        return form | {"sep": found[1].decode(), "skiprows": 1}
    if _extension(path.name) == ".csv":
        header = re.sub(r'"[^"]*"', "", start.decode("cp1252", "replace").partition("\n")[0])
        separators = [each for each in ",;\t|" if each in header]
        if separators and separators[0] != ",":
            form["sep"] = separators[0]
            warn_once(f"{path}: its columns are separated by {_SEPARATORS[separators[0]]}")
    return form


def _refuse_utf_16(start: bytes, path: Path) -> None:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start[:100]:
        raise UserError(f"{path}: is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8")


def _unpacked(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _check_json(path: Path) -> None:
    """Raise `UserError` for rows that crash pyarrow (null, deeply nested), or if there are none."""
    with _unpacked(path) as file:
        _refuse_utf_16(file.read(_SAMPLE), path)
    first, lines = True, _lines(path)
    for number, line in enumerate(lines, start=1):
        row = line.lstrip(b"\xef\xbb\xbf \t\r\n")
        if first and row.startswith(b"["):
            if not all(isinstance(each, dict) for each in json.loads(b"".join([row, *lines]))):
                raise UserError(f"{path}: holds more than rows with fields; correct it")
            return
        if row.startswith(b"null") or _depth(row) > _DEEPEST:
            raise UserError(f"{path}: line {number} is not a row with fields; correct it")
        first = first and not row
    if first:
        raise UserError(f"{path}: is empty; check data.path")


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a text file, plain or .gz.

    Raises `UserError` for a compressed one that is too long: a small file may contain gigabytes.
    """
    packed = path.suffix.lower() == ".gz"
    size = 0
    with _unpacked(path) as file:
        for number in count(1):
            line = file.readline(_LONGEST_PACKED + 1 if packed else -1)
            size += len(line)
            if not line:
                return
            if packed and len(line) > _LONGEST_PACKED:
                raise UserError(
                    f"{path}: line {number} is longer than {_LONGEST_PACKED:,} bytes; unpack the "
                    "file first"
                )
            if packed and size > MAX_UNPACKED_BYTES:
                raise UserError(
                    f"{path}: unpacks to more than {MAX_UNPACKED_BYTES:,} bytes; unpack it first"
                )
            yield line


def _depth(row: bytes) -> int:
    """Return how deeply brackets are nested; an upper bound if there are few of them."""
    most = row.count(b"[") + row.count(b"{")
    if most <= _DEEPEST:
        return most
    characters = np.frombuffer(row, np.uint8)
    opened, closed = (np.isin(characters, list(each)) for each in (b"[{", b"]}"))
    return int(np.cumsum(opened.astype(int) - closed).max())


def _unreadable(path: Path, error: Exception) -> UserError:
    reason = one_line(error)[:200].rstrip(".") or type(error).__name__
    return UserError(f"{path}: cannot be read: {reason}; check or replace the file")


def _find_columns(
    block: Mapping[str, Sequence[object]], languages: tuple[str, str], path: Path
) -> tuple[str, str]:
    """Return the columns of source and target."""
    first = next(filter(None, block.get("translation", ())), None)
    if isinstance(first, Mapping) and (found := _matching(first, languages)):
        return f"translation.{found[0]}", f"translation.{found[1]}"
    if found := _matching(block, languages):
        return found
    raise UserError(
        f"{path}: has the columns {_names(block)}; select those of source and target: "
        "data.columns=[SOURCE, TARGET]; if these are texts, put a header line before them"
    )


def _matching(columns: Iterable[str], languages: tuple[str, str]) -> tuple[str, str] | None:
    """Return the columns named after a language or side, or whose last word is a language.

    Return None if a column is missing or the choice is ambiguous.
    """
    words = {column: column.lower() for column in columns}
    last_words = {column: word.rpartition("_")[2] for column, word in words.items()}
    named = [column_names(language) for language in languages]
    for names, known in ((words, named), (words, SIDE_NAMES), (last_words, named)):
        source, target = ([c for c, name in names.items() if name in side] for side in known)
        if source and target and source != target:  # equal if both languages are
            return (source[0], target[0]) if len(source) == len(target) == 1 else None
    return None


def _column(block: Mapping[str, Sequence[object]], name: str, path: Path) -> Sequence[object]:
    outer, _, inner = name.partition(".")
    if name in block:
        return block[name]
    if inner and outer in block:
        rows = [row for row in block[outer] if isinstance(row, Mapping)]
        if not rows or any(inner in row for row in rows):  # cells may be null
            return [row.get(inner) if isinstance(row, Mapping) else None for row in block[outer]]
    raise UserError(f"{path}: no column {name} among {_names(block)}; check data.columns")


def _names(block: Mapping[str, Sequence[object]]) -> str:
    """Return the names of all columns, in the notation of data.columns."""
    firsts = [(name, values[0] if values else None) for name, values in block.items()]
    return ", ".join(
        ", ".join(f"{name}.{inner}" for inner in first) if isinstance(first, Mapping) else name
        for name, first in firsts
    )


def import_datasets() -> Any:
    """Return the library; raises `UserError` if it is not installed."""
    try:
        import datasets
    except ImportError:
        raise missing_extra("reading tables or the Hub", "hub") from None
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)  # its errors become ours
    return datasets


def hub_files(
    path: str, subset: str | None, revision: str | None, refresh: bool
) -> tuple[dict[Split, tuple[Path, ...]], str]:
    """Return the files of a dataset on the Hub, by split, and its licence.

    They are in the cache of `huggingface_hub`, and are read from there without another copy. Our
    own cache stores a list of them, so that they are found without a network and stay the same
    until `refresh`; a run can therefore be resumed. For a local folder, no list is stored, and the
    licence is empty.
    """
    if Path(path).is_dir():
        with _hub_errors_explained(path):
            return _download_from_hub(path, subset, revision, refresh), ""
    files = {} if refresh else downloaded_hub_files(path, subset, revision)
    if not files:
        with _hub_errors_explained(path):
            files = _download_from_hub(path, subset, revision, refresh)
        listed = _list_of_files(path, subset, revision)
        with writing(listed):
            listed.parent.mkdir(parents=True, exist_ok=True)
            write_json(listed, {split: list(map(str, paths)) for split, paths in files.items()})
    return files, f"{_licence_on_card(path, revision)}see https://huggingface.co/datasets/{path}"


@contextmanager
def _hub_errors_explained(path: str) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # the possible exceptions have no common base class
        if is_full_disk(error):
            import huggingface_hub as hub

            raise write_error(Path(hub.constants.HF_HUB_CACHE), error) from None
        raise UserError(
            f"{path}: cannot be loaded from the Hub: {one_line(error)[:300]}; check data.path "
            "and data.subset, or your network"
        ) from None


def _download_from_hub(
    path: str, subset: str | None, revision: str | None, refresh: bool
) -> dict[Split, tuple[Path, ...]]:
    library = import_datasets()
    found = library.load_dataset_builder(path, subset, revision=revision).config.data_files or {}
    for address in chain.from_iterable(found.values()):
        if _extension(address) not in _BUILDERS:
            raise UserError(
                f"{path}: has files of an unknown format, such as {address}; choose a dataset or "
                f"data.subset with files of {', '.join(_BUILDERS)}"
            )
    files: dict[Split, tuple[Path, ...]] = {}
    addresses = {str(name): each for name, each in found.items()}
    for name, split in split_names(addresses, path).items():
        paths = [_download_file(address, refresh) for address in addresses[name]]
        files[split] = (*files.get(split, ()), *paths)
    if not files:
        raise FileNotFoundError("it has no files")
    return files


def _download_file(address: str, refresh: bool) -> Path:
    """Return the cached copy of hf://datasets/USER/NAME@COMMIT/FILE; a local path is kept."""
    import huggingface_hub as hub

    if not address.startswith("hf://"):
        return Path(address)
    repository, _, rest = address.removeprefix("hf://datasets/").partition("@")
    commit, _, file = rest.partition("/")
    return Path(
        hub.hf_hub_download(
            repository, file, repo_type="dataset", revision=unquote(commit), force_download=refresh
        )
    )


def downloaded_hub_files(
    path: str, subset: str | None, revision: str | None
) -> dict[Split, tuple[Path, ...]]:
    """Return what `hub_files` downloaded earlier, by split; nothing if a file is missing."""
    try:
        stored = read_json(_list_of_files(path, subset, revision), dict[Split, list[str]])
    except UserError:
        return {}
    files = {split: tuple(map(Path, paths)) for split, paths in stored.items()}
    return files if all(map(Path.is_file, chain.from_iterable(files.values()))) else {}


def _list_of_files(path: str, subset: str | None, revision: str | None) -> Path:
    dataset = (_SPLITTING, path, subset, revision)
    digest = hashlib.sha256(repr(dataset).encode()).hexdigest()
    return cache_folder() / "hub" / f"{digest[:16]}.json"


def _licence_on_card(path: str, revision: str | None) -> str:
    """Return "LICENCE, " from the cached card of a loaded dataset; empty if there is none."""
    import huggingface_hub as hub

    with suppress(Exception):  # a folder instead of a name, or a card that is not valid YAML
        card = hub.try_to_load_from_cache(path, "README.md", repo_type="dataset", revision=revision)
        licence = hub.DatasetCard.load(card).data.license if isinstance(card, str) else None
        several = isinstance(licence, list)
        return f"{one_line(' and '.join(licence) if several else licence)}, " if licence else ""
    return ""
