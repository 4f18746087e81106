"""What other programs left in the text is told once, with a remedy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.preparing.leftovers import LeftoverCounts
from nmt.corpus.preparing.prepare import prepare

from ..conftest import Make, sentence_pairs, write_tsv

Change = Callable[[str], str]


def as_windows(text: str) -> str:
    return text.encode().decode("cp1252")


def as_latin(text: str) -> str:
    return text.encode().decode("latin1")


def as_moses(text: str) -> str:
    return text.replace(".", " .")


KINDS: list[tuple[Change, str]] = [
    ('"{}"'.format, "quotation marks"),
    (as_windows, "data.drop_mojibake"),
    (as_latin, "data.drop_mojibake"),
    ("<s> {} </s>".format, "tags"),
    ('<seg id="1">{}</seg>'.format, "tags"),
    (as_moses, "detokenize"),
    ("well @-@ known: {}".format, "detokenize"),
    ("1. {}".format, "number or a bullet"),
    ("12) {}".format, "number or a bullet"),
    ("(3) {}".format, "number or a bullet"),
    ("• {}".format, "number or a bullet"),
    ("- {}".format, "number or a bullet"),
    ("&quot;{}&quot;".format, "data.decode_entities"),
]


def warnings(pairs: list[tuple[str, str]], data: DataConfig | None = None) -> list[str]:
    counts = LeftoverCounts(data or DataConfig())
    counts.add(pairs, len(pairs))
    return list(counts.warnings())


@pytest.mark.parametrize("side", [0, 1, None])
@pytest.mark.parametrize(("change", "remedy"), KINDS)
def test_each_kind_is_found_on_either_side(change: Change, remedy: str, side: int | None) -> None:
    pairs = [
        (change(f"Ü {s}") if side != 1 else s, change(f"Ü {t}") if side != 0 else t)
        for s, t in sentence_pairs()
    ]
    [warning] = warnings(pairs)
    assert warning.startswith("300 of 300 pairs")
    assert remedy in warning


@pytest.mark.parametrize(("change", "remedy"), KINDS[::2])
def test_each_kind_is_told_once_by_prepare(
    change: Change,
    remedy: str,
    make_config: Make,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = write_tsv(tmp_path / "a.tsv", [(change(s), change(t)) for s, t in sentence_pairs()])
    prepare(make_config(data={"path": str(path), "min_coverage": 0.5}), tmp_path / "out")
    [message] = caplog.messages
    assert message.startswith(f"{path}: ")
    assert remedy in message


def test_ordinary_text_is_no_leftover() -> None:
    ordinary = [
        ('"Are you tired?" "Not at all."', "„Bist du müde?“ „Überhaupt nicht.“"),
        ("– Good day.", "– Guten Tag."),
        ("1. Of course not.", "1. Natürlich nicht."),
        ("2 dogs, 3.5 metres ... and AT&T", "2 Hunde, 3,5 Meter … und AT&T"),
        ("<b>Press</b> the key.", "Drücken Sie die Taste <b>Ä</b>."),
        ("Is it là\u00a0?", "Heißt es „Ä“ – oder ß?"),
        ("The café costs £5.", "Das Café kostet 5\u00a0€."),
    ]
    assert warnings(ordinary * 50) == []


def test_a_few_numbered_lines_are_no_leftover_but_some_mojibake_is() -> None:
    pairs = sentence_pairs()
    numbered = [(f"1. {s}", f"1. {t}") for s, t in pairs[:140]]
    assert warnings(numbered + pairs[140:]) == []
    misread = [(s, as_windows("für")) for s, _ in pairs[:6]]
    assert warnings(misread + pairs[6:])[0].startswith("6 of 300 pairs")
    assert warnings(misread + pairs[6:], DataConfig(drop_mojibake=True)) == []


def test_few_pairs_are_not_judged() -> None:
    pairs = [("1. I see.", "1. Ich sehe.")] * 100
    assert warnings(pairs[:99]) == []
    assert warnings(pairs)[0].startswith("100 of 100 pairs begin")


def test_the_pairs_of_a_sample_are_counted() -> None:
    counts = LeftoverCounts(DataConfig())
    counts.add([("1. I see.", "1. Ich sehe.")] * 1000, 5000)
    counts.add([("I see.", "Ich sehe.")] * 500, 500)
    [warning] = counts.warnings()
    assert warning.startswith("1,000 of 1,500 sampled pairs begin")
