"""Measure how many names, numbers and addresses stand in the translation as they should.

    python scripts/measure_carried.py runs/everyday

Fills carrier sentences at random with names that training never saw, numbers in figures, addresses
and template fields. Each must stand in the translation, numbers as the target language writes
them. --whole also counts as lost what stands in the translation twice.
"""

import argparse
import random
import re
from pathlib import Path

from nmt.corpus.text.placeholders import numbers_of, replace_codes
from nmt.decoding.loading import load_translator
from nmt.special_tokens import PLACEHOLDERS

FILLERS = {
    "name": """
        Zbigniew|Agnieszka|Oluwaseun|Xiomara|Thandiwe|Kwabena|Fiorella|Nokuthula|O'Neill|Łódź
        Apinya|Mstislav|Anna-Lena|Jean-Luc|Ngũgĩ|Zoë Brandvold|Kristiansund|Ouagadougou|Tromsø
        """,
    "number": """
        7|42|365|1990|2,400|1,250,000|3.5|0.75|12.50|€12.50|$5|£1,299.99|15%|4.8 %|20 °C|10:45|9:55
        16:9|3/5/2024|2024-05-03|030 123456|+49 30 1234567|555-1234|10–12|192.168.0.1|5 km
        """,
    "address": """
        john.doe@example.com|info@shop.example.org|https://example.org|https://example.org/shop?id=7
        www.example.net|notes.txt|report-v2.pdf|/usr/local/bin|{name}|{{ user }}|%1$s|%s|#party
        @tom_b|`ls -l`|A4|XJ-900|COVID-19|snake_case
        """,
}
CARRIERS = """
I know {name}.
Where is {name} now?
{name} came home at {number} yesterday.
Is {name} at home, or is {name} at work?
We paid {number} for it.
There were {number} people and {number} cars.
The number is {number}, please write it down.
Please write to {address} before {number}.
Send it to {address}, please.
You can find it at {address}.
Do you know what {address} means?
{name} sent {number} pictures to {address}.
My brother {name} has {number} books about {name}.
(Call {name} or {number}.)
"{name} isn't here," he said.
- {name}: {number}
I don’t think that {name} has {number} of them…
If you need help, {name}, open {address} and look for {number}.
"""


def expected(kind: str, text: str, languages: tuple[str, str]) -> str:
    """Return how a filler stands in the translation."""
    is_code = not replace_codes(text).text.strip(PLACEHOLDERS)  # 1.5e-3
    for number in numbers_of(text, *languages) if kind == "number" and not is_code else ():
        if (number.start, number.end) == (0, len(text)):
            return number.written
        return number.written + text[number.end :]
    return text


def occurrences(filler: str, text: str) -> int:
    """Count a filler in a text, not within a word, number or address, but with a genitive's s."""
    return len(re.findall(rf"(?<![\w.,:/=]){re.escape(filler)}(?=s?(?!\w|[.,:/?]\w))", text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--whole", action="store_true", help="count repetitions as lost, too")
    parser.add_argument("--wrong", action="store_true", help="also print the sentences that failed")
    arguments = parser.parse_args()
    translator = load_translator(arguments.run)
    fillers = {kind: re.split(r"\s*[|\n]\s*", text.strip()) for kind, text in FILLERS.items()}
    draw = random.Random(1)
    lines, given = [], []
    for _ in range(arguments.sentences):
        used: list[tuple[str, str]] = []

        def fill(match: re.Match[str], used: list[tuple[str, str]] = used) -> str:
            free = [x for x in fillers[match[1]] if (match[1], x) not in used]
            used.append((match[1], draw.choice(free)))
            return used[-1][1]

        carrier = draw.choice(CARRIERS.strip().split("\n"))
        lines.append(re.sub(r"\{(name|number|address)\}", fill, carrier))
        given.append(used)
    found = [options[0].text for options in translator.stream(lines)]
    kept: dict[str, list[bool]] = {kind: [] for kind in (*FILLERS, "all")}
    for line, text, used in zip(lines, found, given, strict=True):
        lost = []
        for kind, filler in used:
            count = occurrences(expected(kind, filler, translator.data.languages), text)
            is_kept = count == 1 if arguments.whole else count >= 1
            kept[kind].append(is_kept)
            kept["all"].append(is_kept)
            if not is_kept:
                lost.append(filler)
        if lost and arguments.wrong:
            print(f"{', '.join(lost)}: {line}  →  {text}")
    for kind, each in kept.items():
        if each:
            print(f"{kind:8} {sum(each):,} of {len(each):,} ({sum(each) / len(each):.2%})")


if __name__ == "__main__":
    main()
