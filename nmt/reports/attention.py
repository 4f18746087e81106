"""Attention weights of a translated sentence, as numbers and as pictures.

>>> attention = read_attention(load_translator("runs/base"), "oscar likes to code")
>>> attention["cross"].average            # (queries, keys), rows sum to one
>>> draw_attention(attention, "cross", Path("cross.png"))
"""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nmt.config.choices import AttentionKind, AttentionPicture
from nmt.decoding.attention import attention_of
from nmt.decoding.translator import Trace, Translation, Translator
from nmt.errors import UserError, escape_terminal, require_utf8
from nmt.model.attention import CrossAttention, SelfAttention
from nmt.model.transformer import Transformer
from nmt.reports.figures import COLOURS, picture
from nmt.special_tokens import BOS, EOS, SPECIALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

TITLES: dict[AttentionKind, str] = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}
KEYS = "attends to (keys)"
CUT = "(cut)"
MOST_TOKENS = 40  # in a picture; more would be illegible
MOST_RECORDED = 200  # tokens of a source; its attention weights grow with their square
MOST_PANELS = 160
LONGEST_LABEL, LONGEST_WORD = 24, 60  # characters, of a token and in the title
CLEAREST = 4  # number of heads in the picture of the clearest ones


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one kind of attention for one sentence."""

    kind: AttentionKind
    queries: list[str]
    """Tokens; in the decoder those predicted, the last one <eos>, or (cut) at the length limit."""
    keys: list[str]
    """Tokens; in the decoder those that it has read."""
    weights: NDArray[np.float32]
    """(layers, heads, queries, keys), where rows sum to one."""

    @property
    def average(self) -> NDArray[np.float32]:
        """The mean over layers and heads: (queries, keys)."""
        mean: NDArray[np.float32] = self.weights.mean((0, 1))
        return mean

    def clearest(self) -> list[tuple[int, int]]:
        """Return all (layer, head), those with the clearest alignment first.

        Clarity is the mutual information of queries and keys. It is high if each query attends to
        few keys, and different queries to different ones; it is zero if all attend to <eos>.
        """
        rows = _entropy(self.weights).mean(-1)
        information = _entropy(self.weights.mean(-2)) - rows
        order = np.argsort(-information, axis=None, kind="stable")
        heads = self.weights.shape[1]
        return [(int(i) // heads, int(i) % heads) for i in order]


def _entropy(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the entropy over the last dimension, in nats."""
    p = np.clip(probabilities, 1e-12, None)
    entropy: NDArray[np.float32] = -(p * np.log(p)).sum(-1)
    return entropy


@dataclass(frozen=True)
class Attention:
    """A sentence, its translation, and all attention between their tokens."""

    source: str
    translation: str
    maps: dict[AttentionKind, AttentionMap]
    complete: bool = True
    """False if the length limit truncated the translation."""

    def __getitem__(self, kind: AttentionKind) -> AttentionMap:
        return self.maps[kind]

    def _repr_png_(self) -> bytes | None:
        """Return the picture of the clearest heads, for Jupyter."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "attention.png")
            try:
                draw_attention(self, "clearest", path)
            except (ImportError, UserError):  # no matplotlib, or too long
                return None
            return path.read_bytes()

    def as_json(self) -> dict[str, Any]:
        """Return everything as lists and text."""
        tree: dict[str, Any] = {
            "source": self.source,
            "translation": self.translation,
            "complete": self.complete,
        }
        for kind, found in self.maps.items():
            tree[kind] = {
                "queries": found.queries,
                "keys": found.keys,
                "weights": found.weights.tolist(),
                "average": found.average.tolist(),
            }
        return tree


def read_attention(
    translator: Translator,
    sentence: str,
    drawn: bool = False,
    translation: Translation | None = None,
) -> Attention:
    """Translate a sentence and return the attention weights of every layer and head.

    `Translator` translates it; then its tokens pass through the same model again, while the weights
    of each attention are recorded. Raises `UserError`, before translating, for an empty sentence,
    for a line that is translated in parts, for too many tokens, and for an ensemble.

    drawn: whether the source must fit into a picture; translation: of the sentence, if known
    """
    if len(translator.pytorch.models) > 1:
        raise UserError("attention works with one model only; load a single run")
    require_utf8(sentence)
    segments = (
        [segment for segment, _ in translation.found]
        if translation
        else translator.segments(sentence)
    )
    if not segments:
        raise UserError('the sentence is empty; give some words, as in "oscar likes to code"')
    if len(segments) > 1:
        sentences = len(translator.split(sentence).sentences)
        why = (
            f"the text has {sentences} sentences, which are translated separately"
            if sentences > 1
            else f"the text is longer than any training sentence and is translated in "
            f"{len(segments)} parts"
        )
        raise UserError(f"{why}; give one sentence at a time")
    tokens = len(segments[0].ids)
    if tokens > MOST_RECORDED:
        raise UserError(
            f"{tokens:,} tokens are too many to record their attention (at most {MOST_RECORDED}); "
            "give a shorter sentence"
        )
    if drawn:
        _require_legible(tokens)
    [trace] = translator.traces(translation) if translation else translator.trace(sentence)
    weights = _record(translator.pytorch.models[0], trace)
    read = [SPECIALS[BOS], *trace.target]
    complete = trace.hypothesis.complete
    written = [*trace.target, SPECIALS[EOS] if complete else CUT]
    maps: dict[AttentionKind, AttentionMap] = {
        "encoder": AttentionMap("encoder", trace.source, trace.source, weights["encoder"]),
        "decoder": AttentionMap("decoder", written, read, weights["decoder"]),
        "cross": AttentionMap("cross", written, trace.source, weights["cross"]),
    }
    return Attention(sentence, trace.text, maps, complete)


def _record(model: Transformer, trace: Trace) -> dict[AttentionKind, NDArray[np.float32]]:
    """Return the weights of each kind: (layers, heads, queries, keys)."""
    decoder = model.decoder_layers()
    layers: dict[AttentionKind, list[SelfAttention] | list[CrossAttention]] = {
        "encoder": [layer.attention for layer in model.encoder_layers()],
        "decoder": [layer.self_attention for layer in decoder],
        "cross": [layer.cross_attention for layer in decoder],
    }
    every = [layer for kind in layers.values() for layer in kind]
    weights = attention_of(model, trace.source_ids, trace.hypothesis.ids, every)
    found = iter(each.float().cpu().numpy() for each in weights)
    return {kind: np.stack([next(found) for _ in layers[kind]]) for kind in layers}


# --------------------------------------------------------------------------------------- pictures


def draw_attention(attention: Attention, which: AttentionPicture, path: Path) -> None:
    """Draw one picture of a sentence's attention.

    clearest: the heads of the cross-attention with the clearest alignment; lines: the clearest head
    of each kind, as lines between tokens whose width is the weight; average: each kind, averaged
    over layers and heads; encoder, decoder, cross: all layers and heads of that kind.
    Raises `UserError` if it does not fit into a picture.
    """
    if which == "clearest":
        _draw_clearest(attention["cross"], _title(attention), path)
    elif which == "lines":
        _draw_lines(attention, path)
    elif which == "average":
        _draw_average(attention, path)
    else:
        _draw_heads(attention[which], _title(attention), path)


def _title(attention: Attention) -> str:
    sides = (attention.source, attention.translation)
    words = [[_shortened(word, LONGEST_WORD) for word in side.split()] for side in sides]
    return escape_terminal("  →  ".join(map(" ".join, words)))


def _draw_heads(found: AttentionMap, title: str, path: Path) -> None:
    """Draw a grid with one row per layer and one column per head."""
    layers, heads = found.weights.shape[:2]
    if layers * heads > MOST_PANELS:
        raise UserError(
            f"{layers} layers of {heads} heads do not fit into one picture; draw only the clearest "
            "(--kind clearest), or print the numbers (--json)"
        )
    width, height = _panel_size(found)
    with picture(path, heads * width + 1.2, layers * height + 0.8) as figure:
        panels = figure.subplots(layers, heads, squeeze=False)
        for layer, head in np.ndindex(layers, heads):
            mesh = _draw(panels[layer, head], found, found.weights[layer, head])
            panels[layer, head].set_title(_head_name(layer, head))
            if layer < layers - 1:
                panels[layer, head].set_xlabel("")
            if head:
                panels[layer, head].set_ylabel("")
        title = f"{TITLES[found.kind]}:  {title}"
        figure.suptitle(textwrap.fill(title, int(11 * heads * width)))
        figure.colorbar(mesh, ax=panels, label="weight", shrink=min(1.0, 2 / layers), aspect=30)


def _draw_clearest(found: AttentionMap, title: str, path: Path) -> None:
    """Draw the clearest heads next to each other."""
    chosen = found.clearest()[:CLEAREST]
    width, height = _panel_size(found)
    with picture(path, len(chosen) * width + 1.2, height + 1.1) as figure:
        panels = figure.subplots(1, len(chosen), squeeze=False)[0]
        for panel, (layer, head) in zip(panels, chosen, strict=True):
            mesh = _draw(panel, found, found.weights[layer, head])
            panel.set_title(_head_name(layer, head))
            if panel is not panels[0]:
                panel.set_ylabel("")
        figure.suptitle(textwrap.fill(title, int(11 * len(chosen) * width)))
        figure.colorbar(mesh, ax=panels, label="weight", aspect=30)


def _draw_lines(attention: Attention, path: Path) -> None:
    """Draw the clearest head of each kind as lines from queries to keys, whose width is the weight.

    Keys are on the left, queries on the right, from top to bottom. All panels have the same scale.
    """
    for found in attention.maps.values():
        _panel_size(found)  # raises an error if there are too many tokens
    rows = max(max(found.weights.shape[2:]) for found in attention.maps.values())
    with picture(path, 4.6 * len(attention.maps), 0.32 * rows + 1.3) as figure:
        panels = figure.subplots(1, len(attention.maps), squeeze=False)[0]
        for panel, found in zip(panels, attention.maps.values(), strict=True):
            layer, head = found.clearest()[0]
            _draw_head_lines(panel, found, found.weights[layer, head], rows)
            panel.set_title(f"{TITLES[found.kind]}\n{_head_name(layer, head)}")
        figure.suptitle(textwrap.fill(_title(attention), 50 * len(panels)))


def _draw_head_lines(
    panel: "Axes", found: AttentionMap, weights: NDArray[np.float32], rows: int
) -> None:
    left, right = (
        (np.arange(len(side)) + 0.5) * rows / len(side) for side in (found.keys, found.queries)
    )
    for query, key in np.ndindex(weights.shape):
        weight = float(weights[query, key])
        panel.plot(
            (0, 1),
            (left[key], right[query]),
            color=COLOURS[query % len(COLOURS)],
            linewidth=6 * weight,
            alpha=min(1.0, 0.15 + weight),
            solid_capstyle="butt",
        )
    for x, heights, side, align, role in (
        (-0.03, left, found.keys, "right", KEYS),
        (1.03, right, found.queries, "left", _queries(found)),
    ):
        panel.text(x, -0.2, role, ha=align, va="bottom", style="italic")
        for y, token in zip(heights, side, strict=True):
            panel.text(x, y, readable(token), ha=align, va="center")
    panel.set_xlim(-0.6, 1.6)
    panel.set_ylim(rows, -1)
    panel.axis("off")


def _head_name(layer: int, head: int) -> str:
    return f"layer {layer + 1}, head {head + 1}"


def readable(token: str) -> str:
    """Return the label of a token.

    A middle dot marks the start of a word, as it looks the same when rotated. Punctuation is put in
    quotation marks, as it would be hard to see. Very long words are shortened.
    """
    escape_terminal = _shortened(token.replace("▁", "·"), LONGEST_LABEL)
    return escape_terminal if any(map(str.isalnum, escape_terminal)) else f"“{escape_terminal}”"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _draw_average(attention: Attention, path: Path) -> None:
    """Draw the three kinds next to each other, each averaged over layers and heads."""
    sizes = [_panel_size(found) for found in attention.maps.values()]
    width, height = sum(width for width, _ in sizes), max(height for _, height in sizes)
    with picture(path, width + 1.5, height + 0.9) as figure:
        ratios = [width for width, _ in sizes]
        panels = figure.subplots(1, len(sizes), squeeze=False, width_ratios=ratios)[0]
        for panel, found in zip(panels, attention.maps.values(), strict=True):
            mesh = _draw(panel, found, found.average)
            panel.set_title(TITLES[found.kind])
        figure.suptitle(textwrap.fill(_title(attention), int(11 * width)))
        figure.colorbar(mesh, ax=panels, label="weight, mean of layers and heads", aspect=30)


def _panel_size(found: AttentionMap) -> tuple[float, float]:
    """Return the size in inches at which the tokens are legible."""
    for side in (found.queries, found.keys):
        _require_legible(len(side))
    left, below = (
        0.085 * max(len(readable(token)) for token in side) for side in (found.queries, found.keys)
    )
    return left + 1.0 + 0.22 * len(found.keys), below + 0.9 + 0.22 * len(found.queries)


def _require_legible(tokens: int) -> None:
    if tokens > MOST_TOKENS:
        raise UserError(
            f"{tokens} tokens are too many for a picture (at most {MOST_TOKENS}); give a shorter "
            "sentence, or print the numbers: nmt plot attention --json"
        )


def _draw(panel: "Axes", found: AttentionMap, weights: NDArray[np.float32]) -> "QuadMesh":
    # Vector shapes, so that an SVG stays sharp.
    mesh = panel.pcolormesh(weights, cmap="Blues", vmin=0, vmax=1, edgecolor="white", linewidth=0.5)
    panel.set_aspect("equal")
    panel.invert_yaxis()
    panel.grid(False)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    keys, queries = ([*map(readable, side)] for side in (found.keys, found.queries))
    panel.set_xticks(np.arange(len(keys)) + 0.5, keys, rotation=90)
    panel.set_yticks(np.arange(len(queries)) + 0.5, queries)
    panel.set_xlabel(KEYS)
    panel.set_ylabel(_queries(found))
    return mesh


def _queries(found: AttentionMap) -> str:
    return "token (queries)" if found.kind == "encoder" else "next token (queries)"
