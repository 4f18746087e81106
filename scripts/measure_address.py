"""Measure how often translations address the reader as demanded.

    python scripts/measure_address.py runs/everyday formality.tsv --lines 200

The file has lines English TAB German. Each English line is translated with du and with Sie. Only
lines count of which both translations, or one and the reference, show how they address someone.
"""

import argparse
import gzip
from pathlib import Path

from nmt.config.choices import Address
from nmt.corpus.text.form_of_address import address
from nmt.decoding.loading import load_translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=10**9)
    arguments = parser.parse_args()
    opened = gzip.open if arguments.file.suffix == ".gz" else open
    with opened(arguments.file, "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t") for line in file]
    # Each English line occurs with several translations, one of each form.
    addressing = dict.fromkeys(source for source, target in pairs if address(target))
    lines = list(addressing)[: arguments.lines]
    translator = load_translator(arguments.run)
    demanded: tuple[Address, ...] = ("du", "sie")
    for form in demanded:
        outputs = [each.text for each in translator.adapted(address=form).translate(lines)]
        found = [address(output) for output in outputs]
        as_demanded, none = found.count(form), found.count(None)
        print(
            f"{form}: {as_demanded / len(lines):.1%} of {len(lines)} lines as demanded, "
            f"{none / len(lines):.1%} with no or mixed address, "
            f"{1 - (as_demanded + none) / len(lines):.1%} in another form",
            flush=True,
        )
        for line, output, each in zip(lines, outputs, found, strict=True):
            if each not in (form, None):
                print(f"  {each}: {line} → {output}")


if __name__ == "__main__":
    main()
