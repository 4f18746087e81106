"""Searches for the translations of segments, with what they must contain.

CTranslate2 searches first. Where all its hypotheses lack a placeholder or a term, a wider beam or
PyTorch's search with constraints follows; segments whose translations have unusual lengths or
repeat themselves are divided.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from itertools import compress
from math import isnan
from operator import not_
from typing import TYPE_CHECKING, cast

from nmt.config.choices import Address
from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.corpus.text.form_of_address import addresses, words_of_other_forms
from nmt.corpus.text.target_words import TargetWords
from nmt.corpus.tokenizers.registry import Tokenizers
from nmt.decoding.engines.interface import ContinuingEngine, Engine
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.segments import Segment, Segmenter
from nmt.decoding.term_placement import Alignment
from nmt.errors import UserError
from nmt.special_tokens import UNK

if TYPE_CHECKING:
    from nmt.decoding.engines.pytorch import PyTorchEngine

# CTranslate2 runs without it; then <unk> stays, and no search with constraints is possible.
_HAS_PYTORCH = find_spec("torch") is not None
_LOG = logging.getLogger(__name__)
_WIDE_BEAM = 32  # for a segment whose hypotheses all lack a placeholder or a term
_MOST_PLACED = 8  # missing terms of a segment
_MOST_REWORDED = 3  # times, to remove another form of address
_MOST_DIVISIONS = 4  # of a segment whose translation is out of proportion

Found = list[tuple[Segment, list[Hypothesis]]]
"""The parts of a segment, one unless it was divided, each with its hypotheses."""


class OutdatedError(UserError):
    """A run was trained further after its weights were loaded, so it has others now."""


class SegmentSearch:
    """Finds the best hypotheses of segments.

    engine: searches first; open_pytorch: loads the same weights in PyTorch, for what `engine` does
    not support, or raises `UserError`; None if `engine` is PyTorch; segmenter: knows what a
    translation must contain; address: how to address readers; target_words: of the training text,
    see `decoding.new_words_margin`
    """

    def __init__(
        self,
        engine: Engine,
        open_pytorch: "Callable[[], PyTorchEngine] | None",
        segmenter: Segmenter,
        tokenizers: Tokenizers,
        data: DataConfig,
        decoding: DecodingConfig,
        address: Address | None = None,
        target_words: TargetWords | None = None,
    ):
        self.engine, self._open_pytorch, self._is_outdated = engine, open_pytorch, False
        self._segmenter, self._tokenizers = segmenter, tokenizers
        self._data, self.decoding = data, decoding
        self._address, self._target_words = address, target_words

    @cached_property
    def pytorch(self) -> "PyTorchEngine":
        """The PyTorch engine with the same weights, loaded on first use."""
        return self._open_pytorch() if self._open_pytorch else cast("PyTorchEngine", self.engine)

    def pytorch_if_possible(self) -> "PyTorchEngine | None":
        """Return the PyTorch engine; None if it is not installed or has other weights by now."""
        if not _HAS_PYTORCH or self._is_outdated:
            return None
        try:
            return self.pytorch
        except OutdatedError as error:
            self._is_outdated = True
            _LOG.warning(f"{error}; until then, <unk> and missing placeholders stay")
            return None

    def __call__(self, segments: list[Segment], n: int, divide: bool = True) -> list[Found]:
        """Return up to `n` hypotheses of each segment, best first.

        divide: whether segments are divided whose translations have unusual lengths or repeat
        themselves; then there is more than one part for them
        """
        found: list[Found] = [
            [each] for each in zip(segments, self._search(segments, n), strict=True)
        ]
        for _ in range(_MOST_DIVISIONS if divide and not self.decoding.temperature else 0):
            odd = [
                (i, j, halves)
                for i, parts in enumerate(found)
                for j, (segment, options) in enumerate(parts)
                if not segment.beginning
                and self._is_odd(segment, options[0])
                and len(halves := self._segmenter.divide(segment)) > 1
            ]
            if not odd:
                break
            again = iter(self._search([half for _, _, halves in odd for half in halves], n))
            results = [[(half, next(again)) for half in halves] for _, _, halves in odd]
            # Later parts come first, so that the places of the others remain.
            for (i, j, _), parts in reversed(list(zip(odd, results, strict=True))):
                found[i][j : j + 1] = parts
        return found

    def _is_odd(self, segment: Segment, found: Hypothesis) -> bool:
        repeats = self._segmenter.rules.repeats(segment.part.tokens, found.ids)
        return repeats or not self.in_proportion(segment, found)

    def in_proportion(self, segment: Segment, found: Hypothesis) -> bool:
        """Return whether a translation is about as long as training leads to expect."""
        return self._segmenter.rules.in_proportion(len(segment.part.tokens), len(found.ids))

    def limits(self, segments: list[Segment]) -> list[int]:
        """Return the maximum length of each translation in tokens, including <eos>."""
        factor, extra = self.decoding.max_length_factor, self.decoding.max_length_extra
        most = self.engine.max_length - 1  # <sos>
        return [
            min(
                int((len(s.ids) - 1) * factor)
                + extra
                + len(self._tokenizers.target.encode(s.beginning)),
                most,
            )
            for s in segments
        ]

    def text(self, segment: Segment, hypothesis: Hypothesis) -> str:
        """Return the text of a hypothesis, with its capitals and the words of placeholders."""
        tokens = self.tokens(segment, hypothesis)
        pytorch = self.pytorch_if_possible() if segment.part.marks else None
        pairs = self._aligned_words(segment, hypothesis, pytorch).pairs if pytorch else ()
        return self._segmenter.restore(segment, self._tokenizers.target.join(tokens), pairs)

    def tokens(self, segment: Segment, hypothesis: Hypothesis) -> list[str]:
        """Return the tokens of a translation; each <unk> is replaced if this is enabled."""
        target = self._tokenizers.target
        replace = self.decoding.replace_unknown and target.whole_words
        if UNK in hypothesis.ids and replace and (pytorch := self.pytorch_if_possible()):
            from nmt.decoding.unknown_words import replace_unknown

            words = self._words_to_copy(segment)
            return replace_unknown(pytorch.models[0], segment.ids, words, hypothesis.ids, target)
        return target.tokens(hypothesis.ids)

    def _words_to_copy(self, segment: Segment) -> list[str]:
        """Return the source words; as typed, unless translations are in lower case."""
        words = self._tokenizers.source.split(segment.part.text)
        if self._data.lowercase == "both" and not self._data.restore_case:
            return words
        typed = self._tokenizers.source.split(segment.part.cased)
        return typed if len(typed) == len(words) else words

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

        If the best of a beam does and no other one is better, considers a wider beam; then searches
        again without the words of the other forms.
        """

        def strays(segment: Segment, hypothesis: Hypothesis) -> int:
            """Count the other forms; one more if the demanded one is not there, either."""
            forms = addresses(self.text(segment, hypothesis))
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
        again = {i: (segments[i], result[i][0]) for i in wrong if strays(segments[i], result[i][0])}
        for _ in range(_MOST_REWORDED):
            if not again or not self.pytorch_if_possible():
                break
            strict = {i: self._without_other_forms(*each) for i, each in again.items()}
            found = self._find_with_constraints([*strict.values()], 1)
            again = {}
            for (i, segment), options in zip(strict.items(), found, strict=True):
                result[i] = reordered(segment, [*result[i], *options])
                if strays(segment, result[i][0]):
                    again[i] = segment, options[0]
        return result

    def _without_other_forms(self, segment: Segment, found: Hypothesis) -> Segment:
        """Return a segment that forbids the words by which a hypothesis has another address."""
        assert self._address
        words = words_of_other_forms(self.text(segment, found), self._address)
        return replace(segment, forbidden=(*segment.forbidden, *words))

    def _known_words_first(self, segment: Segment, found: list[Hypothesis]) -> list[Hypothesis]:
        """Put the hypothesis with the fewest words that training lacks first, if it is near."""
        best = found[0]
        missing = self._count_faults(segment, best)

        def count_new(hypothesis: Hypothesis) -> int:
            assert self._target_words
            text = self.text(segment, hypothesis)
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
        return _numeric(self.engine(sources, self.limits(segments), self.decoding, n))

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
            lacking = [i for i in lacking if self._lacks_something(segments[i], found[i][0])]
            searched = [i for i in lacking if not (segments[i].terms and _HAS_PYTORCH)]
        pytorch = self.pytorch_if_possible() if lacking and not self.decoding.temperature else None
        if pytorch:
            # Further options are in the first search.
            self._search_again(segments, found, lacking, self._lacks_something, 1, pytorch)
        return [hypotheses[:n] for hypotheses in found]

    def _search_again(
        self,
        segments: list[Segment],
        found: list[list[Hypothesis]],
        lacking: list[int],
        lacks: Callable[[Segment, Hypothesis], bool],
        n: int,
        pytorch: "PyTorchEngine",
    ) -> None:
        """Place the terms that the best hypotheses lack; search with constraints for the rest.

        lacking: the numbers of the segments; lacks: whether a hypothesis still lacks something; n:
        how many hypotheses the search adds
        """
        self._place_terms(segments, found, lacking, pytorch)
        lacking = [i for i in lacking if lacks(segments[i], found[i][0])]
        again = [self._without_usual_words(segments[i], found[i][0], pytorch) for i in lacking]
        second = self._find_with_constraints(again, n)
        for i, segment, further in zip(lacking, again, second, strict=True):
            found[i] = self._complete_first(segment, [*found[i], *further])

    def _place_terms(
        self,
        segments: list[Segment],
        found: list[list[Hypothesis]],
        lacking: list[int],
        pytorch: "PyTorchEngine",
    ) -> None:
        """Put hypotheses first that continue the best up to a missing term, and then with the term.

        One term is placed after the other. This is faster than a search with constraints, and the
        words before a term agree with it more often.
        """
        engine = self.engine
        if not isinstance(engine, ContinuingEngine):
            return
        for _ in range(_MOST_PLACED):
            if not lacking:
                break
            begun: dict[int, tuple[Segment, list[list[int]]]] = {}
            for i in lacking:
                if self._lacks_terms(segments[i], found[i][0]):
                    alignment = self._aligned_words(segments[i], found[i][0], pytorch)
                    given = segments[i], found[i][0].ids, alignment
                    if beginnings := self._segmenter.begin_with_term(*given):
                        begun[i] = self._segmenter.forbid_usual_words(*given), beginnings
            lacking = []
            sources = [segments[i].ids for i in begun]
            limits = self.limits([segments[i] for i in begun])
            openings = [each for _, each in begun.values()]
            further = engine.continue_from(sources, openings, limits, self.decoding)
            for (i, (strict, _)), options in zip(begun.items(), further, strict=True):
                faults = self._count_faults(segments[i], found[i][0])
                better = [
                    h
                    for h in options
                    if h.complete
                    and self._count_faults(strict, h) < faults
                    and self._segmenter.begins_as_given(strict, h.ids)
                ]
                found[i] = self._complete_first(segments[i], [*better, *found[i]])
                if better:
                    lacking.append(i)

    def _without_usual_words(
        self, segment: Segment, best: Hypothesis, pytorch: "PyTorchEngine"
    ) -> Segment:
        """Return the segment with terms that forbid the words with which `best` translates them.

        Otherwise, a search with constraints may add a term instead of replacing these words.
        """
        if not self._segmenter.missing_terms(segment, best.ids):
            return segment
        alignment = self._aligned_words(segment, best, pytorch)
        # A search with constraints demands each term once, so a repeated one may forbid none.
        return self._segmenter.forbid_usual_words(segment, best.ids, alignment, False)

    def _aligned_words(
        self, segment: Segment, found: Hypothesis, pytorch: "PyTorchEngine"
    ) -> Alignment:
        """Return which words of a segment and a hypothesis attention aligns."""
        from nmt.decoding.attention import pair_words, word_attention, words_of_tokens

        source, target = self._tokenizers.source, self._tokenizers.target
        weights = pytorch.cross_attention(segment.ids, found.ids)
        sides = (
            words_of_tokens(source, source.tokens(segment.ids[:-1])),
            words_of_tokens(target, target.tokens(found.ids)),
        )
        attention = word_attention(weights, *sides)
        nearest = attention.argmax(0).tolist() if len(attention) else []
        return Alignment(pair_words(attention), nearest)

    def _find_begun(self, segments: list[Segment], n: int) -> list[list[Hypothesis]]:
        """Search segments whose translations have a beginning, again for those that lack terms."""
        free = [replace(each, terms=()) for each in segments]
        found = _numeric(self._find_with_constraints(free, n))
        if self.decoding.temperature:  # samples remain as drawn
            return found
        lacking = [i for i, each in enumerate(segments) if self._lacks_terms(each, found[i][0])]
        self._search_again(segments, found, lacking, self._lacks_terms, n, self.pytorch)
        return [hypotheses[:n] for hypotheses in found]

    def _find_with_constraints(self, segments: list[Segment], n: int) -> list[list[Hypothesis]]:
        sources, limits = [segment.ids for segment in segments], self.limits(segments)
        constraints = self._segmenter.constraints(segments)
        return self.pytorch(sources, limits, self.decoding, n, constraints)

    def _lacks_something(self, segment: Segment, hypothesis: Hypothesis) -> bool:
        """Return whether a hypothesis has any of the faults that `_count_faults` counts."""
        return any(self._count_faults(segment, hypothesis))

    def _lacks_terms(self, segment: Segment, hypothesis: Hypothesis) -> bool:
        """Return whether a hypothesis lacks terms, or has them in the wrong number."""
        missing = self._segmenter.missing_terms(segment, hypothesis.ids)
        return bool(missing or self._segmenter.count_unfit(segment, hypothesis.ids))

    def _complete_first(self, segment: Segment, found: list[Hypothesis]) -> list[Hypothesis]:
        """Sort complete hypotheses that lack the fewest placeholders and terms first."""
        return sorted(found, key=lambda h: (not h.complete, *self._count_faults(segment, h)))

    def _count_faults(self, segment: Segment, hypothesis: Hypothesis) -> tuple[int, int]:
        """Count what a hypothesis lacks, and its terms in the wrong number."""
        return (
            self._segmenter.count_missing(segment, hypothesis.ids),
            self._segmenter.count_unfit(segment, hypothesis.ids),
        )


def _numeric(found: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
    """Return what a search found; raises `UserError` if the model does not compute numbers."""
    if not all(found) or any(isnan(options[0].log_probability) for options in found):
        raise UserError(
            "the model's output is not a number, so its weights are damaged; choose other "
            "--weights, or train, import or download the model again"
        )
    return found
