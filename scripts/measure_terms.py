"""Measure how a glossary's terms come out.

    python scripts/measure_terms.py runs/everyday everyday.tsv --lines 200

The file has lines English TAB German TAB entries, each English term = German lemma, and perhaps
= the form in the reference; entries are separated by " | ". Every line is translated without a
glossary and with its own entries as one. Prints how many entries stand in the outputs in any of
their forms, how many of these in the form of the reference, BLEU, chrF, and the time for one line
after the other, without loading the model.
"""

import argparse
import re
import time
from pathlib import Path
from typing import NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from nmt.decoding.glossary import Glossary, Match, Term
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator


class Entry(NamedTuple):
    """A term with its lemma and, if known, the form in the reference."""

    source: str
    lemma: str
    form: str


def read(path: Path, lines: int) -> list[tuple[str, str, list[Entry]]]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines()[:lines]:
        source, reference, entries = line.split("\t")
        columns = [entry.split(" = ") for entry in entries.split(" | ")]
        found.append((source, reference, [Entry(*(*each, "")[:3]) for each in columns]))
    return found


def glossary_of(entries: list[Entry]) -> Glossary:
    lemmas = {entry.source: entry.lemma for entry in entries}
    rows = enumerate(([*pair] for pair in lemmas.items()), start=1)
    return Glossary.of(rows, ("en", "de"), "entries")


def contains(text: str, forms: list[str]) -> bool:
    """Return whether a text has one of the forms, also as the end of a compound."""
    return any(re.search(rf"{re.escape(form)}\b", text, re.IGNORECASE) for form in forms)


def report(
    label: str, rows: list[tuple[str, str, list[Entry]]], outputs: list[str], seconds: float
) -> None:
    asked = present = exact = given = 0
    for (_, _, entries), output in zip(rows, outputs, strict=True):
        glossary = glossary_of(entries)
        for entry in entries:
            match = Match(Term(entry.source, (entry.lemma,)), entry.source, 0)
            found = contains(output, [*glossary.forms(match), *filter(None, [entry.form])])
            asked, present = asked + 1, present + found
            if found and entry.form:
                given += 1
                exact += contains(output, [entry.form])
    references = [[reference for _, reference, _ in rows]]
    bleu = BLEU().corpus_score(outputs, references).score
    chrf = CHRF().corpus_score(outputs, references).score
    form = f"{exact / given:.1%}" if given else "-"
    print(
        f"{label:<8} present {present / asked:.1%} of {asked}, as in the reference {form}, "
        f"BLEU {bleu:.1f}, chrF {chrf:.1f}, {seconds:.0f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=10**9)
    parser.add_argument("--lost", action="store_true", help="show lines that lack a term")
    arguments = parser.parse_args()
    rows = read(arguments.file, arguments.lines)
    translator: Translator = load_translator(arguments.run)
    _ = translator.pytorch  # loaded before times are taken
    start = time.time()
    plain = [translator.translate([source])[0].text for source, _, _ in rows]
    report("without", rows, plain, time.time() - start)
    start = time.time()
    outputs = []
    for source, _, entries in rows:
        [best] = translator.adapted(glossary_of(entries)).translate([source])
        outputs.append(best.text)
        if arguments.lost and best.missing_terms:
            print(*best.missing_terms, source, best.text, sep="\t")
    report("with", rows, outputs, time.time() - start)


if __name__ == "__main__":
    main()
