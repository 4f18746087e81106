from pathlib import Path

import pytest

from nmt.decoding.glossary import Glossary, Match, Term, parse_glossary
from nmt.errors import UserError

LANGUAGES = ("en", "de")


def glossary(*lines: str) -> Glossary:
    return parse_glossary("\n".join(lines), LANGUAGES)


def found(made: Glossary, text: str) -> list[str]:
    return [match.text for match in made.find(text)]


# ------------------------------------------------------------------------------------------ files


def read(tmp_path: Path, name: str, content: str) -> list[Term]:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return list(Glossary.read(path, LANGUAGES).terms)


def test_a_text_file_has_a_term_on_each_line(tmp_path):
    content = "# office\nbill\tRechnung\n\nrelease\tVersion|Versionen\tVersions\na  b\t=\n"
    assert read(tmp_path, "a.tsv", content) == [
        Term("bill", ("Rechnung",)),
        Term("release", ("Version", "Versionen", "Versions")),
        Term("a b", ("a b",), keep=True),
    ]


def test_further_columns_that_are_no_forms_are_comments(tmp_path):
    content = "house\tHaus\tHäuser\tin the sense of a building\nbill\tRechnung\tnot the law\n"
    assert read(tmp_path, "omegat.txt", content) == [
        Term("house", ("Haus", "Häuser")),
        Term("bill", ("Rechnung",)),
    ]


def test_further_columns_with_as_many_words_are_forms(tmp_path):
    content = (
        "go\tgehen\tging\tto move\ngood\tgut\tbesser|am besten\n"
        "unpaid bill\toffene Rechnung\tunbezahlte Rechnung\tnoun\nlog in\tanmelden|meldet an\n"
    )
    assert read(tmp_path, "a.tsv", content) == [
        Term("go", ("gehen", "ging")),
        Term("good", ("gut", "besser", "am besten")),
        Term("unpaid bill", ("offene Rechnung", "unbezahlte Rechnung")),
        Term("log in", ("anmelden", "meldet an")),
    ]


def test_a_csv_file_may_have_a_header_and_languages(tmp_path):
    content = 'source,target\n"bill, unpaid",offene Rechnung,en,de\ndraft,Entwurf,EN-US,de\n'
    assert read(tmp_path, "deepl.csv", content) == [
        Term("bill, unpaid", ("offene Rechnung",)),
        Term("draft", ("Entwurf",)),
    ]


def test_other_further_columns_of_a_csv_file_are_no_languages(tmp_path):
    content = "draft,Entwurf,Entwürfe,de\nsketch,Entwurf,Entwürfe,Entwurfes\n"
    [draft, sketch] = read(tmp_path, "a.csv", content)
    assert "Entwürfe" in draft.targets
    assert sketch.targets == ("Entwurf", "Entwürfe", "Entwurfes")


@pytest.mark.parametrize(
    ("entry", "language"), [("termEntry", "langSet"), ("conceptEntry", "langSec")]
)
def test_a_tbx_file_has_concepts(tmp_path, entry, language):
    def section(code: str, *terms: str) -> str:
        groups = "".join(f"<tig><term>{term}</term><note>n</note></tig>" for term in terms)
        return f'<{language} xml:lang="{code}">{groups}</{language}>'

    concept = section("en-US", "bill", "invoice") + section("fr", "x") + section("de", "Rechnung")
    content = (
        f"<martif><{entry}>{concept}</{entry}><{entry}>{section('en', 'y')}</{entry}></martif>"
    )
    assert read(tmp_path, "a.tbx", content) == [
        Term("bill", ("Rechnung",)),
        Term("invoice", ("Rechnung",)),
    ]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.tsv", "bill\tRechnung\nrelease\n", "line 2"),
        ("a.tsv", "bill\t\n", "line 1"),
        ("a.tsv", "bill\t|\n", "line 1"),
        ("a.tsv", f"bill\t{'x' * 300}\n", "line 1"),
        ("a.tsv", "bill\tRechnung\nBill\tGesetz\n", "line 2"),
        ("a.tsv", "bill\tRechnung\nrelease\tFreigabe\t!Freigabe\n", r"\(line 2\)"),
        ("a.tsv", "release\t!Version\nRelease\tFreigabe|Version\n", r"\(line 1 and line 2\)"),
        ("a.tsv", "Acme\t=\nbill\tRechnung\nAcme\t!Acme\n", r"\(line 1 and line 3\)"),
        ("a.csv", 'bill,"Rech-\nnung"\n\nrelease\n', "line 4"),
        ("a.csv", "bill,Rechnung,en,de\nEntwurf,draft,de,en\n", "line 2 translates from de to en"),
        ("a.csv", f"bill,Rechnung\nbill,{'x' * 200_000}\n", r"a\.csv: line 2"),
        ("a.tsv", "# nothing\n", "a.tsv"),
        ("a.tbx", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "a.tbx"),
    ],
)
def test_faulty_files_are_refused(tmp_path, name, content, place):
    with pytest.raises(UserError, match=place) as caught:
        read(tmp_path, name, content)
    assert "\n" not in str(caught.value)


def tbx(*concepts: str) -> str:
    return f"<martif>{''.join(f'<termEntry>{each}</termEntry>' for each in concepts)}</martif>"


def in_english(*terms: str) -> str:
    return f'<langSet xml:lang="en">{"".join(f"<tig>{term}</tig>" for term in terms)}</langSet>'


def in_german(*terms: str) -> str:
    return in_english(*terms).replace('"en"', '"de"')


def test_the_entries_of_a_tbx_file_are_numbered(tmp_path):
    bill = in_english("<term>bill</term>", "<term>invoice</term>")
    content = tbx(
        bill + in_german("<term>Rechnung</term>"),
        in_english("<term>y</term>"),
        bill + in_german("<term>Gesetz</term>"),
    )
    with pytest.raises(UserError, match=r"entry 3 translates bill as Gesetz, but entry 1 as"):
        read(tmp_path, "a.tbx", content)


@pytest.mark.parametrize(
    "status",
    [
        '<termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote>',
        '<termNote type="administrativeStatus">supersededTerm-admn-sts</termNote>',
        "<min:administrativeStatus>deprecatedTerm-admn-sts</min:administrativeStatus>",
    ],
)
def test_obsolete_terms_of_a_tbx_file_are_forbidden(tmp_path, status):
    source = in_english(f"<term>release</term>{status}")
    preferred = "<termNote type='administrativeStatus'>preferredTerm-admn-sts</termNote>"
    target = in_german(
        f"<term>Freigabe</term>{status}",
        f"<term>Version</term><termNote type='partOfSpeech'>noun</termNote>{preferred}",
    )
    content = tbx(source + target).replace("<martif>", "<martif xmlns:min='min'>")
    assert read(tmp_path, "a.tbx", content) == [
        Term("release", ("Version",), forbidden=("Freigabe",))
    ]


def test_a_cell_may_have_several_lines(tmp_path):
    content = 'unpaid bill,"offene\nRechnung"\n'
    assert read(tmp_path, "a.csv", content) == [Term("unpaid bill", ("offene Rechnung",))]


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"terms\.tsv"):
        Glossary.read(tmp_path / "terms.tsv", LANGUAGES)


def test_equal_entries_are_joined():
    made = glossary("bill\tRechnung", "Bill\tRechnung|Rechnungen")
    assert made.terms == (Term("bill", ("Rechnung", "Rechnungen")),)


# --------------------------------------------------------------------------------------- matching


def test_whole_words_are_found_in_any_case_and_in_their_forms():
    made = glossary("bill\tRechnung", "log in\tanmelden", "release\tVersion")
    assert found(made, "Bill the billing: BILLS, and a bill's date.") == ["Bill", "BILLS", "bill"]
    assert found(made, "He will log in. Two releases; he released it.") == ["log in", "releases"]


def test_verbs_are_found_in_their_forms():
    assert found(glossary("release\tfreigeben"), "He releases, released, releasing") == [
        "releases",
        "released",
        "releasing",
    ]


def test_verbs_with_particles_are_found_in_their_forms():
    made = glossary("log in\tsich anmelden", "check-in\tCheck-in", "set up\tEinrichtung")
    text = "I logged in, he logs in: logging in without a checking-in. Sets up?"
    assert found(made, text) == ["logged in", "logs in", "logging in"]


def test_irregular_forms_of_verbs_are_found():
    made = glossary("write\tverfassen", "go out\tBescheid geben", "found\tgründen", "find\tfinden")
    text = "She wrote what is written. They went out and found it."
    assert found(made, text) == ["wrote", "written", "went out", "found"]
    assert made.find("We found it.")[0].term.source == "found"


def test_irregular_forms_of_other_words_are_not_found():
    assert found(glossary("good\tgut", "find\tFund"), "It is better; she found it.") == []


def test_the_longest_of_overlapping_terms_is_found():
    made = glossary("release\tVersion", "release note\tHinweis", "note\tNotiz")
    assert found(made, "release notes, a note, release") == ["release notes", "note", "release"]


def test_capitals_inside_a_term_must_agree():
    made = glossary("IT\tEDV", "iPad\tTablet", "US-President\tUS-Präsident", "US\tUSA")
    assert found(made, "it is an ipad") == []
    assert found(made, "It is raining on Ipads and us. Us?") == []
    assert found(made, "IT bought two iPads for the US-President") == [
        "IT",
        "iPads",
        "US-President",
    ]
    assert found(made, "IT IS FOR THE US") == ["IT", "US"]


def test_terms_may_have_punctuation():
    made = glossary("C++\t=", "e-mail\tE-Mail", ".NET\t=")
    assert found(made, "E-mails about C++, .NET.") == ["E-mails", "C++", ".NET"]


def test_a_match_knows_its_place():
    [match] = glossary("bill\tRechnung").find("The bills")
    assert match == Match(Term("bill", ("Rechnung",)), "bills", 4, "plural")


# ------------------------------------------------------------------------------------------ forms


def test_a_target_has_its_inflected_forms_and_the_given_ones():
    made = glossary("bill\tRechnung|Faktura", "quick\tschnell", "case sensitive\t=")
    forms = made.forms(made.find("bill")[0])
    assert forms[:2] == ["Rechnung", "Faktura"]
    assert "Rechnungen" in forms
    assert {"schnelle", "Schnelle"} <= set(made.forms(made.find("quick")[0]))
    assert made.forms(made.find("Case Sensitive")[0]) == ["Case Sensitive", "case sensitive"]


def test_forms_of_one_number_include_given_ones_of_unknown_number():
    made = glossary("release\tVersion|Versiönchen")
    [match] = made.find("the releases")
    assert made.forms(match, match.number) == ["Versionen", "Versiönchen"]


def test_words_with_an_exclamation_mark_are_forbidden():
    made = glossary("release\tVersion\t!Freigabe", "bill\t!Gesetz")
    assert made.terms == (
        Term("release", ("Version",), forbidden=("Freigabe",)),
        Term("bill", (), forbidden=("Gesetz",)),
    )
    release, bill = made.find("A release, a bill")
    assert {"Freigabe", "Freigaben"} <= set(made.forbidden(release))
    assert "Versionen" in made.forms(release)
    assert "Gesetze" in made.forbidden(bill)
    assert made.forms(bill) == []


def test_english_targets_have_a_plural():
    made = parse_glossary("Rechnung\tunpaid bill", ("de", "en"))
    assert "unpaid bills" in made.forms(made.find("Rechnung")[0])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("They need a new bill.", "singular"),
        ("This is Anna's bill.", "singular"),
        ("This is Anna’s old bill.", "singular"),
        ("Bill is paid.", None),  # as an uncountable noun
        ("The bird has a big red beak, and no bill.", None),
        ("They pay bills.", "plural"),
    ],
)
def test_a_singular_is_one_only_after_a_determiner(text, number):
    [match] = glossary("bill\tRechnung").find(text)
    assert match.number == number
