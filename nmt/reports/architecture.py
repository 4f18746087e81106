"""A drawing of a model's architecture: its parts, and the shapes of one batch that flows through.

>>> draw_architecture(model, batch, "light", Path("architecture.svg"))
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import torch
from torch import Tensor, nn

from nmt.files.output_files import replacing
from nmt.model.attention import CrossAttention, SelfAttention
from nmt.model.layers import DecoderLayer, EncoderLayer, FeedForward, PreNorm
from nmt.model.transformer import Embedding, Transformer, count_parameters
from nmt.training.batches import Batch

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class _Colours:
    """Of text, lines, faint text, and boxes by kind of part."""

    ink: str
    line: str
    faint: str
    layer: str
    boxes: dict[str, str]


_THEMES: dict[Theme, _Colours] = {
    "light": _Colours(
        "#1f2328",
        "#59636e",
        "#59636e",
        "#f6f8fa",
        {"attention": "#fde0c5", "feed-forward": "#cfe8fc", "norm": "#f5efc4", "other": "#e4dff5"},
    ),
    "dark": _Colours(
        "#e6edf3",
        "#9198a1",
        "#9198a1",
        "#1c2128",
        {"attention": "#6b3d14", "feed-forward": "#163f60", "norm": "#4d4713", "other": "#3d3063"},
    ),
}
_WIDTH, _NORM_HEIGHT, _HEIGHT = 250, 28, 46  # of boxes
_GAP = 26  # between boxes, with an arrow
_MARGIN, _BYPASS = 24, 34  # of a layer's frame; of a residual connection beside the boxes
_COLUMNS = 470  # distance between encoder and decoder


def draw_architecture(model: Transformer, batch: Batch, theme: Theme, path: Path) -> None:
    """Draw the model's parts from below to above, with the shapes of a batch, as an SVG file.

    Of several equal layers, the first is drawn. theme: colours for a light or a dark background
    """
    drawing = _Drawing(model, batch, _THEMES[theme])
    svg = drawing.finished()
    ElementTree.indent(svg)
    with replacing(path.resolve()) as partial:
        partial.write_text(ElementTree.tostring(svg, encoding="unicode") + "\n", encoding="utf-8")


@torch.no_grad()
def output_shapes(model: Transformer, batch: Batch) -> dict[nn.Module, tuple[int, ...]]:
    """Return the shape of the output of each part, as a batch passes through the model."""
    shapes: dict[nn.Module, tuple[int, ...]] = {}

    def note(module: nn.Module, _: object, output: object) -> None:
        if isinstance(output, Tensor):
            shapes[module] = tuple(output.shape)

    handles = [module.register_forward_hook(note) for module in model.modules()]
    training = model.training
    try:
        shapes[model] = tuple(model.eval()(batch.source, batch.target_in).shape)
    finally:
        model.train(training)
        for handle in handles:
            handle.remove()
    return shapes


class _Drawing:
    """Draws upwards: `top` is the upper end of what the current column has so far."""

    def __init__(self, model: Transformer, batch: Batch, colours: _Colours):
        self.model, self.colours = model, colours
        self.shapes = output_shapes(model, batch)
        self.svg = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg")
        self.svg.set("font-family", "Helvetica, Arial, sans-serif")
        self.x, self.top, self.highest = 0.0, 0.0, 0.0
        self._column(0, "source", batch.source, model.source_embedding, model.encoder_layers())
        self._final_norm(model.encoder_norm)
        memory = self.top
        self._column(
            _COLUMNS, "target_in", batch.target_in, model.target_embedding, model.decoder_layers()
        )
        self._final_norm(model.decoder_norm)
        if not isinstance(model.decoder_norm, nn.Identity):
            self._arrow(self._shape(model.decoder_norm))
        self._box("output projection", model.output, "other")
        self._arrow(self._shape(model))
        self._text(self.x, self.top - 6, "logits", 13)
        self.highest = self.top - 30
        self._connect(memory)

    def finished(self) -> ElementTree.Element:
        """Return the drawing."""
        left, width = -_WIDTH / 2 - 64, _COLUMNS + _WIDTH + 94
        self.svg.set("viewBox", f"{left:g} {self.highest:g} {width:g} {30 - self.highest:g}")
        self.svg.set("width", f"{width:g}")
        self.svg.set("height", f"{30 - self.highest:g}")
        return self.svg

    def _column(
        self,
        x: float,
        name: str,
        ids: Tensor,
        embedding: Embedding,
        layers: list[EncoderLayer] | list[DecoderLayer],
    ) -> None:
        """Draw one side, up to its last layer."""
        self.x, self.top = x, 0.0
        self._text(x, 14, f"{name} {tuple(ids.shape)}", 13)
        self._arrow()
        scaled = f" × √{self.model.config.d_model}" if embedding.scale != 1 else ""
        added = "" if embedding.rotary else " + positions"
        self._box(f"embedding{scaled}{added}", embedding, "other")
        frame = ElementTree.SubElement(self.svg, "rect", rx="10", fill=self.colours.layer)
        frame.set("stroke", self.colours.faint)
        bottom = self.top - _GAP
        self._arrow(self._shape(embedding), _GAP + _MARGIN)
        layer = layers[0]
        if isinstance(layer, EncoderLayer):
            self._sublayer("self-attention", layer.attention, layer.attention_residual)
        else:
            masked = "masked self-attention"
            self._sublayer(masked, layer.self_attention, layer.self_residual)
            self._arrow(self._shape(layer.self_attention))
            self.cross = self._sublayer(
                "cross-attention", layer.cross_attention, layer.cross_residual
            )
        self._arrow(self._shape(layer))
        self._sublayer("feed-forward", layer.feed_forward, layer.feed_forward_residual)
        top = self.top - _MARGIN
        left, width = x - _WIDTH / 2 - _BYPASS - 14, _WIDTH + _BYPASS + 28
        for key, value in zip(
            ("x", "y", "width", "height"),
            (left, top, width, bottom - top),
            strict=True,
        ):
            frame.set(key, f"{value:g}")
        side = "encoder" if isinstance(layer, EncoderLayer) else "decoder"
        times = f"{len(layers)} × " if len(layers) > 1 else ""
        self._text(left + 8, top + 16, f"{times}{side} layer", 12, "start", faint=True)
        self._arrow(self._shape(layer), _GAP + _MARGIN)

    def _sublayer(
        self, name: str, part: SelfAttention | CrossAttention | FeedForward, residual: nn.Module
    ) -> float:
        """Draw a sublayer with its norm and residual connection; return the height of its box."""
        kind = "feed-forward" if isinstance(part, FeedForward) else "attention"
        before = isinstance(residual, PreNorm)
        start = self.top + _GAP / 2
        if before:
            self._norm(residual)
            self._arrow()
        self._box(name, part, kind)
        middle = self.top + _HEIGHT / 2
        self._arrow()
        self.top -= 9
        self._plus(self.top)
        side = self.x - _WIDTH / 2 - _BYPASS / 2 - 6
        self._path(f"M {self.x:g} {start:g} H {side:g} V {self.top:g} H {self.x - 10:g}")
        self.top -= 9
        if not before:
            self._arrow()
            self._norm(residual)
        return middle

    def _norm(self, owner: nn.Module) -> None:
        self._rectangle(_NORM_HEIGHT, "norm")
        [norm] = [each for each in owner.modules() if each.__class__.__name__.endswith("Norm")][-1:]
        name = {"LayerNorm": "layer norm"}.get(norm.__class__.__name__, norm.__class__.__name__)
        self._text(self.x, self.top + 18, name, 12)

    def _final_norm(self, norm: nn.Module) -> None:
        if not isinstance(norm, nn.Identity):
            self._norm(norm)

    def _box(self, name: str, part: nn.Module, kind: str) -> None:
        self._rectangle(_HEIGHT, kind)
        self._text(self.x, self.top + 19, name, 13, bold=True)
        self._text(self.x, self.top + 36, self._details(part), 11)

    def _details(self, part: nn.Module) -> str:
        """Describe how large a part is, or with which other it shares its weights."""
        config, model = self.model.config, self.model
        if part is model.target_embedding and config.tie in ("inputs", "all"):
            return "shares the source embedding"
        if part is model.output and config.tie in ("target", "all"):
            return "shares the target embedding"
        sizes = f"{count_parameters(part):,} parameters"
        if isinstance(part, (SelfAttention, CrossAttention)):
            heads = f"{config.heads} head" + ("s" if config.heads > 1 else "")
            sizes = f"{heads}, {sizes}"
        if isinstance(part, FeedForward):
            sizes = f"{config.d_model} → {config.d_ff} → {config.d_model}, {sizes}"
        return sizes

    def _shape(self, part: nn.Module) -> str:
        return str(self.shapes[part])

    def _connect(self, start: float) -> None:
        """Draw the way of the memory to the cross-attention; start: where the encoder ends."""
        between, height = _COLUMNS / 2 - 12, start - _GAP
        end = _COLUMNS - _WIDTH / 2
        way = f"M 0 {start:g} V {height:g} H {between:g} V {self.cross:g} H {end - 2:g}"
        self._path(way, marker=True)
        memory = f"memory {self._shape(self.model.encoder_norm)}"
        self._text(between / 2, height - 8, memory, 13)
        self._text(between - 6, self.cross - 6, "keys, values", 11, "end", faint=True)

    # ---------------------------------------------------------------------------------- elements

    def _rectangle(self, height: float, kind: str) -> None:
        self.top -= height
        ElementTree.SubElement(
            self.svg,
            "rect",
            x=f"{self.x - _WIDTH / 2:g}",
            y=f"{self.top:g}",
            width=f"{_WIDTH}",
            height=f"{height:g}",
            rx="6",
            fill=self.colours.boxes[kind],
        )

    def _arrow(self, shape: str = "", length: int = _GAP) -> None:
        """Draw an arrow upwards, and the shape of what flows along it."""
        bottom, self.top = self.top, self.top - length
        self._path(f"M {self.x:g} {bottom:g} V {self.top + 2:g}", marker=True)
        if shape:
            self._text(self.x + 8, bottom - _GAP / 2 + 4, shape, 11, "start", faint=True)

    def _path(self, way: str, marker: bool = False) -> None:
        line = ElementTree.SubElement(self.svg, "path", d=way, fill="none")
        line.set("stroke", self.colours.line)
        line.set("stroke-width", "1.4")
        if marker:
            x, y = map(float, self._end(way))
            tip = (
                f"M {x - 4:g} {y + 7:g} L {x:g} {y:g} L {x + 4:g} {y + 7:g}"
                if " V " in way and " H " not in way
                else f"M {x - 7:g} {y - 4:g} L {x:g} {y:g} L {x - 7:g} {y + 4:g}"
            )
            self._path(tip)

    @staticmethod
    def _end(way: str) -> tuple[str, str]:
        """Return where a way of horizontal and vertical lines ends."""
        words = way.split()
        x, y = words[1], words[2]
        for direction, number in zip(words[3::2], words[4::2], strict=True):
            x, y = (number, y) if direction == "H" else (x, number)
        return x, y

    def _plus(self, y: float) -> None:
        ElementTree.SubElement(
            self.svg, "circle", cx=f"{self.x:g}", cy=f"{y:g}", r="9", fill="none",
            stroke=self.colours.line,
        )  # fmt: skip
        self._path(f"M {self.x - 5:g} {y:g} H {self.x + 5:g}")
        self._path(f"M {self.x:g} {y - 5:g} V {y + 5:g}")

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        size: int,
        anchor: str = "middle",
        faint: bool = False,
        bold: bool = False,
    ) -> None:
        element = ElementTree.SubElement(self.svg, "text", x=f"{x:g}", y=f"{y:g}")
        element.set("text-anchor", anchor)
        element.set("font-size", str(size))
        element.set("fill", self.colours.faint if faint else self.colours.ink)
        if bold:
            element.set("font-weight", "bold")
        element.text = text
