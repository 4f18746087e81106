"""Pictures show the encodings that a model adds."""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
import torch

from nmt.config.model import ModelConfig
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.reports.positions import cosines, draw_positions, position_table

SMALL = {"d_model": 8, "heads": 2, "d_ff": 4, "encoder_layers": 1, "decoder_layers": 1}


@pytest.mark.parametrize(
    ("kind", "width", "first"), [("sinusoidal", 8, math.sin), ("rotary", 4, math.cos)]
)
def test_sinusoids_and_rotary_angles_follow_the_papers_formula(
    kind: str, width: int, first: Callable[[float], float]
) -> None:
    table = position_table(ModelConfig(d_model=8, heads=2, positions=kind), 60)
    second = math.cos if first is math.sin else math.sin
    angle = 7 / 10000 ** (1 / 2)
    assert table.shape == (60, width)
    assert table[7, width // 2] == pytest.approx(first(angle), abs=1e-6)
    assert table[7, width // 2 + 1] == pytest.approx(second(angle), abs=1e-6)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_the_table_of_a_model_equals_the_vectors_added_to_its_embeddings(kind: str) -> None:
    model = Transformer(ModelConfig(**SMALL, positions=kind, max_length=20), 9, 9).eval()
    table = position_table(model, 20)
    ids = torch.full((1, 20), 5)
    added = model.source_embedding(ids) - model.source_embedding.tokens(ids) * 8**0.5
    np.testing.assert_allclose(table, added[0].detach().numpy(), atol=1e-5)


def test_learned_positions_need_a_trained_model() -> None:
    with pytest.raises(UserError, match="exist only in a trained run; select one with --run"):
        position_table(ModelConfig(positions="learned"), 60)


@pytest.mark.parametrize("shape", [(60, 256), (4, 2), (1, 8)])
def test_tables_of_any_size_are_drawn(shape: tuple[int, int], tmp_path: Path) -> None:
    draw_positions(np.zeros(shape, np.float32), "title", tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_number_of_positions_can_be_chosen_up_to_max_length() -> None:
    assert position_table(ModelConfig(d_model=20, heads=2), 100).shape == (100, 20)
    assert position_table(ModelConfig(d_model=20, heads=2, max_length=40), 100).shape == (40, 20)


def legend(table: np.ndarray, path: Path, columns: Iterable[int]) -> str:
    draw_positions(table, "title", path, columns)
    svg = path.read_text()
    return svg[svg.index('id="legend_1"') : svg.index('id="axes_3"')]


def test_chosen_columns_are_drawn_as_curves_of_different_looks(tmp_path: Path) -> None:
    table = position_table(ModelConfig(d_model=20, heads=2), 100)
    few = legend(table, tmp_path / "a.svg", [4, 5, 6, 7])
    assert [column for column in range(20) if f">{column}</text>" in few] == [4, 5, 6, 7]
    many = legend(table, tmp_path / "a.svg", range(12))
    looks = re.findall(r'style="fill: none; (stroke-dasharray: [^;]*; )?.*?(#\w{6})', many)
    assert len(looks) == len(set(looks)) == 12
    with pytest.raises(UserError, match="no column 20; there are columns 0 to 19"):
        draw_positions(table, "title", tmp_path / "b.svg", [20])


def test_similarity_of_sinusoids_depends_only_on_distance() -> None:
    similar = cosines(position_table(ModelConfig(d_model=64, heads=2), 30))
    np.testing.assert_allclose(np.diag(similar), 1, rtol=1e-5)
    np.testing.assert_allclose(np.diag(similar, 3), similar[0, 3], rtol=1e-4)
    assert similar[0, 1] > similar[0, 3] > similar[0, 6]
