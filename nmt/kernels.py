"""Loops for a CPU, compiled to machine code by Numba (https://numba.pydata.org).

The same sums as those of `nmt.model`, for arrays without padding. Each
row of `x` is one position of one sentence or hypothesis, and is told where the positions lie that
it may attend to. A step of decoding is then one call, where PyTorch is called some hundred times.

All loops are in this one file, since Numba keeps what it has compiled beside the file, and makes it
anew when the file changes (but not when a constant that it imports does). Numbers are float32
where nothing else is said. A first call takes seconds.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nmt.special_tokens import EOS, PAD, SOS

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])

_ZERO, _ONE, _HALF = np.float32(0), np.float32(1), np.float32(0.5)
_SQRT_HALF = np.float32(math.sqrt(0.5))
_DEAD = np.float32("-inf")
_ROWS = 32  # that stay in the processor's nearest cache while a matrix passes by
_BLOCK = 64  # pieces that are looked through only if their best is among the best


def compiled(function: F) -> F:
    """Compile for arguments' types when first called, and keep the result on disk.

    Sums may be taken in any order, so that the processor adds sixteen numbers at once. Raises
    `RuntimeError` where there is no folder that can be written to.
    """
    options: dict[str, Any] = {
        "nogil": True,  # other threads go on meanwhile
        "error_model": "numpy",
        "forceinline": True,  # else the copy that runs, and its sums, is that of the first caller
        "fastmath": {"nnan", "nsz", "arcp", "contract", "reassoc"},
    }
    return njit(cache=True, **options)(function)  # type: ignore[no-any-return]


class Products(NamedTuple):
    """One matrix product in every layer; weight: (layers, out, in); bias: (layers, out)."""

    weight: Floats
    bias: Floats


class Norms(NamedTuple):
    """One layer norm in every layer, or none; weight, bias: (layers or 0, d_model)."""

    weight: Floats
    bias: Floats


class Attentions(NamedTuple):
    """One attention in every layer, with the norm of its residual.

    projection: to queries, keys and values of all heads, or to queries alone
    """

    norm: Norms
    projection: Products
    output: Products


class Layers(NamedTuple):
    """The encoder or the decoder; what reads the source is without layers in the encoder."""

    itself: Attentions
    source: Attentions
    feed_forward_norm: Norms
    inner: Products
    outer: Products
    last_norm: Norms


class Shape(NamedTuple):
    """What a model's layers have in common; scale: what scores are multiplied by."""

    heads: int
    d_key: int
    d_value: int
    scale: np.float32
    epsilon: np.float32
    pre_norm: bool
    gelu: bool


# ------------------------------------------------------------------------------------- arithmetic


@compiled
def product(x: Floats, weight: Floats, bias: Floats, out: Floats) -> None:
    """out = x Wᵀ + b; x: (rows, in); weight: (columns, in); bias: (columns,); out: (rows, columns).

    Four rows by four columns at a time, so that each number that is loaded serves four times.
    """
    rows, width = x.shape
    columns = len(weight)
    fours, whole = rows - rows % 4, columns - columns % 4
    for c in range(0, whole, 4):
        for r in range(0, fours, 4):
            _product_of_fours(x, weight, bias, out, r, c)
        for r in range(fours, rows):
            s0, s1, s2, s3 = bias[c], bias[c + 1], bias[c + 2], bias[c + 3]
            for j in range(width):
                a = x[r, j]
                s0 += a * weight[c, j]
                s1 += a * weight[c + 1, j]
                s2 += a * weight[c + 2, j]
                s3 += a * weight[c + 3, j]
            out[r, c], out[r, c + 1], out[r, c + 2], out[r, c + 3] = s0, s1, s2, s3
    for c in range(whole, columns):
        for r in range(rows):
            s0 = bias[c]
            for j in range(width):
                s0 += x[r, j] * weight[c, j]
            out[r, c] = s0


@compiled
def _product_of_fours(x: Floats, weight: Floats, bias: Floats, out: Floats, r: int, c: int) -> None:
    """Fill rows r … r + 3 and columns c … c + 3 of `product`."""
    s00 = s10 = s20 = s30 = bias[c]
    s01 = s11 = s21 = s31 = bias[c + 1]
    s02 = s12 = s22 = s32 = bias[c + 2]
    s03 = s13 = s23 = s33 = bias[c + 3]
    for j in range(x.shape[1]):
        a0, a1, a2, a3 = x[r, j], x[r + 1, j], x[r + 2, j], x[r + 3, j]
        w0, w1, w2, w3 = weight[c, j], weight[c + 1, j], weight[c + 2, j], weight[c + 3, j]
        s00 += a0 * w0
        s01 += a0 * w1
        s02 += a0 * w2
        s03 += a0 * w3
        s10 += a1 * w0
        s11 += a1 * w1
        s12 += a1 * w2
        s13 += a1 * w3
        s20 += a2 * w0
        s21 += a2 * w1
        s22 += a2 * w2
        s23 += a2 * w3
        s30 += a3 * w0
        s31 += a3 * w1
        s32 += a3 * w2
        s33 += a3 * w3
    out[r, c], out[r, c + 1], out[r, c + 2], out[r, c + 3] = s00, s01, s02, s03
    out[r + 1, c], out[r + 1, c + 1], out[r + 1, c + 2], out[r + 1, c + 3] = s10, s11, s12, s13
    out[r + 2, c], out[r + 2, c + 1], out[r + 2, c + 2], out[r + 2, c + 3] = s20, s21, s22, s23
    out[r + 3, c], out[r + 3, c + 1], out[r + 3, c + 2], out[r + 3, c + 3] = s30, s31, s32, s33


# 1 / n!, for n = 0 … 7
_TAYLOR = tuple(np.float32(1 / math.factorial(n)) for n in range(8))
_T2, _T3, _T4, _T5, _T6, _T7 = _TAYLOR[2:]
_LOG2_E, _LN_2 = np.float32(1 / math.log(2)), np.float32(math.log(2))
_LEAST = np.float32(-87)  # e to it, 10⁻³⁸, stands for all that is less


@compiled
def exponential(x: np.float32) -> np.float32:
    """e^x for x ≤ 0, to 5 · 10⁻⁶ of itself: sixteen at once in a loop, unlike the C library's.

    e^x = 2ⁿ eʳ with n whole and |r| ≤ ln 2 / 2, where eight terms of eʳ are enough. Processors that
    multiply and add in one go come to 3 · 10⁻⁷.
    """
    x = max(x, _LEAST)
    n = math.floor(x * _LOG2_E + _HALF)
    r = x - np.float32(n) * _LN_2
    terms = _ONE + r * (_ONE + r * (_T2 + r * (_T3 + r * (_T4 + r * (_T5 + r * (_T6 + r * _T7))))))
    # 2ⁿ is the number whose exponent's bits are n + 127.
    result: np.float32 = terms * np.int32((np.int32(n) + 127) << 23).view(np.float32)
    return result


@compiled
def normalise(x: Floats, weight: Floats, bias: Floats, epsilon: np.float32, out: Floats) -> None:
    """Layer norm of every row (Ba et al. 2016, equation 4); x, out: (rows, d_model)."""
    rows, width = x.shape
    for r in range(rows):
        total = _ZERO
        for j in range(width):
            total += x[r, j]
        mean = total / np.float32(width)
        total = _ZERO
        for j in range(width):
            total += (x[r, j] - mean) * (x[r, j] - mean)
        factor = np.float32(1 / math.sqrt(total / np.float32(width) + epsilon))
        for j in range(width):
            out[r, j] = (x[r, j] - mean) * factor * weight[j] + bias[j]


@compiled
def attend(
    query: Floats, past: Floats, first: int, places: Ids, shape: Shape, scores: Floats, out: Floats
) -> None:
    """One position's heads: softmax(q Kᵀ · scale) V (Vaswani et al. 2017, equation 1).

    query: (heads * d_key, or more); past: (positions, …), whose columns from `first` on are a
    position's keys and values; places: which of `past` to attend to; scores: room for as many
    numbers of each head; out: (heads * d_value,)
    """
    count = len(places)
    for head in range(shape.heads):
        q = query[head * shape.d_key : (head + 1) * shape.d_key]
        start = first + head * shape.d_key
        own = scores[head * count : (head + 1) * count]
        most = _DEAD
        for i in range(count):
            key = past[places[i]][start : start + shape.d_key]
            score = _ZERO
            for j in range(shape.d_key):
                score += q[j] * key[j]
            own[i] = score * shape.scale
            most = max(most, own[i])
        for i in range(count):
            own[i] -= most
    for i in range(shape.heads * count):  # at once: of few numbers it would take as long
        scores[i] = exponential(scores[i])
    for head in range(shape.heads):
        start = first + shape.heads * shape.d_key + head * shape.d_value
        own = scores[head * count : (head + 1) * count]
        result = out[head * shape.d_value : (head + 1) * shape.d_value]
        result[:] = _ZERO
        total = _ZERO
        for i in range(count):
            total += own[i]
            value = past[places[i]][start : start + shape.d_value]
            for j in range(shape.d_value):
                result[j] += own[i] * value[j]
        for j in range(shape.d_value):
            result[j] /= total


@compiled
def rotate(x: Floats, heads: int, rotations: Floats) -> None:
    """Turn the pairs of a position's queries or keys (Su et al. 2021, equation 34).

    x: (heads * d_key, or more), changed; rotations: (d_key / 2, cosine and sine), or none
    """
    pairs = len(rotations)
    for head in range(heads):
        for i in range(pairs):
            column = 2 * (head * pairs + i)
            cosine, sine = rotations[i, 0], rotations[i, 1]
            a, b = x[column], x[column + 1]
            x[column] = a * cosine - b * sine
            x[column + 1] = a * sine + b * cosine


# ----------------------------------------------------------------------------------------- layers


@compiled
def encode(x: Floats, spans: Ids, rotations: Floats, layers: Layers, shape: Shape) -> Floats:
    """Return the encoder's output.

    x: (tokens, d_model), of all sentences, changed; spans: (sentences + 1,), where each begins and
    the last ends; rotations: (tokens, d_key / 2, 2), or none
    """
    longest = np.diff(spans).max()
    room, places = _room(longest, layers), np.arange(longest)
    scores = np.empty(shape.heads * longest, np.float32)
    keys = shape.heads * shape.d_key
    for layer in range(len(layers.inner.weight)):
        for sentence in range(len(spans) - 1):
            tokens = x[spans[sentence] : spans[sentence + 1]]
            length = len(tokens)
            y = _before(tokens, layers.itself.norm, layer, shape, room)
            projected, heads = room.projected[:length], room.heads[:length]
            _multiply(y, layers.itself.projection, layer, projected)
            if len(rotations):
                for i in range(length):
                    rotate(projected[i], 2 * shape.heads, rotations[spans[sentence] + i])
            for i in range(length):
                attend(projected[i], projected, keys, places[:length], shape, scores, heads[i])
            _after(tokens, heads, layers.itself, layer, shape, room)
            _feed_forward(tokens, layers, layer, shape, room)
    return _last_norm(x, layers, shape)


@compiled
def project(memory: Floats, products: Products) -> Floats:
    """Return each layer's keys and values of the source, side by side: (layers, tokens, …)."""
    layers, columns, _ = products.weight.shape
    out = np.empty((layers, len(memory), columns), np.float32)
    for layer in range(layers):
        product(memory, products.weight[layer], products.bias[layer], out[layer])
    return out


@compiled
def decode(
    x: Floats,
    places: Ids,
    length: int,
    past: Floats,
    source: Floats,
    spans: Ids,
    sentences: Ids,
    rotations: Floats,
    layers: Layers,
    shape: Shape,
) -> Floats:
    """Decode one position of every hypothesis: return the decoder's output (rows, d_model).

    x: (rows, d_model), changed; past: (layers, room, heads * (d_key + d_value)), the keys and
    values of positions; places: (rows, length or more), where in it each hypothesis has its own:
    of the position that is decoded, the last of `length`, they are written there; source: as from
    `project`, and spans: see `encode`; sentences: (rows,), the source of each; rotations: those of
    the position, (1, d_key / 2, 2), or none
    """
    room, everywhere = _room(_ROWS, layers), np.arange(source.shape[1])
    scores = np.empty(shape.heads * max(length, source.shape[1]), np.float32)
    keys = shape.heads * shape.d_key
    for layer in range(len(layers.inner.weight)):
        for first in range(0, len(x), _ROWS):
            rows = x[first : first + _ROWS]
            count = len(rows)
            projected, query, heads = room.projected[:count], room.query[:count], room.heads[:count]
            y = _before(rows, layers.itself.norm, layer, shape, room)
            _multiply(y, layers.itself.projection, layer, projected)
            for i in range(count):
                own = places[first + i, :length]
                if len(rotations):
                    rotate(projected[i], 2 * shape.heads, rotations[0])
                past[layer, own[length - 1]] = projected[i, keys:]
                attend(projected[i], past[layer], 0, own, shape, scores, heads[i])
            _after(rows, heads, layers.itself, layer, shape, room)

            y = _before(rows, layers.source.norm, layer, shape, room)
            _multiply(y, layers.source.projection, layer, query)
            for i in range(count):
                sentence = sentences[first + i]
                own = everywhere[spans[sentence] : spans[sentence + 1]]
                attend(query[i], source[layer], 0, own, shape, scores, heads[i])
            _after(rows, heads, layers.source, layer, shape, room)
            _feed_forward(rows, layers, layer, shape, room)
    return _last_norm(x, layers, shape)


class _Room(NamedTuple):
    """Where every layer in turn puts what it computes: (rows, width of each)."""

    normed: Floats
    projected: Floats
    query: Floats
    heads: Floats
    inner: Floats
    output: Floats


@compiled
def _room(rows: int, layers: Layers) -> _Room:
    d_model = layers.outer.weight.shape[1]
    return _Room(
        np.empty((rows, d_model), np.float32),
        np.empty((rows, layers.itself.projection.weight.shape[1]), np.float32),
        np.empty((rows, layers.source.projection.weight.shape[1]), np.float32),
        np.empty((rows, layers.itself.output.weight.shape[2]), np.float32),
        np.empty((rows, layers.inner.weight.shape[1]), np.float32),
        np.empty((rows, d_model), np.float32),
    )


@compiled
def _before(x: Floats, norms: Norms, layer: int, shape: Shape, room: _Room) -> Floats:
    """Return the input of a sublayer; see `PreNorm.before` and `PostNorm.before`."""
    if not shape.pre_norm:
        return x
    out = room.normed[: len(x)]
    normalise(x, norms.weight[layer], norms.bias[layer], shape.epsilon, out)
    return out


@compiled
def _after(
    x: Floats, heads: Floats, attention: Attentions, layer: int, shape: Shape, room: _Room
) -> None:
    """Add what an attention's heads have found to x."""
    _multiply(heads, attention.output, layer, room.output)
    _add(x, room.output, attention.norm, layer, shape)


@compiled
def _add(x: Floats, output: Floats, norms: Norms, layer: int, shape: Shape) -> None:
    """Add a sublayer's output to x; see `PreNorm.after` and `PostNorm.after`."""
    rows, width = x.shape
    for r in range(rows):
        for j in range(width):
            x[r, j] += output[r, j]
    if not shape.pre_norm:
        normalise(x, norms.weight[layer], norms.bias[layer], shape.epsilon, x)


@compiled
def _multiply(x: Floats, products: Products, layer: int, out: Floats) -> None:
    product(x, products.weight[layer], products.bias[layer], out)


@compiled
def _feed_forward(x: Floats, layers: Layers, layer: int, shape: Shape, room: _Room) -> None:
    """See `FeedForward`, and the residual around it."""
    y = _before(x, layers.feed_forward_norm, layer, shape, room)
    inner = room.inner[: len(x)]
    _multiply(y, layers.inner, layer, inner)
    activated = inner.ravel()
    if shape.gelu:
        for i in range(len(activated)):
            gate = _ONE + np.float32(math.erf(activated[i] * _SQRT_HALF))
            activated[i] = _HALF * activated[i] * gate
    else:
        for i in range(len(activated)):
            activated[i] = max(activated[i], _ZERO)
    _multiply(inner, layers.outer, layer, room.output)
    _add(x, room.output, layers.feed_forward_norm, layer, shape)


@compiled
def _last_norm(x: Floats, layers: Layers, shape: Shape) -> Floats:
    if len(layers.last_norm.weight):
        normalise(x, layers.last_norm.weight[0], layers.last_norm.bias[0], shape.epsilon, x)
    return x


# ------------------------------------------------------------------------------------------ search


@compiled
def best_pieces(
    logits: Floats,
    must_end: NDArray[np.bool_],
    goes_on: NDArray[np.bool_],
    log_probabilities: Floats,
    pieces: Ids,
) -> None:
    """Fill in each row's best pieces, best first; see `nmt.decoding.next_pieces.best_pieces`.

    logits: (rows, target_size); must_end, goes_on: (rows,); log_probabilities, pieces: (rows,
    count)
    """
    columns, count = logits.shape[1], pieces.shape[1]
    best = np.empty((columns + _BLOCK - 1) // _BLOCK, np.float32)  # of each block
    for r in range(len(logits)):
        row, values, found = logits[r], log_probabilities[r], pieces[r]
        _best_of_blocks(row, best)
        most, total = best.max(), _ZERO
        for j in range(columns):
            total += exponential(row[j] - most)
        logarithm = most + np.float32(math.log(total))
        values[:] = _DEAD
        found[:] = EOS
        if must_end[r]:
            values[0] = row[EOS] - logarithm
            continue
        for block in range(len(best)):
            if best[block] <= values[count - 1]:
                continue
            for j in range(block * _BLOCK, min(columns, (block + 1) * _BLOCK)):
                if row[j] <= values[count - 1] or j in (PAD, SOS) or (j == EOS and goes_on[r]):
                    continue
                _insert(values, found, row[j], j)
        for i in range(count):
            values[i] -= logarithm


@compiled
def _best_of_blocks(x: Floats, best: Floats) -> None:
    """Fill in the largest number of each block of `_BLOCK`."""
    bits = x.view(np.int32)
    whole = len(x) // _BLOCK
    for block in range(whole):
        most = _ordered(bits[block * _BLOCK])
        for j in range(block * _BLOCK, block * _BLOCK + _BLOCK):  # a length that LLVM knows
            most = max(most, _ordered(bits[j]))
        best[block] = np.int32(_ordered(most)).view(np.float32)
    if len(best) > whole:
        best[whole] = x[whole * _BLOCK :].max()


@compiled
def _ordered(bits: np.int32) -> np.int32:
    """Turn a float's bits into an integer that compares like the float, and back.

    A processor finds the largest of sixteen integers at once; of floats, LLVM does not.
    """
    ordered: np.int32 = np.int32(bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))
    return ordered


@compiled
def _insert(values: Floats, pieces: Ids, value: np.float32, piece: int) -> None:
    """Put a piece into its place among the best, and the last of them out."""
    i = len(values) - 1
    while i > 0 and values[i - 1] < value:
        values[i], pieces[i] = values[i - 1], pieces[i - 1]
        i -= 1
    values[i], pieces[i] = value, piece
