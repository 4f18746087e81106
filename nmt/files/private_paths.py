"""Shortens local paths to file names in what others can read: uploads, and pages of the server."""

from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any


def without_folders(value: Any) -> Any:
    """Replace paths, also inside dictionaries and lists, with file names.

    In text, only absolute paths of Linux, macOS or Windows are recognized. A path is assumed
    to extend to the end of the text, because folder names may contain spaces. Licences, which are
    free text, are not changed.

    >>> without_folders({"name": "tsv /home/anna/my corpus/mine.tsv"})
    {'name': 'tsv mine.tsv'}
    """
    if isinstance(value, PurePath):
        return value.name
    if isinstance(value, str):
        words = value.split(" ")
        for start, word in enumerate(words):
            path = word.lstrip("\"'([{<")
            for kind in (PureWindowsPath, PurePosixPath):
                if path.startswith("~") or (kind(path).is_absolute() and path != "/"):
                    name = kind(" ".join([path, *words[start + 1 :]])).name
                    return " ".join([*words[:start], word.removesuffix(path) + name])
    if isinstance(value, dict):
        return {
            key: each if key == "licence" else without_folders(each) for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_folders(each) for each in value]
    return value


def public_name(name: str) -> str:
    """Return the name of a file or folder, with ? for bytes that are not UTF-8."""
    return name.encode("utf-8", "replace").decode("utf-8")
