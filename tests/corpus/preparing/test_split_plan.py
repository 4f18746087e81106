"""What is dropped, and which split each pair goes to; tested through `prepare`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.preparing.split_plan import _suspicions

from ..conftest import (
    Make,
    assert_disjoint,
    given,
    held_out,
    refusal,
    sentence_pairs,
    train_pairs,
    write_tsv,
)

WORDS = {"kind": "whitespace"}
Pairs = list[tuple[str, str]]


def linked_pairs() -> list[tuple[str, str]]:
    """Return 750 pairs, in which 300 sources have two targets each and 150 targets two sources."""
    pairs = [(s, f"{t[:-1]} {end}") for s, t in sentence_pairs() for end in ("!", "und mehr.")]
    return [*pairs, *((f"So {s.upper()}", t.lower()) for s, t in pairs[::4])]


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("kind", ["bpe", "unigram", "spacy", "whitespace"])
def test_every_pair_is_in_exactly_one_split(
    make_config: Make, tmp_path: Path, kind: str, joint: bool
) -> None:
    tokenizer = {"kind": kind, "joint": joint, "vocabulary_size": 330}
    config = make_config(tokenizer=tokenizer, model={"tie": "none"}, data={"min_coverage": 0.5})
    prepared = prepare(config, tmp_path / "out")
    splits = [held_out(prepared, "validation"), held_out(prepared, "test"), train_pairs(prepared)]
    assert [len(split) for split in splits] == [20, 30, 250]
    if kind != "whitespace":
        assert sorted(pair for split in splits for pair in split) == sorted(sentence_pairs())


def test_no_source_is_in_two_splits(make_config: Make, tmp_path: Path) -> None:
    pairs = sentence_pairs()
    doubled = [*pairs, *(("\u200e" + source.upper(), target + " !") for source, target in pairs)]
    path = write_tsv(tmp_path / "doubled.tsv", doubled)
    config = make_config(data={"path": str(path), "lowercase": "source"})
    prepared = prepare(config, tmp_path / "out")
    tests = (held_out(prepared, split) for split in ("validation", "test"))
    splits = [train_pairs(prepared), *tests]
    sources = [{source.lower().lstrip("\u200e") for source, _ in split} for split in splits]
    assert sum(map(len, sources)) == len(set.union(*sources)) == 300
    assert prepared.report["source_in_train"] == {"validation": 0, "test": 0}


def test_disjoint_splits_share_no_sentence(make_config: Make, tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "linked_pairs.tsv", linked_pairs())
    data = {"path": str(path), "disjoint_splits": True}
    prepared = prepare(make_config(data=data), tmp_path / "out")
    splits = [train_pairs(prepared), *(held_out(prepared, s) for s in ("validation", "test"))]
    assert sum(map(len, splits)) == len(linked_pairs())
    assert 20 <= len(splits[1]) < 30
    assert 30 <= len(splits[2]) < 40
    assert_disjoint(splits)


def test_disjoint_training_pairs_share_no_sentence_with_a_given_split(
    make_config: Make, tmp_path: Path
) -> None:
    pairs = sentence_pairs()
    config = given(tmp_path, make_config, disjoint_splits=True, validation_path=None)
    new = ("a new one", pairs[9][1].upper())
    write_tsv(tmp_path / "test.tsv", [*pairs[270:], *pairs[:5], new])
    prepared = prepare(config, tmp_path / "out")
    assert prepared.report["dropped"] == {"in another split": 6}
    others = [*train_pairs(prepared), *held_out(prepared, "validation")]
    assert sorted(others) == sorted([*pairs[5:9], *pairs[10:250]])


@pytest.mark.parametrize("mark", "\u00ad\u200b\u200e\u200f\u061c\u202b\u202c\u2067\u2069")
def test_invisible_characters_do_not_hide_a_shared_sentence(
    make_config: Make, tmp_path: Path, mark: str
) -> None:
    config = given(tmp_path, make_config, disjoint_splits=True)
    (_, target), (source, _) = sentence_pairs()[:2]
    hidden = [("a new one", mark.join(target)), (mark.join(source), "ein neuer Satz")]
    write_tsv(tmp_path / "test.tsv", [*sentence_pairs()[270:], *hidden])
    prepared = prepare(config, tmp_path / "out")
    assert sorted(train_pairs(prepared)) == sorted(sentence_pairs()[2:250])


def test_a_group_too_large_for_a_split_stays_in_training(make_config: Make, tmp_path: Path) -> None:
    many = [("the same source", f"{t} {s}") for s, t in sentence_pairs()[:100]]
    path = write_tsv(tmp_path / "many.tsv", [*sentence_pairs(), *many])
    for seed in range(5):
        data = {"path": str(path), "disjoint_splits": True, "seed": seed}
        prepared = prepare(make_config(data=data, tokenizer=WORDS), tmp_path / "out")
        assert prepared.report["pairs"]["train"] >= 100 + 300 - 60


def test_the_order_of_the_lines_does_not_change_the_splits(
    make_config: Make, tmp_path: Path
) -> None:
    turned = write_tsv(tmp_path / "turned.tsv", sentence_pairs()[::-1])
    prepared = prepare(make_config(), tmp_path / "a")
    other = prepare(make_config(data={"path": str(turned)}), tmp_path / "b")
    for split in ("validation", "test"):
        assert held_out(other, split) == held_out(prepared, split)[::-1]


def test_another_seed_gives_another_test_set(make_config: Make, tmp_path: Path) -> None:
    tests = []
    for seed in (1, 2):
        config = make_config(tokenizer=WORDS, data={"min_coverage": 0, "seed": seed})
        tests.append(set(held_out(prepare(config, tmp_path / str(seed)), "test")))
    assert len(tests[0] & tests[1]) < 15


def test_duplicates_may_be_kept_and_filters_that_drop_nothing_are_reported(
    make_config: Make, tmp_path: Path
) -> None:
    changes = {"drop_copies": True, "min_letters": 0.1, "disjoint_splits": True}
    report = prepare(make_config(data=changes), tmp_path / "out").report
    assert report["dropped"] == {"copy": 0, "few letters": 0, "in another split": 0}
    path = write_tsv(tmp_path / "twice.tsv", sentence_pairs() * 2)
    config = make_config(data={"path": str(path), "drop_duplicates": False})
    report = prepare(config, tmp_path / "out").report
    assert report["dropped"] == {}
    assert sum(report["pairs"].values()) == 600


def report(make_config: Make, folder: Path, pairs: Pairs, **fields: Any) -> dict[str, Any]:
    """Return the report of about 80 pairs."""
    data = {"path": str(write_tsv(folder / "pairs.tsv", pairs)), "validation_size": 8}
    data |= {"test_size": 8, "min_coverage": 0, **fields}
    return prepare(make_config(data=data, tokenizer=WORDS), folder / "prepared").report


def test_mojibake_is_found_in_text_that_will_be_lower_cased(
    make_config: Make, tmp_path: Path
) -> None:
    pytest.importorskip("ftfy")
    pairs = [(f"Anna{i} sings.", f"Anna{i} singt.") for i in range(80)]
    broken = [("For Austria.", "FÃ¼r Ã–sterreich."), ("CafÃ©", "Lokal"), ("Street", "StraÃŸe")]
    fields = {"drop_mojibake": True, "lowercase": "both"}
    found = report(make_config, tmp_path, pairs + broken, **fields)
    assert found["dropped"] == {"mojibake": len(broken)}


@pytest.mark.parametrize("lowercase", ["none", "both"])
def test_lines_of_several_sentences_are_counted(
    make_config: Make, tmp_path: Path, lowercase: str
) -> None:
    """In German, capitals mark where sentences begin, even if the model reads lower case."""
    lines = [f"Anna{i} singt." + f" Ben{i} liest." * (i % 4 == 0) for i in range(80)]
    fields = {"lowercase": lowercase, "source_language": "de", "target_language": "en"}
    found = report(make_config, tmp_path, [(line, line) for line in lines], **fields)
    assert found["several_sentences"] == pytest.approx(0.25, abs=0.1)


def test_sentences_without_a_final_mark_are_counted(make_config: Make, tmp_path: Path) -> None:
    lines = [f"Anna{i} sings" + " every day" * (i % 2) + "." * (i % 4 > 0) for i in range(80)]
    for strip, expected in (False, 0), (True, 0.5):
        pairs = [(line, line) for line in lines]
        (folder := tmp_path / str(strip)).mkdir()
        found = report(make_config, folder, pairs, strip_punctuation=strip)
        assert found["lacks_mark"] == pytest.approx(expected, abs=0.1)


def test_holding_out_many_pairs_of_a_small_corpus_gives_a_warning(
    make_config: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(make_config(), tmp_path / "few")
    assert caplog.messages == []
    report = prepare(make_config(data={"test_size": 180}), tmp_path / "many").report["pairs"]
    [message] = caplog.messages
    assert message.startswith(f"200 of {200 + report['train']} pairs")


def test_given_splits_are_unchanged_and_their_overlap_is_counted_and_marked(
    make_config: Make, tmp_path: Path
) -> None:
    prepared = prepare(given(tmp_path, make_config), tmp_path / "out")
    pairs = sentence_pairs()
    assert train_pairs(prepared) == pairs[:250]
    assert held_out(prepared, "validation") == pairs[250:270] * 2
    assert held_out(prepared, "test") == [*pairs[270:], *pairs[:5], ("sky", "")]
    assert prepared.report["source_in_train"] == {"validation": 0, "test": 5}
    overlap = [example.source_in_train for example in prepared.examples("test")]
    assert overlap == [False] * 30 + [True] * 5 + [False]


def test_missing_splits_are_taken_from_the_training_file_and_share_no_source_with_given_ones(
    make_config: Make, tmp_path: Path
) -> None:
    config = given(tmp_path, make_config, validation_path=None)
    prepared = prepare(config, tmp_path / "out")
    assert prepared.report["pairs"] == {"train": 230, "validation": 20, "test": 36}
    sources = {source for source, _ in train_pairs(prepared)}
    assert not sources & {source for source, _ in held_out(prepared, "validation")}
    assert prepared.report["source_in_train"] == {"validation": 0, "test": 5}
    write_tsv(tmp_path / "test.tsv", sentence_pairs()[:200])
    prepared = prepare(config, tmp_path / "out")
    assert set(held_out(prepared, "validation")) <= set(sentence_pairs()[200:250])
    assert prepared.report["source_in_train"] == {"validation": 0, "test": 200}


def test_unusable_test_files_are_refused(make_config: Make, tmp_path: Path) -> None:
    config = given(tmp_path, make_config)
    for pairs, named in (
        ([], "test.tsv: contains no sentence pairs"),
        ([("we see the tree.", " "), ("we know.", "")], "data.test_path"),
    ):
        write_tsv(tmp_path / "test.tsv", pairs)
        assert named in refusal(config, tmp_path / "out")


@pytest.mark.usefixtures("in_empty_folder")
@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"validation_size": 250, "test_size": 100}, ["300 pairs", "100 test", "250 validation"]),
        ({"validation_size": 200, "test_size": 100}, ["all pairs are held out"]),
        ({"path": "same.tsv"}, ["1 pair ", "duplicate 29", "data.validation_size"]),
        ({"max_words": 1}, ["no training pairs", "too long 300"]),
    ],
)
def test_too_few_pairs_are_refused(
    make_config: Make, data: dict[str, Any], named: list[str]
) -> None:
    write_tsv(Path("same.tsv"), [("we see the tree.", "wir sehen den Baum.")] * 30)
    message = refusal(make_config(data=data), Path.cwd() / "out")
    assert all(part in message for part in named), message


def test_a_whole_corpus_can_be_held_out_from_another(
    make_config: Make, tmp_path: Path, tsv: Path
) -> None:
    held_out = write_tsv(tmp_path / "dev.tsv", [(f"{n} Häuser", f"{n} houses") for n in range(4)])
    parts = [{"source": "tsv", "path": str(path)} for path in (held_out, tsv)]
    parts[1]["held_out"] = False
    data = {"source": "pickle", "path": None, "corpora": parts}
    config = make_config(data=data | {"validation_size": 2, "test_size": 2})
    prepared = prepare(config, tmp_path / "out")
    assert prepared.report["pairs"] == {"train": 300, "validation": 2, "test": 2}


_ENGLISH = [f"The {n} dogs have seen it" for n in range(120)]
_FRENCH = [f"Je ne sais pas où est le chien {n}" for n in range(120)]
_GERMAN = [f"Die {n} Hunde und ich sehen das nicht" for n in range(120)]
_MIXED = [*_GERMAN[:40], *_ENGLISH[40:]]
_OPPOSITE = [*_ENGLISH[:40], *_GERMAN[40:]]
_NAMED = [f"Titel des Textes {n}" for n in range(120)]
_FEW = ["Ort: The End", "Das Ende", *(f"Ort {n}" for n in range(118))]


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        (zip(_ENGLISH, _GERMAN, strict=True), None),
        (zip(_GERMAN, _ENGLISH, strict=True), "swap its columns"),
        (zip(_GERMAN, _GERMAN[::-1], strict=True), "its sources seem to be in de"),
        (zip(_ENGLISH, _ENGLISH[::-1], strict=True), "its targets seem to be in en"),
        (zip(_ENGLISH, _FRENCH, strict=True), "its targets seem to be in fr"),
        (zip(_MIXED, _OPPOSITE, strict=True), "have de first and en second"),
        (zip(_ENGLISH, _OPPOSITE, strict=True), "its targets seem to be in en"),
        (zip(_ENGLISH, _NAMED, strict=True), None),  # a German word that is also French
        (zip(_ENGLISH, _FEW, strict=True), None),  # one English word, and one German
        (((x, x) for x in map(str.upper, ["Kabul", "Oslo"] * 60)), "same text on both sides"),
        (((str(x), f"{x},0") for x in range(120)), "no letters"),
    ],
)
def test_pairs_that_may_not_be_translations_are_suspicious(
    pairs: Iterable[tuple[str, str]], problem: str | None
) -> None:
    found = list(_suspicions(list(pairs), DataConfig()))
    assert [problem in each for each in found if problem] == [True] * bool(problem)
    assert bool(found) == bool(problem)


ENTITIES = ["&quot;", "&#39;", "&#x27;", "&uuml;", "&rsquo;", "&hellip;"]


@pytest.mark.parametrize("entity", [*ENTITIES, "AT&T;", "&x;"])
def test_pairs_with_entities_are_counted_once_for_the_whole_corpus(
    entity: str,
    make_config: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("nmt.corpus.preparing.split_plan.CHUNK", 100)
    pairs = [(f"{s} {entity}" if i % 10 else s, t) for i, (s, t) in enumerate(sentence_pairs())]
    path = write_tsv(tmp_path / "pairs.tsv", pairs)
    prepare(make_config(data={"path": str(path)}), tmp_path / "out")
    expected = [f"{path}: 270 of 300 pairs have entities"] * (entity in ENTITIES)
    assert [message[: len(expected[0])] for message in caplog.messages] == expected


def test_given_splits_are_checked_like_training_text(
    make_config: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = given(tmp_path, make_config)
    write_tsv(tmp_path / "test.tsv", list(zip(_GERMAN, _ENGLISH, strict=True)))
    prepare(config, tmp_path / "out")
    [message] = caplog.messages
    assert message.startswith(f"{tmp_path / 'test.tsv'}: its sources seem to be in de")
