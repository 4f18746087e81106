"""The target's pieces of a joint vocabulary come first: they are all that a model has to write.

Of a joint vocabulary's pieces a third may occur in the source alone. Numbered last, they are beyond
the end of the output layer, of its softmax and of the label smoothing (Chen et al. 2022,
https://aclanthology.org/2022.acl-short.74); source and target still share the others' embeddings.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

_MULTIPLE = 8  # GPUs multiply bfloat16 matrices of such widths faster
_NORMAL, _UNUSED = ModelProto.SentencePiece.NORMAL, ModelProto.SentencePiece.UNUSED


def put_target_first(joint: Path, target: Path, used: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Renumber a SentencePiece model, the target's pieces first; return each old number's new one.

    used: which pieces the target's training text holds. `joint` gets all pieces, `target` the same
    with the source's own marked as unused: SentencePiece then spells them by smaller ones.
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
    """Return which pieces the target needs: those used, and what others are spelt by.

    That is all that is no merge, such as characters and bytes, and the merges on the way to a
    longer piece, at which BPE-dropout may stop.
    """
    texts = [piece.piece for piece in model.pieces]
    is_merge = np.array([p.type == _NORMAL and len(p.piece) > 1 for p in model.pieces])
    needed: NDArray[np.bool_] = used | ~is_merge
    numbers = {text: number for number, text in enumerate(texts)}
    ranks = {text: number if is_merge[number] else 0 for text, number in numbers.items()}
    for number in reversed(np.flatnonzero(is_merge)):  # a merge is learnt later than its parts
        if needed[number]:
            text = texts[number]
            halves = [(text[:i], text[i:]) for i in range(1, len(text))]
            ways = [pair for pair in halves if pair[0] in ranks and pair[1] in ranks]
            # Of several ways to make it, BPE goes the one whose parts were learnt first.
            parts = min(ways, key=lambda pair: max(ranks[part] for part in pair), default=())
            needed[[numbers[part] for part in parts]] = True
    return needed
