"""Batches: groups sentence pairs, orders the groups, and turns them into tensors.

With `training.batch_tokens`, a batch has sentences of similar length, so that it needs little
padding; with `batch_sentences`, they are drawn at random. The batches of an epoch depend only on
the seed and the epoch; a resumed run skips those it has seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.config.training import TrainingConfig
from nmt.corpus.prepared import PreparedData, Sequences
from nmt.corpus.tokenizers.subword_regularization import SegmentationSampler
from nmt.corpus.tokenizers.subwords import SubwordTokenizer
from nmt.device import to_device
from nmt.errors import UserError
from nmt.model.padding import pad
from nmt.special_tokens import BOS, EOS, PAD

_POOL_BATCHES = 100  # sentences are sorted by length within pools of about this many batches


@dataclass(frozen=True)
class Batch:
    """Sentence pairs, padded on the right."""

    source: Tensor
    """(batch, source), each sentence's tokens and <eos>."""
    target_in: Tensor
    """(batch, target), <sos> and the tokens."""
    target_out: Tensor
    """(batch, target), the tokens and <eos>."""
    label_indices: Tensor
    """(tokens,), indices of labels that are not padding in the flattened target_out, computed on
    the CPU because a GPU would have to synchronize.
    """

    @property
    def tokens(self) -> int:
        """Number of labels that are not padding."""
        return len(self.label_indices)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.source)

    def shard(self, number: int, count: int) -> "Batch":
        """Return every `count`-th pair, starting with pair `number`."""
        if count == 1:
            return self
        target_out = self.target_out[number::count]
        return Batch(
            source=self.source[number::count],
            target_in=self.target_in[number::count],
            target_out=target_out,
            label_indices=_label_indices(target_out),
        )

    def duplicated(self) -> "Batch":
        """Return the batch with each pair twice, and each label directly followed by its copy."""
        first = self.label_indices
        both = torch.stack([first, first + self.target_out.numel()], dim=1)
        return Batch(
            source=self.source.repeat(2, 1),
            target_in=self.target_in.repeat(2, 1),
            target_out=self.target_out.repeat(2, 1),
            label_indices=both.flatten(),
        )

    def without_labels(self) -> "Batch":
        """Return the batch without labels; its loss and gradient are zero."""
        return replace(
            self,
            target_out=torch.full_like(self.target_out, PAD),
            label_indices=self.label_indices[:0],
        )

    @classmethod
    def from_ids(
        cls, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> "Batch":
        """Add the special tokens, pad, and shift the target for teacher forcing."""
        target = pad([[BOS, *ids, EOS] for ids in targets])
        target_out = target[:, 1:].contiguous()
        return cls(
            source=pad([[*ids, EOS] for ids in sources]),
            target_in=target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD),
            target_out=target_out,
            label_indices=_label_indices(target_out),
        )

    def to(self, device: torch.device) -> "Batch":
        """Copy from the CPU to a device; to CUDA asynchronously, from pinned memory."""
        if device.type == self.source.device.type:
            return self

        def move(tensor: Tensor) -> Tensor:
            return to_device(tensor.pin_memory() if device.type == "cuda" else tensor, device)

        return replace(
            self,
            source=move(self.source),
            target_in=move(self.target_in),
            target_out=move(self.target_out),
            label_indices=move(self.label_indices),
        )


@dataclass(frozen=True)
class Epoch:
    """The batches of an epoch."""

    order: list[NDArray[np.int64]]
    """The pair indices of each batch."""
    source: Sequences
    target: Sequences
    """All sentences, as segmented in this epoch."""

    @property
    def tokens(self) -> int:
        """Number of labels: target tokens and <eos> of all batches."""
        lengths = self.target.lengths  # computed anew each time
        return sum(int((lengths[pairs] + 1).sum()) for pairs in self.order)

    def batches(self, skip: int = 0, rank: int = 0, size: int = 1) -> Iterator[Batch]:
        """Yield the batches after the first `skip`.

        With several processes, process `rank` of `size` reads only its shard of each batch, every
        size-th pair. If a batch has too few pairs, the shard is a pair without labels.
        """
        for pairs in self.order[skip:]:
            shard = pairs[rank::size]
            read = shard if len(shard) else pairs[:1]
            batch = Batch.from_ids(self.source.rows(read), self.target.rows(read))
            yield batch if len(shard) else batch.without_labels()


class BatchPlan:
    """Groups the training pairs into new batches for each epoch."""

    def __init__(self, prepared: PreparedData, config: TrainingConfig, max_length: int):
        self._given = prepared.sequences("train")
        self._config = config
        self._max_length = max_length
        self._lengths = _lengths(*self._given)
        self.usable: NDArray[np.int64] = np.flatnonzero(self._lengths <= max_length)
        if not len(self.usable):
            raise UserError("model.max_length: every training pair is longer; raise it")
        self._mixing_weights = prepared.mixing_weights
        self._tagged = prepared.tagged
        self._corpora = _corpora(prepared)
        self._samplers = _samplers(prepared, self._given)
        self._last: tuple[int, Epoch] | None = None  # asked for again, and takes time to make

    @property
    def too_long(self) -> int:
        """Number of pairs longer than `model.max_length`."""
        return len(self._lengths) - len(self.usable)

    def epoch(self, epoch: int) -> Epoch:
        """Return an epoch, counted from 1; it depends on `training.seed` and its number."""
        if self._last is None or self._last[0] != epoch:
            self._last = epoch, self._make_epoch(epoch)
        return self._last[1]

    def _make_epoch(self, epoch: int) -> Epoch:
        generator = np.random.default_rng([self._config.seed, epoch])
        source, target = self._sentences(epoch)
        pairs = generator.permutation(self._draw(generator))
        corpora = self._corpora
        if self._config.join_pairs:
            # Tagged pairs, which are not joined, come last: the others stay neighbours.
            pairs = pairs[np.argsort(self._tagged[pairs], kind="stable")]
            starts = self._starts(generator, pairs, _lengths(source, target)[pairs])
            source, target = source.joined(pairs, starts), target.joined(pairs, starts)
            corpora = corpora[pairs[starts]]
            pairs = np.arange(len(starts))
            if self._tagged.any():  # mix them again
                pairs = generator.permutation(pairs)
        order = self._order(generator, pairs, _lengths(source, target), corpora)
        return Epoch(order, source, target)

    def _starts(
        self, generator: np.random.Generator, pairs: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return where each example starts among the shuffled pairs, some of which are joined.

        Pairs with a tag, and those that would exceed `model.max_length` if joined, stay separate.
        """
        starts = generator.random(len(lengths)) >= self._config.join_pairs
        starts |= self._tagged[pairs]
        starts[0] = True
        example = starts.cumsum() - 1
        starts |= (np.bincount(example, lengths) > self._max_length)[example]
        return np.flatnonzero(starts)

    def _order(
        self,
        generator: np.random.Generator,
        shuffled: NDArray[np.int64],
        all_lengths: NDArray[np.int64],
        corpora: NDArray[np.uint16],
    ) -> list[NDArray[np.int64]]:
        if self._config.batch_sentences:
            size = self._config.batch_sentences
            # An incomplete batch that is the only one is kept: nothing would be left to train on.
            complete = len(shuffled) - len(shuffled) % size if self._config.drop_last else 0
            shuffled = shuffled[: complete or len(shuffled)]
            return [shuffled[i : i + size] for i in range(0, len(shuffled), size)]
        batches: list[NDArray[np.int64]] = []
        for pool in np.array_split(shuffled, min(self._pools(), len(shuffled))):
            ranks = _ranks(all_lengths[pool], corpora[pool])
            by_length = pool[np.argsort(ranks, kind="stable")]
            batches.extend(self._divide(by_length, all_lengths[by_length].tolist()))
        generator.shuffle(batches)
        return batches

    def largest(self) -> Batch:
        """Return the first epoch's batch with the most tokens (both sides, including padding)."""
        epoch = self.epoch(1)
        source, target = (side.lengths + 1 for side in (epoch.source, epoch.target))
        sizes = [len(pairs) * (source[pairs].max() + target[pairs].max()) for pairs in epoch.order]
        return next(epoch.batches(skip=int(np.argmax(sizes))))

    def _draw(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the pair indices of an epoch: all, or each corpus according to its share.

        If a share exceeds the size of its corpus, pairs are repeated; if it is smaller, a new
        sample is drawn for each epoch.
        """
        if self._mixing_weights is None:
            return self.usable
        drawn = []
        for corpus, count in self._counts():
            repeats, rest = divmod(count, len(corpus))
            drawn += [np.tile(corpus, repeats), generator.permutation(corpus)[:rest]]
        return np.concatenate(drawn)

    def _counts(self) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Yield the usable pairs of each corpus, and its number of pairs per epoch."""
        assert self._mixing_weights
        ends = np.cumsum([size for size, _ in self._mixing_weights])
        limits = np.searchsorted(self.usable, ends)
        for corpus, (_, share) in zip(
            np.split(self.usable, limits[:-1]), self._mixing_weights, strict=True
        ):
            if len(corpus):
                yield corpus, max(1, round(share * len(self.usable)))

    def _pools(self) -> int:
        assert self._config.batch_tokens
        tokens = int(self._lengths[self.usable].sum())
        return max(1, tokens // (self._config.batch_tokens * _POOL_BATCHES))

    def _divide(self, pairs: NDArray[np.int64], lengths: list[int]) -> Iterator[NDArray[np.int64]]:
        """Cut pairs into batches of up to `batch_tokens`, including padding."""
        assert self._config.batch_tokens
        start = longest = 0
        for end, length in enumerate(lengths):
            longest = max(longest, length)
            if end > start and longest * (end - start + 1) > self._config.batch_tokens:
                yield pairs[start:end]
                start, longest = end, length
        yield pairs[start:]

    def _sentences(self, epoch: int) -> Sequence[Sequences]:
        """Return source and target for an epoch, resegmented with subword regularization."""
        if not self._samplers:
            return self._given
        return [
            sampler.draw(
                # `side` is not 0, with which NumPy would draw the same numbers as for the order.
                np.random.default_rng([self._config.seed, epoch, side]),
                longest=self._max_length - 1,  # leaves room for <eos>
            )
            for side, sampler in enumerate(self._samplers, 1)
        ]


def batches_of(
    split: str,
    prepared: PreparedData,
    config: TrainingConfig,
    max_length: int,
    chosen: Sequence[int] | None = None,
) -> list[Batch]:
    """Return batches of `train` or `validation`, sorted by length, without pairs that are too long.

    For evaluation: always the same batches in the same order. chosen: indices of the pairs to
    return, or None for all
    """
    source, target = prepared.sequences(split)
    lengths = _lengths(source, target)
    order = np.argsort(lengths, kind="stable")
    if chosen is not None:
        order = order[np.isin(order, chosen)]
    order = order[lengths[order] <= max_length]
    size = config.batch_sentences or max(
        1, (config.batch_tokens or 0) // int(lengths[order].max(initial=1))
    )
    return [
        Batch.from_ids(source.rows(order[i : i + size]), target.rows(order[i : i + size]))
        for i in range(0, len(order), size)
    ]


def _label_indices(target_out: Tensor) -> Tensor:
    return target_out.flatten().nonzero().squeeze(1)  # PAD is 0


def _lengths(source: Sequences, target: Sequences) -> NDArray[np.int64]:
    """Return the length of the longer side of each pair.

    Each side has one extra token: <eos> in the source, <sos> or <eos> in the shifted target.
    """
    return np.maximum(source.lengths, target.lengths) + 1


def _corpora(prepared: PreparedData) -> NDArray[np.uint16]:
    """Return each pair's corpus number; every batch has about the same share of each corpus.

    Only fine-tuning distinguishes the corpora, so that the model does not forget one of them.
    Other training treats them as one, since mixing lengths in a batch needs more padding.
    """
    sizes = [prepared.report["pairs"]["train"]]
    if prepared.mixing_weights and prepared.tokenizer.run:
        sizes = [size for size, _ in prepared.mixing_weights]
    return np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)


def _ranks(lengths: NDArray[np.int64], corpora: NDArray[np.uint16]) -> NDArray[np.float64]:
    """Return the rank of each pair by length among those of its corpus, from 0 to 1."""
    ranks = np.empty(len(lengths))
    for corpus in np.unique(corpora):
        own = np.flatnonzero(corpora == corpus)
        by_length = own[np.argsort(lengths[own], kind="stable")]
        ranks[by_length] = (np.arange(len(own)) + 0.5) / len(own)
    return ranks


def _samplers(prepared: PreparedData, given: Sequence[Sequences]) -> list[SegmentationSampler]:
    if not prepared.tokenizer.subword_regularization:
        return []
    tokenizers = prepared.tokenizers.source, prepared.tokenizers.target
    return [
        SegmentationSampler(tokenizer, prepared.tokenizer, sequences)
        for tokenizer, sequences in zip(tokenizers, given, strict=True)
        if isinstance(tokenizer, SubwordTokenizer)
    ]
