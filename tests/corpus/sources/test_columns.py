"""The columns with sentences are found by their names or their content, or refused."""

from pathlib import Path

import pytest

from nmt.corpus.sources.readers import read_tsv
from nmt.errors import UserError

PAIRS = [
    ("The dog sleeps in the kitchen.", "Der Hund schläft in der Küche."),
    ("Where is my red umbrella?", "Wo ist mein roter Schirm?"),
    ("He has been waiting for an hour.", "Er wartet seit einer Stunde."),
    ("Thank you!", "Danke!"),
]


def read(path: Path, rows: list[list[str]]) -> list[tuple[str, str]]:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return list(read_tsv(path, ("en", "de")))


@pytest.mark.parametrize(
    "row",
    [
        lambda i, en, de: [str(i), en, de],
        lambda i, en, de: [f"0.{i}7", en, de],
        lambda i, en, de: ["http://a.org/1", f"https://a.org/{i}", en, de],
        lambda i, en, de: [f"corpus-{i}", en, de, "train"],
        lambda i, en, de: [en, de, f"CC-BY {i} (anna)"],
        lambda i, en, de: [en, str(i), de],
        lambda i, en, de: [["animals", "at home"][i % 2], de, en],
        lambda i, en, de: [en, de, ["animals", "at home"][i % 2]],
        lambda i, en, de: ["eng", en, "deu", de],
        lambda i, en, de: ["en", "de", en, de],
        lambda i, en, de: ["English", "German", en, de],
        lambda i, en, de: ["source", "target", en, de],
        lambda i, en, de: [*(["de", "en"] if i == 4 else ["en", "de"]), en, de],
        lambda i, en, de: [en, de, "en", "de"],
    ],
    ids=[
        *("index", "score", "addresses", "name and split", "attribution", "number between"),
        *("topic, swapped", "topic at the end", "codes of languages", "codes first", "names first"),
        *("sides first", "codes that differ", "codes last"),
    ],
)
def test_the_content_shows_where_the_sentences_are(row, tmp_path: Path) -> None:
    rows = [row(i, *pair) for i, pair in enumerate(PAIRS, start=3)]
    assert read(tmp_path / "pairs.tsv", rows) == PAIRS


@pytest.mark.parametrize(
    "names", [["id", "en", "de"], ["", "English", "German"], ["score", "src", "tgt"]]
)
def test_the_names_in_the_first_line_show_it_too(
    names: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [names, *([str(i), *pair] for i, pair in enumerate(PAIRS))]
    assert read(tmp_path / "pairs.tsv", rows) == PAIRS
    assert "reading fields 2 and 3" in caplog.text


def test_a_header_is_unlike_all_other_lines(tmp_path: Path) -> None:
    rows = [[*("en", "de"), *pair] for pair in PAIRS]
    for names in (["source", "target", "en", "de"], ["source_lang", "target_lang", "src", "tgt"]):
        assert read(tmp_path / "pairs.tsv", [names, *rows]) == PAIRS
    languages = [["English", "Englisch"], ["German", "Deutsch"]]
    assert read(tmp_path / "pairs.tsv", [["English", "German"], *languages]) == [
        ("English", "Englisch"),
        ("German", "Deutsch"),
    ]


def test_named_columns_may_be_in_any_order(tmp_path: Path) -> None:
    rows = [["de", "topic", "en"], *([de, "animals", en] for en, de in PAIRS)]
    assert read(tmp_path / "pairs.tsv", rows) == PAIRS


def test_columns_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    rows = [["1", "Anna", "Ben", "Clara"], ["2", "Emma", "Felix", "Greta"]]
    with pytest.raises(UserError, match=r"pairs\.tsv: line 1 has 4 fields .*data\.columns"):
        read(tmp_path / "pairs.tsv", rows)


@pytest.mark.parametrize("before", [[], ["7"]])
def test_few_lines_with_a_tab_within_a_sentence_are_left_out(
    before: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, rows = tmp_path / "pairs.tsv", [[*before, *pair] for pair in PAIRS * 10]
    broken = [*before, "Oh", "no!", "Oh nein!"]
    assert read(path, [*rows, broken]) == PAIRS * 10
    assert "1 of 41 lines have a tab within a sentence" in caplog.text
    with pytest.raises(UserError, match="tab within a sentence"):
        read(path, [*rows, *[broken] * 9])
