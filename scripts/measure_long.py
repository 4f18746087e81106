"""Measure how much of a long text without punctuation is translated.

    python scripts/measure_long.py runs/everyday

Joins random sentences of the everyday corpus' validation part, without punctuation, into texts of
at least 20, 50 and 150 words. The sentences are also translated one by one, with and without their
punctuation. Prints the share of the content words of these translations that the translation of
the joined text has too, as words with the same first five letters, and the length of that
translation in words, relative to theirs.
"""

import argparse
import random
import re
from pathlib import Path

from nmt.corpus.sources.readers import read_tsv
from nmt.decoding.loading import load_translator

VALIDATION = Path(__file__).resolve().parent.parent / "data" / "everyday" / "validation.tsv"
LENGTHS = (20, 50, 150)  # words
COMMON = """
    aber auch dann dass dein deine deinem deinen deiner dich dies diese diesem diesen dieser
    dieses dort durch eine einem einen einer eines euch habe haben habt hast hatte hatten hier
    ihre ihrem ihren ihrer ihres kann kannst kein keine keinem keinen keiner können mein meine
    meinem meinen meiner mich muss musst müssen nicht noch oder schon sehr sein seine seinem
    seinen seiner sich sind soll sollen unser unsere unseren wann warum weil wenn werden wird
    wurde wurden
"""


def content(text: str) -> list[str]:
    """Return the first five letters of each word of four or more letters, except common words."""
    common = set(COMMON.split())
    words = [word.lower() for word in re.findall(r"[^\W\d_]{4,}", text)]
    return [word[:5] for word in words if word not in common]


def plain(text: str) -> str:
    return re.sub(r"[^\w\s'’-]", "", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--texts", type=int, default=30, help="number of texts of each length")
    arguments = parser.parse_args()
    translator = load_translator(arguments.run)
    sentences = [source for source, _ in read_tsv(VALIDATION) if 4 <= len(source.split()) <= 14]
    draw = random.Random(3)
    for length in LENGTHS:
        texts = []
        for _ in range(arguments.texts):
            text: list[str] = []
            while len(" ".join(text).split()) < length:
                text.append(draw.choice(sentences))
            texts.append(text)
        wholes = translator.translate([" ".join(map(plain, text)) for text in texts])
        words = sum(len(whole.text.split()) for whole in wholes)
        present = [set(content(whole.text)) for whole in wholes]
        row = [f"{length} words:"]
        for name, change in (("with punctuation", str), ("without", plain)):
            singles = [translator.translate([change(one) for one in text]) for text in texts]
            joined = [" ".join(one.text for one in single) for single in singles]
            pairs = zip(joined, present, strict=True)
            found = [word in whole for one, whole in pairs for word in content(one)]
            length_ratio = words / sum(len(one.split()) for one in joined)
            row.append(f"{name} {sum(found) / len(found):.1%}, length {length_ratio:.1%};")
        print(*row)


if __name__ == "__main__":
    main()
