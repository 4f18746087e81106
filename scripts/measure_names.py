"""Measure how many names that did not occur in training a run copies unchanged.

    python scripts/measure_names.py runs/base

Translates 200 simple sentences: 20 templates, each filled with 10 of 40 names. If the run's corpus
is in lower case and without punctuation, so are the sentences. Names that occur in the training
text are skipped and reported.
"""

import argparse
import re
from pathlib import Path

from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.runs.finding import open_run

NAMES = """
Zbigniew Agnieszka Priyanka Wolfgang Dimitri Oluwaseun Xiomara Thandiwe Bartholomew Guinevere
Yevgenia Tadeusz Rosalind Kwabena Fiorella Siobhan Ignatius Leokadia Horatio Nokuthula
Przemek Ottoline Bogdan Ludmila Jaroslav Apinya Cuthbert Desdemona Eberhard Faizah
Gwendolyn Hrithik Ingeborg Jadwiga Kunigunde Lakshmi Mstislav Nefertari Ozymandias Quetzal
"""
TEMPLATES = """
{} likes to swim.
I know {}.
Where is {}?
{} is my friend.
I saw {} yesterday.
Do you know {}?
{} has a new car.
We waited for {}.
{} is very tired today.
My sister loves {}.
Is {} at home?
{} can not come.
I have a present for {}.
{} went to school.
She is taller than {}.
Tell {} the truth.
Yesterday {} was ill.
{} wants to go home.
I believe {} is right.
He plays with {}.
""".strip().split("\n")


def sentences(known: set[str]) -> list[tuple[str, str]]:
    """Return (name, sentence) pairs: every template with ten names."""
    names = [name for name in NAMES.split() if name.lower() not in known]
    chosen = (
        (names[(7 * row + 4 * turn) % len(names)], template)
        for row, template in enumerate(TEMPLATES)
        for turn in range(10)
    )
    return [(name, template.format(name)) for name, template in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--wrong", action="store_true", help="also print the sentences that failed")
    arguments = parser.parse_args()
    run = open_run(arguments.run)
    translator = load_translator(run)
    text = " ".join(example.source for example in run.examples("test"))
    plain = text == text.lower() and not re.search(r"[.?!]", text)
    seen = {name.lower() for name in NAMES.split() if not replaced(translator, name)}
    pairs = sentences(seen)
    if plain:
        pairs = [(n.lower(), re.sub(r"[.?!]", "", s).lower()) for n, s in pairs]
    found = translator.translate([sentence for _, sentence in pairs])
    right = 0
    for (name, sentence), translation in zip(pairs, found, strict=True):
        copied = name in re.findall(r"\w+", translation.text)
        right += copied
        if arguments.wrong and not copied:
            print(f"{sentence}  →  {translation.text}")
    print(f"{right} of {len(pairs)} names copied ({right / len(pairs):.1%})")
    if seen:
        print(f"skipped, because they occur in training: {', '.join(sorted(seen))}")


def replaced(translator: Translator, name: str) -> bool:
    rules = translator.tokenizers.placeholder_rules(translator.data)
    return rules is None or bool(rules.insert(name).words)


if __name__ == "__main__":
    main()
