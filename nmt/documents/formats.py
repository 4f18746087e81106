"""Documents of all formats: what is translated in each, and how it is written again."""

import codecs
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from nmt.config.data import translation_format
from nmt.documents.document import Document, Languages
from nmt.documents.errors import DocumentError
from nmt.documents.extensions import EXTENSIONS, HTML, TEXT, extension_of, not_supported
from nmt.documents.formatting import Formatted, has_letters
from nmt.documents.json_strings import (
    JsonStrings,
    keeps_placeholders,
    with_placeholders,
    with_spaces_outside,
)
from nmt.documents.plain_text import decode, paragraphs
from nmt.documents.subtitles import Subtitles
from nmt.documents.texts import FoundText
from nmt.documents.translation_files import TranslationFile

Seen = Callable[[int], None]
_UTF_8 = re.compile(rb"<meta[^<>]*\bcharset\s*=\s*[\"']?utf-?8", re.IGNORECASE)


def read_document(
    name: str,
    content: bytes,
    languages: Languages | None = None,
    seen: Seen | None = None,
) -> Document:
    """Read a document of the format that the extension of its name says.

    Raises `DocumentError` for other formats, and for files whose content does not match; and
    `UserError`, with the name, for files of translation tools.

    languages: of source and target; None to read the texts only; seen: called with the number of
    texts of plain text, subtitles and JSON before the document is built, may refuse to go on
    """
    if translation_format(name):
        return TranslationFile(name, content, languages)
    kind = _kind(name)
    if kind == ".docx":
        from nmt.documents.word_files import WordFile

        return WordFile(content, languages)
    if kind in HTML:
        return _HtmlFile(content, languages)
    if kind == ".md":
        return _MarkdownFile(content)
    if kind == ".json":
        return _JsonFile(content, languages, seen)
    if kind in (".srt", ".vtt"):
        return _SubtitleFile(content, kind == ".vtt", seen)
    return _PlainTextFile(content, seen)


def text_of(name: str, content: bytes) -> str:
    """Return the text of a document, to detect its language; raises like `read_document`."""
    kind = _kind(name)
    if kind == ".txt":
        return decode(content)[0]
    if kind == ".json":
        return "\n".join(JsonStrings(decode(content)[0]).texts)
    if kind in HTML:
        from nmt.documents.html_markup import Markup

        return Markup(decode(content)[0]).text
    return "\n".join(each.text for each in read_document(name, content).texts)


def encoding_of(name: str, content: bytes) -> str:
    """Return the encoding of a text file; "utf-8" for formats that name their own."""
    return decode(content)[1] if _kind(name) in TEXT else "utf-8"


def _kind(name: str) -> str:
    kind = extension_of(name)
    if kind not in EXTENSIONS:
        raise DocumentError(not_supported())
    return kind


class _TextFile(Document):
    """A text file, to be written in UTF-8."""

    def __init__(self, content: bytes):
        self._content = content
        self._source, self._encoding = decode(content)

    def written(self, found: Sequence[FoundText]) -> bytes:
        # Without its mark, other programs may not recognize the encoding.
        mark = codecs.BOM_UTF8 if self._content.startswith(codecs.BOM_UTF8) else b""
        return mark + self._encoded(self._replaced(found))

    @abstractmethod
    def _replaced(self, found: Sequence[FoundText]) -> str:
        """Return the source with a translation of each text."""

    def _encoded(self, text: str) -> bytes:
        return text.encode()


class _PlainTextFile(_TextFile):
    def __init__(self, content: bytes, seen: Seen | None):
        super().__init__(content)
        self._paragraphs = paragraphs(self._source)
        spoken = [each.text for each in self._paragraphs if has_letters(each.text)]
        if seen:
            seen(len(spoken))
        self.texts = _plain(spoken)

    def _replaced(self, found: Sequence[FoundText]) -> str:
        rest = iter(found)
        return "".join(
            each.wrapped(next(rest).text if has_letters(each.text) else each.text)
            for each in self._paragraphs
        )


class _SubtitleFile(_TextFile):
    def __init__(self, content: bytes, vtt: bool, seen: Seen | None):
        super().__init__(content)
        self._subtitles = Subtitles(self._source, vtt, seen)
        self.texts = self._subtitles.texts

    def _replaced(self, found: Sequence[FoundText]) -> str:
        return self._subtitles.replace([each.parts for each in found])


class _MarkdownFile(_TextFile):
    def __init__(self, content: bytes):
        from nmt.documents.markdown import Markdown

        super().__init__(content)
        self._markdown = Markdown(self._source)
        self.texts = self._markdown.texts

    def _replaced(self, found: Sequence[FoundText]) -> str:
        return self._markdown.replace([each.parts for each in found])


class _HtmlFile(_TextFile):
    def __init__(self, content: bytes, languages: Languages | None):
        from nmt.documents.html_markup import Markup

        super().__init__(content)
        self._languages = languages
        self._markup = Markup(self._source, languages[0] if languages else "")
        self.texts = self._markup.texts

    def _replaced(self, found: Sequence[FoundText]) -> str:
        assert self._languages
        return self._markup.translated(found, *self._languages)

    def _encoded(self, text: str) -> bytes:
        if self._encoding != "utf-8" or (
            self._content.isascii() and not _UTF_8.search(self._content)
        ):
            # The file may declare another character set, or none; references are right in all.
            return text.encode("ascii", "xmlcharrefreplace")
        return text.encode()


class _JsonFile(_TextFile):
    """Strings, of which some are HTML, and have several texts or none."""

    def __init__(self, content: bytes, languages: Languages | None, seen: Seen | None):
        super().__init__(content)
        self._languages = languages
        self._strings = JsonStrings(self._source)
        if seen:
            seen(len(self._strings.texts))
        pairs = list(zip(self._strings.texts, self._strings.is_html, strict=True))
        self._plain = [text for text, is_html in pairs if not is_html]
        self._markups = []
        if any(self._strings.is_html):
            from nmt.documents.html_markup import Markup

            language = languages[0] if languages else ""
            self._markups = [(text, Markup(text, language)) for text, is_html in pairs if is_html]
        within = [text for _, markup in self._markups for text in markup.texts]
        self.texts = [*_plain(self._plain), *within]

    def unusable(self, found: Sequence[FoundText]) -> Mapping[int, Formatted]:
        return {
            number: with_placeholders(source)
            for number, source in enumerate(self._plain)
            if not keeps_placeholders(source, found[number].text)
        }

    def _replaced(self, found: Sequence[FoundText]) -> str:
        assert self._languages
        rest = iter(found)
        plain = [with_spaces_outside(text, next(rest).text) for text in self._plain]
        marked = []
        for text, markup in self._markups:
            own = [next(rest) for _ in markup.texts]
            marked.append(markup.translated(own, *self._languages) if own else text)
        either = {True: iter(marked), False: iter(plain)}
        return self._strings.replace([next(either[x]) for x in self._strings.is_html])


def _plain(texts: Sequence[str]) -> list[Formatted]:
    return [Formatted([text], has_lines=True) for text in texts]
