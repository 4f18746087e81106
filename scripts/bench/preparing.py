"""Measure `nmt prepare` on a large corpus, in time and memory, against SentencePiece alone.

    python scripts/bench/preparing.py
    python scripts/bench/preparing.py --pairs 300000 --tmx

The corpus is the built-in sample, repeated with changes. With `--tmx`, it is a translation memory,
and the peer is `nmt prepare` with the same pairs as TSV. Each program runs in its own process;
import time is included. A run takes minutes, so there is one round, without a warm-up.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from xml.sax.saxutils import escape

from measuring import Cost, compared, cost, in_turn, options, report

from nmt.config.data import DataConfig
from nmt.corpus.sources.registry import open_corpus

VOCABULARY_SIZE = "8000"
UNCHANGED, NUMBER, COMPOUND = 0.02, 0.05, 0.10  # shares of pairs, and of replaced words
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n<header srclang="en"/>\n<body>\n'
)
UNIT = """\
    <tu tuid="1" datatype="Text">
      <tuv xml:lang="en">
        <seg>{}</seg>
      </tuv>
      <tuv xml:lang="de">
        <seg>{}</seg>
      </tuv>
    </tu>
"""


def repeated(count: int) -> Iterator[tuple[str, str]]:
    """Yield pairs of the built-in sample, with changes; always the same.

    In each pair, one word per side is replaced by a word of another sentence, or sometimes by a
    word that the corpus does not contain: a number, or two words joined into one, as in German
    compounds. Therefore new words keep appearing, as in real corpora, and a few pairs occur twice.
    The translations are wrong, but that does not matter to a tokenizer.
    """
    dice = random.Random(1)
    pairs = list(open_corpus(DataConfig(source="sample")).pairs("train"))
    sides = [[side.split() for side in column] for column in zip(*pairs, strict=True)]
    words = [[word for sentence in sentences for word in sentence] for sentences in sides]
    for _ in range(count):
        number = dice.randrange(len(pairs))
        if dice.random() < UNCHANGED:
            yield pairs[number]
        else:
            source, target = (
                _changed(sentences[number], of_side, dice)
                for sentences, of_side in zip(sides, words, strict=True)
            )
            yield source, target


def _changed(sentence: list[str], words: list[str], dice: random.Random) -> str:
    kind = dice.random()
    word = dice.choice(words)
    if kind < NUMBER:
        word = str(dice.randrange(100_000))
    elif kind < NUMBER + COMPOUND:
        word += dice.choice(words).lower()
    place = dice.randrange(len(sentence))
    return " ".join([*sentence[:place], word, *sentence[place + 1 :]])


def write(count: int, stem: Path) -> None:
    """Write pairs as STEM.en and STEM.de, as STEM.tsv and as STEM.tmx."""
    paths = (Path(f"{stem}.{kind}") for kind in ("en", "de", "tsv", "tmx"))
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("w", encoding="utf-8")) for path in paths]
        english, german, tsv, tmx = files
        tmx.write(HEAD)
        for source, target in repeated(count):
            english.write(f"{source}\n")
            german.write(f"{target}\n")
            tsv.write(f"{source}\t{target}\n")
            tmx.write(UNIT.format(escape(source), escape(target)))
        tmx.write("</body>\n</tmx>\n")


def prepare(path: Path, source: str = "parallel") -> Cost:
    """Run `nmt prepare` on a corpus, in a new folder."""
    fields = [f"data.path={path}", f"data.source={source}"]
    fields.append(f"tokenizer.vocabulary_size={VOCABULARY_SIZE}")
    command = [sys.executable, "-m", "nmt", "prepare", "--config", "wmt-base.yaml"]
    with tempfile.TemporaryDirectory() as folder:
        return cost([*command, *(x for field in fields for x in ("--set", field))], Path(folder))


def sentencepiece_alone(stem: Path) -> Cost:
    script = str(Path(__file__).with_name("sentencepiece_alone.py"))
    return cost([sys.executable, script, f"{stem}.en", f"{stem}.de", VOCABULARY_SIZE])


def main() -> None:
    parser = options(__doc__, "--rounds")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--tmx", action="store_true", help="compare TMX with TSV")
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    taken: dict[str, Cost] = {}

    def timed(name: str, work: Callable[[], Cost]) -> Callable[[], float]:
        def call() -> float:
            taken[name] = work()
            return taken[name].seconds

        return call

    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder, "pairs")
        write(arguments.pairs, stem)
        if arguments.tmx:
            tmx, tsv = (Path(f"{stem}.{kind}") for kind in ("tmx", "tsv"))
            works = {"nmt": lambda: prepare(tmx, "tmx"), "TSV": lambda: prepare(tsv, "tsv")}
        else:
            alone = "SentencePiece alone"
            works = {"nmt": lambda: prepare(stem), alone: lambda: sentencepiece_alone(stem)}
        calls = {name: timed(name, work) for name, work in works.items()}
        found = in_turn(calls, arguments.rounds, warm_up=0)
    work = f"`nmt prepare`, {arguments.pairs:,} pairs{' in TMX' if arguments.tmx else ''}"
    processor = {name: each.processor_seconds for name, each in taken.items()}
    memory = {name: each.memory for name, each in taken.items()}
    rows = compared(work, "s", found) + compared(f"{work}: processor time", "s", processor)
    report([*rows, *compared(f"{work}: memory", "MiB", memory)])


if __name__ == "__main__":
    main()
