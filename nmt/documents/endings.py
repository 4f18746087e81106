"""The endings of documents, by which their formats are known; imports no reader, so it is quick."""

from pathlib import PurePosixPath

from nmt.config.data import SOURCES

# Not those that are packed.
TRANSLATION_FILES = tuple(
    ending for rules in SOURCES.values() for ending in rules.endings if not ending.endswith(".gz")
)
ENDINGS = (
    *(".txt", ".srt", ".vtt", ".html", ".htm", ".md", ".json", ".docx"),
    *TRANSLATION_FILES,
)
# Those of text whose encoding has to be recognized; the others name their own.
TEXT = ENDINGS[: ENDINGS.index(".docx")]


def ending_of(name: str) -> str:
    """Return the ending of a file's name, in lower case: `.docx`, or "" if it has none."""
    return PurePosixPath(name.lower()).suffix
