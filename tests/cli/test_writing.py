"""Output of the stages, line by line."""

from nmt.cli.writing import format_translations
from nmt.decoding.translator import Translation

SEPARATED = "Eins.\tZwei.\u2028Drei.\x85Vier.\rFünf.\x0bSechs.  Sieben."
JOINED = "Eins. Zwei. Drei. Vier. Fünf. Sechs.  Sieben."


def test_separators_between_sentences_add_neither_columns_nor_lines() -> None:
    found = [Translation(SEPARATED, -0.5), Translation("Eins.", -1)]
    assert list(format_translations(iter([found]), None)) == [JOINED, "Eins."]
    assert list(format_translations(iter([found]), 2)) == [
        f"1\t-0.5000\t{JOINED}",
        "1\t-1.0000\tEins.",
    ]
