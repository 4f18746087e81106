"""Word documents (.docx): formats stay with their words."""

import copy
import io
import re
import zipfile
from collections.abc import Iterator, Sequence

import docx
from docx.document import Document as DocxDocument
from docx.opc.oxml import serialize_part_xml
from docx.opc.part import Part as OpcPart
from docx.oxml import OxmlElement
from docx.oxml.parser import parse_xml
from docx.oxml.text.run import CT_R
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.parts.document import DocumentPart
from docx.parts.hdrftr import FooterPart, HeaderPart

from nmt.config.languages import base_language
from nmt.corpus.sources.readers import open_zip
from nmt.documents.document import Document, Languages
from nmt.documents.errors import DocumentError
from nmt.documents.formatting import Formatted, Part, has_letters, with_superscripts
from nmt.documents.texts import FoundText

_MOST_UNPACKED = 50_000_000  # bytes by which a .docx, whose photos do not shrink, may grow
_MOST_TAGS = 500_000  # of a .docx
_MOST_PARTS = 1000  # of a .docx; python-docx takes quadratic time
_MOST_RELATIONSHIPS = 20_000  # between them
_ENCODING = re.compile(rb"[^<]{0,4}<\?xml[^>]*\bencoding\s*=\s*[\"']([^\"']*)")
# Encodings that write < as in ASCII, so that tags can be counted; others are refused.
_KNOWN = re.compile(rb"utf-(8|16)|(us-)?ascii|iso-8859-\d+|latin-?\d+|windows-125\d", re.IGNORECASE)
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n", b"GIF8")
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


class WordFile(Document):
    """A .docx file; raises `DocumentError` if it is damaged or too large.

    stretches: adjacent runs that contain only text, or only a reference to a note; texts: their
    texts, where references are marks, and superscripts may be
    """

    def __init__(self, content: bytes, languages: Languages | None = None):
        self._languages = languages
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
                    formats = [() if run.rPr is None else (str(run.rPr.xml),) for run in stretch]
                    self.texts.append(
                        with_superscripts(texts, raised, references, formats, nests=False)
                    )
        except DocumentError:
            raise
        except Exception:  # the libraries raise many types for damaged files
            raise DocumentError("the .docx file cannot be read") from None

    def written(self, found: Sequence[FoundText]) -> bytes:
        """Return the file with translations of `texts`.

        What is marked as the source language is then marked as the target language.
        """
        assert self._languages
        for stretch, each in zip(self.stretches, found, strict=True):
            _replace_runs(stretch, each.parts)
        for root in (*self._roots, self._document.styles.element):
            _change_language(root, *self._languages)
        for part, root in self._notes:
            part._blob = serialize_part_xml(root)  # python-docx does not parse notes
        output = io.BytesIO()
        self._document.save(output)
        return output.getvalue()


def _open_docx(content: bytes) -> DocxDocument:
    with open_zip(io.BytesIO(content)) as archive:
        growth = sum(file.file_size for file in archive.infolist()) - len(content)
        if growth > _MOST_UNPACKED:
            limit = f"{_MOST_UNPACKED // 10**6} MB"
            raise DocumentError(
                f"the .docx grows by more than {limit} when unpacked", too_large=True
            )
        if len(archive.infolist()) > _MOST_PARTS:
            raise DocumentError(f"the .docx has more than {_MOST_PARTS:,} parts", too_large=True)
        # The declared sizes may be false, and python-docx would unpack everything: copy only the
        # declared number of bytes.
        plain = io.BytesIO()
        tags = relationships = 0
        with zipfile.ZipFile(plain, "w") as copied:
            for file in archive.infolist():
                with archive.open(file) as unpacked:
                    part = unpacked.read(file.file_size)
                if not part.startswith(_PICTURES):  # these cannot be XML
                    tags += part.count(b"<")
                if tags > _MOST_TAGS:
                    raise DocumentError(
                        f"the .docx has more than {_MOST_TAGS:,} tags", too_large=True
                    )
                if file.filename.lower().endswith(".rels"):
                    relationships += part.count(b"<")
                encoding = _ENCODING.match(part)
                known = not encoding or _KNOWN.fullmatch(encoding[1])
                if relationships > 2 * _MOST_RELATIONSHIPS:  # with closing tags
                    raise DocumentError(
                        f"the .docx has more than {_MOST_RELATIONSHIPS:,} "
                        "relationships between its parts",
                        too_large=True,
                    )
                if not known or part.startswith(_EBCDIC):
                    raise DocumentError("the .docx file cannot be read")
                copied.writestr(file.filename, part)
    return docx.Document(plain)


def _roots(document: DocxDocument) -> Iterator[BaseOxmlElement]:
    """Yield the body, with its tables and text boxes, and all headers and footers."""

    for part in document.part.package.iter_parts():
        if isinstance(part, DocumentPart | HeaderPart | FooterPart):
            yield part.element


def _read_notes(document: DocxDocument) -> list[tuple[OpcPart, BaseOxmlElement]]:
    """Return the parts with footnotes and endnotes, parsed."""
    return [
        (part, parse_xml(part.blob))
        for part in document.part.package.iter_parts()
        if part.content_type.endswith((".footnotes+xml", ".endnotes+xml"))
    ]


def _change_language(root: BaseOxmlElement, source: str, target: str) -> None:
    """Change the proofing language, as in `<w:lang w:val="en-US"/>`."""
    for element in root.iter(_WORD + "lang"):
        for name in ("val", "eastAsia", "bidi"):
            if base_language(element.get(_WORD + name, "")) == base_language(source):
                code = base_language(target)
                element.set(_WORD + name, _REGIONS.get(code, code))


def _separate_text(root: BaseOxmlElement) -> None:
    """Split runs so that text is apart from line breaks, tabs, notes and pictures."""
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
            raise DocumentError("too much repeated formatting in the .docx", too_large=True)
        for each in content[:-1]:
            part = OxmlElement("w:r")
            part.extend(copy.deepcopy(formats))
            part.append(each)
            run.addprevious(part)


def _stretches_in(parent: BaseOxmlElement) -> Iterator[list[CT_R]]:
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


def _is_text(run: BaseOxmlElement) -> bool:
    """Return whether a run contains only text, or only a reference to a note."""
    tags = {each.tag for each in run if each.tag != _WORD + "rPr"}
    return tags.issubset(_TEXT) or (len(tags) == 1 and tags.issubset(_REFERENCES))


def _refers_to_comment(element: BaseOxmlElement) -> bool:
    """Return whether an element is a run that only marks where a comment belongs."""
    return {each.tag for each in element} - {_WORD + "rPr"} == {_WORD + "commentReference"}


def _text_of(run: CT_R) -> str:
    if any(each.tag in _REFERENCES for each in run):
        return _REFERENCE
    return "".join(
        "-" if each.tag == _WORD + "noBreakHyphen" else (each.text or "").translate(_SPACES)
        for each in run.iterchildren(*_TEXT)
    )


def _replace_runs(stretch: list[CT_R], parts: list[Part]) -> None:
    """Replace runs by their translation, each part in a copy of the run it comes from."""
    for text, number in parts:
        run = copy.deepcopy(stretch[number])
        if text != _REFERENCE:
            run.text = text
        stretch[0].addprevious(run)
    for run in stretch:
        run.getparent().remove(run)
