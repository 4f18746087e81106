"""Emphasis and links in plain text."""

import pytest

from nmt.corpus.text.emphasis import Mark, put_marks, remove_marks


@pytest.mark.parametrize(
    ("text", "plain", "marks"),
    [
        ("My **dog** is here.", "My dog is here.", [Mark("**", "**", 1, 2)]),
        (
            "*Where* is ~~it~~?",
            "Where is it?",
            [Mark("*", "*", 0, 1), Mark("~~", "~~", 2, 3)],
        ),
        (
            "See [my old dog](https://x.org/a_b), _please_.",
            "See my old dog, please.",
            [Mark("[", "](https://x.org/a_b)", 1, 4), Mark("_", "_", 4, 5)],
        ),
        (
            "[Is it?](x) *Yes!*",
            "Is it? Yes!",
            [Mark("[", "](x)", 0, 2, True), Mark("*", "*", 2, 3, True)],
        ),
        ("![A dog](dog.png)", "A dog", [Mark("![", "](dog.png)", 0, 2)]),
        ("a <b>good</b> dog", "a good dog", [Mark("<b>", "</b>", 1, 2)]),
        (
            '<a href="x">Our *page*</a>: see',
            "Our page: see",
            [Mark("*", "*", 1, 2), Mark('<a href="x">', "</a>", 0, 2)],
        ),
        ("It (*really*) rains", "It (really) rains", [Mark("*", "*", 1, 2)]),
        (
            "Take **your [own](http://a.b) bag**",
            "Take your own bag",
            [Mark("[", "](http://a.b)", 2, 3), Mark("**", "**", 1, 4)],
        ),
    ],
)
def test_marks_are_removed(text, plain, marks):
    assert remove_marks(text) == (plain, tuple(marks))


@pytest.mark.parametrize(
    "text",
    [
        "5 * 3 * 2 = 30",
        "If a <b and c> d",
        "a <b>, a <br/> and a </b>",
        "2**3**4",
        "some_file_name and other_name",
        "a 5* hotel or a 4* hotel",
        "*.js and *.ts",
        "for members* only",
        "* Terms apply. See *",
        "Dear __NAME__,",
        "at ____ or ___.",
        r"not \*marked\* at all",
        "[1] (see below)",
    ],
)
def test_other_signs_are_no_marks(text):
    assert remove_marks(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "plain", "marks"),
    [
        ('a "small" town', "a small town", [Mark('"', '"', 1, 2)]),
        ("My (very old) dog barks.", "My very old dog barks.", [Mark("(", ")", 1, 3)]),
        ('Read the "Help" page.', "Read the Help page.", [Mark('"', '"', 2, 3)]),
        (
            'her "big" "new" house',
            "her big new house",
            [Mark('"', '"', 1, 2), Mark('"', '"', 2, 3)],
        ),
        ('He said "yes" yesterday.', 'He said "yes" yesterday.', []),
        ('the "cat" and I', 'the "cat" and I', []),
        ("It is 5 (five) hens.", "It is 5 (five) hens.", []),
        ('the "C" key', 'the "C" key', []),
        ('the "old) man"', 'the "old) man"', []),
    ],
)
def test_quoted_and_bracketed_words_before_a_noun_are_emphasized_in_english(text, plain, marks):
    assert remove_marks(text, "en") == (plain, tuple(marks))
    assert remove_marks(text, "de") == (text, ())


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [([(0, 0), (1, 0)], 'die "Kleinstadt"'), ([(1, 1)], 'die "Kleinstadt"')],
)
def test_quotation_marks_are_not_put_around_an_article(pairs, expected):
    assert put_marks("die Kleinstadt", [Mark('"', '"', 1, 2)], pairs, 3) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0, 0), (1, 3), (2, 4)], "Morgen kommt mein **Hund** (heim)."),
        ([(1, 0), (1, 2), (1, 3)], "Morgen kommt **mein Hund** (heim)."),  # the longest run
        ([(1, 4)], "Morgen kommt mein Hund (**heim**)."),
        ([], "Morgen **kommt** mein Hund (heim)."),  # by the order of words
    ],
)
def test_marks_are_put_around_aligned_words(pairs, expected):
    marks = [Mark("**", "**", 1, 2)]
    assert put_marks("Morgen kommt mein Hund (heim).", marks, pairs, 4) == expected


def test_inner_marks_stay_within_outer_ones():
    plain, marks = remove_marks("Take **your _own_ bag** now!")
    assert plain == "Take your own bag now!"
    pairs = [(i, i) for i in range(5)]
    assert put_marks("Nimm deine eigene Tasche mit!", marks, pairs, 5) == (
        "Nimm **deine _eigene_ Tasche** mit!"
    )


def test_marked_punctuation_stays_within_the_marks():
    marks = [Mark("[", "](x)", 0, 2, True)]
    assert put_marks("Ist es so? Ja.", marks, [(0, 0), (1, 2)], 3) == "[Ist es so?](x) Ja."


def test_an_empty_translation_stays_empty_but_for_the_marks():
    assert put_marks("", [Mark("*", "*", 0, 1)], [], 1) == "**"


def test_many_signs_take_little_time():
    assert remove_marks("*a _b **c [d](e" * 20_000)[0].startswith("*a")
    assert remove_marks('*"' * 20_000)[1] == ()
    assert len(remove_marks("**a [b](c)** " * 20_000)[1]) == 40_000
