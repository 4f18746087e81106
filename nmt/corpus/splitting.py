"""Splits that depend on the seed and the content alone, never on the order of the lines."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError

_MIX = np.int64(0x9E3779B97F4A7C15 - 2**64)  # odd, with bits all over


class Part(IntEnum):
    """Where a pair of the corpus goes."""

    DROPPED = 0
    TRAIN = 1
    VALIDATION = 2
    TEST = 3


def sentence_keys(texts: Iterable[str], seed: int) -> NDArray[np.int64]:
    """Return a 63-bit hash of each sentence under a seed."""
    keyed = blake2b(digest_size=8, key=seed.to_bytes(8, "little"))
    digests = (_digest(keyed, text) for text in texts)
    keys: NDArray[np.uint64] = np.frombuffer(b"".join(digests), "<u8") >> np.uint64(1)
    return keys.astype(np.int64)


def _digest(keyed: blake2b, text: str) -> bytes:
    hashed = keyed.copy()  # quicker than to begin with the key again
    hashed.update(text.encode("utf-8"))
    return hashed.digest()


def sentence_key(text: str, seed: int) -> int:
    """Return the hash of one sentence."""
    return int(sentence_keys([text], seed)[0])


def has_key(keys: NDArray[np.int64], key: int) -> bool:
    """Tell whether a key is among sorted ones."""
    place = int(np.searchsorted(keys, key))
    return place < len(keys) and int(keys[place]) == key


def first_occurrences(
    source_keys: NDArray[np.int64], target_keys: NDArray[np.int64], kept: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which of the kept pairs are the first with their source and target, shape (pairs,)."""
    pair_keys = source_keys[kept] * _MIX + target_keys[kept]  # a hash of two hashes; overflows
    first = np.zeros_like(kept)
    first[np.flatnonzero(kept)[np.unique(pair_keys, return_index=True)[1]]] = True
    return first


def assign_parts(
    source_keys: NDArray[np.int64],
    kept: NDArray[np.bool_],
    sizes: Mapping[Part, int],
    reserved: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Deal kept pairs out to parts, all pairs of one source sentence to the same part.

    Sources in the order of their keys fill each part of `sizes` up to its number of pairs; the
    rest is for training. `reserved` holds keys of sources that stay in training because a given
    split holds them already. Returns a `Part` per pair, shape (pairs,).
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
    if sizes and not (enough and (parts == Part.TRAIN).any()):
        wanted = " and ".join(f"{size} {part.name.lower()}" for part, size in sizes.items())
        raise UserError(
            f"the corpus keeps {int(kept.sum())} pairs, too few to take {wanted} pairs out; "
            "lower data.validation_size and data.test_size"
        )
    return parts
