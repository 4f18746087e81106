from pathlib import Path

import pytest

from nmt.decoding.glossary import Glossary, Match, Term, parse_glossary
from nmt.errors import UserError

LANGUAGES = ("en", "de")


def glossary(*lines: str) -> Glossary:
    return parse_glossary("\n".join(lines), LANGUAGES)


# ------------------------------------------------------------------------------------------ files


def read(tmp_path: Path, name: str, content: str) -> list[Term]:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return list(Glossary.read(path, LANGUAGES).terms)


FILES = {
    "a term on each line": (
        "a.tsv",
        "# office\nbill\tRechnung\n\nrelease\tVersion|Versionen\tVersions\na  b\t=\n",
        Term("bill", ("Rechnung",)),
        Term("release", ("Version", "Versionen", "Versions")),
        Term("a b", ("a b",), keep=True),
    ),
    "further columns that are no forms are comments": (
        "omegat.txt",
        "house\tHaus\tHäuser\tin the sense of a building\nbill\tRechnung\tnot the law\n"
        "topping\tBelag\tPizza\ncar\tFahrzeug\tnoun\tFahrzeuge\n",
        Term("house", ("Haus", "Häuser")),
        Term("bill", ("Rechnung",)),
        Term("topping", ("Belag",)),
        Term("car", ("Fahrzeug", "Fahrzeuge")),
    ),
    "further columns that begin like the target, or have |, are forms": (
        "a.tsv",
        "go\tgehen\tgehe\tto move\ngood\tgut\tbesser|am besten\negg\tEi\tEier\n"
        "unpaid bill\toffene Rechnung\toffenen Rechnung\tnoun\nlog in\tanmelden|meldet an\n",
        Term("go", ("gehen", "gehe")),
        Term("good", ("gut", "besser", "am besten")),
        Term("egg", ("Ei", "Eier")),
        Term("unpaid bill", ("offene Rechnung", "offenen Rechnung")),
        Term("log in", ("anmelden", "meldet an")),
    ),
    "a header and languages": (
        "deepl.csv",
        'source,target\n"bill, unpaid",offene Rechnung,en,de\ndraft,Entwurf,EN-US,de\n',
        Term("bill, unpaid", ("offene Rechnung",)),
        Term("draft", ("Entwurf",)),
    ),
    "columns by name, of memoQ": (
        "a.csv",
        '"Entry_ID","English","Note","German"\n1,bill,x,Rechnung\n2,draft,,Entwurf|Entwurfs\n',
        Term("bill", ("Rechnung",)),
        Term("draft", ("Entwurf", "Entwurfs")),
    ),
    "columns by name, of Weblate": (
        "a.csv",
        '"location","source","target","id"\n"","bill","Rechnung","1"\n',
        Term("bill", ("Rechnung",)),
    ),
    "columns by name, the other way round": (
        "a.tsv",
        "German\tEnglish term\nRechnung\tbill\n",
        Term("bill", ("Rechnung",)),
    ),
    "semicolons, as some spreadsheets write": (
        "a.csv",
        '# terms, 2026\n\n"bill; unpaid";offene Rechnung\ndraft, first;Entwurf;Entwürfe\n',
        Term("bill; unpaid", ("offene Rechnung",)),
        Term("draft, first", ("Entwurf", "Entwürfe")),
    ),
    "columns by name beside codes of languages": (
        "a.csv",
        "id,en,source,target\n1,en,bill,Rechnung\n",
        Term("bill", ("Rechnung",)),
    ),
    "other further columns are no languages": (
        "a.csv",
        "draft,Entwurf,Entwürfe,de\nsketch,Entwurf,Entwürfe,Entwurfes\n",
        Term("draft", ("Entwurf", "Entwürfe")),
        Term("sketch", ("Entwurf", "Entwürfe", "Entwurfes")),
    ),
    "a cell of several lines": (
        "a.csv",
        'unpaid bill,"offene\nRechnung"\n',
        Term("unpaid bill", ("offene Rechnung",)),
    ),
}


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_text_files_have_terms(tmp_path, file):
    name, content, *terms = file
    assert read(tmp_path, name, content) == terms


def tbx(*concepts: str) -> str:
    return f"<martif>{''.join(f'<termEntry>{each}</termEntry>' for each in concepts)}</martif>"


def in_english(*terms: str) -> str:
    return f'<langSet xml:lang="en">{"".join(f"<tig>{term}</tig>" for term in terms)}</langSet>'


def in_german(*terms: str) -> str:
    return in_english(*terms).replace('"en"', '"de"')


@pytest.mark.parametrize("former", [True, False])
def test_a_tbx_file_has_concepts(tmp_path, former):
    english = in_english("<term>bill</term><note>n</note>", "<term>invoice</term>")
    english, french = english.replace('"en"', '"en-US"'), in_english("<term>x</term>")
    german = in_german("<term>Rechnung</term><note>n</note>")
    alone = in_english("<term>y</term>")
    content = tbx(english + french.replace('"en"', '"fr"') + german, alone)
    if not former:
        content = content.replace("termEntry", "conceptEntry").replace("langSet", "langSec")
    found = [Term("bill", ("Rechnung",)), Term("invoice", ("Rechnung",))]
    assert read(tmp_path, "a.tbx", content) == found


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
        ("a.csv", "bill,Rechnung,DE,EN\n", "line 1 translates from DE to EN"),
        ("a.csv", f"bill,Rechnung\nbill,{'x' * 200_000}\n", r"a\.csv: line 2"),
        ("a.tsv", "# nothing\n", "a.tsv"),
        ("a.tbx", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "a.tbx"),
    ],
)
def test_faulty_files_are_refused(tmp_path, name, content, place):
    with pytest.raises(UserError, match=place) as caught:
        read(tmp_path, name, content)
    assert "\n" not in str(caught.value)


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


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"terms\.tsv"):
        Glossary.read(tmp_path / "terms.tsv", LANGUAGES)


def test_equal_entries_are_joined():
    made = glossary("bill\tRechnung", "Bill\tRechnung|Rechnungen")
    assert made.terms == (Term("bill", ("Rechnung", "Rechnungen")),)


# --------------------------------------------------------------------------------------- matching


WORDS = ("bill\tRechnung", "log in\tanmelden", "release\tVersion")
PARTICLES = ("log in\tsich anmelden", "check-in\tCheck-in", "set up\tEinrichtung")
VERBS = ("write\tverfassen", "go out\tBescheid geben", "found\tgründen", "find\tfinden")
NESTED = ("release\tVersion", "release note\tHinweis", "note\tNotiz")
CAPITALS = ("IT\tEDV", "iPad\tTablet", "US-President\tUS-Präsident", "US\tUSA")


@pytest.mark.parametrize(
    ("terms", "text", "matches"),
    [
        # Whole words in any case and in their forms.
        (WORDS, "Bill the billing: BILLS, and a bill's date.", "Bill|BILLS|bill"),
        (WORDS, "He will log in. Two releases; he released it.", "log in|releases"),
        (["release\tfreigeben"], "He releases, released, releasing", "releases|released|releasing"),
        # Verbs with particles.
        (PARTICLES, "I logged in, he logs in: logging in.", "logged in|logs in|logging in"),
        (PARTICLES, "without a checking-in. Sets up?", ""),
        # Irregular forms of verbs, not of other words.
        (VERBS, "She wrote what is written. They went out.", "wrote|written|went out"),
        (VERBS, "They found it.", "found"),
        (["good\tgut", "find\tFund"], "It is better; she found it.", ""),
        # The longest of overlapping terms.
        (NESTED, "release notes, a note, release", "release notes|note|release"),
        # Capitals inside a term must agree.
        (CAPITALS, "it is an ipad", ""),
        (CAPITALS, "It is raining on Ipads and us. Us?", ""),
        (CAPITALS, "IT bought two iPads for the US-President", "IT|iPads|US-President"),
        (CAPITALS, "IT IS FOR THE US", "IT|US"),
        # Punctuation in terms.
        (["C++\t=", "e-mail\tE-Mail", ".NET\t="], "E-mails about C++, .NET.", "E-mails|C++|.NET"),
    ],
)
def test_terms_are_found_in_a_text(terms, text, matches):
    found = [match.text for match in glossary(*terms).find(text)]
    assert found == list(filter(None, matches.split("|")))


def test_the_irregular_form_of_another_verb_is_found_as_the_term_of_its_own_spelling():
    assert glossary(*VERBS).find("We found it.")[0].term.source == "found"


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
        *((f"Pay {whose} bill.", "singular") for whose in ("my", "your", "his", "our", "their")),
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
