"""Renumbers a joint vocabulary so that the target's tokens come first.

Up to a third of the tokens of a joint vocabulary may occur only in the source. Numbered last, they
are excluded from the output layer, its softmax, and label smoothing (Chen et al. 2022,
https://aclanthology.org/2022.acl-short.74). Source and target still share the other embeddings.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

_MULTIPLE = 8  # GPUs multiply bfloat16 matrices of such widths faster
_NORMAL, _UNUSED = ModelProto.SentencePiece.NORMAL, ModelProto.SentencePiece.UNUSED


def put_target_first(joint: Path, target: Path, used: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Renumber a SentencePiece model, target tokens first; return the new id for each old id.

    used: which tokens occur in the target training text. `joint` has all tokens; in `target`, the
    source-only ones are marked as unused, so that SentencePiece splits them into smaller ones.
    """
    model = ModelProto.FromString(joint.read_bytes())
    needed = _with_parts(model, used)
    needed[np.flatnonzero(~needed)[: -int(needed.sum()) % _MULTIPLE]] = True
    order = np.argsort(~needed, kind="stable")
    pieces = list(model.pieces)
    del model.pieces[:]
    model.pieces.extend(pieces[old] for old in order)
    joint.write_bytes(model.SerializeToString(deterministic=True))
    for piece in model.pieces[int(needed.sum()) :]:
        piece.type = _UNUSED
    target.write_bytes(model.SerializeToString(deterministic=True))
    return np.argsort(order).astype(np.int32)


def _with_parts(model: ModelProto, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which tokens the target needs: those it uses, and those that others are made of.

    The latter are all tokens that are not merges, such as characters and bytes, and the
    intermediate merges of longer tokens, at which BPE-dropout may stop.
    """
    texts = [piece.piece for piece in model.pieces]
    is_merge = np.array([p.type == _NORMAL and len(p.piece) > 1 for p in model.pieces])
    needed: NDArray[np.bool_] = used | ~is_merge
    numbers = {text: number for number, text in enumerate(texts)}
    ranks = {text: number if is_merge[number] else 0 for text, number in numbers.items()}
    for number in reversed(np.flatnonzero(is_merge)):  # merges come after their parts
        if needed[number]:
            text = texts[number]
            halves = [(text[:i], text[i:]) for i in range(1, len(text))]
            ways = [pair for pair in halves if pair[0] in ranks and pair[1] in ranks]
            # BPE merges the parts that were learned first.
            parts = min(ways, key=lambda pair: max(ranks[part] for part in pair), default=())
            needed[[numbers[part] for part in parts]] = True
    return needed
