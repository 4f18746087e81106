from importlib.util import find_spec
from pathlib import Path

import pytest

from nmt.decoding.noun_table import NounTable, noun_table

ROWS = [
    "lemma,pos,genus,nominativ singular,nominativ plural 1,nominativ plural 2,dativ singular*,"
    "dativ plural",
    "Leute,Substantiv,,,Leute,,,Leuten",
    "Schal,Substantiv,m,Schal,Schals,Schale,,Schals",
    'Schale,"Substantiv,Toponym",f,Schale,Schalen,,,Schalen',
    "Schale,Nachname,,,,,,",
    "Tag,Substantiv,m,Tag,Tage,,Tage,Tagen",
]


def write_table(folder: Path) -> Path:
    path = folder / "nouns.csv"
    path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("noun", "singular", "plural"),
    [
        ("Leute", [], ["Leute", "Leuten"]),
        ("Schal", ["Schal"], ["Schals", "Schale"]),
        ("Schale", ["Schale"], ["Schalen"]),
        ("Tag", ["Tag", "Tage"], ["Tage", "Tagen"]),  # rarer forms come last
        ("Ta", [], []),
        ("", [], []),
    ],
)
def test_a_noun_has_its_forms_of_each_number(noun, singular, plural, tmp_path):
    table = NounTable(write_table(tmp_path))
    assert (table.forms(noun, "singular"), table.forms(noun, "plural")) == (singular, plural)
    assert set(table.forms(noun)) == {*singular, *plural}
    assert (noun in table) == bool(singular or plural)


@pytest.mark.parametrize(
    ("noun", "form", "features"),
    [
        ("Schal", "Schal", ["mn"]),
        ("Schal", "Schals", ["pn", "pd"]),
        ("Schale", "Schale", ["fn"]),
        ("Leute", "Leute", ["pn"]),
        ("Tag", "Tage", ["pn", "md"]),
        ("Tag", "Tages", []),
        ("Ta", "Ta", []),
    ],
)
def test_a_form_may_have_genders_numbers_and_cases(noun, form, features, tmp_path):
    assert sorted(NounTable(write_table(tmp_path)).features(noun, form)) == sorted(features)


@pytest.mark.skipif(not find_spec("german_nouns"), reason="german-nouns is not installed")
def test_the_table_of_the_package_is_read():
    table = noun_table()
    assert table
    assert table.forms("Schloss", "plural") == ["Schlösser", "Schlössern"]
