"""Attention, probabilities and beam-search steps of one translated sentence.

The translation goes through the model once more, in PyTorch.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

import torch
from torch import Tensor

from nmt.config.decoding import DecodingConfig
from nmt.corpus.text.normalization import INVISIBLE, JOINER
from nmt.corpus.text.parts import surround
from nmt.corpus.text.punctuation import plain
from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.translator import Trace, Translation, Translator
from nmt.model.transformer import Transformer
from nmt.ops.threads import TORCH_LOCK
from nmt.reports.attention import AttentionMap, read_attention
from nmt.special_tokens import BOS, EOS, SPECIALS, TAGS

Span = tuple[int, int]  # first character, and the one after the last
_MARKS = ("▁", "</w>", JOINER, *SPECIALS)  # in tokens only, not in the text
_BYTE = re.compile("<0x([0-9A-F]{2})>")


@dataclass(frozen=True)
class Inspection:
    """A sentence and its translation, with attention and probabilities."""

    source: str
    translation: str
    source_tokens: list[str]
    """Source tokens, ending in <eos>."""
    target_tokens: list[str]
    """Target tokens, ending in <eos>, or in "(cut)" if the translation was truncated."""
    source_spans: list[Span] | None
    """The characters that each source token covers, None if unknown."""
    target_spans: list[Span] | None
    """The characters that each target token covers, None if unknown."""
    cross: AttentionMap
    """The cross-attention, (layers, heads, target tokens, source tokens)."""
    log_probabilities: list[float]
    """The log-probability of each target token."""


def inspect(
    translator: Translator,
    sentence: str,
    translation: Translation,
    probabilities: bool = True,
) -> Inspection:
    """Inspect a translation of one sentence by the model; raises `UserError` like `read_attention`.

    probabilities: whether to compute `log_probabilities`, which otherwise stay empty
    """
    with TORCH_LOCK:
        attention = read_attention(translator, sentence, translation=translation)
        [trace] = translator.traces(translation)
        model = translator.pytorch.models[0]
        found = _log_probabilities(model, trace) if probabilities else []
    [(segment, _)] = translation.found
    around = segment.part.before, segment.part.after
    written = surround(segment.part, trace.text)
    cross = attention["cross"]
    return Inspection(
        sentence,
        written,
        cross.keys,
        cross.queries,
        spell(cross.keys, sentence, *around),
        spell([*cross.queries[:-1], SPECIALS[EOS]], written, *around),
        cross,
        found,
    )


@torch.inference_mode()
def _log_probabilities(model: Transformer, trace: Trace) -> list[float]:
    """Return the log-probability of each target token, including <eos>."""
    device = model.output.weight.device
    source = torch.tensor([trace.source_ids], device=device)
    written = [*trace.hypothesis.ids, EOS]
    logits = model(source, torch.tensor([[BOS, *written[:-1]]], device=device))
    found = logits[0].float().log_softmax(-1)
    picked: list[float] = found[range(len(written)), written].tolist()
    return picked


def spell(tokens: Sequence[str], text: str, before: str = "", after: str = "") -> list[Span] | None:
    """Return the characters of a text that each token covers; None if they do not match.

    Case and the form of punctuation do not matter; whitespace and invisible characters belong to no
    token. Adjacent bytes, which spell characters outside the vocabulary, all cover the same ones.

    before, after: what stands around the tokens in the text, perhaps with other quotation marks
    """
    spans: list[Span] = []
    start = len(text) - len(text.lstrip())
    place, text = start + len(before), text.rstrip()[: -len(after) or None]
    for spelled, count in _spelled(tokens):
        start = place
        for number, character in enumerate(spelled):
            while place < len(text) and _belongs_to_no_token(text[place]):
                place += 1
            if number == 0:
                start = place
            if place >= len(text) or _folded(text[place]) != _folded(character):
                return None
            place += 1
        spans += [(start, place) if place > start else (place, place)] * count
    return spans if all(map(_belongs_to_no_token, text[place:])) else None


def _folded(character: str) -> str:
    return plain(character).casefold().replace('"', "'")  # single quotation marks become double


def _spelled(tokens: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the text that a token, or several adjacent bytes, spell, and the number of tokens."""
    for is_byte, group in groupby(tokens, lambda token: bool(_BYTE.fullmatch(token))):
        if is_byte:
            codes = [int(token[3:5], 16) for token in group]
            yield bytes(codes).decode("utf-8", "replace"), len(codes)
            continue
        for token in group:
            for mark in (*_MARKS, " ", *TAGS):
                token = token.replace(mark, "")
            yield token, 1


def _belongs_to_no_token(character: str) -> bool:
    return character.isspace() or bool(INVISIBLE.match(character))


# ----------------------------------------------------------------------------------- beam search


@dataclass
class Step:
    """A hypothesis at one step of the search."""

    token: str
    """Its last token."""
    text: str
    """All its tokens, joined."""
    parent: int
    """Index, in the previous step, of the hypothesis that it continues."""
    log_probability: float
    """The sum over all its tokens."""
    fate: Literal["lives", "ends", "dies"] = "dies"
    """Whether it lives, ends (with <eos> or at the length limit), or dies (none of its
    continuations was kept).
    """
    score: float | None = None


@dataclass
class _Recorder:
    """Stands in for the model in a beam search, and records its calls for one sentence."""

    model: Transformer
    tokens: list[list[int]] = field(default_factory=list)
    parents: list[list[int]] = field(default_factory=list)
    sums: list[list[float]] = field(default_factory=list)
    _logs: Tensor = field(default_factory=lambda: torch.zeros(1, 1))

    def init_state(self, source: Tensor) -> "_RecordedState":
        return _RecordedState(self.model.init_state(source), self)

    def step(self, tokens: Tensor, state: "_RecordedState") -> Tensor:
        if self.tokens:  # the first token is <sos>
            before, rows = self.sums[-1], self.parents[-1]
            logs = self._logs[rows, tokens.tolist()].tolist()
            self.sums.append([before[row] + log for row, log in zip(rows, logs, strict=True)])
        else:
            self.sums.append([0.0])
        self.tokens.append(tokens.tolist())
        logits = self.model.step(tokens, state.inner)
        self._logs = logits.float().log_softmax(-1)
        return logits


class _RecordedState:
    """A decoder state that reports to the recorder which rows continue."""

    def __init__(self, inner: Any, recorder: _Recorder):
        self.inner, self._recorder = inner, recorder

    @property
    def length(self) -> int:
        return int(self.inner.length)

    def select(self, rows: Tensor) -> None:
        self._recorder.parents.append(rows.flatten().tolist())
        self.inner.select(rows)


@torch.inference_mode()
def record_beam(
    model: Transformer,
    source_ids: list[int],
    limit: int,
    decoding: DecodingConfig,
    tokens_of: Callable[[Sequence[int]], list[str]],
    text_of: Callable[[Sequence[int]], str],
    n: int = 1,
) -> tuple[list[list[Step]], list[Hypothesis]]:
    """Search one sentence; return the hypotheses of each step.

    Also returns the finished hypotheses, best first, up to the beam size, which is at least `n`.

    tokens_of, text_of: return the tokens of target ids, and their text
    """
    recorder = _Recorder(model)
    device = model.output.weight.device
    beam = max(decoding.beam_size, n)
    found = beam_search(
        recorder,
        torch.tensor([source_ids], device=device),
        torch.tensor([limit]),
        beam,
        decoding.length_penalty,
        beam,
        offset=decoding.length_offset,
    )[0]
    steps: list[list[Step]] = []
    paths: list[list[list[int]]] = [[[]]]
    for number in range(1, len(recorder.tokens)):
        tokens, parents = recorder.tokens[number], recorder.parents[number - 1]
        sums = recorder.sums[number]
        paths.append([[*paths[-1][p], t] for t, p in zip(tokens, parents, strict=True)])
        texts = map(text_of, paths[-1])
        steps.append(list(map(Step, tokens_of(tokens), texts, parents, sums)))
        if number > 1:
            for parent in parents:
                steps[-2][parent].fate = "lives"
    for hypothesis in found:
        written = [*hypothesis.ids, EOS] if hypothesis.complete else hypothesis.ids
        before = len(written) - 1
        while len(steps) <= before:
            steps.append([])
        parent = paths[before].index(written[:-1])
        [token] = tokens_of(written[-1:])
        text, log_probability = text_of(hypothesis.ids), hypothesis.log_probability
        end = Step(token, text, parent, log_probability, "ends", hypothesis.score)
        steps[before].append(end)
        if before:
            steps[before - 1][parent].fate = "lives"
    return steps, found
