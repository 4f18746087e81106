"""Checks the everyday corpus in data/everyday: python scripts/check_everyday.py

Prints its statistics and the coverage of frequent English lemmas, then every fault: text that is
not NFC, doubled sentences, sentences in two splits, figures or final punctuation that differ
between the sides, unlikely lengths, and unknown words. Unknown words need Hunspell with its
dictionaries en_US, en_GB and de_DE (Debian: hunspell-en-us, hunspell-en-gb, hunspell-de-de), and
coverage the packages wordfreq and simplemma; what is not installed is skipped with a line.
Exit code 1 if there is a fault.

To see how many sentences also stand in another corpus: --against FILE.tsv
"""

import argparse
import re
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from nmt.corpus.sources.readers import read_tsv
from nmt.corpus.text.normalization import words_only

FOLDER = Path(__file__).resolve().parent.parent / "data" / "everyday"
ACCEPTED = FOLDER / "accepted.txt"
"""Words that Hunspell does not know but that are right, one per line."""
LEMMAS = 6_000
SENTENCES, TOPICS = 5, 3
"""In how many sentences of how many topics a lemma should occur."""
_END = re.compile(r"[\"”“‘’»)\]]+$")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True)
class Line:
    """A pair, with the file and the number of its line."""

    file: Path
    number: int
    english: str
    german: str

    @property
    def place(self) -> str:
        """Where to find it: FILE:LINE."""
        return f"{self.file.relative_to(self.file.parents[1])}:{self.number}"

    @property
    def key(self) -> str:
        """The English words, for finding doubles."""
        return words_only(self.english)


def read_lines(files: Iterable[Path]) -> Iterator[Line]:
    """Yield the pairs of files; a line without exactly one tab raises `ValueError`."""
    for file in sorted(files):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.count("\t") != 1 or not all(part.strip() for part in line.split("\t")):
                raise ValueError(f"{file}:{number}: expected ENGLISH TAB GERMAN, got {line!r}")
            yield Line(file, number, *line.split("\t"))


def faults(line: Line) -> Iterator[str]:
    """Yield what is wrong with a single pair."""
    english, german = line.english, line.german
    for text in (english, german):
        if unicodedata.normalize("NFC", text) != text or text != " ".join(text.split()):
            yield "not in NFC, or with stray spaces"
    ends = [_END.sub("", text)[-1:] for text in (english, german)]
    if ends[0] != ends[1] and set(ends) & set(".?!…:"):
        yield f"ends in {ends[0]} and {ends[1]}"
    if not re.search(r"\b[ap]\.?m\b", english) and _digits(english) != _digits(german):
        yield "figures differ"
    words = [len(text.split()) for text in (english, german)]
    if max(words) > 3 * min(words) + 3:
        yield f"{words[0]} words and {words[1]} words"
    if '"' in german or "—" in german:
        yield "straight quotation mark or long dash in German"


def _digits(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d", text))


def doubles(train: Sequence[Line], held_out: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """Yield sentences that occur twice in a split or, on either side, in two splits."""
    where: dict[tuple[str, str], str] = {}
    for name, lines in {"train": train, **held_out}.items():
        first: dict[str, Line] = {}
        for line in lines:
            before = first.setdefault(line.key, line)
            if before is not line:
                yield f"{line.place}: the same sentence as {before.place} ({name})"
            for side in ("english", "german"):
                other = where.setdefault((side, words_only(getattr(line, side))), name)
                if other != name:
                    yield f"{line.place}: its {side} sentence is also in {other}"


def unknown_words(lines: Sequence[Line]) -> Iterator[str]:
    """Yield words that neither Hunspell nor `ACCEPTED` knows; names of the other side are known."""
    if not shutil.which("hunspell"):
        print("skipped unknown words: hunspell is not installed")
        return
    accepted = set(ACCEPTED.read_text(encoding="utf-8").split())
    for side, dictionaries in enumerate(("en_US,en_GB", "de_DE")):
        first: dict[str, Line] = {}
        for line in lines:
            words = [set(_WORD.findall(text)) for text in (line.english, line.german)]
            for word in words[side] - words[1 - side] - accepted:
                first.setdefault(word.replace("’", "'"), line)
        done = subprocess.run(
            ["hunspell", "-d", dictionaries, "-l", "-i", "utf-8"],
            input="\n".join(first),
            capture_output=True,
            text=True,
            check=True,
        )
        for word in sorted(set(done.stdout.split()) - accepted):
            if word in first:
                yield f"{first[word].place}: unknown word {word}"


def uncovered(lines: Iterable[Line]) -> list[str]:
    """Return the frequent lemmas that occur too rarely."""
    import simplemma
    from wordfreq import top_n_list

    @cache
    def lemma_of(word: str) -> str:
        return str(simplemma.lemmatize(word, "en")).lower()

    topics: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        for word in set(_WORD.findall(line.english.lower())):
            topics[lemma_of(word)][line.file.stem] += 1
    words = (x for x in top_n_list("en", 2 * LEMMAS) if re.fullmatch("[A-Za-z]{3,}", x))
    wanted = dict.fromkeys(map(lemma_of, words))
    counts = [(lemma, topics[lemma]) for lemma in islice(wanted, LEMMAS)]
    return [each for each, of in counts if of.total() < SENTENCES or len(of) < TOPICS]


def shares(lines: Sequence[Line]) -> str:
    """Return the distribution of lengths, and the shares of questions and of figures."""
    lengths = [len(line.english.split()) for line in lines]
    ranges = ((1, 3), (4, 7), (8, 12), (13, 20), (21, 99))
    found = (f"{a}–{b}: {sum(a <= n <= b for n in lengths) / len(lines):.1%}" for a, b in ranges)
    questions = sum(line.english.rstrip('"”').endswith("?") for line in lines) / len(lines)
    figures = sum(any(map(str.isdigit, line.english)) for line in lines) / len(lines)
    return f"words {', '.join(found)}; questions {questions:.1%}; figures {figures:.1%}"


def in_other_corpus(lines: Sequence[Line], file: Path) -> str:
    """Return the shares of sentences, also of six and more words, that stand in another corpus."""
    other = {words_only(source) for source, _ in read_tsv(file)}
    longer = [line for line in lines if len(line.english.split()) >= 6]
    found = [sum(line.key in other for line in some) / len(some) for some in (lines, longer)]
    return f"also in {file.name}: {found[0]:.2%}; of six words and more: {found[1]:.2%}"


def check(against: Sequence[Path] = (), coverage: bool = True) -> list[str]:
    """Print the statistics of the corpus; return its faults."""
    train = list(read_lines((FOLDER / "train").glob("*.tsv")))
    words = list(read_lines((FOLDER / "words").glob("*.tsv")))
    held_out = {name: list(read_lines([FOLDER / f"{name}.tsv"])) for name in ("validation", "test")}
    sizes = {"train": train, "words": words, **held_out}
    for name, lines in sizes.items():
        if lines:
            print(f"{name}: {len(lines):,} pairs in {len({line.file for line in lines})} files")
            print(f"  {shares(lines)}")
    for file in against:
        print(in_other_corpus(train, file))
    if coverage:
        try:
            missing = uncovered([*train, *words])
            print(f"lemmas among the {LEMMAS:,} most frequent that are rare: {len(missing):,}")
        except ImportError:
            print("skipped coverage: wordfreq or simplemma is not installed")
    everything = [*train, *held_out["validation"], *held_out["test"]]
    found = [f"{line.place}: {fault}" for line in everything for fault in faults(line)]
    hundred = (FOLDER / "sentences.txt").read_text(encoding="utf-8").splitlines()
    judged = {words_only(sentence) for sentence in hundred}
    found += [f"{x.place}: is one of sentences.txt" for x in everything if x.key in judged]
    return [*found, *doubles(train, held_out), *unknown_words([*everything, *words])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--against", type=Path, action="append", default=[], metavar="FILE.tsv")
    found = check(parser.parse_args().against)
    print(*found, f"{len(found)} faults", sep="\n")
    sys.exit(bool(found))
