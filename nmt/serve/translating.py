"""Translation of whole texts, HTML and formatted text, sentence by sentence."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from nmt.errors import UserError
from nmt.serve.batching import Batcher
from nmt.serve.errors import ApiError
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun

if TYPE_CHECKING:
    from nmt.corpus.sentences import CutText
    from nmt.decoding.translator import Translation

Part = tuple[str, int]  # text, and the index of the formatted piece it comes from


class TextTranslator:
    """Translates texts of any length with a run, together with those of other requests."""

    def __init__(self, batcher: "Batcher[Translation]", limits: Limits):
        self._batcher = batcher
        self._limits = limits

    def require_length(self, texts: Sequence[str]) -> None:
        """Raise `ApiError` if there are too many texts or characters; empty texts take time too."""
        if len(texts) > self._limits.sentences:
            raise ApiError(
                400,
                f"Invalid request: {len(texts)} texts exceed the limit ({self._limits.sentences})",
            )
        characters = sum(map(len, texts))
        if characters > self._limits.characters:
            raise ApiError(
                400,
                f"Invalid request: request ({characters}) exceeds text limit "
                f"({self._limits.characters})",
            )

    def cut(self, run: ServedRun, texts: Sequence[str]) -> "list[CutText]":
        """Split texts into sentences; raises `ApiError` if there are too many."""
        self.require_length(texts)
        found = [run.translator.cut(text) for text in texts]
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
        pieces = self.cut(run, texts)
        sentences = [sentence for each in pieces for sentence in each.sentences]
        found = iter(await self._batcher.translate(run, sentences, n))
        results = []
        for each in pieces:
            options = [[o.text for o in next(found)] for _ in each.sentences]
            count = max(map(len, options), default=1)
            results.append(
                [each.join([o[min(rank, len(o) - 1)] for o in options]) for rank in range(count)]
            )
        return results

    async def translate_html(self, run: ServedRun, texts: Sequence[str]) -> list[str]:
        """Translate the text of HTML documents or fragments."""
        from nmt.serve.markup import Markup

        markups = await anyio.to_thread.run_sync(lambda: list(map(Markup, texts)))
        stretches = [(markup, stretch) for markup in markups for stretch in markup.stretches]
        found = await self.translate_formatted(run, [stretch.texts for _, stretch in stretches])
        for (markup, stretch), parts in zip(stretches, found, strict=True):
            markup.replace(stretch, parts)
        return list(map(str, markups))

    async def translate_formatted(
        self, run: ServedRun, groups: Sequence[Sequence[str]]
    ) -> list[list[Part]]:
        """Translate texts that consist of pieces with different formats.

        Each word takes the format of the source word that it attends to most.
        """
        pieces = self.cut(run, ["".join(group) for group in groups])
        sentences = [sentence for each in pieces for sentence in each.sentences]
        found = iter(await self._batcher.translate(run, sentences, 1))
        results = []
        for group, each in zip(groups, pieces, strict=True):
            owners = [number for number, text in enumerate(group) for _ in text]
            parts = [(each.gaps[0], owners[0] if owners else 0)]
            place = len(each.gaps[0])
            for sentence, gap in zip(each.sentences, each.gaps[1:], strict=True):
                own = owners[place : place + len(sentence)]
                [best] = next(found)
                parts += await self._formatted(run, sentence, best, own, group)
                place += len(sentence)
                parts += [(gap, owners[place])] if gap else []
                place += len(gap)
            results.append(_merge(parts))
        return results

    async def _formatted(
        self,
        run: ServedRun,
        sentence: str,
        translation: "Translation",
        owners: list[int],
        group: Sequence[str],
    ) -> list[Part]:
        """Give each word of a translation the format of the source word that it comes from.

        owners: for each character of the sentence, the index of its piece in the group
        """
        links = None
        if len(set(owners)) > 1:
            with suppress(UserError):  # no attention: too long, several models, or no PyTorch
                links = await self._batcher.run_in_worker(
                    partial(run.link_words, sentence, translation)
                )
        if not links:
            return [(translation.text, max(owners, key=owners.count))]
        parts: list[Part] = []
        end = 0
        for link in links:
            owner = owners[link.source[0]]
            if link.target[0] > end:
                before = parts[-1][1] if parts and not group[owner][:1].isspace() else owner
                parts.append((translation.text[end : link.target[0]], before))
            parts.append((translation.text[slice(*link.target)], owner))
            end = link.target[1]
        return parts


def _merge(parts: Sequence[Part]) -> list[Part]:
    merged: list[Part] = []
    for text, owner in parts:
        if merged and merged[-1][1] == owner:
            merged[-1] = (merged[-1][0] + text, owner)
        elif text:
            merged.append((text, owner))
    return merged


def has_letters(text: str) -> bool:
    """Return whether there is anything to translate; a model may change numbers and symbols."""
    return any(map(str.isalpha, text))
