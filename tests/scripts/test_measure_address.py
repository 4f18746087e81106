"""Which translations count as addressing the reader as demanded."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from measure_address import count_forms


def test_a_mixture_of_forms_counts_as_another_form() -> None:
    texts = ["Hast du Zeit?", "Es regnet.", "Kannst du mir Ihr Buch geben?", "Haben Sie Zeit?"]
    assert count_forms("du", texts) == (1, 1, [2, 3])
