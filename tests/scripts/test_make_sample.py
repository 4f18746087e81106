"""The sample corpus: its files, its splits, and the grammar that generates it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
FOLDER = ROOT / "data" / "sample"
sys.path.insert(0, str(SCRIPTS))

from sample import corpus as sample_corpus  # noqa: E402
from sample.adjectives import ADJECTIVES  # noqa: E402
from sample.clause import Clause, clause, name_genitive, phrase, pronoun, proper  # noqa: E402
from sample.names import HELD_OUT_NAMES, TRAIN_NAMES  # noqa: E402
from sample.nouns import NOUNS  # noqa: E402
from sample.verbs import VERBS  # noqa: E402

Lines = dict[str, list[str]]


@pytest.fixture(scope="module")
def made() -> sample_corpus.Corpus:
    return sample_corpus.build()


@pytest.fixture(scope="module")
def lines() -> Lines:
    return {
        path.name: path.read_text(encoding="utf-8").split("\n")[:-1]
        for split in sample_corpus.SIZES
        for path in (FOLDER / f"{split}.en", FOLDER / f"{split}.de")
    }


def bare(text: str) -> str:
    """Return the text in lower case without punctuation."""
    return " ".join(re.sub(r"[^\w\s]", "", text.lower()).split())


def test_files_match_the_generator(made: sample_corpus.Corpus) -> None:
    assert sample_corpus.differing_files(made, FOLDER) == []


def test_every_file_is_under_a_megabyte() -> None:
    assert all(path.stat().st_size < 1_000_000 for path in FOLDER.iterdir())


@pytest.mark.parametrize(
    ("split", "size"), [("train", 14_000), ("validation", 500), ("test", 1000)]
)
def test_splits_are_aligned_and_complete(lines: Lines, split: str, size: int) -> None:
    assert len(lines[f"{split}.en"]) == len(lines[f"{split}.de"]) == size


def test_no_english_sentence_occurs_twice(lines: Lines) -> None:
    sentences = Counter(bare(line) for name in lines if name.endswith("en") for line in lines[name])
    assert sentences.most_common(1)[0][1] == 1


def test_lines_are_clean(lines: Lines) -> None:
    for name, content in lines.items():
        for line in content:
            assert line == " ".join(line.split()), name
            assert not re.search(r"[{}|_*]| [.,!?]|\.\.|,,", line), name
            assert 2 <= len(line.split()) <= 18, name


def test_the_vocabulary_is_rich(made: sample_corpus.Corpus) -> None:
    names = {name for name, _ in TRAIN_NAMES}
    forms = sample_corpus.german_forms(made)
    common = [form for form in forms if form.removesuffix("s") not in names and form not in names]
    assert len(common) >= 1500
    assert sum(count >= 5 for count in forms.values()) > len(forms) / 2


def test_no_frame_dominates(made: sample_corpus.Corpus) -> None:
    shares = sample_corpus.frame_shares(made)
    assert len(shares) >= 60
    assert max(shares.values()) <= 0.022


def test_held_out_combinations_are_not_in_train(made: sample_corpus.Corpus) -> None:
    seen = {combo for draft in made.splits["train"] for combo in draft.combos}
    for split in ("validation", "test"):
        for draft in made.splits[split]:
            held_out = [c for c in draft.combos if sample_corpus.held_out_in(c) == split]
            assert held_out, draft
            assert seen.isdisjoint(held_out), draft


def test_words_in_validation_and_test_occur_in_train(made: sample_corpus.Corpus) -> None:
    seen = sample_corpus.german_forms(made)
    for split in ("validation", "test"):
        for draft in made.splits[split]:
            assert all(seen[word] >= 3 for word in sample_corpus.known_words(draft.de)), draft


def test_held_out_names_occur_only_in_the_test_set(lines: Lines) -> None:
    names = "|".join(name for name, _ in HELD_OUT_NAMES)
    pattern = re.compile(rf"\b({names})\b")
    with_new_name = {
        split: sum(bool(pattern.search(line)) for line in lines[f"{split}.en"])
        for split in sample_corpus.SIZES
    }
    assert with_new_name["train"] == with_new_name["validation"] == 0
    assert 150 <= with_new_name["test"] <= 250


def test_all_names_are_about_equally_frequent(lines: Lines) -> None:
    words = Counter(word for line in lines["train.en"] for word in re.findall(r"\w+", line))
    counts = [words[name] for name, _ in TRAIN_NAMES]
    assert len(counts) >= 400
    assert min(counts) >= 10
    assert max(counts) <= 3 * min(counts)


def test_sentences_that_users_try_first_are_not_in_the_corpus(lines: Lines) -> None:
    for name in ("train.en", "validation.en", "test.en"):
        assert not any("oscar likes to code" in bare(line) for line in lines[name])
    coding = [line for line in lines["train.en"] if re.search(r"\bcod(e|es|ed|ing)\b", line)]
    assert len(coding) >= 60
    assert any(re.fullmatch(r"\w+ likes to code\.", line) for line in coding)
    assert any(re.search(r"\bOscar\b", line) for line in lines["train.en"])


def test_some_sentences_have_no_final_mark(lines: Lines) -> None:
    pairs = list(zip(lines["train.en"], lines["train.de"], strict=True))
    open_ended = [pair for pair in pairs if pair[0][-1] not in ".?!"]
    assert 0.06 <= len(open_ended) / len(pairs) <= 0.1
    assert all((en[-1] in ".?!") == (de[-1] in ".?!") for en, de in pairs)


@pytest.mark.parametrize(
    ("noun", "det", "adjective", "plural", "case", "german"),
    [
        ("man", "the", "old", False, "dat", "dem alten Mann"),
        ("house", "a", "small", False, "nom", "ein kleines Haus"),
        ("apple", "", "red", True, "acc", "rote Äpfel"),
        ("milk", "", "cold", False, "acc", "kalte Milch"),
        ("boy", "this", "brave", False, "acc", "diesen mutigen Jungen"),
        ("house", "the", "old", False, "gen", "des alten Hauses"),
        ("coat", "my", "expensive", False, "acc", "meinen teuren Mantel"),
        ("child", "our", "", True, "dat", "unseren Kindern"),
        ("mountain", "a", "high", False, "acc", "einen hohen Berg"),
        ("bus", "the", "", False, "gen", "des Busses"),
        ("neighbour", "her", "friendly", False, "dat", "ihrem freundlichen Nachbarn"),
        ("key", "no", "", True, "acc", "keine Schlüssel"),
        ("teacher", "every", "good", False, "nom", "jeder gute Lehrer"),
    ],
)
def test_noun_phrases_are_inflected(
    noun: str, det: str, adjective: str, plural: bool, case: str, german: str
) -> None:
    made = phrase(NOUNS[noun], det, ADJECTIVES.get(adjective), plural)
    assert made.de(case) == german  # type: ignore[arg-type]


def test_genitives_contractions_and_articles_are_formed() -> None:
    assert name_genitive("Anna") == ("Anna's", "Annas")
    book = phrase(NOUNS["book"], "", ADJECTIVES["new"], owner=name_genitive("Anna"))
    assert (book.en, book.de("acc")) == ("Anna's new book", "Annas neues Buch")
    assert phrase(NOUNS["garden"]).after("in", "dat") == "im Garten"
    assert phrase(NOUNS["school"]).after("zu", "dat") == "zur Schule"
    assert phrase(NOUNS["apple"], "a").en == "an apple"


ANNA = proper("Anna", pronoun_word="she")


@pytest.mark.parametrize(
    ("made", "english", "german"),
    [
        (clause(pronoun("I"), "call", "you", "dich"), "I call you", "Ich rufe dich an"),
        (clause(ANNA, "get_up", tense="past_perfect"), "Anna got up", "Anna ist aufgestanden"),
        (clause(ANNA, "swim", tense="will"), "Anna will swim", "Anna wird schwimmen"),
        (clause(ANNA, "read", "a book", "ein Buch"), "Anna reads a book", "Anna liest ein Buch"),
        (clause(pronoun("they"), "be", "ill", "krank", "past"), "they were ill", "Sie waren krank"),
        (
            clause(pronoun("we"), "tidy", tense="have to past"),
            "we had to tidy up",
            "Wir mussten aufräumen",
        ),
        (
            clause(ANNA, "go_walk", "for a walk", "nicht", negated=True),
            "Anna does not go for a walk",
            "Anna geht nicht spazieren",
        ),
        (
            clause(pronoun("I"), "wash_self", "my hands", "mir die Hände", "progressive"),
            "I am washing my hands",
            "Ich wasche mir die Hände",
        ),
    ],
)
def test_main_clauses_are_formed(made: Clause, english: str, german: str) -> None:
    assert made.en == english
    assert made.de[0].upper() + made.de[1:] == german


def test_word_order_depends_on_the_kind_of_clause() -> None:
    tired = clause(pronoun("he"), "be", "tired", "müde")
    assert f"weil {tired.de_last}" == "weil er müde ist"
    calls = clause(ANNA, "call", "Ben", "Ben")
    assert calls.de_last == "Anna Ben anruft"
    assert calls.de_after("morgen") == "morgen ruft Anna Ben an"
    assert calls.en_question == "does Anna call Ben"
    assert calls.de_question == "ruft Anna Ben an"
    seen = clause(ANNA, "see", "Ben", "Ben", "perfect")
    assert seen.de_last == "Anna Ben gesehen hat"
    assert seen.en_question == "has Anna seen Ben"


@pytest.mark.parametrize(
    ("verb", "person", "form"),
    [
        ("code", "du", "programmierst"),
        ("collect", "ich", "sammle"),
        ("collect", "er", "sammelt"),
        ("work", "ihr", "arbeitet"),
        ("eat", "du", "isst"),
        ("run", "er", "läuft"),
        ("dance", "du", "tanzt"),
        ("play", "ich", "spiele"),
        ("hike", "wir", "wandern"),
        ("open", "er", "öffnet"),
    ],
)
def test_the_present_tense_is_formed(verb: str, person: str, form: str) -> None:
    assert VERBS[verb].de.present(person) == form  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "person", "form"),
    [
        ("read", "du", "lies"),
        ("sleep", "du", "schlaf"),
        ("open", "du", "öffne"),
        ("feed", "du", "füttere"),
        ("give", "ihr", "gebt"),
        ("close", "sie", "schließen Sie"),
    ],
)
def test_imperatives_are_formed(verb: str, person: str, form: str) -> None:
    assert VERBS[verb].de.imperative(person) == form  # type: ignore[arg-type]


def test_infinitives_with_zu_and_participles_are_formed() -> None:
    assert VERBS["turn_on"].de.zu_infinitive == "einzuschalten"
    assert VERBS["cycle"].de.zu_infinitive == "Rad zu fahren"
    assert VERBS["repair"].de.participle == "repariert"
    assert VERBS["sell"].de.participle == "verkauft"
    assert VERBS["tidy"].de.participle == "aufgeräumt"
    assert VERBS["swim"].en.ing == "swimming"
    assert VERBS["study"].en.present(third=True) == "studies"


def test_check_reports_that_the_files_are_up_to_date() -> None:
    command = [sys.executable, str(SCRIPTS / "make_sample.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "up to date\n")
