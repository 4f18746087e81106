"""Measure how a glossary's terms come out.

    python scripts/measure_terms.py runs/everyday everyday.tsv --lines 200

The file has lines English TAB German TAB entries, each English term = German lemma, and perhaps
= the form in the reference; entries are separated by " | ". Every line is translated without a
glossary and with its own entries as one. Prints how many entries stand in the outputs in any of
their forms, how many of these in the form of the reference, BLEU, chrF, and the time for one line
after the other, without loading the model and the glossaries.
"""

import argparse
import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from nmt.corpus.sources.readers import read_lines
from nmt.decoding.glossary import Glossary, Match, Term
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator

Entries = list[list[str]]
"""Each is a term, its lemma, and its form in the reference or ""."""
Row = tuple[str, str, Entries]
"""Source, reference, and entries."""


def read(path: Path, lines: int) -> Iterator[Row]:
    for line in islice(read_lines(path), lines):
        source, reference, entries = line.split("\t")
        columns = [entry.split(" = ") for entry in entries.split(" | ")]
        yield source, reference, [[*each, ""][:3] for each in columns]


def glossary_of(entries: Entries) -> Glossary:
    lemmas = {term: lemma for term, lemma, _ in entries}
    rows = enumerate(([*pair] for pair in lemmas.items()), start=1)
    return Glossary.of(rows, ("en", "de"), "entries")


def contains(text: str, forms: list[str]) -> bool:
    """Return whether a text has one of the forms, also as the end of a compound."""
    return any(re.search(rf"{re.escape(form)}\b", text, re.IGNORECASE) for form in forms)


def report(label: str, rows: list[Row], translators: list[Translator]) -> None:
    """Translate each line with the translator for its entries, and print what is found."""
    start = time.time()
    outputs = [
        translator.translate([row[0]])[0].text
        for row, translator in zip(rows, translators, strict=True)
    ]
    seconds = time.time() - start
    asked = present = exact = given = 0
    for (_, _, entries), output in zip(rows, outputs, strict=True):
        glossary = glossary_of(entries)
        for term, lemma, form in entries:
            forms = glossary.forms(Match(Term(term, (lemma,)), term, 0))
            found = contains(output, [*forms, *filter(None, [form])])
            asked, present = asked + 1, present + found
            if found and form:
                given += 1
                exact += contains(output, [form])
    share = f"{exact / given:.1%}" if given else "-"
    references = [[reference for _, reference, _ in rows]]
    bleu, chrf = (each.corpus_score(outputs, references).score for each in (BLEU(), CHRF()))
    print(
        f"{label:<8} present {present / asked:.1%} of {asked}, as in the reference {share}, "
        f"BLEU {bleu:.1f}, chrF {chrf:.1f}, {seconds:.0f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=10**9)
    arguments = parser.parse_args()
    rows = list(read(arguments.file, arguments.lines))
    translator = load_translator(arguments.run)
    _ = translator.pytorch  # loaded before times are taken
    report("without", rows, [translator] * len(rows))
    report("with", rows, [translator.customized(glossary_of(entries)) for _, _, entries in rows])


if __name__ == "__main__":
    main()
