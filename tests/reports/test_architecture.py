"""The drawing shows the model's own parts, and the shapes that really flow through them."""

from pathlib import Path

import pytest

from nmt.config.model import ModelConfig
from nmt.model.transformer import Transformer
from nmt.reports.architecture import Theme, draw_architecture
from nmt.training.batches import Batch

from .conftest import texts

BATCH = Batch.from_ids([[5, 6, 7, 8], [5]], [[9], [9, 10, 5]])
SMALL = {"d_model": 8, "heads": 2, "d_ff": 12, "encoder_layers": 3, "decoder_layers": 1}


def drawn(path: Path, theme: Theme = "light", **fields: object) -> list[str]:
    """Draw a small model; return all texts, from below to above in each column."""
    model = Transformer(ModelConfig(**{**SMALL, **fields}), 11, 12)  # type: ignore[arg-type]
    draw_architecture(model.train(), BATCH, theme, path)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())
    return texts(path)


def test_shapes_are_those_of_the_batch(tmp_path: Path) -> None:
    found = drawn(tmp_path / "a.svg", tie="none")
    assert {"source (2, 5)", "memory (2, 5, 8)", "target_in (2, 4)"} <= set(found)
    assert {"(2, 5, 8)", "(2, 4, 8)", "(2, 4, 12)"} <= set(found)
    assert "3 × encoder layer" in found
    assert "decoder layer" in found


@pytest.mark.parametrize(("position", "norms"), [("pre", 7), ("post", 5)])
def test_norms_stand_where_the_model_has_them(tmp_path: Path, position: str, norms: int) -> None:
    fields = {"norm_position": position, "final_norm": position == "pre"}
    found = drawn(tmp_path / "a.svg", **fields)
    assert found.count("layer norm") == norms
    order = found.index("layer norm") - found.index("self-attention")
    assert (order < 0) == (position == "pre")


def test_parameters_are_counted_once_and_other_kinds_are_named(tmp_path: Path) -> None:
    found = drawn(tmp_path / "a.svg", tie="target", norm_kind="rms", positions="rotary")
    assert {"embedding × √8", "88 parameters", "shares the target embedding"} <= set(found)
    assert "RMSNorm" in found
    assert found.count("2 heads, 288 parameters") == 3


def test_the_two_themes_differ_only_in_colours(tmp_path: Path) -> None:
    light, dark = drawn(tmp_path / "a.svg"), drawn(tmp_path / "b.svg", "dark")
    assert light == dark
    assert (tmp_path / "a.svg").read_text() != (tmp_path / "b.svg").read_text()
