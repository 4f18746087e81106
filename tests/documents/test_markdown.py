"""Markdown documents: only their text is translated."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nmt.documents.errors import DocumentError
from nmt.documents.formatting import Part
from nmt.documents.markdown import Markdown


def unchanged(markdown: Markdown) -> str:
    """Return the document after a translation that changes nothing."""
    return markdown.replace(
        [list(zip(each.pieces, range(len(each.pieces)), strict=True)) for each in markdown.texts]
    )


def texts(source: str) -> list[str]:
    return [" ".join(each.text.split()) for each in Markdown(source).texts]


def html(source: str) -> str:
    rendered: str = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(source)
    return rendered


DOCUMENT = """\
---
title: Hello
---
# A *big* title with `code` #

Some text that is [linked](http://a.b/c "Title (here)") and __bold
text__ with ``x ` y`` and <kbd>Ctrl</kbd>, see [ref][r], [r] or ![icon](img.png).
Next line\\
after a break &amp; \\*star\\* ~~gone~~, two  \nspaces.

![A picture of a cat](cat.png "cat")

> Quoted *line*
> in two

> [!NOTE]
> Watch out.

1. [ ] task
2. item
   goes on

       indented code

| head | *em* |
|------|:---:|
| cell \\| bar | **x** `a\\|b` |

Term[^1] and $x_1$ and <https://x.y/z>{% include note.html %}.

[^1]: The note.

Setext
======

<div>
html
</div>

```sh
fenced code
```

[r]: http://reference.example "no text"
"""


def test_only_text_is_found() -> None:
    assert texts(DOCUMENT) == [
        "A big title with",
        "Some text that is linked and bold text with and , see ref, r or . Next line",
        "after a break & *star* gone, two",
        "spaces.",
        "A picture of a cat",
        "Quoted line in two",
        "Watch out.",
        "task",
        "item goes on",
        "head",
        "em",
        "cell | bar",
        "x",
        "Term and and .",
        "The note.",
        "Setext",
        "Title (here)",
        "icon",
        "cat",
    ]


def test_a_translation_that_changes_nothing_keeps_the_document() -> None:
    found = unchanged(Markdown(DOCUMENT))
    assert " ".join(html(found).split()) == " ".join(html(DOCUMENT).split())
    assert found.startswith("---\ntitle: Hello\n---\n# A *big* title with `code` #\n\n")
    assert "```sh\nfenced code\n```\n\n[r]: http://reference.example" in found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# The hat {#the-hat}\n", ["The hat"]),
        ("The [hat][h]\n[h]: http://a.b\n[i]: /c 'The cat'\n", ["The hat"]),
        ("[^1]: The hat\n[h]: http://a.b\n", ["The hat"]),
        (r"The hat\\ is red\\" + "\n", ["The hat is red"]),
        ("# The hat {: .big #a_b}\n", ["The hat"]),
        ("# The hat <!-- omit in toc -->\n", ["The hat"]),
        ("![](a.png){width=50%} The hat\n", ["The hat"]),
        ("The hat :tada: is red\n", ["The hat is red"]),
        ("The hat\n{: .note}\n", ["The hat"]),
        (":::note\nThe hat\n:::\n", ["The hat"]),
        ("The hat\n$$\na = b\n$$\nis red\n", ["The hat", "is red"]),
        ("\\begin{align}\na_1\n\\end{align}\n", []),
        ("{% if a %}\nThe hat\n{% endif %}\n", ["The hat"]),
        ("Term\n: The hat\n: *It* is red\n", ["Term", "The hat", "It is red"]),
        ("$$ 5 for a hat\n", ["$$ 5 for a hat"]),
        ("$$ is the hat\n\nIt is red\n\n$$\n", ["$$ is the hat", "It is red"]),
        ("$$\n\nThe hat\n\n$$\n", ["The hat"]),
        ("$$E=mc^2$$\n", []),
        ("$$E=mc^2$$ is the hat\n", ["is the hat"]),
        ("$$\\begin{aligned}\na\n\\end{aligned}$$\n", []),
        ("{% if a %}The hat{% endif %}\n", ["The hat"]),
        ('{% if a %} {% include "a" %}\n', []),
        ("{{% note %}} The hat {{% /note %}}\n", ["The hat"]),
        ("{{< note a_b >}}\nThe hat\n{{< /note >}}\n", ["The hat"]),
        ("::: warning The *red* hat\nIt is red\n:::\n", ["The red hat", "It is red"]),
        (":::{note} The hat\n:::\n", ["The hat"]),
        ('::: module.hat\n::: {.note a="b"}\n', []),
        ("{a} hat at 10:30:45\n", ["{a} hat at 10:30:45"]),
    ],
)
def test_attributes_containers_and_formulas_stay(source: str, expected: list[str]) -> None:
    assert texts(source) == expected
    assert unchanged(Markdown(source)) == source


def test_an_environment_ends_within_its_quotation() -> None:
    assert texts("> \\begin{a}\n> hat\n\n\\end{a}\n") == ["\\begin{a} hat", "\\end{a}"]
    assert texts("> \\begin{a}\n> hat\n> \\end{a}\n") == []


@settings(max_examples=100, deadline=None)
@example("\\>a")
@given(st.text(alphabet='ab1 \n*_`[]()<>!#-+|\\&;:"~=.$^', max_size=60))
def test_any_document_keeps_its_blocks(source: str) -> None:
    found = unchanged(Markdown(source))
    parse = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse
    blocks = [each.type for each in parse(source)]
    assert [each.type for each in parse(found)] == blocks


def translated(source: str, *translations: list[Part]) -> str:
    return Markdown(source).replace(translations)


def test_words_keep_their_formats() -> None:
    source = "The **big hat** is [here](a.md)."
    parts: list[Part] = [("Hier ", 3), ("ist der ", 2), ("große Hut", 1), (".", 4)]
    assert translated(source, parts) == "[Hier](a.md) ist der **große Hut**."


@pytest.mark.parametrize(
    ("source", "labels", "expected"),
    [
        ("A ![big cat](c.png) b", ["big cat"], "A ![BIG CAT](c.png) b"),
        ('A ![cat](c.png "my cat") b', ["cat", "my cat"], 'A ![CAT](c.png "MY CAT") b'),
        ("A [b](c 'the d')", ["the d"], "A [b](c 'THE D')"),
        ("![a](b (the c)) ![d](e)", ["a", "the c", "d"], "![A](b (THE C)) ![D](e)"),
        ('A [![cat](c.png)](d "the d")', ["cat", "the d"], 'A [![CAT](c.png)](d "THE D")'),
        ('![](c.png "my cat")', ["my cat"], '![](c.png "MY CAT")'),
        ('[a](b "it\'s")', ["it's"], '[a](b "IT\'S")'),
        ('![cat](c.png "my cat")', ["my cat"], '![cat](c.png "MY CAT")'),
        ("A ![cat][] and ![cat]\n\n[cat]: c", [], "A ![cat][] and ![cat] [cat]: c"),
        ("A ![cat][c] b\n\n[c]: d", ["cat"], "A ![CAT][c] b [c]: d"),
        ("See \ue0010\ue001, ![cat](c)", ["cat"], "See \ufffd0\ufffd, ![CAT](c)"),
        ("a\n![big\ncat](c) d", ["big\ncat"], "a ![BIG CAT](c) d"),
        ('|a ![b](c "d")|\n|-|\n', ["b", "d"], '|a ![B](c "D")|\n|-|\n'),
        ('a ![*b*](c) ![](d) [e](f "12") [g](h)', [], 'a ![*b*](c) ![](d) [e](f "12") [g](h)'),
    ],
)
def test_texts_of_pictures_and_titles_of_links_are_translated(
    source: str, labels: list[str], expected: str
) -> None:
    markdown = Markdown(source)
    assert [label.text for label in markdown.labels] == labels
    parts = [list(zip(x.pieces, range(len(x.pieces)), strict=True)) for x in markdown.texts]
    parts[len(markdown.stretches) :] = [[(label.upper(), 0)] for label in labels]
    assert " ".join(markdown.replace(parts).split()) == " ".join(expected.split())


def test_translated_titles_do_not_end_early() -> None:
    parts: list[list[Part]] = [[("a ", 0), ("b", 1)], [('"|\\', 0)]]
    assert translated('a [b](c "d")', *parts) == r'a [b](c "\"\|\\")'


def test_a_link_is_not_lost_with_its_words() -> None:
    assert translated("Read the [manual](a.md)", [("Gelesen", 0)]) == "Gelesen [manual](a.md)"
    assert translated("[a](x) [b](y)", [("c", 0)]) == "[c](x) [b](y)"


def test_what_is_within_tags_of_code_stays() -> None:
    source = "Press <kbd>Page Up</kbd> and <kbd>**S** &amp; x</kbd> in <b>this</b> window."
    found = Markdown(source)
    assert found.texts[0].text.split() == ["Press", "and", "in", "this", "window."]
    assert unchanged(found) == source


def test_code_stays_after_its_word() -> None:
    parts: list[Part] = [("Mit", 0), ("\ufffc", 1), (" gehen", 2)]
    assert translated("With `nmt train` go", parts) == "Mit `nmt train` gehen"


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("On May 3", "3. Mai", "3\\. Mai"),
        ("minus one", "- eins", "\\- eins"),
        ("# On May 3", "3. Mai", "# 3. Mai"),
        ("[!NOTE]\\[a] b", "[c]", "[!NOTE]\\[c]"),
        ("star", "a*b*c [d] <e> & `f`", "a\\*b\\*c \\[d\\] \\<e> &amp; \\`f\\`"),
        ("2 * 3 is", "2 * 3 ist", "2 * 3 ist"),
        ("|a|b|\n|-|-|\n", "c|d", "|c\\|d|b|\n|-|-|\n"),
    ],
)
def test_translations_do_not_become_marks(source: str, text: str, expected: str) -> None:
    markdown = Markdown(source)
    rest: list[list[Part]] = [[(each.pieces[0], 0)] for each in markdown.stretches[1:]]
    assert markdown.replace([[(text, 0)], *rest]) == expected


def test_broken_lines_are_broken_again() -> None:
    source = "> one two three four five six seven\n> eight nine ten eleven twelve\n"
    found = translated(source, [("eins zwei drei vier fünf sechs sieben 8. neun zehn elf", 0)])
    first, second = found.splitlines()
    assert first.startswith("> eins")
    assert second.startswith("> ")
    assert html(found).count("<p>") == 1


def test_no_line_begins_with_html_or_a_fence() -> None:
    source = "a <!-- c --> d ``` e\nf " + "g h " * 9
    for words in range(1, 12):
        found = translated(source, [("b " * words, 0), ("\ufffc", 1), (" ``` d", 2)])
        assert all(line[0] not in "<`" for line in found.splitlines())


def test_code_may_follow_an_escaped_mark() -> None:
    assert texts("a \\```b``") == ["a `"]


@pytest.mark.parametrize(
    "source",
    [
        "a `b\nc` d",
        "a `b\nc` d  \ne",
        "a <b\nid=1>c</b> d\ne",
        'a [b](c\n"t") d\ne',
        "a <!-- b\nc --> d\ne",
        "> a `b\n> c` d",
    ],
)
def test_code_tags_and_links_may_go_on_in_the_next_line(source: str) -> None:
    found = unchanged(Markdown(source))
    assert html(found).split() == html(source).split()


@pytest.mark.parametrize("source", ['a <a id="x"></a>b', '## <a id="x"></a>B', "<i></i> b"])
def test_tags_around_nothing_stay(source: str) -> None:
    assert unchanged(Markdown(source)) == source


def test_names_of_targets_may_have_escaped_brackets() -> None:
    source = "[a][b\\]c] d\n\n[b\\]c]: /e"
    assert unchanged(Markdown(source)) == source
    assert unchanged(Markdown("[a][<[b]\n\n[a]: /c")) == "[a][<[b]\n\n[a]: /c"


@pytest.mark.parametrize(
    "source",
    [
        "{% " * 30_000,
        "{{%" * 30_000,
        "$$\\a\n\n" * 20_000,
        "a <" + "a" * 50_000 + ' b="<">',
        "".join(f"\\begin{{{n}}}\n\n" for n in range(10_000)),
    ],
)
def test_many_marks_take_little_time(source: str) -> None:
    start = time.process_time()
    unchanged(Markdown(source))
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_links_keep_their_targets_when_their_text_changes() -> None:
    names = "\n\n[one]: /1\n"
    assert translated(f"[one]{names}", [("eins", 0)]) == f"[eins][one]{names}"
    assert translated(f"[one][]{names}", [("eins", 0)]) == f"[eins][one]{names}"
    assert translated(f"![one]{names}", [("eins", 0)]) == f"![eins][one]{names}"
    assert translated(f"[one]{names}", [("one", 0)]) == f"[one]{names}"


@pytest.mark.parametrize("source", ["[](#a) b", "a [](#b) c", "a  \n\xa0b"])
def test_empty_links_and_wide_spaces_stay(source: str) -> None:
    assert unchanged(Markdown(source)) == source


def test_line_endings_are_kept() -> None:
    assert translated("one\r\n\r\ntwo\r\n", [("eins", 0)], [("zwei", 0)]) == "eins\r\n\r\nzwei\r\n"


@pytest.mark.parametrize("source", ["[" * 20_001, "a" * 200_001])
def test_documents_that_take_long_are_refused(source: str) -> None:
    with pytest.raises(DocumentError):
        Markdown(source)


NOTES = """\
Before it.
!!! note "Good to know"
    Rain is wet.

    - The dog sleeps.

            code of the item
??? tip
    Where is it?
!!! warning inline end
After it.
"""


def test_the_notes_of_mkdocs_keep_their_first_line_and_their_indentation() -> None:
    assert texts(NOTES) == [
        *("Before it.", "Good to know", "Rain is wet.", "The dog sleeps."),
        *("Where is it?", "After it."),
    ]
    assert unchanged(Markdown(NOTES)) == NOTES


def test_exclamation_marks_alone_are_no_note() -> None:
    assert texts("!!! Really?\nYes.") == ["!!! Really? Yes."]
