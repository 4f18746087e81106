"""The files that the paths of the `data` section mean."""

from collections.abc import Callable
from pathlib import Path

from nmt.config.data import DataConfig
from nmt.config.languages import codes
from nmt.corpus.sources.readers import COMPRESSED, Split
from nmt.errors import UserError

_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


def given_paths(data: DataConfig) -> dict[Split, Path | tuple[Path, Path]]:
    """Return the paths that are set; `path` counts as training data."""
    paths: dict[Split, Path | tuple[Path, Path] | None] = {
        "train": data.path or data.train_path,
        "validation": data.validation_path,
        "test": data.test_path,
    }
    return {split: path for split, path in paths.items() if path is not None}


def corpus_name(data: DataConfig) -> str:
    """Return the path as the name of a corpus: with slashes on Windows too."""
    return single(data.path, data).as_posix() if data.path else ""


def single(path: Path | tuple[Path, Path], data: DataConfig) -> Path:
    """Return a path; refuse a pair of them."""
    if isinstance(path, tuple):
        raise UserError(f"data: source `{data.source}` takes a single path, not a pair")
    return path


def single_files(data: DataConfig) -> dict[Split, tuple[Path, ...]]:
    """Return the files of sources with one file for each split."""
    return {split: (_file(single(path, data)),) for split, path in given_paths(data).items()}


def parallel_files(data: DataConfig) -> dict[Split, tuple[Path, ...]]:
    """Return the two files of each split."""
    return {
        split: tuple(map(_file, path)) if isinstance(path, tuple) else pair_of(path, data)
        for split, path in given_paths(data).items()
    }


def existing(path: Path) -> Path:
    """Return the path of a file or folder, with the home directory in place of ~."""
    path = expanded(path)
    problem = _problem(path)
    if problem and not ignoring_os_errors(path.is_dir):
        raise UserError(f"{path}: {problem}; check the paths in the config's data section")
    _refuse_spreadsheet(path)
    return path


def _refuse_spreadsheet(path: Path) -> None:
    if path.suffix.lower() in _SPREADSHEETS:
        raise UserError(f"{path}: is a spreadsheet; save it as CSV, and set source: table")


def require_languages(data: DataConfig, known: tuple[str, ...], corpus: str) -> None:
    """Refuse languages that a corpus lacks."""
    languages = data.languages
    if not set(languages) <= set(known) or languages[0] == languages[1]:
        raise UserError(
            f"data: {corpus} covers only {', '.join(known)}, not {' → '.join(languages)}; set "
            "source_language and target_language, or use another corpus"
        )


def pair_of(stem: Path, data: DataConfig) -> tuple[Path, Path]:
    """Return the files STEM.source_language and STEM.target_language; stem may be one of them."""
    name = stem.name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    for language in data.languages:
        own = next((f".{code}" for code in codes(language) if name.endswith(f".{code}")), None)
        if own and not _candidates(stem, language):
            stem = stem.with_name(name.removesuffix(own))
            break
    return _side(stem, data.source_language), _side(stem, data.target_language)


def _side(stem: Path, language: str) -> Path:
    found = _candidates(stem, language)
    plain = expanded(Path(f"{stem}.{language}"))
    return found[0] if found else _file(plain, ", with or without .gz, .xz or .bz2")


def _candidates(stem: Path, language: str) -> list[Path]:
    paths = [
        expanded(Path(f"{stem}.{code}{ending}"))
        for code in codes(language)
        for ending in ("", *COMPRESSED)
    ]
    return [path for path in paths if ignoring_os_errors(path.is_file)]


def _file(path: Path, note: str = "") -> Path:
    path = expanded(path)
    if problem := _problem(path, note):
        raise UserError(
            f"{path}: {problem}; give the path with --set data.path=FILE, or correct it in the "
            "data section of the configuration (with --mix, perhaps in the run's config.yaml)"
        )
    _refuse_spreadsheet(path)
    return path


def _problem(path: Path, note: str = "") -> str | None:
    """Return why a path is not a file, or None."""
    if ignoring_os_errors(path.is_file):
        return None
    if not ignoring_os_errors(path.exists):
        return f"no such file{note}"
    kind = "a folder" if ignoring_os_errors(path.is_dir) else "a pipe or device"
    return f"is {kind}, not a file"


def require_pairs(path: Path) -> None:
    """Refuse what is not a file, where one with pairs is named outside a configuration."""
    if problem := _problem(expanded(path)):
        raise UserError(f"{path}: {problem}; give a TMX, XLIFF or PO file, or one with tabs")


def ignoring_os_errors(test: Callable[[], bool]) -> bool:
    """Return the result of a test; False if it raises `OSError`."""
    try:
        return test()
    except OSError:  # no access to a parent folder, or a name that is too long
        return False


def expanded(path: Path) -> Path:
    """Return a path with the home directory in place of ~."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise UserError(f"{path}: unknown home directory; give the full path") from None
