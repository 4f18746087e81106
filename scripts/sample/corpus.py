"""Fills the frames, splits the pairs by held-out combinations and writes the files."""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sample import (  # noqa: F401  (importing the frame modules registers their frames)
    frames_clauses,
    frames_compare,
    frames_describe,
    frames_feelings,
    frames_having,
    frames_infinitives,
    frames_likes,
    frames_notes,
    frames_objects,
    frames_people,
    frames_places,
    frames_times,
)
from sample.dice import FRAMES, Dice, Draft, Frame
from sample.names import HELD_OUT_NAMES, TRAIN_NAMES

SEED = 20240607
SIZES = {"train": 14_000, "validation": 500, "test": 1_000}
NEW_NAMES = frozenset(name for name, _ in HELD_OUT_NAMES)
# Share of test pairs with a name from HELD_OUT_NAMES.
NEW_NAME_SHARE = 0.2
# Percentage of word combinations that are reserved for each held-out split.
HELD_OUT_PERCENT = {"test": 7, "validation": 4}
# Minimum training frequency of each German word form in validation and test.
LEAST_IN_TRAIN = 3
# Oversampling of the held-out splits, because pairs with rarer words are dropped afterwards.
SURPLUS = 1.2
TRIES_PER_PAIR = 60
# Sentences that must stay out of the corpus, because users try them first.
BANNED = "oscar likes to code"
CODING_WORDS = re.compile(r"\b(code|codes|coded|coding)\b")

CONTRACTIONS = {
    "does not": "doesn't",
    "do not": "don't",
    "did not": "didn't",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "has not": "hasn't",
    "have not": "haven't",
    "cannot": "can't",
}


def normal(text: str) -> str:
    """The text in lower case, without punctuation and with contractions spelled out."""
    text = text.lower()
    for long, short in CONTRACTIONS.items():
        text = text.replace(short, long)
    return " ".join(re.sub(r"[^\w\s]", "", text).split())


def word_forms(text: str) -> list[str]:
    """The words of a sentence as they are written."""
    return re.findall(r"\w+", text)


@cache
def held_out_in(combo: str) -> str:
    """The split that a combination is kept for, "train" for most."""
    roll = zlib.crc32(f"{SEED} {combo}".encode()) % 100
    if "code" in combo.split():
        return "train"
    if roll < HELD_OUT_PERCENT["test"]:
        return "test"
    if roll < HELD_OUT_PERCENT["test"] + HELD_OUT_PERCENT["validation"]:
        return "validation"
    return "train"


def split_of(draft: Draft) -> str:
    """The split of a pair: where its held-out combinations belong, "" if they disagree."""
    splits = {held_out_in(combo) for combo in draft.combos} - {"train"}
    if len(splits) > 1:
        return ""
    return splits.pop() if splits else "train"


@dataclass
class Corpus:
    """The pairs of all splits."""

    splits: dict[str, list[Draft]]

    def texts(self) -> dict[str, str]:
        """The contents of the files by name."""
        files = {}
        for split, drafts in self.splits.items():
            for language in ("en", "de"):
                lines = (getattr(draft, language) + "\n" for draft in drafts)
                files[f"{split}.{language}"] = "".join(lines)
        return files


class Builder:
    """Draws pairs from the frames until every split has its share of each frame."""

    def __init__(self) -> None:
        self.splits: dict[str, list[Draft]] = {name: [] for name in SIZES}
        self.translations: dict[str, str] = {}

    def build(self) -> Corpus:
        """Fill all splits; if a frame runs out of new pairs, the others fill its share."""
        for split in ("test", "validation", "train"):
            self._fill(split)
        self._drop_unseen_words()
        return Corpus(self.splits)

    def _fill(self, split: str) -> None:
        new_names = round(SIZES[split] * NEW_NAME_SHARE * SURPLUS) if split == "test" else 0
        if new_names:
            self._draw(split, new_names, True)
        surplus = 1 if split == "train" else SURPLUS
        self._draw(split, round(SIZES[split] * surplus), False)
        self.splits[split] = self._mixed(split)

    def _mixed(self, split: str) -> list[Draft]:
        drafts = list(self.splits[split])
        Dice(f"{SEED} order {split}", TRAIN_NAMES).random.shuffle(drafts)
        return drafts

    def _draw(self, split: str, size: int, new_names: bool) -> None:
        """Add pairs to a split until it has `size`, in proportion to the frames' weights."""
        names = HELD_OUT_NAMES if new_names else TRAIN_NAMES
        dice = Dice(f"{SEED} {split} {new_names}", names)
        frames = [f for f in FRAMES.values() if f.new_names or not new_names]
        for _ in range(12):
            missing = size - len(self.splits[split])
            if missing <= 0:
                return
            weight = sum(frame.weight for frame in frames)
            dry = []
            for frame in frames:
                quota = max(1, round(missing * frame.weight / weight))
                quota = min(quota, size - len(self.splits[split]))
                if self._take(frame, dice, split, quota, new_names) < quota:
                    dry.append(frame)
            frames = [frame for frame in frames if frame not in dry]
        raise RuntimeError(f"{split}: only {len(self.splits[split])} of {size} pairs")

    def _take(self, frame: Frame, dice: Dice, split: str, quota: int, new_names: bool) -> int:
        taken = 0
        for _ in range(quota * TRIES_PER_PAIR):
            if taken == quota:
                break
            draft = frame.fill(dice)
            if split_of(draft) != split or (new_names and not holds_new_name(draft.en)):
                continue
            taken += self._accept(replace(draft, frame=frame.name), dice, split)
        return taken

    def _accept(self, draft: Draft, dice: Dice, split: str) -> bool:
        """Add the pair unless its English sentence is already in the corpus."""
        key = normal(draft.en)
        if key in self.translations:
            if self.translations[key] != normal(draft.de):
                raise ValueError(f"two translations: {draft.en} = {draft.de}")
            return False
        if BANNED in key or ("oscar" in key and CODING_WORDS.search(key)):
            return False
        if not 2 <= len(draft.en.split()) <= 16 or len(draft.de.split()) < 2:
            return False
        self.translations[key] = normal(draft.de)
        if dice.chance(0.4):
            draft = replace(draft, en=contracted(draft.en))
        self.splits[split].append(draft)
        return True

    def _drop_unseen_words(self) -> None:
        """Cut validation and test to size, leaving out pairs with words that train lacks."""
        seen = Counter(word for draft in self.splits["train"] for word in word_forms(draft.de))
        for split in ("validation", "test"):
            known = [
                draft
                for draft in self.splits[split]
                if all(seen[word] >= LEAST_IN_TRAIN for word in known_words(draft.de))
            ]
            self.splits[split] = known[: SIZES[split]]
            if len(self.splits[split]) < SIZES[split]:
                raise RuntimeError(f"{split}: only {len(known)} pairs whose words occur in train")


def known_words(text: str) -> list[str]:
    """The words of a German sentence that are not held-out names or their genitives."""
    return [
        word
        for word in word_forms(text)
        if word not in NEW_NAMES and word.removesuffix("s") not in NEW_NAMES
    ]


def holds_new_name(text: str) -> bool:
    """Whether a held-out name occurs in the text."""
    return any(word in NEW_NAMES for word in word_forms(text))


def contracted(text: str) -> str:
    """The text with "does not" and the like contracted."""
    for long, short in CONTRACTIONS.items():
        text = re.sub(rf"\b{long}\b", short, text)
    return text


def build() -> Corpus:
    """The whole corpus; the same on every call."""
    return Builder().build()


def frame_shares(corpus: Corpus) -> dict[str, float]:
    """The share of all pairs that each frame has, the largest first."""
    counts = Counter(draft.frame for drafts in corpus.splits.values() for draft in drafts)
    total = sum(counts.values())
    return {name: count / total for name, count in counts.most_common()}


def german_forms(corpus: Corpus) -> Counter[str]:
    """How often each German word form occurs in train."""
    return Counter(word for draft in corpus.splits["train"] for word in word_forms(draft.de))


def summary(corpus: Corpus) -> str:
    """A few lines of statistics about the corpus."""
    everything = [draft for drafts in corpus.splits.values() for draft in drafts]
    forms = german_forms(corpus)
    shares = frame_shares(corpus)
    lengths = [len(draft.en.split()) for draft in everything]
    name, share = next(iter(shares.items()))
    sizes = ", ".join(f"{split} {len(drafts)}" for split, drafts in corpus.splits.items())
    often = sum(count >= 5 for count in forms.values())
    return "\n".join(
        (
            f"pairs: {sizes}",
            f"German word forms in train: {len(forms)}, {often} of them at least 5 times",
            f"frames: {len(shares)}, the largest is {name} with {share:.2%}",
            f"words per English sentence: {sum(lengths) / len(lengths):.1f} on average, "
            f"{min(lengths)} to {max(lengths)}",
        )
    )


def by_frame(corpus: Corpus) -> dict[str, list[Draft]]:
    """The pairs of all splits, grouped by frame."""
    groups: dict[str, list[Draft]] = defaultdict(list)
    for drafts in corpus.splits.values():
        for draft in drafts:
            groups[draft.frame].append(draft)
    return groups


def write(corpus: Corpus, folder: Path) -> None:
    """Write the files of the corpus into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in corpus.texts().items():
        (folder / name).write_bytes(text.encode("utf-8"))


def differing_files(corpus: Corpus, folder: Path) -> list[str]:
    """The names of the files in the folder that differ from the corpus."""
    return [
        name
        for name, text in corpus.texts().items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode("utf-8")
    ]
