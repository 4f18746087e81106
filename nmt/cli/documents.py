"""`nmt translate` for documents: a file of the same format, with its text translated."""

import logging
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from nmt.cli.output import (
    SAMPLE,
    is_standard_output,
    require_another,
    warn_of_parts,
    write_content,
)
from nmt.echo import echo
from nmt.errors import UserError, missing_extra

if TYPE_CHECKING:
    from nmt.decoding.glossary import Term
    from nmt.decoding.translator import Translator
    from nmt.documents.document import Document
    from nmt.documents.formatting import Formatted
    from nmt.documents.texts import FoundText

_LOG = logging.getLogger(__name__)
_CHECK = "; check the file, or save it again"
_LARGEST = 256 * 2**20  # bytes; a document is held in memory


def is_document(path: Path) -> bool:
    """Return whether a file has the extension of a document; others are read line by line."""
    from nmt.config.data import translation_format
    from nmt.documents.extensions import EXTENSIONS, extension_of

    kind = extension_of(path.name)
    return translation_format(path.name) is not None or (kind in EXTENSIONS and kind != ".txt")


def is_wrapped(path: Path) -> bool:
    """Return whether a file is .txt, and sentences at its beginning continue on the next line."""
    from nmt.documents.plain_text import first_broken

    if not _is_plain_text(path):
        return False
    lines = _decoded(path)[0].split("\n", SAMPLE)[:SAMPLE]
    return first_broken([line.rstrip("\r") for line in lines]) is not None


def require_lines_of_text(path: Path) -> None:
    """Refuse a file that translation line by line would damage."""
    from nmt.documents.extensions import BINARY, STRUCTURED, extension_of, not_supported

    kind = extension_of(path.name)
    if kind in (*BINARY, *STRUCTURED):
        raise UserError(f"{path}: {not_supported()}{_by_lines(path)}")


def require_fitting(path: Path, output: Path | None, unfit: Sequence[str]) -> None:
    """Refuse options and outputs that do not fit a document; unfit: such options that are given."""
    from nmt.config.data import translation_format
    from nmt.documents.extensions import TEXT, extension_of

    if unfit:
        remedy = "omit it" if len(unfit) == 1 else "omit them"
        raise UserError(
            f"{path}: a document cannot be combined with {' and '.join(unfit)}; {remedy}"
        )
    kind = extension_of(path.name)
    if not output:
        if kind not in TEXT:
            raise UserError(f"{path}: name a file to write with --output")
        return
    is_file = not output.exists() or output.is_file()  # not a device or a pipe
    if is_file and not is_standard_output(output):
        if kind == ".txt":
            require_lines(output)
        elif _format(output) != _format(path):
            raise UserError(
                f"{output}: a document keeps its format; choose a name that ends with {kind}"
            )
        # In files of translation tools, only empty targets are replaced.
        filled = translation_format(path.name)
        if not filled:
            require_another(output, path)


def require_lines(output: Path) -> None:
    """Refuse to write lines of text to a file with the extension of a Word document."""
    if _format(output) == ".docx":
        raise UserError(f"{output}: only a .docx file is translated into one; choose .txt")


def _format(path: Path) -> str:
    """Return what is the same for all extensions of one format, such as .htm and .html."""
    from nmt.config.data import translation_format
    from nmt.documents.extensions import extension_of

    return translation_format(path.name) or re.sub("html?$", "ht", extension_of(path.name))


def open_document(path: Path, languages: tuple[str, str]) -> "Document":
    """Read a document to translate between two languages."""
    from nmt.documents.extensions import HTML, extension_of
    from nmt.documents.formats import encoding_of, read_document
    from nmt.files.small_files import read_small
    from nmt.progress import elapsed

    with _explained(path), elapsed(f"reading {path.name}"):
        content = read_small(path, _LARGEST)
        document = read_document(str(path), content, languages)
        encoding = encoding_of(path.name, content)
    if extension_of(path.name) not in HTML:  # which is written as ASCII, with references
        _warn_of_encoding(path, encoding)
    return document


def lines_of(path: Path) -> "Iterator[str]":
    """Yield the lines of a text file; one named .txt may have any encoding, as a document may."""
    from nmt.corpus.sources.readers import decode_lines, read_lines

    if not _is_plain_text(path):
        return read_lines(path)
    content, encoding = _decoded(path)
    _warn_of_encoding(path, encoding)
    return decode_lines(BytesIO(content.encode()), str(path))


def _is_plain_text(path: Path) -> bool:
    """Return whether a file is .txt, and small enough to be held in memory."""
    from nmt.documents.extensions import extension_of

    is_text = extension_of(path.name) == ".txt" and path.is_file()
    return is_text and path.stat().st_size <= _LARGEST


def _decoded(path: Path) -> tuple[str, str]:
    """Return the text of a file, and its encoding."""
    from nmt.documents.plain_text import decode

    with _explained(path):
        return decode(path.read_bytes())


@contextmanager
def _explained(path: Path) -> "Iterator[None]":
    """Say in errors how else a file can be translated."""
    from nmt.documents.errors import DocumentError

    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the file") from None
    except DocumentError as error:
        raise UserError(f"{path}: {error}{_by_lines(path) or _CHECK}") from None
    except ModuleNotFoundError:
        missing = missing_extra(f"{path}: translating such documents", "documents")
        raise UserError(f"{missing}{_by_lines(path)}") from None


def _warn_of_encoding(path: Path, encoding: str) -> None:
    if encoding != "utf-8":
        _LOG.warning(f"{path}: is {encoding}; its translation is UTF-8")


def _by_lines(path: Path) -> str:
    """Return how else to translate a text file: by lines; "" for .txt, which fails in both ways."""
    from nmt.documents.extensions import STRUCTURED, TEXT, extension_of

    kind = extension_of(path.name)
    has_lines = kind in (*TEXT, *STRUCTURED) and kind != ".txt"
    return f"; or translate its lines: {by_lines(path)}" if has_lines else ""


def by_lines(path: Path) -> str:
    """Return the command that translates each line of a file separately."""
    return f"nmt translate < {shlex.quote(str(path))}"


def translate_document(
    document: "Document",
    path: Path,
    output: Path | None,
    translator: "Translator",
    missing: "Counter[Term]",
) -> None:
    """Write a document's translation; count the terms that it lacks."""
    from nmt.documents.texts import translate_texts
    from nmt.documents.translation_files import TranslationFile
    from nmt.progress import elapsed, in_bursts

    def translate(texts: "Sequence[Formatted]") -> "Iterator[FoundText]":
        found = translate_texts(translator, texts)
        return in_bursts(found, f"translating {path.name}", len(texts), unit="texts")

    if find_spec("torch") is None and any(len(each.pieces) > 1 for each in document.texts):
        _LOG.warning(f"{path}: without PyTorch, formats are placed by word order")
    found = document.translated(translate)
    for text, each in zip(document.texts, found, strict=True):
        _report(text.text, each, missing)
    with elapsed(f"writing {output.name if output else path.name}"):
        content = document.written(found)
    write_content(content, output)
    if isinstance(document, TranslationFile):
        remembered = sum(each.from_memory for each in found)
        of_memory = f", {remembered:,} of them from the memory" if remembered else ""
        echo(
            f"filled {document.filled:,} targets{of_memory}; unchanged: {document.kept:,}",
            err=output is None or is_standard_output(output),
        )


def _report(source: str, found: "FoundText", missing: "Counter[Term]") -> None:
    """Say what is special about the translation of a text, and count the terms that it lacks."""
    source = f'text "{shorten(source, 60, placeholder=" …")}"'
    if any(sentence.from_memory for sentence in found.sentences):
        _LOG.info("%s is %sfrom the memory", source, "" if found.from_memory else "partly ")
    for sentence in found.sentences:
        warn_of_parts(source, sentence)
        for term in sentence.missing_terms:
            missing[term] += 1
            _LOG.info("%s lacks %s", source, term)
