"""The endings of documents, by which their formats are known; imports no reader, so it is quick."""

from pathlib import PurePosixPath

from nmt.config.data import SOURCES

# Of text whose encoding has to be recognized; the others name their own.
TEXT = (".txt", ".srt", ".vtt", ".html", ".htm", ".md", ".json")
_OF_TRANSLATION_TOOLS = [ending for rules in SOURCES.values() for ending in rules.endings]
ENDINGS = (*TEXT, ".docx", *(each for each in _OF_TRANSLATION_TOOLS if not each.endswith(".gz")))


def ending_of(name: str) -> str:
    """Return the ending of a file's name, in lower case: `.docx`, or "" if it has none."""
    return PurePosixPath(name.lower()).suffix
