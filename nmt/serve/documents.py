"""Documents: only their text is translated, everything else is preserved."""

import codecs
import copy
import io
import re
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import anyio.to_thread

from nmt.config.data import SOURCES
from nmt.corpus.sources.readers import open_zip
from nmt.corpus.text.languages import base_language
from nmt.errors import UserError
from nmt.serve.errors import ApiError
from nmt.serve.formatting import Formatted, Part, has_letters, with_superscripts
from nmt.serve.json_strings import JsonStrings, keeps_placeholders, with_placeholders
from nmt.serve.markdown import Markdown
from nmt.serve.plain_text import decode, paragraphs
from nmt.serve.served_run import ServedRun
from nmt.serve.subtitles import Subtitles
from nmt.serve.translating import TextTranslator
from nmt.serve.translation_files import TranslationFile

if TYPE_CHECKING:
    from docx.document import Document
    from docx.opc.part import Part as OpcPart
    from docx.oxml.text.run import CT_R
    from docx.oxml.xmlchemy import BaseOxmlElement

_MOST_UNPACKED = 50_000_000  # bytes of a .docx
_MOST_TAGS = 500_000  # of a .docx
_MOST_PARTS = 1000  # of a .docx; python-docx takes quadratic time
_MOST_RELATIONSHIPS = 20_000  # between them
_ENCODING = re.compile(rb"[^<]{0,4}<\?xml[^>]*\bencoding\s*=\s*[\"']([^\"']*)")
# Encodings that write < as in ASCII, so that tags can be counted; others are refused.
_KNOWN = re.compile(rb"utf-(8|16)|(us-)?ascii|iso-8859-\d+|latin-?\d+|windows-125\d", re.IGNORECASE)
_EBCDIC = b"\x4c\x6f\xa7\x94"  # <?xm
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TEXT = (_WORD + "t", _WORD + "noBreakHyphen")
_REFERENCES = (_WORD + "footnoteReference", _WORD + "endnoteReference")
_REFERENCE = "\ufffc"  # in place of the text of a run that refers to a note
_SPACES = str.maketrans("\t\n\r", "   ")  # Word shows them as such; python-docx would write breaks
_UNSEEN = (_WORD + "lastRenderedPageBreak", _WORD + "softHyphen")
_REGIONS = {"de": "de-DE", "en": "en-US", "fr": "fr-FR", "es": "es-ES", "it": "it-IT"}  # for Word
_MARKS = [  # these may lie between two words of a text
    _WORD + name
    for name in (
        *("bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd"),
        *("permStart", "permEnd", "proofErr"),
    )
]
_UTF_8 = re.compile(rb"<meta[^<>]*\bcharset\s*=\s*[\"']?utf-?8", re.IGNORECASE)


async def translate_document(
    translator: TextTranslator, run: ServedRun, name: str, content: bytes
) -> bytes:
    """Translate a document of the format that its file extension names.

    Raises `ApiError` for other formats, and for files whose content does not match.
    """
    kind = _kind(name)
    translated = await KINDS[kind](translator, run, content)
    # Without its mark, other programs may not recognize the encoding.
    marked = kind not in _NAME_THEIR_ENCODING and content.startswith(codecs.BOM_UTF8)
    return codecs.BOM_UTF8 + translated if marked else translated


def text_of(name: str, content: bytes) -> str:
    """Return the text of a document, to detect its language; raises like `translate_document`."""
    kind = _kind(name)
    if kind == ".docx":
        return "\n".join(formatted.text for formatted in _WordFile(content).texts)
    if kind in _UNITS:
        return "\n".join(text.text for text in _units(kind, content, None).texts)
    if kind in (".html", ".htm"):
        from nmt.serve.markup import Markup

        return Markup(decode(content)[0]).text
    text, _ = decode(content)
    if kind == ".md":
        return "\n".join(each.text for each in Markdown(text).texts)
    if kind == ".json":
        return "\n".join(JsonStrings(text).texts)
    return "\n".join(Subtitles(text, kind == ".vtt").texts) if kind in (".srt", ".vtt") else text


def encoding_of(name: str, content: bytes) -> str:
    """Return the encoding of a text file; "utf-8" for formats that name their own."""
    return "utf-8" if _kind(name) in _NAME_THEIR_ENCODING else decode(content)[1]


def _kind(name: str) -> str:
    kind = PurePosixPath(name.lower()).suffix
    if kind not in KINDS:
        raise ApiError(400, f"Invalid request: file format not supported; use {', '.join(KINDS)}")
    return kind


async def _translate_txt(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    found = await anyio.to_thread.run_sync(paragraphs, decode(content)[0])
    spoken = [each.text for each in found if has_letters(each.text)]
    translated = iter(await translator.translate(run, spoken, keep_symbols=True))
    return "".join(
        each.wrapped(next(translated)[0] if has_letters(each.text) else each.text) for each in found
    ).encode()


async def _translate_html(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    text, encoding = decode(content)
    [html] = await translator.translate_html(run, [text])
    if encoding != "utf-8" or (content.isascii() and not _UTF_8.search(content)):
        # The file may declare another character set, or none; references are right in all of them.
        return html.encode("ascii", "xmlcharrefreplace")
    return html.encode()


async def _translate_subtitles(
    vtt: bool, translator: TextTranslator, run: ServedRun, content: bytes
) -> bytes:
    text, _ = decode(content)
    read = partial(Subtitles, text, vtt, translator.require_number)
    subtitles = await anyio.to_thread.run_sync(read)
    found = await translator.translate(run, subtitles.texts, keep_symbols=True)
    return subtitles.replace([options[0] for options in found]).encode()


async def _translate_markdown(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    file = await anyio.to_thread.run_sync(Markdown, decode(content)[0])
    found = await translator.translate_formatted(run, file.texts)
    parts = [each.parts for each in found]
    return (await anyio.to_thread.run_sync(file.replace, parts)).encode()


async def _translate_json(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    file = await anyio.to_thread.run_sync(JsonStrings, decode(content)[0])
    plain = [text for text, html in zip(file.texts, file.is_html, strict=True) if not html]
    marked = [text for text, html in zip(file.texts, file.is_html, strict=True) if html]
    texts = [options[0] for options in await translator.translate(run, plain, keep_symbols=True)]
    broken = [
        number
        for number, (source, text) in enumerate(zip(plain, texts, strict=True))
        if not keeps_placeholders(source, text)
    ]
    again = [with_placeholders(plain[number]) for number in broken]
    for number, found in zip(broken, await translator.translate_formatted(run, again), strict=True):
        texts[number] = "".join(text for text, _ in found.parts)
    translated = {True: iter(await translator.translate_html(run, marked)), False: iter(texts)}
    return file.replace([next(translated[html]) for html in file.is_html]).encode()


async def _translate_docx(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    file = await anyio.to_thread.run_sync(_WordFile, content)
    found = await translator.translate_formatted(run, file.texts)
    parts = [each.parts for each in found]
    return await anyio.to_thread.run_sync(file.replace, parts, run.source, run.target)


class _WordFile:
    """A .docx file; raises `ApiError` if it is damaged or too large.

    stretches: adjacent runs that contain only text, or only a reference to a note; texts: their
    texts, where references are marks, and superscripts may be
    """

    def __init__(self, content: bytes):
        try:
            self._document = _open_docx(content)
            self.stretches: list[list[CT_R]] = []
            self.texts: list[Formatted] = []
            self._notes = _read_notes(self._document)
            self._roots = [*_roots(self._document), *(root for _, root in self._notes)]
            for root in self._roots:
                _separate_text(root)
            for stretch in (each for root in self._roots for each in _stretches_in(root)):
                texts = list(map(_text_of, stretch))
                if has_letters("".join(texts)):
                    self.stretches.append(stretch)
                    raised = [
                        i
                        for i, run in enumerate(stretch)
                        if run.rPr is not None and run.rPr.superscript
                    ]
                    references = [i for i, text in enumerate(texts) if text == _REFERENCE]
                    self.texts.append(with_superscripts(texts, raised, references))
        except ApiError:
            raise
        except Exception:  # the libraries raise many types for damaged files
            raise ApiError(400, "Invalid request: the .docx file cannot be read") from None

    def replace(self, translations: list[list[Part]], source: str, target: str) -> bytes:
        """Return the file with each stretch replaced by its translation.

        source, target: language codes; what is marked as the one is then marked as the other
        """
        from docx.opc.oxml import serialize_part_xml

        for stretch, parts in zip(self.stretches, translations, strict=True):
            _replace_runs(stretch, parts)
        for root in (*self._roots, self._document.styles.element):
            _change_language(root, source, target)
        for part, root in self._notes:
            part._blob = serialize_part_xml(root)  # python-docx does not parse notes
        output = io.BytesIO()
        self._document.save(output)
        return output.getvalue()


def _open_docx(content: bytes) -> "Document":
    import docx

    with open_zip(io.BytesIO(content)) as archive:
        if sum(file.file_size for file in archive.infolist()) > _MOST_UNPACKED:
            raise ApiError(413, "Invalid request: the document is too large when unpacked")
        if len(archive.infolist()) > _MOST_PARTS:
            raise ApiError(413, f"Invalid request: the .docx has more than {_MOST_PARTS:,} parts")
        # The declared sizes may be false, and python-docx would unpack everything: copy only the
        # declared number of bytes.
        plain = io.BytesIO()
        tags = relationships = 0
        with zipfile.ZipFile(plain, "w") as copied:
            for file in archive.infolist():
                with archive.open(file) as unpacked:
                    part = unpacked.read(file.file_size)
                tags += part.count(b"<")
                if tags > _MOST_TAGS:
                    raise ApiError(
                        413, f"Invalid request: the .docx has more than {_MOST_TAGS:,} tags"
                    )
                if file.filename.lower().endswith(".rels"):
                    relationships += part.count(b"<")
                encoding = _ENCODING.match(part)
                known = not encoding or _KNOWN.fullmatch(encoding[1])
                if relationships > 2 * _MOST_RELATIONSHIPS:  # with closing tags
                    raise ApiError(
                        413,
                        f"Invalid request: the .docx has more than {_MOST_RELATIONSHIPS:,} "
                        "relationships between its parts",
                    )
                if not known or part.startswith(_EBCDIC):
                    raise ApiError(400, "Invalid request: the .docx file cannot be read")
                copied.writestr(file.filename, part)
    return docx.Document(plain)


def _roots(document: "Document") -> "Iterator[BaseOxmlElement]":
    """Yield the body, with its tables and text boxes, and all headers and footers."""
    from docx.parts.document import DocumentPart
    from docx.parts.hdrftr import FooterPart, HeaderPart

    for part in document.part.package.iter_parts():
        if isinstance(part, DocumentPart | HeaderPart | FooterPart):
            yield part.element


def _read_notes(document: "Document") -> "list[tuple[OpcPart, BaseOxmlElement]]":
    """Return the parts with footnotes and endnotes, parsed."""
    from docx.oxml.parser import parse_xml

    return [
        (part, parse_xml(part.blob))
        for part in document.part.package.iter_parts()
        if part.content_type.endswith((".footnotes+xml", ".endnotes+xml"))
    ]


def _change_language(root: "BaseOxmlElement", source: str, target: str) -> None:
    """Change the proofing language, as in `<w:lang w:val="en-US"/>`."""
    for element in root.iter(_WORD + "lang"):
        for name in ("val", "eastAsia", "bidi"):
            if base_language(element.get(_WORD + name, "")) == base_language(source):
                code = base_language(target)
                element.set(_WORD + name, _REGIONS.get(code, code))


def _separate_text(root: "BaseOxmlElement") -> None:
    """Split runs so that text is apart from line breaks, tabs, notes and pictures."""
    from docx.oxml import OxmlElement

    copied = 0  # bytes
    for run in list(root.iter(_WORD + "r")):
        for each in list(run.iterchildren(*_UNSEEN)):
            run.remove(each)
        content = [each for each in run if each.tag != _WORD + "rPr"]
        if len({each.tag in _TEXT for each in content}) < 2:
            continue
        formats = list(run.iterchildren(_WORD + "rPr"))
        copied += len(content) * sum(len(each.xml) for each in formats)
        if copied > _MOST_UNPACKED:
            raise ApiError(413, "Invalid request: too much repeated formatting in the .docx")
        for each in content[:-1]:
            part = OxmlElement("w:r")
            part.extend(copy.deepcopy(formats))
            part.append(each)
            run.addprevious(part)


def _stretches_in(parent: "BaseOxmlElement") -> "Iterator[list[CT_R]]":
    """Yield the stretches among the children of an element, and of those within each child."""
    stretch: list[CT_R] = []
    for child in parent:
        if child.tag == _WORD + "r" and _is_text(child):
            stretch.append(child)
        elif child.tag not in _MARKS and not _refers_to_comment(child):
            if stretch:
                yield stretch
                stretch = []
            yield from _stretches_in(child)
    if stretch:
        yield stretch


def _is_text(run: "BaseOxmlElement") -> bool:
    """Return whether a run contains only text, or only a reference to a note."""
    tags = {each.tag for each in run if each.tag != _WORD + "rPr"}
    return tags.issubset(_TEXT) or (len(tags) == 1 and tags.issubset(_REFERENCES))


def _refers_to_comment(element: "BaseOxmlElement") -> bool:
    """Return whether an element is a run that only marks where a comment belongs."""
    return {each.tag for each in element} - {_WORD + "rPr"} == {_WORD + "commentReference"}


def _text_of(run: "CT_R") -> str:
    if any(each.tag in _REFERENCES for each in run):
        return _REFERENCE
    return "".join(
        "-" if each.tag == _WORD + "noBreakHyphen" else (each.text or "").translate(_SPACES)
        for each in run.iterchildren(*_TEXT)
    )


def _replace_runs(stretch: "list[CT_R]", parts: list[Part]) -> None:
    """Replace runs by their translation, each part in a copy of the run it comes from."""
    for text, number in parts:
        run = copy.deepcopy(stretch[number])
        if text != _REFERENCE:
            run.text = text
        stretch[0].addprevious(run)
    for run in stretch:
        run.getparent().remove(run)


# Not those that are packed.
_UNITS = [
    ending for rules in SOURCES.values() for ending in rules.endings if not ending.endswith(".gz")
]
_NAME_THEIR_ENCODING = (".docx", *_UNITS)


async def _translate_units(
    kind: str, translator: TextTranslator, run: ServedRun, content: bytes
) -> bytes:
    languages = run.source, run.target
    file = await anyio.to_thread.run_sync(_units, kind, content, languages)
    found = await translator.translate_formatted(run, file.texts, keep_breaks=True)
    parts = [each.parts for each in found]
    remembered = {number for number, each in enumerate(found) if each.from_memory}
    return await anyio.to_thread.run_sync(file.replace, parts, remembered)


def _units(kind: str, content: bytes, languages: tuple[str, str] | None) -> TranslationFile:
    try:
        return TranslationFile(f"document{kind}", content, languages)
    except UserError as error:
        raise ApiError(400, f"Invalid request: {error}") from None


Translate = Callable[[TextTranslator, ServedRun, bytes], Awaitable[bytes]]
KINDS: dict[str, Translate] = {
    ".txt": _translate_txt,
    ".srt": partial(_translate_subtitles, False),
    ".vtt": partial(_translate_subtitles, True),
    ".html": _translate_html,
    ".htm": _translate_html,
    ".md": _translate_markdown,
    ".json": _translate_json,
    ".docx": _translate_docx,
    **{kind: partial(_translate_units, kind) for kind in _UNITS},
}
