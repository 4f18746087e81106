"""Statistics of the training text: its frequent words, and its target texts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.config import Config
from nmt.corpus.preparing import statistics as module
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.preparing.splitting import sentence_keys
from nmt.corpus.preparing.statistics import (
    TrainingStatistics,
    read_statistics,
    read_target_words,
    write_statistics,
)
from nmt.errors import UserError
from nmt.files.text_files import read_chunks

SEED = 7


def write(pairs: list[tuple[str, str]], folder: Path) -> None:
    """Write the statistics of training pairs."""
    texts = folder / "train.source.txt", folder / "train.target.txt"
    for side, text in enumerate(texts):
        lines = "".join(f"{pair[side]}\n" for pair in pairs)
        text.write_text(lines, encoding="utf-8", newline="\n")
    write_statistics(texts, sentence_keys((target for _, target in pairs), SEED), folder)


PAIRS = [
    *[("A cat sleeps.", "Eine Katze schläft.")] * 4,
    ("The CAT eats, a cat runs.", "Die KATZE frisst, eine Katze rennt."),
]


@pytest.fixture
def seen(tmp_path: Path) -> TrainingStatistics:
    write(PAIRS, tmp_path)
    return read_statistics(tmp_path, SEED)


def test_words_are_frequent_from_five_occurrences_ignoring_case(seen: TrainingStatistics) -> None:
    assert seen.source_words == {"a", "cat"}
    assert seen.target_words == {"eine", "katze"}


def test_the_words_of_the_targets_are_kept_unless_none_are_known(tmp_path: Path) -> None:
    assert read_target_words(tmp_path) is None
    write(PAIRS, tmp_path)
    found = read_target_words(tmp_path)
    assert found is not None
    assert found.words == {"eine", "katze", "schläft", "frisst", "rennt", "die"}
    write([], tmp_path)  # as `nmt import` does
    assert read_target_words(tmp_path) is None


def test_counting_in_parts_does_not_change_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: TrainingStatistics
) -> None:
    monkeypatch.setattr(module, "_MOST_DIFFERENT", 2)
    monkeypatch.setattr(module, "read_chunks", lambda path: read_chunks(path, 1))
    write(PAIRS, tmp_path)
    again = read_statistics(tmp_path, SEED)
    assert (again.source_words, again.target_words) == (seen.source_words, seen.target_words)


@pytest.mark.parametrize(
    ("source", "target", "rare"),
    [
        ("A cat!", "Eine Katze 2.", False),  # numbers and punctuation are not words
        ("A cat sleeps.", "Eine Katze.", True),
        ("A cat.", "Eine Katze schläft.", True),
        ("A dog.", "Eine Katze.", True),
        ("Katze.", "Cat.", True),  # each side has its own list
        ("", "", False),
    ],
)
def test_a_rare_word_on_either_side_counts(
    seen: TrainingStatistics, source: str, target: str, rare: bool
) -> None:
    assert seen.has_rare_word(source, target) is rare


def test_training_targets_are_recognized_by_their_text(seen: TrainingStatistics) -> None:
    assert len(seen.target_keys) == 2
    assert seen.is_target("Eine Katze schläft.")
    assert seen.is_target("Die KATZE frisst, eine Katze rennt.")
    assert not seen.is_target("Eine Katze schläft")
    assert not seen.is_target("A cat sleeps.")
    assert not seen.is_target("")


def test_prepare_uses_only_training_pairs(
    make_config: Callable[..., Config], tmp_path: Path
) -> None:
    config = make_config(data={"placeholders": "names"})
    prepared = prepare(config, tmp_path / "out")
    seen = read_statistics(prepared.folder, config.data.seed)
    assert len(seen.target_keys) == 250
    assert {"tom", "green"} <= seen.source_words  # even if a placeholder replaced it
    assert not any(seen.is_target(e.reference) for e in prepared.examples("test"))
    lines = Path(str(config.data.path)).read_text(encoding="utf-8").splitlines()
    assert sum(seen.is_target(line.split("\t")[1]) for line in lines) == 250


@pytest.mark.parametrize("name", ["frequent_words.json", "train.target.keys"])
def test_a_changed_byte_is_noticed(
    make_config: Callable[..., Config], tmp_path: Path, name: str
) -> None:
    path = prepare(make_config(), tmp_path / "out").folder / name
    content = path.read_bytes()
    path.write_bytes(content.replace(b"the", b"teh") if name.endswith("json") else content[::-1])
    with pytest.raises(UserError, match=rf"{name}: cannot be read: damaged \(checksum mismatch\)"):
        read_statistics(path.parent, SEED)


def test_missing_hashes_are_refused_in_one_line(tmp_path: Path) -> None:
    write([], tmp_path)
    (tmp_path / "train.target.keys").unlink()
    with pytest.raises(UserError, match=r"train\.target\.keys: cannot be read"):
        read_statistics(tmp_path, SEED)
