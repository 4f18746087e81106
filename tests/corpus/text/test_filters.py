"""Each filter drops only the intended pairs; all are off by default."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.config.data import DataConfig
from nmt.corpus.sources.readers import read_tsv
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.filters import Filter, apply_filters, make_filters
from nmt.errors import UserError

GOOD = [
    ("The old house stands by the river.", "Das alte Haus steht am Fluss."),
    ("Go.", "Geh."),
    ("Tom!", "Schön, über Größe: Ärger mit Öl?"),
    ("It costs 100 euros.", "Es kostet 100 Euro."),
]
BAD: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "copy": ({"drop_copies": True}, ("Click here, now", "click here now!")),
    "few letters": ({"min_letters": 0.5}, ("12.03.2004 | 17:30 a", "12.03.2004 | 17:30 Uhr")),
    "character ratio": (
        {"max_character_ratio": 8},
        ("Stop here.", "Donaudampfschifffahrtsgesellschaft " * 5),
    ),
    "mojibake": ({"drop_mojibake": True}, ("We practise.", "Wir Ã¼ben fÃ¼r die PrÃ¼fung.")),
    "other language": (
        {"check_languages": True},
        ("The old house stands by the river.", "La vieille maison se trouve au bord du fleuve."),
    ),
}


def reasons(pairs: list[tuple[str, str]], **fields: Any) -> list[str]:
    sources, targets = zip(*pairs, strict=True)
    found: list[str] = Cleaner(DataConfig(**fields)).reasons_to_drop(sources, targets).tolist()
    return found


@pytest.mark.parametrize("reason", BAD)
def test_each_filter_drops_only_the_intended_pairs(reason: str) -> None:
    fields, pair = BAD[reason]
    if reason in ("mojibake", "other language"):
        pytest.importorskip("ftfy")
        pytest.importorskip("py3langid")
    assert reasons([*GOOD, pair], **fields) == [*[""] * len(GOOD), reason]


def test_pairs_that_are_dropped_already_are_not_filtered() -> None:
    seen: list[str] = []
    filters: dict[str, Filter] = {
        "first": lambda source, target: bool(seen.append(source)) or source == "b",
        "second": lambda source, target: source != "d",
    }
    sources = ["a", "b", "c", "d"]
    found = apply_filters(filters, sources, sources, np.array(["long", "", "", ""]))
    assert found.tolist() == ["long", "first", "second", ""]
    assert seen == ["b", "c", "d"]


def test_vowel_signs_count_as_letters() -> None:
    hindi = ("मैं भी नहीं हूँ।", "हिंदी में कुछ भी नहीं है।")
    assert reasons([hindi], min_letters=0.5) == [""]
    assert reasons([("a 12 ✓", "b 12 ✓")], min_letters=0.5) == ["few letters"]


def test_all_filters_are_off_by_default() -> None:
    assert make_filters(DataConfig()) == {}
    pairs = [pair for _, pair in BAD.values()]
    assert reasons(pairs) == [""] * len(pairs)


def test_the_right_language_on_the_wrong_side_is_dropped() -> None:
    pytest.importorskip("py3langid")
    swapped = [(target, source) for source, target in GOOD[:1]]
    assert reasons(swapped, check_languages=True) == ["other language"]
    fields = {"source_language": "de", "target_language": "en", "check_languages": True}
    assert reasons(swapped, **fields) == [""]
    long = {"source_language": "deu", "target_language": "eng", "check_languages": True}
    assert reasons(swapped, **long) == [""]
    numbers = ("1,234,567.89 + 12,345.67", "++49 (0) 30 1234567-890")
    assert reasons([numbers], check_languages=True) == [""]
    with pytest.raises(UserError, match="xx is not supported"):
        reasons(GOOD, check_languages=True, source_language="xx")


@pytest.mark.parametrize(
    ("field", "package"), [("drop_mojibake", "ftfy"), ("check_languages", "py3langid")]
)
def test_a_missing_package_is_reported_with_the_install_command(
    field: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (package, f"{package}.badness", f"{package}.langid"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UserError, match=rf"data\.{field} needs packages .*nmt-trainer\[filters\]"):
        reasons(GOOD, **{field: True})


def test_few_real_pairs_are_dropped() -> None:
    pytest.importorskip("ftfy")
    pytest.importorskip("py3langid")
    folder = os.environ.get("NMT_CORPORA")
    if not folder:
        pytest.skip("NMT_CORPORA is not set")
    pairs = list(read_tsv(Path(folder) / "tatoeba-deu.txt"))[::50]
    found = reasons(
        pairs, **{name: value for fields, _ in BAD.values() for name, value in fields.items()}
    )
    dropped = [reason for reason in found if reason]
    assert len(dropped) < 0.06 * len(pairs)
    assert dropped.count("mojibake") == 0
