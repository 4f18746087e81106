"""Translation of whole texts, HTML and formatted text, sentence by sentence."""

import re
from collections.abc import Collection, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

import anyio.to_thread

from nmt.corpus.text.tags import split_prefix
from nmt.serve.batching import Batcher
from nmt.serve.errors import ApiError
from nmt.serve.formatting import (
    Formatted,
    Part,
    format_by,
    has_letters,
    join_sentences,
    sentences_of,
)
from nmt.serve.limits import Limits
from nmt.serve.served_run import FoundText, ServedRun

if TYPE_CHECKING:
    from nmt.corpus.text.sentences import SplitText
    from nmt.decoding.translator import Translation

_LINE_BREAK = re.compile(r"[\n\r\f]")


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
                f"Invalid request: request ({characters}) exceeds text limit "
                f"({self._limits.characters})",
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
        found = await anyio.to_thread.run_sync(lambda: list(map(run.split, texts)))
        sentences = sum(len(each.sentences) for each in found)
        if sentences > self._limits.sentences:
            raise ApiError(
                400,
                f"Invalid request: {sentences} sentences exceed the limit "
                f"({self._limits.sentences})",
            )
        return found

    async def translate(
        self, run: ServedRun, texts: Sequence[str], n: int = 1, keep_symbols: bool = False
    ) -> list[list[str]]:
        """Return up to `n` translations of each text, best first, with whitespace preserved.

        The second translation of a text combines the second best of each sentence, and so on.
        keep_symbols: do not translate sentences without letters, as in documents
        """
        data = run.folder.config.data
        cuts = await self.split(run, texts)
        found = iter(await self._translate(run, cuts, n, keep_symbols))
        results = []
        for each in cuts:
            options = [
                [
                    option.text if option else split_prefix(data, sentence)[1]
                    for option in next(found)
                ]
                for sentence in each.sentences
            ]
            count = max(map(len, options), default=1)
            results.append(
                [each.join([o[min(rank, len(o) - 1)] for o in options]) for rank in range(count)]
            )
        return results

    async def _translate(
        self, run: ServedRun, cuts: "Sequence[SplitText]", n: int, keep_symbols: bool
    ) -> "list[list[Translation] | list[None]]":
        """Translate all sentences; [None] for those that stay as they are."""
        sentences = [sentence for each in cuts for sentence in each.sentences]
        chosen = [not keep_symbols or has_letters(sentence) for sentence in sentences]
        found = await self._batcher.translate(run, [*compress(sentences, chosen)], n)
        if self._missing_terms is not None:
            self._missing_terms += [str(term) for each in found for term in each[0].missing_terms]
        rest = iter(found)
        return [next(rest) if each else [None] for each in chosen]

    async def translate_html(self, run: ServedRun, texts: Sequence[str]) -> list[str]:
        """Translate the text of HTML documents or fragments."""
        from nmt.serve.markup import Markup

        markups = await anyio.to_thread.run_sync(lambda: list(map(Markup, texts)))
        stretches = [(markup, stretch) for markup in markups for stretch in markup.stretches]
        attributes = [attribute for markup in markups for attribute in markup.attributes]
        labels = [Formatted([each.text]) for each in attributes]
        contents = [stretch.formatted for _, stretch in stretches]
        found = iter(await self.translate_formatted(run, [*labels, *contents]))
        for attribute, label in zip(attributes, found, strict=False):
            attribute.replace("".join(text for text, _ in label.parts))
        for (markup, stretch), content in zip(stretches, found, strict=True):
            markup.replace(stretch, content.parts)
        for markup in markups:
            markup.change_language(run.source, run.target)
        return list(map(str, markups))

    async def translate_xml(
        self,
        run: ServedRun,
        texts: Sequence[str],
        ignored: Collection[str] = (),
        dividing: Collection[str] = (),
    ) -> list[str]:
        """Translate the text of XML fragments; ignored, dividing: see `XmlMarkup`."""
        from nmt.serve.xml_markup import XmlMarkup

        def read() -> list[XmlMarkup]:
            return [XmlMarkup(text, ignored, dividing) for text in texts]

        markups = await anyio.to_thread.run_sync(read)
        contents = [content for markup in markups for content in markup.texts]
        found = iter(await self.translate_formatted(run, contents))
        return [markup.replace([next(found).parts for _ in markup.texts]) for markup in markups]

    async def translate_formatted(
        self, run: ServedRun, texts: Sequence[Formatted], keep_breaks: bool = False
    ) -> list[FoundText]:
        """Translate formatted texts.

        keep_breaks: line breaks divide texts, unlike in HTML and .docx, where they are only spaces
        """
        plain = [each.text if keep_breaks else _LINE_BREAK.sub(" ", each.text) for each in texts]
        cuts = await self.split(run, plain)
        found = iter(await self._translate(run, cuts, 1, keep_symbols=True))
        results = []
        for formatted, each in zip(texts, cuts, strict=True):
            # Every sentence begins with the text's tag, if it has one.
            tag = len(split_prefix(run.folder.config.data, formatted.text)[0])
            sentences = sentences_of(formatted, each, tag)
            translations: list[list[Part] | None] = []
            chosen = []
            for sentence, [best] in zip(sentences, found, strict=False):
                parts = None
                if best and sentence.is_plain:
                    parts = [(best.text, sentence.owners[0])]
                elif best:
                    work = partial(format_by, run.link_words, sentence, best, formatted)
                    parts = await self._batcher.run_in_worker(work)
                translations.append(parts)
                chosen += [best] if best else []
            joined = join_sentences(formatted, tag, sentences, translations)
            results.append(FoundText(joined, chosen))
        return results
