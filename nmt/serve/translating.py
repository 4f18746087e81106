"""Translation of whole texts, documents, HTML and XML, sentence by sentence."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio.to_thread

from nmt.documents.extensions import extension_of
from nmt.documents.formats import read_document, text_of
from nmt.documents.formatting import Formatted, format_by
from nmt.documents.texts import DividedText, FoundText, link_words, split
from nmt.serve.batching import Batcher
from nmt.serve.errors import ApiError, refusing
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun

if TYPE_CHECKING:
    from nmt.corpus.text.sentences import SplitText
    from nmt.decoding.translator import Translation

P = ParamSpec("P")
T = TypeVar("T")


class TextTranslator:
    """Translates texts of any length with a run, together with those of other requests.

    missing_terms: a list to which terms of the glossary that translations lack are added
    """

    def __init__(
        self,
        batcher: "Batcher[Translation]",
        limits: Limits,
        missing_terms: list[str] | None = None,
    ):
        self._batcher = batcher
        self._limits = limits
        self._missing_terms = missing_terms

    def noting(self, missing_terms: list[str]) -> "TextTranslator":
        """Return a translator that adds the terms that it could not place to a list."""
        return TextTranslator(self._batcher, self._limits, missing_terms)

    def require_length(self, texts: Sequence[str]) -> None:
        """Raise `ApiError` if there are too many texts or characters; empty texts take time too."""
        self.require_number(len(texts))
        characters = sum(map(len, texts))
        if characters > self._limits.characters:
            raise ApiError(
                400,
                f"Invalid request: request ({characters:,} characters) exceeds text limit "
                f"({self._limits.characters:,} characters)",
            )

    def require_number(self, texts: int) -> None:
        """Raise `ApiError` if there are too many texts."""
        if texts > self._limits.sentences:
            raise ApiError(
                400, f"Invalid request: {texts} texts exceed the limit ({self._limits.sentences})"
            )

    async def split(self, run: ServedRun, texts: Sequence[str]) -> "list[SplitText]":
        """Split texts into sentences; raises `ApiError` if there are too many."""
        self.require_length(texts)
        work = partial(split, run.translator)
        found = await anyio.to_thread.run_sync(lambda: list(map(work, texts)))
        sentences = sum(len(each.sentences) for each in found)
        if sentences > self._limits.sentences:
            raise ApiError(
                400,
                f"Invalid request: {sentences} sentences exceed the limit "
                f"({self._limits.sentences})",
            )
        return found

    async def translate(self, run: ServedRun, texts: Sequence[str], n: int = 1) -> list[list[str]]:
        """Return up to `n` translations of each text, best first, with whitespace preserved.

        The second translation of a text combines the second best of each sentence, and so on.
        """
        cuts = await self.split(run, texts)
        asked = [sentence for each in cuts for sentence in each.sentences]
        found = iter(await self._translate(run, asked, n))
        results = []
        for each in cuts:
            options = [[option.text for option in next(found)] for _ in each.sentences]
            count = max(map(len, options), default=1)
            results.append(
                [each.join([o[min(rank, len(o) - 1)] for o in options]) for rank in range(count)]
            )
        return results

    async def _translate(
        self, run: ServedRun, sentences: Sequence[str], n: int
    ) -> "list[list[Translation]]":
        found = await self._batcher.translate(run, sentences, n)
        if self._missing_terms is not None:
            self._missing_terms += [str(term) for each in found for term in each[0].missing_terms]
        return found

    async def translate_document(self, run: ServedRun, name: str, content: bytes) -> bytes:
        """Translate a document; raises `ApiError` if it cannot be read, see `read_document`."""
        languages = run.source, run.target
        read = partial(read_document, _anonymous(name), content, languages, self.require_number)
        document = await _in_thread(read)
        found = await self.translate_formatted(run, document.texts)
        unusable = document.unusable(found)
        again = await self.translate_formatted(run, [*unusable.values()])
        for number, each in zip(unusable, again, strict=True):
            found[number] = each
        return await _in_thread(document.written, found)

    async def text_of_document(self, name: str, content: bytes) -> str:
        """Return the text of a document, to detect its language; raises `ApiError`."""
        return await _in_thread(text_of, _anonymous(name), content)

    async def translate_html(self, run: ServedRun, texts: Sequence[str]) -> list[str]:
        """Translate the text of HTML documents or fragments; raises `ApiError`."""
        from nmt.documents.html_markup import Markup

        markups = await _in_thread(lambda: [Markup(text, run.source) for text in texts])
        within = [text for each in markups for text in each.texts]
        found = iter(await self.translate_formatted(run, within))
        return [
            each.translated([next(found) for _ in each.texts], run.source, run.target)
            for each in markups
        ]

    async def translate_xml(
        self,
        run: ServedRun,
        texts: Sequence[str],
        ignored: Collection[str] = (),
        dividing: Collection[str] = (),
    ) -> list[str]:
        """Translate the text of XML fragments; ignored, dividing: see `XmlMarkup`."""
        from nmt.documents.xml_markup import XmlMarkup

        markups = await _in_thread(lambda: [XmlMarkup(text, ignored, dividing) for text in texts])
        within = [text for each in markups for text in each.texts]
        found = iter(await self.translate_formatted(run, within))
        return [each.replace([next(found).parts for _ in each.texts]) for each in markups]

    async def translate_formatted(
        self, run: ServedRun, texts: Sequence[Formatted]
    ) -> list[FoundText]:
        """Translate formatted texts."""
        cuts = await self.split(run, [each.spaced for each in texts])
        data = run.folder.config.data
        divided = [DividedText(each, cut, data) for each, cut in zip(texts, cuts, strict=True)]
        asked = [sentence.text for each in divided for sentence in each.sentences]
        found = iter(await self._translate(run, asked, 1))
        link = partial(link_words, run.translator)
        results = []
        for each in divided:
            best = [next(found)[0] for _ in each.sentences]
            parts = []
            for sentence, translation in zip(each.sentences, best, strict=True):
                work = partial(format_by, link, sentence, translation, each.formatted)
                plain = sentence.is_plain  # needs no model
                parts.append(work() if plain else await self._batcher.run_in_worker(work))
            results.append(each.joined(best, parts))
        return results


def _anonymous(name: str) -> str:
    """Return what messages call a file: of its name, only the extension is surely harmless."""
    return f"document{extension_of(name)}"


async def _in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Read or write a document outside the event loop; raises `ApiError` if it is faulty."""
    with refusing():
        return await anyio.to_thread.run_sync(partial(work, *args, **kwargs))
