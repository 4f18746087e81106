"""The one way from raw text to raw text: validation, `translate` and `evaluate` all take it."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from nmt.config import DataConfig, DecodingConfig
from nmt.corpus.cleaning import Cleaner
from nmt.corpus.placeholders import reveal
from nmt.corpus.tokenizers import Tokenizers, WordTokenizer
from nmt.decoding.hypothesis import Hypothesis
from nmt.decoding.neighbours import Neighbours
from nmt.decoding.search import ModelSearch, Search
from nmt.decoding.unknown import replace_unknown
from nmt.model.transformer import Transformer
from nmt.ops.threads import side_by_side
from nmt.special_tokens import EOS, PLACEHOLDERS, SPECIALS, UNK

# Between sentences, but not after a title or an initial.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\b[Mm]r\.)(?<!\b[Mm]rs\.)(?<!\b[DdSs][rt]\.)(?<!\b\w\.) "
)
_WORTH_A_BATCH = 1000  # tokens; fewer are done as soon in one batch, whose steps they share
_LINES_AT_A_TIME = 1024  # enough to sort by length for all threads, few enough to show progress


@dataclass(frozen=True)
class Translation:
    """A line in the target language.

    text: what a person reads; score: the sum of its parts' length-normalised log-probabilities;
    complete: False when the length limit cut it; parts: how many parts the line was translated in
    """

    text: str
    score: float
    complete: bool = True
    parts: int = 1


@dataclass(frozen=True)
class Trace:
    """A translation with the pieces that were read and written.

    source: the pieces read, as many as `source_ids`, the last of both <eos>; target: the pieces
    written, without <eos>; hypothesis: their ids, and what the search thought of them. In place of
    a placeholder stands the word that it stands for.
    """

    source: list[str]
    source_ids: list[int]
    target: list[str]
    hypothesis: Hypothesis
    text: str


class Translator:
    """A trained model with its tokenizers: lines in, lines out.

    longest_source: pieces of the longest source sentence in training; longer lines are translated
    sentence by sentence, since a model does badly at lengths it has never seen; others: models of
    the same vocabularies that write each translation together with `model`, as an `Ensemble`;
    search: what finds the translations in place of `ModelSearch`; neighbours: those of each model,
    where their positions are looked up; compiled: see `ModelSearch`
    """

    def __init__(
        self,
        model: Transformer,
        tokenizers: Tokenizers,
        data: DataConfig,
        decoding: DecodingConfig,
        longest_source: int | None = None,
        others: Sequence[Transformer] = (),
        search: Search | None = None,
        neighbours: Sequence[Neighbours] = (),
        compiled: bool = False,
    ):
        self.model = model
        self.models = [model, *others]
        self.tokenizers = tokenizers
        self.decoding = decoding
        self._cleaner = Cleaner(data)
        self._own_search = ModelSearch(
            self.models, decoding.length_penalty, neighbours, compiled and not search
        )
        self._search_ids = search or self._own_search
        self._max_length = min(each.config.max_length for each in self.models)
        room = self._max_length - 1  # <eos>
        self._room = room
        self._longest_seen = min(longest_source or room, room)

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Return the best translation of each line; an empty line gives an empty one."""
        return [options[0] for options in self.n_best(lines, 1)]

    def stream(self, lines: Iterable[str], n_best: int = 1) -> Iterator[list[Translation]]:
        """Translate any number of lines in order, some hundreds at a time."""
        rest = iter(lines)
        while chunk := list(islice(rest, _LINES_AT_A_TIME)):
            yield from self.n_best(chunk, n_best)

    def n_best(self, lines: Sequence[str], n: int) -> list[list[Translation]]:
        """Return up to `n` translations of each line, best first.

        Where words are carried over, a translation with all of them comes before those without.
        A line that is longer than what the model knows is translated in parts, and then has one
        translation.
        """
        parts = [self._parts(self._cleaner.tidy(line)) for line in lines]
        segments = [segment for line in parts for segment in line]
        found = iter(zip(segments, self._search(segments, n), strict=True))
        return [self._join(list(islice(found, len(line)))) for line in parts]

    def trace(self, line: str) -> list[Trace]:
        """Translate one line and keep the pieces: one trace for each part, none for an empty line.

        >>> [trace] = translator.trace("oscar likes to code")
        """
        segments = self._parts(self._cleaner.tidy(line))
        found = zip(segments, self._search(segments, 1), strict=True)
        return [self._trace(segment, hypotheses[0]) for segment, hypotheses in found]

    def _trace(self, segment: "_Segment", best: Hypothesis) -> Trace:
        # Split, since the vocabulary's pieces would be <unk> for words it does not know.
        source = self.tokenizers.source.split(segment.text)[: len(segment.ids) - 1]
        target = self.tokenizers.target.pieces(best.ids)
        read, written = ([reveal(x, segment.hidden) for x in side] for side in (source, target))
        return Trace([*read, SPECIALS[EOS]], segment.ids, written, best, self._text(segment, best))

    def _join(self, found: list[tuple["_Segment", list[Hypothesis]]]) -> list[Translation]:
        if len(found) == 1:
            segment, hypotheses = found[0]
            return [Translation(self._text(segment, h), h.score, h.complete) for h in hypotheses]
        best = [(segment, hypotheses[0]) for segment, hypotheses in found]
        text = " ".join(filter(None, (self._text(*pair) for pair in best)))
        score, complete = sum(h.score for _, h in best), all(h.complete for _, h in best)
        return [Translation(text, score, complete, len(best))]

    def _text(self, segment: "_Segment", hypothesis: Hypothesis) -> str:
        target, casing = self.tokenizers.target, self.tokenizers.casing
        replace = self.decoding.replace_unknown and isinstance(target, WordTokenizer)
        if UNK in hypothesis.ids and replace:
            words = self.tokenizers.source.split(segment.text)
            pieces = replace_unknown(self.model, segment.ids, words, hypothesis.ids, target)
            text = target.join(pieces)
        else:
            text = target.decode(hypothesis.ids)
        return reveal(casing.restore(text) if casing else text, segment.hidden)

    # ------------------------------------------------------------------------------------ parts

    def _parts(self, text: str) -> list["_Segment"]:
        """Cut a tidied line into segments that the model can translate at once."""
        if not text:
            return []
        shown, hidden = self._as_read(text)
        ids = self.tokenizers.source.encode(shown)
        if not ids:  # nothing but marks that the subwords use for spaces
            return []
        if len(ids) > self._longest_seen and len(text) > 1:
            chunks = self._cut(text, len(ids))
            if len(chunks) > 1:
                return [part for chunk in chunks for part in self._parts(chunk)]
        # One character spelled in bytes can outnumber the positions of a very small model.
        return [_Segment(shown, hidden, [*ids[: self._room], EOS])]

    def _as_read(self, text: str) -> tuple[str, list[str]]:
        """Return tidied text as the model reads it, and the words behind its placeholders."""
        known = self.tokenizers.known
        shown, hidden = known.hide(text) if known else (text, [])
        return self._cleaner.source_case(shown), hidden

    def _cut(self, text: str, pieces: int) -> list[str]:
        """Cut between sentences; within one only where the model's positions end."""
        sentences = _SENTENCE_END.split(text)
        if len(sentences) > 1 or pieces <= self._room:
            return sentences
        words = text.split(" ")
        packed = self._pack(words)
        if len(packed) > 1:
            return packed
        if len(words) > 1:  # names, of which only so many can be hidden at once
            middle = len(words) // 2
            return [" ".join(words[:middle]), " ".join(words[middle:])]
        return [text[: len(text) // 2], text[len(text) // 2 :]]

    def _pack(self, words: list[str]) -> list[str]:
        """Join neighbouring words as long as the model's positions hold them."""
        as_read = [self._as_read(word)[0] for word in words]
        lengths = [len(ids) for ids in self.tokenizers.source.encode_lines(as_read)]
        packed: list[str] = []
        used = self._room + 1
        for word, length in zip(words, lengths, strict=True):
            if used + length <= self._room:
                packed[-1] += " " + word
                used += length
            else:
                packed.append(word)
                used = length
        return packed

    # ----------------------------------------------------------------------------------- search

    def _search(self, segments: list["_Segment"], n: int) -> list[list[Hypothesis]]:
        """Search all segments; results are in the order given."""
        order = sorted(range(len(segments)), key=lambda i: len(segments[i].ids))
        plain = [i for i in order if not segments[i].hidden]
        hiding = [i for i in order if segments[i].hidden]
        found = self._search_all(plain, segments, self._search_batch, n)
        # Where words are hidden, the whole beam is looked at for one that has placed them all.
        beam = self._beam_size(n)
        found |= self._search_all(hiding, segments, self._search_batch, beam)
        for i in hiding:
            found[i] = self._complete_first(segments[i], found[i])
        losing = [i for i in hiding if self._faults(segments[i], found[i][0])[1]]
        again = self._search_all(losing, segments, self._search_requiring, beam)
        for i in losing:
            found[i] = self._complete_first(segments[i], [*found[i], *again[i]])
        return [found[i][:n] for i in range(len(segments))]

    def _search_all(
        self,
        order: list[int],
        segments: list["_Segment"],
        search: Callable[[list["_Segment"], int], list[list[Hypothesis]]],
        n: int,
    ) -> dict[int, list[Hypothesis]]:
        """Search the segments of these numbers, in this order, in batches of like length."""
        # The longest first, so that no thread is left with one while the others have finished.
        on_cpu = next(self.model.parameters()).device.type == "cpu"
        threads = torch.get_num_threads() if on_cpu else 1
        batches = self._batches(order, segments, n, threads)[::-1]

        def search_batch(batch: list[int]) -> list[list[Hypothesis]]:
            return search([segments[i] for i in batch], n)

        results = side_by_side(search_batch, batches) if on_cpu else map(search_batch, batches)
        pairs = zip(batches, results, strict=True)
        return {i: each for batch, found in pairs for i, each in zip(batch, found, strict=True)}

    def _complete_first(self, segment: "_Segment", found: list[Hypothesis]) -> list[Hypothesis]:
        """Put first those that end by themselves and have lost the fewest hidden words."""
        return sorted(found, key=lambda hypothesis: self._faults(segment, hypothesis))

    def _faults(self, segment: "_Segment", hypothesis: Hypothesis) -> tuple[bool, int]:
        """Return whether a hypothesis was cut, and how many hidden words it has lost."""
        text = self.tokenizers.target.decode(hypothesis.ids)
        lost = sum(mark not in text for mark in PLACEHOLDERS[: len(segment.hidden)])
        return not hypothesis.complete, lost

    def _beam_size(self, n: int) -> int:
        """Return how many hypotheses are kept to find the best `n`."""
        return max(n, self.decoding.beam_size)

    def _batches(
        self, order: list[int], segments: list["_Segment"], n: int, threads: int
    ) -> list[list[int]]:
        """Share segments, sorted by length, out among batches, as many for each thread.

        Fewer threads have one where it would not be worth it.
        """
        tokens = [len(segments[i].ids) * self._beam_size(n) for i in order]
        most = self.decoding.batch_tokens
        at_once = max(1, min(threads, sum(tokens) // _WORTH_A_BATCH))
        count = len(_fill(order, tokens, most))
        count += -count % at_once
        # The least limit that gives no more batches: they are then of like work.
        least = bisect_left(
            range(most), True, key=lambda limit: len(_fill(order, tokens, limit)) <= count
        )
        return _fill(order, tokens, least)

    def _search_batch(self, segments: list["_Segment"], n: int) -> list[list[Hypothesis]]:
        sources = [segment.ids for segment in segments]
        return self._search_ids(sources, self._limits(sources), self._beam_size(n), n)

    def _search_requiring(self, segments: list["_Segment"], n: int) -> list[list[Hypothesis]]:
        """Search for translations that hold all placeholders; an engine cannot, our models can."""
        sources = [segment.ids for segment in segments]
        required = [self._placeholder_ids(len(segment.hidden)) for segment in segments]
        limits, beam_size = self._limits(sources), self._beam_size(n)
        return self._own_search(sources, limits, beam_size, n, required)

    def _placeholder_ids(self, count: int) -> list[int]:
        target = self.tokenizers.target
        ids = target.encode(" ".join(PLACEHOLDERS[:count]))
        return [
            i for i, piece in zip(ids, target.pieces(ids), strict=True) if piece in PLACEHOLDERS
        ]

    def _limits(self, sources: list[list[int]]) -> list[int]:
        """Return the most pieces that each source's translation may have."""
        config = self.decoding
        lengths = torch.tensor([len(ids) - 1 for ids in sources])  # <eos> is no piece of it
        limits = (lengths * config.max_length_factor).long() + config.max_length_extra
        return limits.clamp(max=self._max_length - 1).tolist()


def _fill(order: list[int], tokens: list[int], limit: int) -> list[list[int]]:
    """Put items into batches of at most so many tokens; tokens: of each item, ascending."""
    batches: list[list[int]] = []
    for i, more in zip(order, tokens, strict=True):
        if not batches or more * (len(batches[-1]) + 1) > limit:
            batches.append([])
        batches[-1].append(i)
    return batches


@dataclass(frozen=True)
class _Segment:
    """What is translated at once.

    text: as the model reads it; hidden: the words behind its placeholders; ids: with <eos>
    """

    text: str
    hidden: list[str]
    ids: list[int]
