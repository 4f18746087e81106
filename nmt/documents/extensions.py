"""The extensions of documents, which tell their formats; imports no reader, so it is quick."""

from pathlib import PurePosixPath

from nmt.config.data import SOURCES

HTML = (".html", ".htm", ".xhtml", ".xht")
# Of text whose encoding has to be recognized; the others name their own.
TEXT = (".txt", ".srt", ".vtt", *HTML, ".md", ".json")
_OF_TRANSLATION_TOOLS = [extension for rules in SOURCES.values() for extension in rules.extensions]
EXTENSIONS = (*TEXT, ".docx", *(each for each in _OF_TRANSLATION_TOOLS if not each.endswith(".gz")))
# Of other formats, whose lines are not just text: to translate each by itself would damage the
# file. Endings that are also codes of languages, such as .pl, are not among them.
BINARY = (".doc", ".epub", ".odp", ".ods", ".odt", ".pdf", ".pptx", ".rtf", ".xlsx")
STRUCTURED = (
    *(".adoc", ".ass", ".bib", ".cfg", ".csv", ".ini", ".ipynb", ".json5", ".jsonl", ".lrc"),
    *(".markdown", ".mdx", ".ndjson", ".org", ".properties", ".resx", ".rst", ".ssa", ".strings"),
    *(".sub", ".svg", ".tex", ".toml", ".tsv", ".ttml", ".xml", ".yaml", ".yml"),
    *(".bat", ".c", ".cpp", ".css", ".go", ".h", ".java", ".js", ".jsx", ".lua", ".php", ".py"),
    *(".rb", ".rs", ".scss", ".sh", ".sql", ".swift", ".ts", ".tsx", ".vue"),
)


def not_supported() -> str:
    """Return a message for formats that are not documents here."""
    return f"file format not supported; use {', '.join(EXTENSIONS)}"


def extension_of(name: str) -> str:
    """Return the extension of a file's name, in lower case: `.docx`, or "" if it has none."""
    return PurePosixPath(name.lower()).suffix
