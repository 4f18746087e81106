"""Raw text in, raw text out: used by validation, `translate`, `evaluate` and `serve`."""

import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import compress, islice
from operator import not_
from typing import TYPE_CHECKING, cast

from nmt.config.choices import Address
from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.corpus.text.form_of_address import addresses
from nmt.corpus.text.parts import surround
from nmt.corpus.text.placeholders import fill_placeholders
from nmt.corpus.text.sentences import SplitText
from nmt.corpus.text.tags import address_prefix, split_prefix
from nmt.corpus.text.target_words import TargetWords
from nmt.corpus.tokenizers.registry import Tokenizers
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.decoding.engines.interface import Search
from nmt.decoding.glossary import Glossary, Term
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.segments import Segment, Segmenter, TrainingLines
from nmt.decoding.translation_memory import Memory
from nmt.errors import UserError
from nmt.special_tokens import EOS, SPECIALS, UNK

if TYPE_CHECKING:
    from nmt.decoding.engines.pytorch import PyTorchSearch

# CTranslate2 runs without it; then <unk> stays, and no search with constraints is possible.
_HAS_PYTORCH = find_spec("torch") is not None
_LOG = logging.getLogger(__name__)
_WIDE_BEAM = 32  # for a segment whose hypotheses all lack a placeholder or a term
_MOST_DIVISIONS = 4  # of a segment whose translation is out of proportion
_NEXT_WORD = re.compile(r"(\s*)(\w[\w'’-]*(?![\w'’-])|[^\w\s]+)(\W?)")
_MOST_BRANCHES = 3  # per word wanted: some spell no word of their own
_LINES_AT_A_TIME = 1024  # enough to sort by length, few enough to show progress


class OutdatedError(UserError):
    """A run was trained further after its weights were loaded, so it has others now."""


@dataclass(frozen=True)
class Translation:
    """The translation of a line."""

    text: str
    score: float
    """Sum of the length-normalized log-probabilities of its parts."""
    complete: bool = True
    """False if the length limit truncated it."""
    parts: int = 1
    """Number of parts that were translated separately, at least one per sentence with text."""
    sentences: int = 1
    """The number of sentences with text."""
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
    """A search engine with tokenizers: lines in, lines out.

    seen: facts about training lines; if None, lines are split only if the model has too few
    positions; open_pytorch: loads the same weights in PyTorch, for what `search` does not support,
    or raises `UserError`; None if `search` is PyTorch; glossary: terms with prescribed
    translations; memory: earlier translations of whole lines, which are used again; address: how
    to address readers; target_words: of the training text, see `decoding.new_words_margin`
    """

    def __init__(
        self,
        search: Search,
        tokenizers: Tokenizers,
        data: DataConfig,
        decoding: DecodingConfig,
        seen: TrainingLines | None = None,
        open_pytorch: "Callable[[], PyTorchSearch] | None" = None,
        glossary: Glossary | None = None,
        memory: Memory | None = None,
        address: Address | None = None,
        target_words: TargetWords | None = None,
    ):
        self.search, self.tokenizers = search, tokenizers
        self.data, self.decoding = data, decoding
        self._open_pytorch, self._is_outdated = open_pytorch, False
        room = search.max_length - 1  # <eos>
        self.glossary, self._memory, self._address = glossary, memory, address
        self._target_words = target_words
        self._seen = seen or TrainingLines(room, False)
        prefix = address_prefix(data, address)
        self._segments = Segmenter(
            tokenizers, data, self._seen, room, glossary, prefix, target_words
        )

    @cached_property
    def pytorch(self) -> "PyTorchSearch":
        """The PyTorch engine with the same weights, loaded on first use."""
        return self._open_pytorch() if self._open_pytorch else cast("PyTorchSearch", self.search)

    def adapted(
        self, glossary: Glossary | None = None, address: Address | None = None
    ) -> "Translator":
        """Return a translator with the same model; None: the glossary or address of this one.

        Raises `UserError` if the model did not learn forms of address.
        """
        return Translator(
            self.search,
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
        return self._memory.find(split_prefix(self.data, line)[1]) if self._memory else None

    def begin(self, sentences: Sequence[str], text: str) -> list[str]:
        """Return the beginning of the translation of each sentence, of a text that begins so."""
        begun = self.split(text).sentences
        last = len(sentences) - 1
        parts = [*begun[:last], " ".join(begun[last:])] if sentences else []
        if parts and text[-1:].isspace():
            parts[-1] += " "
        return [*parts, *[""] * (len(sentences) - len(parts))]

    def stream(
        self, lines: Iterable[str], n_best: int = 1, beginnings: Iterable[str] | None = None
    ) -> Iterator[list[Translation]]:
        """Translate any number of lines in order, 1,024 at a time; beginnings: see `n_best`.

        Sampling in PyTorch draws different translations for equal lines within these 1,024; the
        next 1,024 repeat them.
        """
        rest, begun = iter(lines), None if beginnings is None else iter(beginnings)
        while chunk := list(islice(rest, _LINES_AT_A_TIME)):
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
        for line, text in zip(parts, beginnings or (), strict=False):
            if text.strip() and (own := [part for sentence in line for part in sentence]):
                rest = iter(self._segments.begin(own, text))
                line[:] = [[next(rest) for _ in sentence] for sentence in line]
        segments = [part for line in parts for sentence in line for part in sentence]
        search = self._search_in_proportion if divide else self._search_once
        found = iter(search(segments, n))
        return [
            self._join(each, [[x for _ in sentence for x in next(found)] for sentence in line])
            for each, line in zip(split, parts, strict=True)
        ]

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
        if isinstance(self.tokenizers.target, WordTokenizer):
            return {}  # `n_best` could not continue them
        [segment] = self._segments.begin(segments, beginning)
        target = self.tokenizers.target
        written = target.encode(segment.beginning.strip())

        def spelled(ids: list[int]) -> str:
            return self._text(segment, Hypothesis([*written, *ids], 0.0, 0.0, complete=False))

        def has_ended(ids: list[int]) -> bool:
            rest = spelled(ids)[len(before) :]
            match = _NEXT_WORD.match(rest)
            return bool(match and match.end(2) < len(rest))

        before, given = spelled([]), beginning.strip()
        [limit] = self.limits([segment])
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

    def unwritable(self, terms: Iterable[Term]) -> list[str]:
        """Return what the model cannot write of the terms' translations: characters or words."""
        return self._segments.unwritable(terms)

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
            fill_placeholders(token, part.written) for token in self._target_tokens(segment, best)
        ]
        text = self._text(segment, best)
        ids = segment.ids
        return Trace([*read, SPECIALS[EOS]], ids, written, best, text, part.before, part.after)

    def _join(
        self, line: SplitText, found: list[list[tuple[Segment, list[Hypothesis]]]]
    ) -> list[Translation]:
        """Put a line's options together from those of each segment of each sentence."""
        parts = [options for sentence in found for _, options in sentence]
        ranks = range(max(map(len, parts), default=1))
        options = [self._translation(line, found, rank) for rank in ranks]
        if not self.decoding.temperature:  # different tokens may spell the same text
            options = distinct(options)
        # Skip empty alternatives.
        return [option for option in options if option.text] or options[:1]

    def _translation(
        self, line: SplitText, found: list[list[tuple[Segment, list[Hypothesis]]]], rank: int
    ) -> Translation:
        chosen = [
            [(segment, options[min(rank, len(options) - 1)]) for segment, options in sentence]
            for sentence in found
        ]
        texts = [
            " ".join(filter(None, (surround(s.part, self._text(s, h)) for s, h in sentence)))
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
            in_proportion=all(self._in_proportion(*part) for part in parts),
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

    def _text(self, segment: Segment, hypothesis: Hypothesis) -> str:
        tokens = self._target_tokens(segment, hypothesis)
        return self._segments.restore(segment, self.tokenizers.target.join(tokens))

    def _target_tokens(self, segment: Segment, hypothesis: Hypothesis) -> list[str]:
        """Return the tokens of a translation; each <unk> is replaced if this is enabled."""
        target = self.tokenizers.target
        replace = self.decoding.replace_unknown and isinstance(target, WordTokenizer)
        if UNK in hypothesis.ids and replace and (pytorch := self._pytorch_if_possible()):
            from nmt.decoding.unknown import replace_unknown

            words = self._words_to_copy(segment)
            return replace_unknown(pytorch.models[0], segment.ids, words, hypothesis.ids, target)
        return target.tokens(hypothesis.ids)

    def _words_to_copy(self, segment: Segment) -> list[str]:
        """Return the source words; as typed, unless translations are in lower case."""
        words = self.tokenizers.source.split(segment.part.text)
        if self.data.lowercase == "both" and not self.data.restore_case:
            return words
        typed = self.tokenizers.source.split(segment.part.cased)
        return typed if len(typed) == len(words) else words

    def _pytorch_if_possible(self) -> "PyTorchSearch | None":
        """Return the PyTorch engine; None if it is not installed or has other weights by now."""
        if not _HAS_PYTORCH or self._is_outdated:
            return None
        try:
            return self.pytorch
        except OutdatedError as error:
            self._is_outdated = True
            _LOG.warning(f"{error}; until then, <unk> and missing placeholders stay")
            return None

    # ----------------------------------------------------------------------------------- search

    def _search_in_proportion(
        self, segments: list[Segment], n: int
    ) -> list[list[tuple[Segment, list[Hypothesis]]]]:
        """Search all segments; divide those whose translations have unusual lengths."""
        found = self._search_once(segments, n)
        for _ in range(_MOST_DIVISIONS):
            odd = [
                (i, j, halves)
                for i, parts in enumerate(found)
                for j, (segment, options) in enumerate(parts)
                if not segment.beginning
                and not self._in_proportion(segment, options[0])
                and len(halves := self._segments.divide(segment)) > 1
            ]
            if not odd or self.decoding.temperature:
                break
            again = iter(self._search([half for _, _, halves in odd for half in halves], n))
            results = [[(half, next(again)) for half in halves] for _, _, halves in odd]
            # Later parts come first, so that the places of the others remain.
            for (i, j, _), parts in reversed(list(zip(odd, results, strict=True))):
                found[i][j : j + 1] = parts
        return found

    def _search_once(
        self, segments: list[Segment], n: int
    ) -> list[list[tuple[Segment, list[Hypothesis]]]]:
        return [[pair] for pair in zip(segments, self._search(segments, n), strict=True)]

    def _in_proportion(self, segment: Segment, found: Hypothesis) -> bool:
        return self._segments.rules.in_proportion(len(segment.part.tokens), len(found.ids))

    def _search(self, segments: list[Segment], n: int) -> list[list[Hypothesis]]:
        """Search all segments; results are in the given order."""
        bound = [bool(s.part.words or s.terms or s.beginning) for s in segments]
        margin, wanted = self.decoding.new_words_margin, n
        searching = not self.decoding.temperature  # samples remain as drawn
        avoiding = margin > 0 and self._target_words and searching
        if avoiding or (self._address and searching):
            wanted = self.decoding.hypotheses(n)  # of the beam
        free = iter(self._find([*compress(segments, map(not_, bound))], wanted))
        constrained = iter(self._find_constrained([*compress(segments, bound)], wanted))
        found = [next(constrained if is_bound else free) for is_bound in bound]
        if avoiding:
            found = list(map(self._known_words_first, segments, found))
        if self._address and searching:
            found = self._address_first(segments, found)
        return [hypotheses[:n] for hypotheses in found]

    def _address_first(
        self, segments: list[Segment], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """Put hypotheses that address readers in another form than demanded last.

        If the best of a beam does and no other one is better, considers a wider beam.
        """

        def strays(segment: Segment, hypothesis: Hypothesis) -> int:
            """Count the other forms; one more if the demanded one is not there, either."""
            forms = addresses(self._text(segment, hypothesis))
            others = len(forms - {self._address})
            return others + (others > 0 and self._address not in forms)

        def reordered(segment: Segment, options: list[Hypothesis]) -> list[Hypothesis]:
            return sorted(
                options,
                key=lambda h: (not h.complete, *self._count_faults(segment, h), strays(segment, h)),
            )

        result = list(map(reordered, segments, found))
        wrong = [
            i
            for i, segment in enumerate(segments)
            if strays(segment, result[i][0]) and not segment.beginning
        ]
        for i, options in zip(
            wrong, self._find([segments[i] for i in wrong], _WIDE_BEAM), strict=True
        ):
            result[i] = reordered(segments[i], [*result[i], *options])
        return result

    def _known_words_first(self, segment: Segment, found: list[Hypothesis]) -> list[Hypothesis]:
        """Put the hypothesis with the fewest words that training lacks first, if it is near."""
        best = found[0]
        missing = self._count_faults(segment, best)

        def count_new(hypothesis: Hypothesis) -> int:
            assert self._target_words
            text = self._text(segment, hypothesis)
            return self._target_words.count_new(text, segment.part.raw)

        if not count_new(best):
            return found
        near = [
            hypothesis
            for hypothesis in found
            if hypothesis.score >= best.score - self.decoding.new_words_margin
            and hypothesis.complete >= best.complete
            and self._count_faults(segment, hypothesis) <= missing
        ]
        chosen = min(near, key=count_new)
        return [chosen, *(hypothesis for hypothesis in found if hypothesis is not chosen)]

    def _find(self, segments: list[Segment], n: int) -> list[list[Hypothesis]]:
        sources = [segment.ids for segment in segments]
        return self.search(sources, self.limits(segments), self.decoding, n)

    def _find_constrained(self, segments: list[Segment], n: int) -> list[list[Hypothesis]]:
        """Search segments with placeholders or terms; if some are missing, search with constraints.

        Considers the whole beam to find a hypothesis with all of them, and then, for placeholders,
        a wider one: PyTorch, which alone supports constraints, takes long to load. Terms are rarely
        in the wider beam. Samples remain as drawn.
        """
        begun = [bool(segment.beginning) for segment in segments]
        if any(begun):
            first = iter(self._find_begun([*compress(segments, begun)], n))
            rest = iter(self._find_constrained([*compress(segments, map(not_, begun))], n))
            return [next(first if each else rest) for each in begun]
        beams = [self.decoding.hypotheses(n)]
        if self._open_pytorch and not self.decoding.temperature:
            beams.append(_WIDE_BEAM)
        found: list[list[Hypothesis]] = [[] for _ in segments]
        lacking = list(range(len(segments)))
        searched = lacking
        for beam in beams:
            if not searched:
                break
            options = self._find([segments[i] for i in searched], beam)
            for i, further in zip(searched, options, strict=True):
                found[i] = self._complete_first(segments[i], [*found[i], *further])
            lacking = [i for i in lacking if any(self._count_faults(segments[i], found[i][0]))]
            searched = [i for i in lacking if not (segments[i].terms and _HAS_PYTORCH)]
        pytorch = self._pytorch_if_possible() if lacking and not self.decoding.temperature else None
        if pytorch:
            again = [segments[i] for i in lacking]
            constraints = self._segments.constraints(again)
            sources, limits = [segment.ids for segment in again], self.limits(again)
            # Further options are in the first search.
            second = pytorch(sources, limits, self.decoding, 1, constraints)
            for i, more in zip(lacking, second, strict=True):
                found[i] = self._complete_first(segments[i], [*found[i], *more])
        return [hypotheses[:n] for hypotheses in found]

    def _find_begun(self, segments: list[Segment], n: int) -> list[list[Hypothesis]]:
        """Search segments whose translations have a beginning, with all constraints."""
        sources, limits = [segment.ids for segment in segments], self.limits(segments)
        constraints = self._segments.constraints(segments)
        return self.pytorch(sources, limits, self.decoding, n, constraints)

    def _complete_first(self, segment: Segment, found: list[Hypothesis]) -> list[Hypothesis]:
        """Sort complete hypotheses that lack the fewest placeholders and terms first."""
        return sorted(found, key=lambda h: (not h.complete, *self._count_faults(segment, h)))

    def _count_faults(self, segment: Segment, hypothesis: Hypothesis) -> tuple[int, int]:
        """Count what a hypothesis lacks, and its terms in the wrong number."""
        return (
            self._segments.count_missing(segment, hypothesis.ids),
            self._segments.count_unfit(segment, hypothesis.ids),
        )

    def limits(self, segments: list[Segment]) -> list[int]:
        """Return the maximum length of each translation in tokens, including <eos>."""
        factor, extra = self.decoding.max_length_factor, self.decoding.max_length_extra
        most = self.search.max_length - 1  # <sos>
        return [
            min(
                int((len(s.ids) - 1) * factor)
                + extra
                + len(self.tokenizers.target.encode(s.beginning)),
                most,
            )
            for s in segments
        ]


def distinct(options: Iterable[Translation]) -> list[Translation]:
    """Return the options in their order, each text once."""
    found: dict[str, Translation] = {}
    for option in options:
        found.setdefault(option.text, option)
    return list(found.values())
