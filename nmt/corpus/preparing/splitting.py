"""Splits that depend only on the seed and the content, not on the order of the lines."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError

_MIX = np.int64(0x9E3779B97F4A7C15 - 2**64)  # odd, with well mixed bits


class Part(IntEnum):
    """The split that a pair is assigned to."""

    DROPPED = 0
    TRAIN = 1
    VALIDATION = 2
    TEST = 3


def sentence_keys(texts: Iterable[str], seed: int) -> NDArray[np.int64]:
    """Return a seeded 63-bit hash of each sentence."""
    keyed = blake2b(digest_size=8, key=seed.to_bytes(8, "little"))
    digests = bytearray()
    for text in texts:
        hashed = keyed.copy()  # faster than hashing the key again
        hashed.update(text.encode("utf-8"))
        digests += hashed.digest()
    keys: NDArray[np.uint64] = np.frombuffer(digests, "<u8") >> np.uint64(1)
    return keys.astype(np.int64)


def sentence_key(text: str, seed: int) -> int:
    """Return the hash of one sentence."""
    return int(sentence_keys([text], seed)[0])


def linked_groups(
    source_keys: NDArray[np.int64], target_keys: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the group key of each pair, shape (pairs,).

    A group is a connected component of pairs that share a source or a target.
    """
    sources, of_source = np.unique(source_keys, return_inverse=True)
    targets, of_target = np.unique(target_keys, return_inverse=True)
    group = np.arange(len(sources))  # for each source: the lowest source known to be connected
    while True:
        lowest = np.full(len(targets), len(sources))
        np.minimum.at(lowest, of_target, group[of_source])
        linked = group.copy()
        np.minimum.at(linked, of_source, lowest[of_target])
        linked = linked[linked]
        if np.array_equal(linked, group):
            # Hash again: the minimum over a large group is low, so large groups would sort first.
            mixed: NDArray[np.int64] = sources[group] * _MIX
            return mixed[of_source]
        group = linked


def has_key(keys: NDArray[np.int64], key: int) -> bool:
    """Return whether a key is among the sorted keys."""
    place = int(np.searchsorted(keys, key))
    return place < len(keys) and int(keys[place]) == key


def first_occurrences(
    source_keys: NDArray[np.int64], target_keys: NDArray[np.int64], kept: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which kept pairs occur for the first time, shape (pairs,)."""
    pair_keys = source_keys[kept] * _MIX + target_keys[kept]  # a hash of two hashes; overflows
    first = np.zeros_like(kept)
    first[np.flatnonzero(kept)[np.unique(pair_keys, return_index=True)[1]]] = True
    return first


def assign_parts(
    source_keys: NDArray[np.int64],
    kept: NDArray[np.bool_],
    sizes: Mapping[Part, int],
    reserved: NDArray[np.int64],
    dropped: str = "",
) -> NDArray[np.uint8]:
    """Assign kept pairs to splits; pairs with the same source go to the same split.

    Sources, sorted by key, fill each split up to its size; the rest is for training. Sources with
    keys in `reserved` (in a provided split, or of a large group) stay in training. Returns a `Part`
    per pair, shape (pairs,).

    dropped: why other pairs were dropped, for the error if too few are left
    """
    parts: NDArray[np.uint8] = np.where(kept, np.uint8(Part.TRAIN), np.uint8(Part.DROPPED))
    candidates = kept & ~np.isin(source_keys, reserved)
    unique, inverse, counts = np.unique(
        source_keys[candidates], return_inverse=True, return_counts=True
    )
    part_of_unique = np.full(len(unique), np.uint8(Part.TRAIN))
    filled = np.cumsum(counts)
    start, enough = 0, True
    for part, size in sizes.items():
        already = int(filled[start - 1]) if start else 0
        stop = int(np.searchsorted(filled, already + size)) + 1
        enough = enough and stop <= len(unique)
        part_of_unique[start:stop] = part
        start = min(stop, len(unique))
    parts[candidates] = part_of_unique[inverse]
    if not enough:
        wanted = " and ".join(f"{size} {part.name.lower()}" for part, size in sizes.items())
        why = f" (dropped: {dropped})" if dropped else ""
        if not candidates.any():
            raise UserError(
                "no pairs can be held out: all share sentences with each other or with a split "
                f"that you provide, or were dropped{why}; use other files, or omit "
                "data.disjoint_splits if it is set"
            )
        found = int(candidates.sum())
        raise UserError(
            f"after cleaning, only {found} {'pair' if found == 1 else 'pairs'} can be held out, "
            f"too few for {wanted} pairs{why}; lower data.validation_size and data.test_size"
        )
    return parts
