"""An auxiliary demands a form of the verb that stands with it."""

import pytest

from nmt.decoding.verb_phrases import fitting_forms, is_auxiliary

OPEN = ["aufmachen", "aufmacht", "aufgemacht"]
GO = ["gehen", "geht", "gegangen"]
PAY = ["bezahlen", "bezahle", "bezahlt"]


@pytest.mark.parametrize(
    ("verb", "forms", "before", "expected"),
    [
        ("aufmachen", OPEN, "Ich habe die Tür", ["aufgemacht"]),
        ("aufmachen", OPEN, "Die Tür wurde", ["aufgemacht"]),
        ("aufmachen", OPEN, "Ich muss die Tür", ["aufmachen", "aufgemacht"]),  # … werden
        ("aufmachen", OPEN, "wenn er die Tür", ["aufmachen", "aufmacht", "macht"]),
        ("aufmachen", OPEN, "Ich habe Zeit, wenn er", ["aufmachen", "aufmacht", "macht"]),
        ("aufmachen", OPEN, "Ich habe Zeit und", ["aufmachen", "aufmacht", "macht"]),
        ("bezahlen", PAY, "Wir haben das", ["bezahlt"]),
        ("bezahlen", PAY, "Er", [*PAY, "macht"]),  # "bezahlt" is finite, too
        ("gehen", GO, "Er", ["gehen", "geht", "macht"]),
        ("gehen", GO, "Er ist", ["gegangen"]),
        ("gehören", ["gehören", "gehört"], "Es hat", ["gehört"]),
        ("gehören", ["gehören", "gehört"], "Es", ["gehören", "gehört", "macht"]),
        ("aktualisieren", ["aktualisiert"], "Er", ["aktualisiert", "macht"]),
        ("offen", ["offene", "offenen"], "Das ist eine", ["offene", "offenen"]),  # none fits
    ],
)
def test_forms_that_may_follow(verb, forms, before, expected):
    assert fitting_forms(verb, forms, ["macht"], before.split()) == expected


def test_auxiliaries():
    assert all(map(is_auxiliary, ("Hast", "werden", "sein", "müssten", "lässt")))
    assert not any(map(is_auxiliary, ("machen", "Sein", "neu")))
