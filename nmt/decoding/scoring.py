"""How probable a model finds given translations."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from nmt.corpus.sources.readers import Pair
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.tags import split_tag
from nmt.corpus.text.training_placeholders import insert_in_pair
from nmt.decoding.search.batches import make_batches
from nmt.decoding.translator import Translator
from nmt.special_tokens import BOS, EOS, PAD

if TYPE_CHECKING:
    from nmt.model.transformer import Transformer

_PAIRS_AT_A_TIME = 1024
_BATCH_TOKENS = 2048


@dataclass(frozen=True)
class Score:
    """The log-probability of a translation, including <eos>, and its number of tokens.

    -∞ if a side is empty or too long for the model
    """

    log_probability: float
    tokens: int

    @property
    def cross_entropy(self) -> float:
        """Minus the mean log-probability of the tokens."""
        return -self.log_probability / self.tokens

    @property
    def mean_probability(self) -> float:
        """Geometric mean of the probabilities of the tokens."""
        return math.exp(-self.cross_entropy)


_IMPOSSIBLE = Score(-math.inf, 1)


def dual_score(forward: Score, backward: Score) -> float:
    """Return how good a pair is according to models of both directions, from 0 to 1.

    exp(-(|H_A - H_B| + ½ (H_A + H_B))) with the cross-entropies H (Junczys-Dowmunt 2018, equations
    1 and 2): low if one of them finds the translation improbable, or if they disagree.
    """
    first, second = forward.cross_entropy, backward.cross_entropy
    if math.isinf(first) or math.isinf(second):
        return 0.0
    return math.exp(-(abs(first - second) + (first + second) / 2))


def score_pairs(translator: Translator, pairs: Iterable[Pair]) -> Iterator[Score]:
    """Yield the score of each (source, target) pair, with the first model of the translator."""
    model, cleaner = translator.pytorch.models[0].eval(), Cleaner(translator.data)
    rest = iter(pairs)
    while chunk := list(islice(rest, _PAIRS_AT_A_TIME)):
        encoded = [_encode(translator, cleaner, *pair) for pair in chunk]
        found = iter(_score(model, [each for each in encoded if each]))
        yield from (next(found) if each else _IMPOSSIBLE for each in encoded)


def _encode(
    translator: Translator, cleaner: Cleaner, source: str, target: str
) -> tuple[list[int], list[int]] | None:
    """Return the ids of both sides with <eos>, as in training; None if there is no score."""
    tokenizers = translator.tokenizers
    tag, source = split_tag(translator.data, source)
    source, target = cleaner.tidy(source), cleaner.tidy(target)
    if rules := tokenizers.placeholder_rules(translator.data):
        source, target = insert_in_pair(rules, source, target)
    read = tokenizers.source.encode(tag + cleaner.source_form(source))
    written = tokenizers.target.encode(cleaner.target_form(target))
    room = translator.engine.max_length - 1
    if not (source and read and written) or max(len(read), len(written)) > room:
        return None
    return [*read, EOS], [*written, EOS]


def _score(model: "Transformer", pairs: Sequence[tuple[list[int], list[int]]]) -> list[Score]:
    """Score encoded pairs by teacher forcing, in batches of similar length."""
    import torch
    from torch.nn.functional import cross_entropy

    from nmt.model.padding import pad
    from nmt.ops.threads import TORCH_LOCK

    found = [_IMPOSSIBLE] * len(pairs)
    device = model.output.weight.device
    costs = [len(source) + len(target) for source, target in pairs]
    with TORCH_LOCK, torch.inference_mode():
        for batch in make_batches(costs, _BATCH_TOKENS):
            source = pad([pairs[i][0] for i in batch]).to(device)
            target_in = pad([[BOS, *pairs[i][1][:-1]] for i in batch]).to(device)
            labels = pad([pairs[i][1] for i in batch]).to(device)
            logits = model(source, target_in).float()
            losses = cross_entropy(
                logits.transpose(1, 2), labels, ignore_index=PAD, reduction="none"
            )
            for i, loss in zip(batch, losses.sum(1).tolist(), strict=True):
                found[i] = Score(-loss, len(pairs[i][1]))
    return found
