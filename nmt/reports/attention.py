"""Where the model looks while it translates a sentence: the weights, and pictures of them.

>>> attention = read_attention(load_translator(open_run(Path("runs/base"))), "oscar likes to code")
>>> attention["cross"].average            # (queries, keys), rows sum to one
>>> draw_attention(attention, "cross", Path("cross.png"))
"""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from nmt.decoding.translator import Trace, Translator
from nmt.errors import UserError
from nmt.model.attention import CrossAttention, SelfAttention, record_attention
from nmt.model.transformer import Transformer
from nmt.reports.figures import picture
from nmt.special_tokens import EOS, SOS, SPECIALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

Kind = Literal["encoder", "decoder", "cross"]
Picture = Literal["average", "encoder", "decoder", "cross"]
PICTURES: tuple[Picture, ...] = get_args(Picture)
TITLES: dict[Kind, str] = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}
CUT = "(cut)"
MOST_PIECES = 40  # more could not be read
MOST_PANELS = 160


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one kind of attention for one sentence.

    weights: (layers, heads, queries, keys), each row sums to one; queries, keys: the pieces. A
    decoder's query is named after the piece that it writes, its keys after what it has read; the
    last query is <eos>, or (cut) where the length limit came before it.
    """

    kind: Kind
    queries: list[str]
    keys: list[str]
    weights: NDArray[np.float32]

    @property
    def average(self) -> NDArray[np.float32]:
        """The mean over layers and heads: (queries, keys)."""
        mean: NDArray[np.float32] = self.weights.mean((0, 1))
        return mean


@dataclass(frozen=True)
class Attention:
    """A sentence, its translation, and all attention between their pieces.

    complete: False when the length limit cut the translation
    """

    source: str
    translation: str
    maps: dict[Kind, AttentionMap]
    complete: bool = True

    def __getitem__(self, kind: Kind) -> AttentionMap:
        return self.maps[kind]

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


def read_attention(translator: Translator, sentence: str) -> Attention:
    """Translate a sentence and return the attention weights of every layer and head.

    The translation is `Translator`'s; its pieces then go through the same weights once more, with
    the weights of each attention recorded. Raises `UserError` for an empty sentence, for a line
    that is translated in parts, and for an ensemble.
    """
    if len(translator.pytorch.models) > 1:
        raise UserError("attention is that of one model; load one run alone")
    traces = translator.trace(sentence)
    if not traces:
        raise UserError('the sentence is empty; give some words, as in "oscar likes to code"')
    if len(traces) > 1:
        raise UserError(
            f"the text is longer than any training sentence and was translated in {len(traces)} "
            "parts; give one sentence at a time"
        )
    [trace] = traces
    weights = _record(translator.pytorch.models[0], trace)
    read = [SPECIALS[SOS], *trace.target]
    complete = trace.hypothesis.complete
    written = [*trace.target, SPECIALS[EOS] if complete else CUT]
    maps: dict[Kind, AttentionMap] = {
        "encoder": AttentionMap("encoder", trace.source, trace.source, weights["encoder"]),
        "decoder": AttentionMap("decoder", written, read, weights["decoder"]),
        "cross": AttentionMap("cross", written, trace.source, weights["cross"]),
    }
    return Attention(sentence, trace.text, maps, complete)


@torch.inference_mode()
def _record(model: Transformer, trace: Trace) -> dict[Kind, NDArray[np.float32]]:
    """Return the weights of each kind: (layers, heads, queries, keys)."""
    decoder = model.decoder_layers()
    layers: dict[Kind, list[SelfAttention] | list[CrossAttention]] = {
        "encoder": [layer.attention for layer in model.encoder_layers()],
        "decoder": [layer.self_attention for layer in decoder],
        "cross": [layer.cross_attention for layer in decoder],
    }
    device = next(model.parameters()).device
    source = torch.tensor([trace.source_ids], device=device)
    target_in = torch.tensor([[SOS, *trace.hypothesis.ids]], device=device)
    with record_attention(*(layer for kind in layers.values() for layer in kind)) as records:
        model.hidden(source, target_in)
    found = iter(record[0][0].float().cpu().numpy() for record in records)
    return {kind: np.stack([next(found) for _ in layers[kind]]) for kind in layers}


# --------------------------------------------------------------------------------------- pictures


def draw_attention(attention: Attention, which: Picture, path: Path) -> None:
    """Draw all attention averaged, or the layers and heads of one kind.

    Raises `UserError` where there is more than a picture can show.
    """
    if which == "average":
        _draw_average(attention, path)
    else:
        _draw_heads(attention[which], _title(attention), path)


def _title(attention: Attention) -> str:
    return f"{attention.source}  →  {attention.translation}"


def _draw_heads(found: AttentionMap, title: str, path: Path) -> None:
    """Draw a grid, a row a layer and a column a head."""
    layers, heads = found.weights.shape[:2]
    if layers * heads > MOST_PANELS:
        raise UserError(
            f"{layers} layers of {heads} heads do not fit into one picture; take the average, or "
            "the numbers: --json"
        )
    width, height = _panel_size(found)
    with picture(path, heads * width + 1.2, layers * height + 0.8) as figure:
        panels = figure.subplots(layers, heads, squeeze=False)
        for layer, head in np.ndindex(layers, heads):
            mesh = _draw(panels[layer, head], found, found.weights[layer, head])
            panels[layer, head].set_title(f"layer {layer + 1}, head {head + 1}")
            if layer < layers - 1:
                panels[layer, head].set_xlabel("")
            if head:
                panels[layer, head].set_ylabel("")
        title = f"{TITLES[found.kind]}:  {title}"
        figure.suptitle(textwrap.fill(title, int(11 * heads * width)))
        figure.colorbar(mesh, ax=panels, label="weight", shrink=min(1.0, 2 / layers), aspect=30)


def _draw_average(attention: Attention, path: Path) -> None:
    """Draw the three kinds side by side, each the mean over its layers and heads."""
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
    """Return the inches that the pieces need to be read."""
    for side in (found.queries, found.keys):
        if len(side) > MOST_PIECES:
            raise UserError(
                f"{len(side)} pieces are too many for a picture, {MOST_PIECES} can be read; give a "
                "shorter sentence, or take the numbers: --json"
            )
    left, below = (0.085 * max(map(len, side)) for side in (found.queries, found.keys))
    return left + 1.0 + 0.22 * len(found.keys), below + 0.9 + 0.22 * len(found.queries)


def _draw(panel: "Axes", found: AttentionMap, weights: NDArray[np.float32]) -> "QuadMesh":
    # Shapes and not an image, so that an SVG stays sharp.
    mesh = panel.pcolormesh(weights, cmap="Blues", vmin=0, vmax=1, edgecolor="white", linewidth=0.5)
    panel.set_aspect("equal")
    panel.invert_yaxis()
    panel.grid(False)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    panel.set_xticks(np.arange(len(found.keys)) + 0.5, found.keys, rotation=90)
    panel.set_yticks(np.arange(len(found.queries)) + 0.5, found.queries)
    panel.set_xlabel("reads")
    panel.set_ylabel("for" if found.kind == "encoder" else "to write")
    return mesh
