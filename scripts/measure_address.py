"""Measure how often translations address the reader as demanded.

    python scripts/measure_address.py runs/everyday formality.tsv --lines 200

The file has lines English TAB German. Each English line with a translation that addresses someone
in one form is translated with du, ihr and Sie. A translation that mixes forms counts as another
form.
"""

import argparse
from pathlib import Path

from nmt.config.choices import ADDRESSES, Address
from nmt.corpus.sources.readers import read_tsv
from nmt.corpus.text.form_of_address import address, addresses
from nmt.decoding.loading import load_translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=10**9)
    arguments = parser.parse_args()
    # Each English line occurs with several translations, one of each form.
    pairs = read_tsv(arguments.file)
    addressing = dict.fromkeys(source for source, target in pairs if address(target))
    lines = list(addressing)[: arguments.lines]
    translator = load_translator(arguments.run)
    for form in ADDRESSES:
        outputs = [each.text for each in translator.customized(address=form).translate(lines)]
        as_demanded, none, others = count_forms(form, outputs)
        print(
            f"{form}: {as_demanded / len(lines):.1%} of {len(lines)} lines as demanded, "
            f"{none / len(lines):.1%} with no address, "
            f"{len(others) / len(lines):.1%} in another form or several",
            flush=True,
        )
        for number in others:
            found = ", ".join(sorted(addresses(outputs[number])))
            print(f"  {found}: {lines[number]} → {outputs[number]}")


def count_forms(form: Address, outputs: list[str]) -> tuple[int, int, list[int]]:
    """Return how many texts use only this form, how many none, and the indices of all others."""
    found = [addresses(output) for output in outputs]
    others = [number for number, each in enumerate(found) if each - {form}]
    return found.count({form}), found.count(set()), others


if __name__ == "__main__":
    main()
