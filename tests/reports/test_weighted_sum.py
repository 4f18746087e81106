from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import torch

from nmt.reports.weighted_sum import draw_weighted_sum


def test_the_drawing_shows_each_weight(tmp_path: Path) -> None:
    query, key = torch.tensor([[0.0, 0.0], [2.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])

    draw_weighted_sum(["▁he", "<eos>"], query, key, torch.eye(2), 1, tmp_path / "a.svg")

    elements = ElementTree.parse(tmp_path / "a.svg").getroot().iter()
    texts = [element.text for element in elements if element.tag.endswith("}text")]
    large = 1 / (1 + np.exp(-2 / 2**0.5))
    weights = [".50", ".50", f"{1 - large:.2f}"[1:], f"{large:.2f}"[1:]]
    assert [text for text in texts if text and text.startswith(".")] == weights
    assert texts.count("·he") == 6  # at the rows of all five, and at the columns of the weights
