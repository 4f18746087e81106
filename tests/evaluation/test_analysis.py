"""The counts of an analysis, on translations with known errors."""

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF

from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.corpus.preparing.splitting import sentence_key
from nmt.corpus.preparing.statistics import TrainingStatistics
from nmt.corpus.text.tags import tag_of
from nmt.decoding.translator import Translation
from nmt.evaluation.analysis import Analysis, Group, analyse
from nmt.evaluation.metrics import corpus_bleu
from nmt.special_tokens import TAGS

DATA = DataConfig(source="sample")
WORDS = frozenset({"anna", "sings", "singt", "heute", "today"})


def seen(*targets: str) -> TrainingStatistics:
    keys = sorted(sentence_key(target, DATA.seed) for target in targets)
    return TrainingStatistics(WORDS, WORDS, np.array(keys, np.int64), DATA.seed)


def analysed(
    *rows: tuple[str, str, str], known: TrainingStatistics | None = None, complete: bool = True
) -> Analysis:
    """Analyse rows of (source, reference, translation)."""
    known = known or seen()
    examples = [Example(source, reference, False) for source, reference, _ in rows]
    return analyse(examples, [Translation(t, 0.0, complete) for *_, t in rows], DATA, known)


def test_each_length_is_scored_separately() -> None:
    short = [("a b", "Das ist ein kurzer Satz.", "Das ist ein kurzer Satz.")]
    long = [
        ("a " * 6, "Das hier ist viel länger als er.", "Das hier ist viel länger als sie."),
        ("a " * 10, "Und noch ein Satz, der lang ist.", "Und noch ein Satz, der kurz ist."),
    ]
    endless = [("a " * 41, "Ein Satz ohne ein Ende hier.", "Etwas ganz anderes als das steht da.")]
    found = analysed(*endless, *long, *short)
    bleu = corpus_bleu([row[2] for row in long], [row[1] for row in long])
    assert 0 < bleu < 100
    expected = [("1 to 5", 1, 100), ("6 to 10", 2, bleu), ("41 or more", 1, 0)]
    assert [(g.name, g.sentences) for g in found.by_length] == [row[:2] for row in expected]
    assert [g.bleu for g in found.by_length] == pytest.approx([r[2] for r in expected], abs=6)
    assert found.by_length[1].bleu == pytest.approx(bleu)


def test_a_tag_is_not_counted_as_a_word_and_is_readable() -> None:
    parts = [{"source": "tsv", "path": "a.tsv", "tag": tag} for tag in ("chat", "news")]
    data = DataConfig.model_validate({"corpora": parts})
    example = Example(tag_of(data, "news") + "a b c d e", "Ein Satz.", False)
    found = analyse([example], [Translation("Ein Satz.", 0.0)], data, seen())
    assert [group.name for group in found.by_length] == ["1 to 5"]
    assert found.worst[0].source == "[news] a b c d e"


def test_a_tag_alone_is_not_a_sentence() -> None:
    data = DataConfig.model_validate({"corpora": [{"source": "sample", "tag": "chat"}]})
    for source in (TAGS[0] + " ", TAGS[0]):
        example = Example(source, "", False)
        assert analyse([example], [Translation("", 0.0)], data, seen()).empty == 0


def test_sentences_with_and_without_rare_words_are_scored_separately() -> None:
    found = analysed(
        ("Anna sings.", "Anna singt heute nicht.", "Nichts davon steht da."),
        ("Anna sings today.", "Anna singt heute. Heute singt Anna.", "Anna singt heute. Ja."),
        ("Anna sings today!", "Anna singt heute heute heute!", "Anna singt heute heute heute!"),
        known=seen(),
    )
    some, none = found.by_rare_words
    assert (some.name, some.sentences) == ("some", 1)
    assert (none.name, none.sentences) == ("none", 2)
    assert some.bleu < 15 < none.bleu


def test_group_bleu_uses_the_same_settings_as_the_score() -> None:
    example = Example("x", "DIE KATZE SITZT AUF DER MATTE.", False)
    translation = Translation("die katze sitzt auf der matte.", 0.0)
    found = analyse([example], [translation], DATA, seen(), lowercase=True, tokenize="moses")
    assert found.by_length == [Group("1 to 5", 1, pytest.approx(100))]
    assert found.worst[0].chrf == pytest.approx(100)


def test_translations_that_are_training_targets_are_counted() -> None:
    rows = [("x", "y", "Anna singt."), ("x", "y", "Anna  singt."), ("x", "y", "Ben singt.")]
    known = seen("Anna singt.", "Clara singt.")
    # White space is normalized, as in training.
    assert analysed(*rows, known=known).training_targets == 2


def test_only_empty_translations_of_sentences_are_counted() -> None:
    assert analysed(("x", "y", ""), (" ", "", ""), ("x", "", "y")).empty == 1


def test_truncated_translations_are_counted() -> None:
    assert analysed(("x", "y", "z"), ("x", "y", "z"), complete=False).truncated == 2
    assert analysed(("x", "y", "z")).truncated == 0


@pytest.mark.parametrize(
    ("reference", "translation", "repeating"),
    [
        ("Ein Hund bellt.", "Ein Ein Hund bellt.", True),
        ("Ein Hund bellt.", "ein Ein Hund bellt.", True),
        ("Ein Hund auf dem Gras.", "Ein Hund auf dem auf dem Gras.", True),
        ("Ein Hund auf dem Gras.", "Ein Hund auf dem Gras auf dem Sand.", False),
        ("Die, die die Musik mag.", "Die die die Musik mag.", False),  # the reference has it too
        ("Das ist sehr gut.", "Das ist sehr, sehr gut.", False),  # after a comma, it is style
        ("Nein, so geht es nicht, Tom.", "Ja, so geht es, ja, so geht es, Tom.", True),
        ("Ein Hund bellt.", "", False),
    ],
)
def test_immediate_repetitions_count_unless_the_reference_has_them(
    reference: str, translation: str, repeating: bool
) -> None:
    assert analysed(("x", reference, translation)).repeating == repeating


def test_the_worst_ten_are_sorted_from_the_worst() -> None:
    reference = "abcdefghijklmnop"
    rows = [(f"source {n}", reference, reference[:n]) for n in range(16, 0, -1)]
    found = analysed(*rows).worst
    assert [scored.source for scored in found] == [f"source {n}" for n in range(1, 11)]
    expected = CHRF().sentence_score(reference[:10], [reference]).score
    assert found[-1].chrf == pytest.approx(expected)
    assert (found[-1].reference, found[-1].translation) == (reference, reference[:10])


def test_blank_lines_are_not_among_the_worst() -> None:
    bad = ("Anna sings.", "Anna singt.", "Ben.")
    assert [scored.source for scored in analysed(("", "", ""), bad).worst] == ["Anna sings."]


def test_counts_are_printed_with_shares_and_the_worst_translations() -> None:
    rows = [("Anna sings.", "Anna singt.", "Ben Ben singt."), ("x", "y", "y")]
    lines = str(analysed(*rows, known=seen("y"))).splitlines()
    assert [line.split() for line in lines if "training target" in line] == [
        ["equal", "to", "a", "training", "target", "1", "50.0%"]
    ]
    assert any(line.split() == ["repeating", "words", "1", "50.0%"] for line in lines)
    worst = lines[lines.index("the worst by chrF") + 1 :]
    assert [line.split("  ")[-1].strip() for line in worst[:3]] == [
        "Anna sings.",
        "Anna singt.",
        rows[0][2],
    ]
