"""Training on several corpora: their splits, shares, tags and reports."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.config.config import Config
from nmt.config.training import TrainingConfig
from nmt.config.yaml_files import dump_config, load_config, parse_config
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.preparing.report import format_report
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.form_of_address import address
from nmt.corpus.text.tags import show_tag, split_tag, tag_name_and_text, tag_of
from nmt.decoding.segments import Segmenter, TrainingLines
from nmt.errors import UserError
from nmt.special_tokens import TAGS
from nmt.training.batches import BatchPlan

from .conftest import sentence_pairs, write_tsv

Make = Callable[..., Config]
PAIRS = sentence_pairs()


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that creates a config of two corpora: 200 pairs `a`, 100 pairs `b`."""
    write_tsv(tmp_path / "a.tsv", PAIRS[:200])
    write_tsv(tmp_path / "b.tsv", PAIRS[200:])

    def make(a: dict[str, Any], b: dict[str, Any], **data: Any) -> Config:
        corpora = [
            {"source": "tsv", "path": str(tmp_path / f"{name}.tsv"), "name": name, **fields}
            for name, fields in (("a", a), ("b", b))
        ]
        tree = {
            "data": {"corpora": corpora, "validation_size": 20, "test_size": 20, **data},
            "tokenizer": {"vocabulary_size": 400},
        }
        return parse_config(tree, "test")

    return make


def held_out(prepared: PreparedData) -> list[tuple[str, str]]:
    return [
        (example.source, example.reference)
        for split in ("validation", "test")
        for example in prepared.examples(split)
    ]


def test_all_pairs_are_used_and_reported_by_corpus(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({}, {}), tmp_path / "out")
    report = prepared.report
    assert report["read"] == 300
    assert report["pairs"] == {"train": 260, "validation": 20, "test": 20}
    assert [(c["name"], c["read"]) for c in report["corpora"]] == [("a", 200), ("b", 100)]
    assert sum(c["train"] for c in report["corpora"]) == 260
    assert f"corpus           b: read 100, train {report['corpora'][1]['train']}" in format_report(
        report
    )
    assert prepared.mixing_weights is None


@pytest.mark.parametrize(
    ("duplicates", "train", "dropped"),
    [(False, [260, 60], {"in another split": 40}), (True, [200, 60], {"duplicate": 100})],
)
def test_held_out_pairs_come_from_the_chosen_corpora_and_are_removed_from_the_others(
    make: Make, tmp_path: Path, duplicates: bool, train: list[int], dropped: dict[str, int]
) -> None:
    write_tsv(tmp_path / "a.tsv", PAIRS)  # contains all of b
    config = make({"held_out": False}, {}, drop_duplicates=duplicates)
    prepared = prepare(config, tmp_path / "out")
    assert set(held_out(prepared)) <= set(PAIRS[200:])
    assert [c["train"] for c in prepared.report["corpora"]] == train
    assert prepared.report["dropped"] == dropped
    assert prepared.report["source_in_train"] == {"validation": 0, "test": 0}


@pytest.fixture
def splits(tmp_path: Path) -> dict[str, str]:
    """Return fields that give a corpus validation and test pairs."""
    return {
        f"{split}_path": str(write_tsv(tmp_path / f"{split}.tsv", [(f"{split} tree", "Baum")]))
        for split in ("validation", "test")
    }


@pytest.mark.parametrize("tag", [None, "news"])
def test_splits_given_for_one_corpus_are_used_with_its_tag(
    make: Make, splits: dict[str, str], tmp_path: Path, tag: str | None
) -> None:
    prepared = prepare(make({}, {"tag": tag, **splits}, min_coverage=0), tmp_path / "out")
    source_tag = tag_of(prepared.data, tag)
    assert held_out(prepared) == [
        (f"{source_tag}validation tree", "Baum"),
        (f"{source_tag}test tree", "Baum"),
    ]
    assert prepared.report["pairs"]["train"] == 300


def test_splits_of_a_corpus_that_holds_nothing_out_are_ignored(
    make: Make, splits: dict[str, str], tmp_path: Path
) -> None:
    prepared = prepare(make({"held_out": False, **splits}, {}), tmp_path / "out")
    assert set(held_out(prepared)) <= set(PAIRS[200:])


def test_moving_a_corpus_does_not_change_the_fingerprint(make: Make, tmp_path: Path) -> None:
    first = prepare(make({}, {}), tmp_path / "out")
    moved = (tmp_path / "b.tsv").rename(tmp_path / "moved.tsv")
    second = prepare(make({}, {"path": str(moved)}), tmp_path / "other")
    assert second.fingerprint == first.fingerprint


def epochs(prepared: PreparedData, count: int) -> list[list[int]]:
    plan = BatchPlan(prepared, TrainingConfig(batch_tokens=256), max_length=64)
    return [np.concatenate(plan.epoch(epoch).order).tolist() for epoch in range(1, count + 1)]


def test_each_corpus_has_its_share_of_every_epoch(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({"weight": 1}, {"weight": 3, "held_out": False}), tmp_path / "out")
    assert prepared.mixing_weights == [(160, 0.25), (100, 0.75)]
    printed = format_report(prepared.report, prepared.mixing_weights)
    assert "corpus           b: read 100, train 100, 75.0% of each epoch" in printed
    first, second, third, fourth, *_ = drawn = epochs(prepared, 40)
    for epoch in drawn:
        counts = Counter(epoch)
        assert len(epoch) == 260
        assert sum(count for pair, count in counts.items() if pair >= 160) == 195
        assert {counts[pair] for pair in range(160, 260)} == {1, 2}
        assert {counts[pair] for pair in range(160)} == {0, 1}
    assert set(first) != set(second)
    assert set().union(*drawn) == set(range(260))  # every pair is drawn sooner or later
    assert epochs(prepared, 2)[1] == second
    assert third != fourth


@pytest.mark.parametrize("join_pairs", [0, 0.3])
def test_in_fine_tuning_each_corpus_has_its_share_of_every_batch(
    make: Make, tmp_path: Path, join_pairs: float
) -> None:
    config = make({"weight": 1}, {"weight": 1, "held_out": False})
    longer = [(f"Well {s} {s}", f"Nun {t} {t}") for s, t in PAIRS[200:]]
    write_tsv(tmp_path / "b.tsv", longer)
    prepared = prepare(config, tmp_path / "out")
    decode = prepared.tokenizers.source.decode
    settings = TrainingConfig(batch_tokens=512, join_pairs=join_pairs)

    def spread(prepared: PreparedData) -> float:
        """Return the largest difference from half a batch; the last batch may be small."""
        epoch = BatchPlan(prepared, settings, max_length=64).epoch(1)
        batches = [epoch.source.rows(pairs) for pairs in epoch.order if len(pairs) > 10]
        assert len(batches) > 4
        shapes = [(batch.source.numel(), batch.target_in.numel()) for batch in epoch.batches()]
        assert np.max(shapes) <= 512
        return max(
            abs(sum(decode(source).startswith("Well") for source in batch) / len(batch) - 0.5)
            for batch in batches
        )

    assert spread(prepared) == 0.5  # some batches have only one of the corpora
    fine_tuning = prepared.tokenizer.model_copy(update={"run": tmp_path})
    assert spread(replace(prepared, tokenizer=fine_tuning)) < 0.1


def test_a_temperature_repeats_the_smaller_corpus(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({}, {"held_out": False}, mixing_temperature=2), tmp_path / "out")
    small, large = 100**0.5, 160**0.5
    assert prepared.mixing_weights == [
        (160, pytest.approx(large / (small + large))),
        (100, pytest.approx(small / (small + large))),
    ]
    [epoch] = epochs(prepared, 1)
    assert sum(pair >= 160 for pair in epoch) == round(260 * small / (small + large))


def test_swapped_sides_give_one_warning_that_names_the_corpus(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tsv(tmp_path / "b.tsv", [(german, english) for english, german in PAIRS[200:]])
    prepare(make({}, {}), tmp_path / "out")
    files = [tmp_path / "t.de", tmp_path / "t.en"]
    for side, file in zip((1, 0), files, strict=True):
        file.write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
    data = {"source": "parallel", "path": list(map(str, files)), "min_coverage": 0}
    data |= {"validation_size": 20, "test_size": 20}
    tree = {"data": data, "tokenizer": {"vocabulary_size": 400}}
    prepare(parse_config(tree, "test"), tmp_path / "x")
    corpus, parallel = caplog.messages
    assert corpus.startswith("b: its sources seem to be in de")
    assert parallel.startswith(f"{files[0]} and {files[1]}: its sources seem to be in de")


def test_a_tag_is_a_token_in_front_of_the_source(make: Make, tmp_path: Path) -> None:
    for suffix in (False, True):
        config = make({"tag": "news"}, {}, placeholders="all")
        tree = config.model_dump(mode="json") | {"tokenizer": {"whitespace_as_suffix": suffix}}
        prepared = prepare(parse_config(tree, "test"), tmp_path / str(suffix))
        encoded, tokenizer = prepared.sequences("train")[0], prepared.tokenizers.source
        tokens = [tokenizer.tokens(encoded[i].tolist()) for i in range(len(encoded))]
        tagged = [TAGS[0] in "".join(each[:2]) for each in tokens]
        assert sum(tagged) == prepared.report["corpora"][0]["train"]
        assert tagged == sorted(tagged, reverse=True)
        segmenter = Segmenter(prepared.tokenizers, prepared.data, TrainingLines(60, True), 60)
        number = tokenizer.encode(TAGS[0])[-1]
        [segment] = segmenter.segment(tag_of(prepared.data, "news") + "I see the tree.")
        assert number in segment.ids[:2]
        [plain] = segmenter.segment("I see the tree.")
        assert number not in plain.ids
        assert segment.ids[-len(plain.ids) + 1 :] == plain.ids[1:]


def test_half_of_the_pairs_that_address_the_reader_say_how(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({}, {"tag": "news"}, address=True), tmp_path / "out")
    assert prepared.data.tags == ["du", "ihr", "sie", "news"]
    sources, targets = prepared.sequences("train")
    tokenizers = prepared.tokenizers
    pairs = [
        (tokenizers.source.decode(source), tokenizers.target.decode(target))
        for source, target in zip(
            *(side.rows(np.arange(len(side))) for side in (sources, targets)), strict=True
        )
    ]
    count = prepared.report["corpora"][0]["train"]
    assert prepared.tagged.tolist() == [source[0] in TAGS for source, _ in pairs]
    assert prepared.tagged[count:].all()  # the tag of their corpus
    addressing = [pair for pair in pairs[:count] if address(pair[1])]
    labelled = [pair for pair in pairs[:count] if pair[0][0] in TAGS]
    assert 0.2 < len(labelled) / len(addressing) < 0.8
    for source, target in labelled:
        assert source.startswith(tag_of(prepared.data, address(target)))


def test_tagged_pairs_are_not_joined_and_others_as_often_as_without_tags(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.training.batches._POOL_BATCHES", 1)
    prepared = prepare(make({}, {"tag": "synthetic"}), tmp_path / "out")
    tag = prepared.tokenizers.source.encode(TAGS[0])[-1]
    plain, tagged = (corpus["train"] for corpus in prepared.report["corpora"])
    alone = sorted(prepared.sequences("train")[0].rows(np.arange(plain, plain + tagged)))
    plan = BatchPlan(prepared, TrainingConfig(batch_tokens=256, join_pairs=0.5), max_length=64)
    counts, shares = [], []
    for number in range(1, 21):
        epoch = plan.epoch(number)
        sources = epoch.source.rows(np.arange(len(epoch.source)))
        assert sorted(source for source in sources if tag in source) == alone
        counts.append(len(sources) - tagged)
        shares += [np.mean([tag in sources[i] for i in pairs]) for pairs in epoch.order]
    assert np.mean(counts) == pytest.approx(plain / 2, rel=0.05)
    assert np.mean([0.1 < share < 0.9 for share in shares]) > 0.4  # batches have both kinds


def test_held_out_pairs_keep_their_tag(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({"tag": "news"}, {}), tmp_path / "out")
    found = held_out(prepared)
    source_tag = tag_of(prepared.data, "news")
    assert {(s.removeprefix(source_tag), t) for s, t in found} <= set(PAIRS)
    for source, target in found:
        assert split_tag(prepared.data, source)[0] == (
            source_tag if (source[2:], target) in PAIRS[:200] else ""
        )
    encoded, tokenizer = prepared.sequences("validation")[0], prepared.tokenizers.source
    for number, example in enumerate(prepared.examples("validation")):
        tokens = "".join(tokenizer.tokens(encoded[number].tolist()))
        assert (TAGS[0] in tokens) == example.source.startswith(source_tag)


def test_every_part_of_a_long_line_has_the_tag(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({"tag": "news"}, {}), tmp_path / "out")
    segmenter = Segmenter(prepared.tokenizers, prepared.data, TrainingLines(12, False), 60)
    segments = segmenter.segment(tag_of(prepared.data, "news") + "I see the tree. " * 4)
    assert len(segments) == 4
    assert all(segment.part.text.startswith(TAGS[0]) for segment in segments)


def test_no_text_can_forge_a_tag(make: Make) -> None:
    cleaner = Cleaner(make({"tag": "news"}, {}).data)
    assert cleaner.source(f"a {TAGS[0]} b{TAGS[1]}") == "a b"


def test_a_character_of_tags_that_the_model_lacks_is_not_a_tag(make: Make, tmp_path: Path) -> None:
    prepared = prepare(make({}, {}), tmp_path / "out")
    segmenter = Segmenter(prepared.tokenizers, prepared.data, TrainingLines(60, True), 60)
    source = f"{TAGS[0]} I see the tree."
    assert segmenter.segment(source) == segmenter.segment("I see the tree.")
    for sentence in segmenter.split(f"I sleep. {source}").sentences:
        assert TAGS[0] not in segmenter.segment(sentence)[0].part.text
    assert show_tag(prepared.data, source) == source
    assert tag_name_and_text(make({"tag": "news"}, {}).data, f"{TAGS[1]} I see.")[0] is None


def test_an_unknown_tag_is_refused(make: Make) -> None:
    with pytest.raises(UserError, match=r"law: .* chat, news"):
        tag_of(make({"tag": "news"}, {"tag": "chat"}).data, "law")
    with pytest.raises(UserError, match=r"law: .* no tags"):
        tag_of(make({}, {}).data, "law")


def test_saving_and_loading_a_config_of_corpora_is_lossless(make: Make, tmp_path: Path) -> None:
    config = make({"tag": "news", "weight": 2}, {"weight": 1})
    (tmp_path / "config.yaml").write_text(dump_config(config), "utf-8")
    assert load_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("a", "b", "data", "named"),
    [
        ({"weight": 1}, {}, {}, "`weight` for all"),
        ({}, {"weight": 0}, {}, "data.corpora, entry 2, weight: 0 "),
        ({"tag": "a b"}, {}, {}, "entry 1, tag: 'a b' "),
        ({"held_out": False}, {"held_out": False}, {}, "`held_out: true`"),
        ({"path": None}, {}, {}, "corpora, a: source `tsv` needs `path`"),
        ({}, {}, {"source": "sample"}, "move `source`"),
        ({"weight": 1}, {"weight": 1}, {"mixing_temperature": 5}, "`weight` or `mixing_temp"),
        ({}, {}, {"corpora": [], "mixing_temperature": 5}, "`mixing_temperature` needs `corpora`"),
        ({}, {}, {"path": "x"}, "move `path`"),
        ({}, {"wait": 1}, {}, "entry 2, wait: unknown field; did you mean weight"),
        ({}, {}, {"corpora": ["a.tsv"]}, "entry 1: 'a.tsv' "),
        ({}, {}, {"corpora": "a.tsv"}, "'a.tsv' "),
    ],
)
def test_invalid_combinations_of_corpora_are_refused(
    make: Make, a: dict[str, Any], b: dict[str, Any], data: dict[str, Any], named: str
) -> None:
    with pytest.raises(UserError) as caught:
        make(a, b, **data)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tags_need_subwords(make: Make) -> None:
    tree = make({"tag": "news"}, {}).model_dump(mode="json")
    with pytest.raises(UserError, match=r"data\.corpora"):
        parse_config(tree | {"tokenizer": {"kind": "whitespace"}}, "test")


def test_tags_are_converted_to_names_and_back(make: Make) -> None:
    data = make({"tag": "news"}, {"tag": "chat"}).data
    assert tag_name_and_text(data, tag_of(data, "news") + "I see.") == ("news", "I see.")
    assert tag_name_and_text(data, "I see.") == (None, "I see.")
    assert show_tag(data, tag_of(data, "news") + "I see.") == "[news] I see."
    assert show_tag(data, "I see.") == "I see."
