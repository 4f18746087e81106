import sys

import pytest

from nmt.decoding import inflection
from nmt.decoding.inflection import (
    english_forms,
    english_lemma,
    english_number,
    german_forms,
    separated_forms,
)
from nmt.decoding.noun_table import NounTable

from .test_noun_table import write_table


@pytest.fixture(autouse=True)
def without_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflection, "noun_table", lambda: None)
    english_lemma.cache_clear()


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("bill", {"bills"}),
        ("box", {"boxes"}),
        ("city", {"cities"}),
        ("day", {"days"}),
        ("child", {"children"}),
    ],
)
def test_english_nouns_have_a_plural(word, forms):
    assert set(english_forms(word, verb=False)) == {word, *forms}


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("release", {"releases", "releasing", "released"}),
        ("stop", {"stops", "stopping", "stopped"}),
        ("try", {"tries", "trying", "tried"}),
        ("agree", {"agrees", "agreeing", "agreed"}),
    ],
)
def test_english_verbs_have_further_forms(word, forms):
    assert forms <= set(english_forms(word, verb=True))


def test_irregular_english_forms_need_a_dictionary(monkeypatch):
    assert english_lemma("wrote") == "write"
    monkeypatch.setitem(sys.modules, "simplemma", None)
    assert english_lemma("went") == "went"


@pytest.mark.parametrize(
    ("term", "forms"),
    [
        ("Rechnung", {"Rechnungen"}),
        ("Hund", {"Hunde", "Hunden", "Hundes"}),
        ("Haus", {"Hause", "Hauses", "Häuser", "Häusern"}),
        ("Wunsch", {"Wünsche", "Wünschen"}),
        ("Museum", {"Museums", "Museen"}),
        ("schnell", {"schnelle", "schnellen", "schnelles"}),
        ("teuer", {"teure", "teuren"}),
        ("Xyloprüfung", {"Xyloprüfungen"}),  # a compound that no dictionary has
        ("neue Datei", {"neuen Dateien", "neuer Datei"}),
        ("Test-Datei", {"Test-Dateien"}),
    ],
)
def test_german_terms_have_their_inflected_forms(term, forms):
    found = german_forms(term)
    assert found[0] == term
    assert forms <= set(found)


WORDS = frozenset(
    ["angemeldet", "anmeldet", "bestätigt", "freigegeben", "freizugeben", "gegeben", "schnellste"]
)


@pytest.mark.parametrize(
    ("term", "forms"),
    [
        ("freigeben", ["freigegeben", "freizugeben"]),
        ("erneut bestätigen", ["erneut bestätigt"]),
        ("sich anmelden", ["sich angemeldet", "sich anmeldet"]),
        ("speichern", []),  # the text lacks its forms
        ("herunterladen", []),
        ("offen", ["offene", "offenem", "offenen", "offener", "offenes"]),
        ("schnell", ["schnelle", "schnellem", "schnellen", "schneller", "schnelles"]),
    ],
)
def test_forms_of_verbs_are_those_of_a_text(term, forms):
    first, *others = german_forms(term, words=WORDS)
    assert first == term
    assert sorted(others) == forms


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("abholen", [("holen", "ab"), ("holt", "ab"), ("holte", "ab")]),
        ("hinzufügen", [("fügt", "hinzu")]),
        ("zurückholen", [("holen", "zurück"), ("holt", "zurück"), ("holte", "zurück")]),
        ("holen", []),
        ("antworten", []),
        ("abgeben", []),  # the text lacks its forms
        ("Abholen", []),
    ],
)
def test_verbs_with_a_particle_have_separated_forms(verb, forms):
    words = frozenset({"abgeholt", "fügt", "holen", "holt", "holte", "antwortet"})
    assert separated_forms(verb, words) == forms


@pytest.mark.parametrize("term", ["Qwrtz", "PMR", "v2", "-", "a"])
def test_what_is_no_known_word_has_one_form(term):
    assert german_forms(term) == [term]


def test_words_of_another_lemma_are_no_forms():
    assert not {"Hundert", "Hündin"} & set(german_forms("Hund"))
    assert not {"Ortung", "Order"} & set(german_forms("Ort"))


@pytest.mark.parametrize(
    ("term", "singular", "plural"),
    [
        ("Haus", {"Haus", "Hause", "Hauses"}, {"Häuser", "Häusern"}),
        ("Rechnung", {"Rechnung"}, {"Rechnungen"}),
        ("Ort", {"Ort", "Ortes"}, {"Orte", "Orten"}),
        ("Lehrer", {"Lehrer", "Lehrers"}, {"Lehrer", "Lehrern"}),
        ("Kunde", {"Kunde", "Kunden"}, {"Kunden"}),
        ("Auto", {"Auto"}, {"Autos"}),
        ("neue Datei", {"neue Datei", "neuen Datei"}, {"neue Dateien", "neuen Dateien"}),
    ],
)
def test_german_forms_of_one_number(term, singular, plural):
    assert singular <= set(german_forms(term, "singular"))
    assert plural <= set(german_forms(term, "plural"))
    assert not (plural - singular) & set(german_forms(term, "singular"))
    assert not (singular - plural) & set(german_forms(term, "plural"))


@pytest.mark.parametrize(
    ("term", "singular", "plural"),
    [
        ("Schale", ["Schale"], ["Schalen"]),
        ("Obstschale", ["Obstschale"], ["Obstschalen"]),
        ("Xylo-Schale", ["Xylo-Schale"], ["Xylo-Schalen"]),
        ("Tag", ["Tag"], ["Tage", "Tagen"]),  # not the old dative, "am Tage"
        ("Tage", ["Tag"], ["Tage", "Tagen"]),  # given in the plural
        ("Leute", ["Leute", "Leuten"], ["Leute", "Leuten"]),  # has no singular
        ("Hund", ["Hund", "Hundes", "Hunds"], ["Hunde", "Hunden"]),  # not in the table
    ],
)
def test_a_table_of_nouns_has_precedence(term, singular, plural, tmp_path, monkeypatch):
    table = NounTable(write_table(tmp_path))
    monkeypatch.setattr(inflection, "noun_table", lambda: table)
    found = german_forms(term, "singular")
    assert set(found) >= set(singular)
    assert "Tage" not in found
    assert german_forms(term, "plural")[:2] == plural


@pytest.mark.parametrize(
    ("noun", "form", "features"),
    [
        ("Schal", "Schals", {"pn", "pd"}),
        ("Obstschale", "Obstschalen", {"pn", "pd"}),  # like its last part
        ("neue Schale", "neuen Schalen", {"pn", "pd"}),
        ("Tag", "Schal", set()),
        ("Hund", "Hund", set()),  # not in the table
    ],
)
def test_a_table_of_nouns_tells_what_a_form_may_be(noun, form, features, tmp_path, monkeypatch):
    table = NounTable(write_table(tmp_path))
    monkeypatch.setattr(inflection, "noun_table", lambda: table)
    assert set(inflection.noun_features(noun, form)) == features


def test_without_a_table_forms_may_be_anything(monkeypatch):
    monkeypatch.setattr(inflection, "noun_table", lambda: None)
    assert inflection.noun_features("Schal", "Schals") == []


@pytest.mark.parametrize(
    ("word", "lemma", "number"),
    [
        ("bill", "bill", "singular"),
        ("bills", "bill", "plural"),
        ("glass", "glass", "singular"),
        ("knives", "knife", "plural"),
        ("stairs", "stairs", None),  # in the plural in the glossary
        ("people", "people", None),
        ("released", "release", None),
    ],
)
def test_english_nouns_have_a_number(word, lemma, number):
    assert english_number(word, lemma) == number
