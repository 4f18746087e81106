"""Raw text in, raw text out: used by validation, `translate`, `evaluate` and `serve`."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from nmt.config.choices import Address
from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.corpus.text.parts import surround
from nmt.corpus.text.placeholders import fill_placeholders
from nmt.corpus.text.sentences import SplitText
from nmt.corpus.text.tags import address_tag, split_tag
from nmt.corpus.text.target_words import TargetWords
from nmt.corpus.tokenizers.registry import Tokenizers
from nmt.decoding.engines.interface import Engine
from nmt.decoding.glossary import Glossary, Term
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.segment_search import Found, SegmentSearch
from nmt.decoding.segments import Segment, Segmenter, TrainingLines
from nmt.decoding.translation_memory import Memory
from nmt.errors import UserError
from nmt.special_tokens import EOS, SPECIALS

if TYPE_CHECKING:
    from nmt.decoding.engines.pytorch import PyTorchEngine

_NEXT_WORD = re.compile(r"(\s*)(\w[\w'’-]*(?![\w'’-])|[^\w\s]+)(\W?)")
_MOST_BRANCHES = 3  # per word wanted: some spell no word of their own
LINES_AT_A_TIME = 1024  # enough to sort by length, few enough to show progress
FIRST_LINES = 128


@dataclass(frozen=True)
class Translation:
    """The translation of a line."""

    text: str
    score: float
    """Sum of the length-normalized log-probabilities of its parts."""
    complete: bool = True
    """False if the length limit truncated it, apart from what it encloses in marks."""
    parts: int = 1
    """Number of parts that were translated separately, at least one per sentence with text."""
    sentences: int = 1
    """The number of sentences with text."""
    is_long: bool = False
    """Whether a sentence was divided because it is longer than nearly all in training."""
    in_proportion: bool = True
    """False if the length of a part is unusual for its source."""
    log_probability: float = 0.0
    """The sum over all tokens, each <eos> included."""
    tokens: int = 0
    """The number of tokens, each <eos> included."""
    missing_terms: tuple[Term, ...] = ()
    """Terms of the glossary that it lacks."""
    unknown: tuple[str, ...] = ()
    """What the model could not read in the source, see `Segmenter.unknown`."""
    from_memory: bool = False
    """Whether it was taken from the translation memory."""
    found: "tuple[tuple[Segment, Hypothesis], ...]" = field(default=(), repr=False, compare=False)
    """Each part with its hypothesis, see `Translator.traces`."""

    @property
    def mean_probability(self) -> float:
        """Geometric mean of the probabilities of the tokens; 1 for an empty line."""
        return math.exp(self.log_probability / self.tokens) if self.tokens else 1.0


@dataclass(frozen=True)
class Trace:
    """A translation with its tokens, in which placeholders are replaced by their words."""

    source: list[str]
    """Source tokens, as many as `source_ids`, ending with <eos>."""
    source_ids: list[int]
    target: list[str]
    """Target tokens, without <eos>, as `text` joins them."""
    hypothesis: Hypothesis
    """The ids and scores of the target."""
    text: str
    before: str = ""
    after: str = ""
    """`before` and `after` stand around it in the translation."""


class Translator:
    """An engine with tokenizers: lines in, lines out.

    seen: facts about training lines; if None, lines are split only if the model has too few
    positions; open_pytorch: loads the same weights in PyTorch, for what `engine` does not support,
    or raises `UserError`; None if `engine` is PyTorch; glossary: terms with prescribed
    translations; memory: earlier translations of whole lines, which are used again; address: how
    to address readers; target_words: of the training text, see `decoding.new_words_margin`
    """

    def __init__(
        self,
        engine: Engine,
        tokenizers: Tokenizers,
        data: DataConfig,
        decoding: DecodingConfig,
        seen: TrainingLines | None = None,
        open_pytorch: "Callable[[], PyTorchEngine] | None" = None,
        glossary: Glossary | None = None,
        memory: Memory | None = None,
        address: Address | None = None,
        target_words: TargetWords | None = None,
    ):
        self.tokenizers, self.data = tokenizers, data
        self.glossary, self._memory, self._address = glossary, memory, address
        self._open_pytorch, self._target_words = open_pytorch, target_words
        room = engine.max_length - 1  # <eos>
        self._seen = seen or TrainingLines(room, False)
        tag = address_tag(data, address)
        self._segments = Segmenter(tokenizers, data, self._seen, room, glossary, tag, target_words)
        self.segment_search = SegmentSearch(
            engine, open_pytorch, self._segments, tokenizers, data, decoding, address, target_words
        )

    @property
    def decoding(self) -> DecodingConfig:
        """The settings of its searches, which may be replaced."""
        return self.segment_search.decoding

    @decoding.setter
    def decoding(self, decoding: DecodingConfig) -> None:
        self.segment_search.decoding = decoding

    @property
    def engine(self) -> Engine:
        """The engine that searches first."""
        return self.segment_search.engine

    @property
    def pytorch(self) -> "PyTorchEngine":
        """The PyTorch engine with the same weights, loaded on first use."""
        return self.segment_search.pytorch

    def customized(
        self, glossary: Glossary | None = None, address: Address | None = None
    ) -> "Translator":
        """Return a translator with the same model; None: the glossary or address of this one.

        Raises `UserError` if the model did not learn forms of address.
        """
        return Translator(
            self.engine,
            self.tokenizers,
            self.data,
            self.decoding,
            self._seen,
            (lambda: self.pytorch) if self._open_pytorch else None,
            glossary or self.glossary,
            self._memory,
            address or self._address,
            self._target_words,
        )

    def split(self, text: str) -> SplitText:
        """Split text at line breaks, and into sentences if training had one per line."""
        return self._segments.split(text)

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Return the best translation of each line; that of an empty line is empty."""
        return [options[0] for options in self.n_best(lines, 1)]

    def remembered(self, line: str) -> str | None:
        """Return the translation of a line from the translation memory, if it is there."""
        return self._memory.find(split_tag(self.data, line)[1]) if self._memory else None

    def begin(self, sentences: Sequence[str], text: str) -> list[str]:
        """Return the beginning of the translation of each sentence, of a text that begins so."""
        begun = self.split(text).sentences
        last = len(sentences) - 1
        parts = [*begun[:last], " ".join(begun[last:])] if sentences else []
        if parts and text[-1:].isspace():
            parts[-1] += " "
        return [*parts, *[""] * (len(sentences) - len(parts))]

    def stream(
        self,
        lines: Iterable[str],
        n_best: int = 1,
        beginnings: Iterable[str] | None = None,
        soon: bool = False,
    ) -> Iterator[list[Translation]]:
        """Translate any number of lines in order, in blocks of 1,024; beginnings: see `n_best`.

        Sampling in PyTorch draws different translations for equal lines within a block; the next
        block repeats them.

        soon: whether the first block has only 128 lines, to show soon how long the rest will take
        """
        rest, begun = iter(lines), None if beginnings is None else iter(beginnings)
        sizes = chain([FIRST_LINES] if soon else [], repeat(LINES_AT_A_TIME))
        while chunk := list(islice(rest, next(sizes))):
            given = None if begun is None else list(islice(begun, len(chunk)))
            yield from self.n_best(chunk, n_best, given)

    def n_best(
        self, lines: Sequence[str], n: int, beginnings: Sequence[str] | None = None
    ) -> list[list[Translation]]:
        """Return up to `n` translations of each line, best first.

        A translation with all placeholders comes before those that lack some.
        The second of a line in several parts consists of the second best of each, and so on.
        Raises `UserError` for a single string in place of a list.

        beginnings: of the translation of each line, "" if it is free; may end within a word
        """
        if isinstance(lines, str):  # a sequence, too: of characters
            raise UserError("translate takes a list of lines: translate([text])")
        if beginnings is not None:
            return self._n_best(lines, n, beginnings=beginnings)
        if self._memory:
            known = [self.remembered(line) for line in lines]
            rest = iter(self._n_best([x for x, y in zip(lines, known, strict=True) if not y], n))
            return [[Translation(x, 0.0, from_memory=True)] if x else next(rest) for x in known]
        return self._n_best(lines, n)

    def _n_best(
        self,
        lines: Sequence[str],
        n: int,
        divide: bool = True,
        beginnings: Sequence[str] | None = None,
    ) -> list[list[Translation]]:
        split = [self.split(line) for line in lines]
        parts = [
            [self._segments.segment(sentence) for sentence in each.sentences] for each in split
        ]
        self._translate_quotations([own for line in parts for own in line])
        for line, text in zip(parts, beginnings or (), strict=False):
            if text.strip() and (own := [part for sentence in line for part in sentence]):
                rest = iter(self._segments.begin(own, text))
                line[:] = [[next(rest) for _ in sentence] for sentence in line]
        segments = [part for line in parts for sentence in line for part in sentence]
        found = iter(self.segment_search(segments, n, divide))
        return [
            self._join(each, [[x for _ in sentence for x in next(found)] for sentence in line])
            for each, line in zip(split, parts, strict=True)
        ]

    def _translate_quotations(self, sentences: Iterable[list[Segment]]) -> None:
        """Translate what segments enclose in marks by itself, and put this into the segments.

        Only the texts are kept: `Translation.complete` and others are about the rest.
        """
        enclosing = [own for own in sentences if any(map(self._segments.quoted, own))]
        sources = dict.fromkeys(
            text for own in enclosing for each in own for text in self._segments.quoted(each)
        )
        if sources:
            found = (options[0].text for options in self._n_best([*sources], 1))
            translations = dict(zip(sources, found, strict=True))
            for own in enclosing:
                own[:] = [self._segments.with_quotations(each, translations) for each in own]

    def next_words(self, line: str, beginning: str, n: int) -> dict[str, str]:
        """Return up to `n` words that may follow the beginning of a translation, best first.

        A beginning without a space at the end may be followed by punctuation, too. Raises
        `UserError` if the line is not a single sentence, or the model cannot write the beginning.

        → for each word, the beginning with it, and with the character after it, by which
        `n_best` recognizes that the word has ended
        """
        segments = self.segments(line)
        if len(segments) != 1:
            raise UserError("text: send one sentence, not so long that it is translated in parts")
        if self.tokenizers.target.whole_words:
            return {}  # `n_best` could not continue them
        self._translate_quotations([segments])
        [segment] = self._segments.begin(segments, beginning)
        target = self.tokenizers.target
        written = target.encode(segment.beginning.strip())

        def spelled(ids: list[int]) -> str:
            return self.segment_search.text(
                segment, Hypothesis([*written, *ids], 0.0, 0.0, complete=False)
            )

        def has_ended(ids: list[int]) -> bool:
            rest = spelled(ids)[len(before) :]
            match = _NEXT_WORD.match(rest)
            return bool(match and match.end(2) < len(rest))

        before, given = spelled([]), beginning.strip()
        [limit] = self.segment_search.limits([segment])
        is_changed = len(before) != len(given.removeprefix(segment.part.before.strip()))
        if is_changed or len(written) >= limit:  # is_changed: a name, which is copied, was begun
            return {}
        found: dict[str, str] = {}
        for ids in self.pytorch.continuations(
            segment.ids, written, _MOST_BRANCHES * n, limit, has_ended
        ):
            if not (match := _NEXT_WORD.match(spelled(ids)[len(before) :])):
                continue
            space, word, after = match.groups()
            joins = beginning[-1:].isspace() or (before[-1:].isalnum() and word[0].isalnum())
            if before and not space and joins:
                continue  # it belongs to the word before
            if self._target_words and self._target_words.count_new(word, segment.part.raw):
                continue
            found.setdefault(word, f"{given}{space}{word}{after}")
        return dict(islice(found.items(), n))

    def segments(self, line: str) -> list[Segment]:
        """Return the parts of a line that are translated separately; none for a blank one."""
        sentences = self.split(line).sentences
        return [segment for sentence in sentences for segment in self._segments.segment(sentence)]

    def out_of_vocabulary(self, terms: Iterable[Term]) -> list[str]:
        """Return what the model cannot write of the terms' translations: characters or words."""
        return self._segments.out_of_vocabulary(terms)

    def trace(self, line: str) -> list[Trace]:
        """Translate one line and keep the tokens: one trace per part, none for an empty line.

        Parts are not divided if the lengths of their translations are unusual.

        >>> [trace] = translator.trace("oscar likes to code")
        """
        return self.traces(self._n_best([line], 1, divide=False)[0][0])

    def traces(self, translation: Translation) -> list[Trace]:
        """Return the tokens of a translation, without another search: one trace per part."""
        return [self._trace(segment, hypothesis) for segment, hypothesis in translation.found]

    def _trace(self, segment: Segment, best: Hypothesis) -> Trace:
        # Use the split text: tokens from ids would be <unk> for unknown words.
        part = segment.part
        source = self.tokenizers.source.split(part.text)[: len(segment.ids) - 1]
        read = [fill_placeholders(token, part.words) for token in source]
        written = [
            fill_placeholders(token, part.written)
            for token in self.segment_search.tokens(segment, best)
        ]
        text = self.segment_search.text(segment, best)
        ids = segment.ids
        return Trace([*read, SPECIALS[EOS]], ids, written, best, text, part.before, part.after)

    def _join(self, line: SplitText, found: list[Found]) -> list[Translation]:
        """Put a line's options together from those of each segment of each sentence."""
        parts = [options for sentence in found for _, options in sentence]
        ranks = range(max(map(len, parts), default=1))
        options = [self._translation(line, found, rank) for rank in ranks]
        if not self.decoding.temperature:  # different tokens may spell the same text
            options = distinct(options)
        # Skip empty alternatives.
        return [option for option in options if option.text] or options[:1]

    def _translation(self, line: SplitText, found: list[Found], rank: int) -> Translation:
        chosen = [
            [(segment, options[min(rank, len(options) - 1)]) for segment, options in sentence]
            for sentence in found
        ]
        texts = [
            " ".join(
                filter(
                    None, (surround(s.part, self.segment_search.text(s, h)) for s, h in sentence)
                )
            )
            if sentence
            else self._segments.untranslated(typed)
            for typed, sentence in zip(line.sentences, chosen, strict=True)
        ]
        parts = tuple(part for sentence in chosen for part in sentence)
        hypotheses = [hypothesis for _, hypothesis in parts]
        return Translation(
            text=line.join(texts).strip(),
            score=sum(h.score for h in hypotheses),
            complete=all(h.complete for h in hypotheses),
            parts=len(hypotheses),
            sentences=sum(map(bool, found)),
            is_long=any(
                len(sentence) > 1 and self._segments.are_long([s for s, _ in sentence])
                for sentence in chosen
            ),
            in_proportion=all(self.segment_search.in_proportion(*part) for part in parts),
            log_probability=sum(h.log_probability for h in hypotheses),
            tokens=sum(len(h.ids) + h.complete for h in hypotheses),
            missing_terms=tuple(
                term
                for segment, hypothesis in parts
                for term in self._segments.missing_terms(segment, hypothesis.ids)
            ),
            unknown=tuple(
                dict.fromkeys(x for segment, _ in parts for x in self._segments.unknown(segment))
            ),
            found=parts,
        )


def distinct(options: Iterable[Translation]) -> list[Translation]:
    """Return the options in their order, each text once."""
    found: dict[str, Translation] = {}
    for option in options:
        found.setdefault(option.text, option)
    return list(found.values())
