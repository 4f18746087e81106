"""Fine-tuning: settings from the run, new settings, and frozen parts."""

import json
import re
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

from nmt.config.config import Config
from nmt.config.model import ModelConfig
from nmt.config.yaml_files import dump_config, load_config, override_config
from nmt.corpus.prepared import Example, PreparedData
from nmt.corpus.preparing.parent_run import ParentRunData
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.preparing.statistics import read_target_words, write_statistics
from nmt.errors import UserError
from nmt.export.model_card import model_card
from nmt.model.transformer import Transformer
from nmt.reports.summaries import run_facts
from nmt.runs.folder import RunFolder
from nmt.training.batches import Batch
from nmt.training.fine_tuning import LOW_PEAK, config_from, freeze
from nmt.training.step import TrainingState
from nmt.training.train import train
from tests.conftest import toy_pairs

MakeConfig = Callable[..., Config]
pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.fixture
def given(toy_config: MakeConfig, tmp_path: Path) -> Config:
    """A configuration for new sentences that consist of the toy corpus's words."""
    lines = [f"{source} Anna.\t{target} Anna.\n" for source, target in toy_pairs()]
    corpus = tmp_path / "other.tsv"
    corpus.write_text("".join(lines), encoding="utf-8")
    data = {"path": str(corpus), "lowercase": "both"}
    training = {"max_updates": 4, "validate_updates": 2, "learning_rate": 0.01}
    return toy_config(data=data, training=training, tokenizer={"vocabulary_size": 90})


def copy_of(run: RunFolder, name: str, *changes: str) -> RunFolder:
    """Copy a run, with changed settings."""
    copy = RunFolder(Path(shutil.copytree(run.path, name)))
    copy.write_config(override_config(copy.config, list(changes), name))
    return copy


def change_report(run: RunFolder, change: Callable[[Any], object]) -> None:
    report = json.loads((run.data / "report.json").read_bytes())
    change(report)
    (run.data / "report.json").write_text(json.dumps(report), encoding="utf-8")


def held_out_of(run: RunFolder) -> list[Example]:
    return [*run.examples("validation"), *run.examples("test")]


def text(prepared: PreparedData, side: str = "source") -> list[str]:
    ids = dict(zip(("source", "target"), prepared.sequences("train"), strict=True))[side]
    decode = getattr(prepared.tokenizers, side).decode
    return [decode(ids[i].tolist()) for i in range(len(ids))]


def test_vocabularies_and_model_come_from_the_run_and_the_rest_from_the_configuration(
    trained_run, given
):
    config = config_from(trained_run, "best", given, ["training.epochs=1"])
    former = trained_run.config
    assert config.model == former.model
    assert config.tokenizer == former.tokenizer.model_copy(update={"run": trained_run.path})
    assert config.data == given.data.model_copy(update={"lowercase": "none"})  # as in the run
    assert config.training.learning_rate == LOW_PEAK
    assert config.training.epochs == 1
    run = train(config, "new")
    for name in ("joint.model", "target.model"):
        assert (run.data / name).read_bytes() == (trained_run.data / name).read_bytes()


def test_decoding_is_that_of_the_run_unless_the_file_sets_it(trained_run, given):
    Path("terms.tsv").write_text("sings\tsingt\n")
    changes = ["decoding.length_penalty=1.5", "decoding.glossary=terms.tsv"]
    former = copy_of(trained_run, "former", *changes)
    Path("mine.yaml").write_text("data: {source: tsv, path: other.tsv}\n")
    for silent in (load_config("mine.yaml"), None):
        decoding = config_from(former, "best", silent, ["decoding.beam_size=7"]).decoding
        assert (decoding.beam_size, decoding.length_penalty) == (7, 1.5)
        assert decoding.glossary == Path("former/glossary.tsv")
    assert config_from(former, "best", given, []).decoding == given.decoding


def test_dropout_and_a_peak_lower_than_the_default_are_kept(trained_run, given):
    low = override_config(given, ["training.learning_rate=1e-4"], "low")
    config = config_from(trained_run, "best", low, ["model.dropout=0.3"])
    assert config.training.learning_rate == 1e-4
    assert train(config, "new").config.model.dropout == 0.3


def test_training_starts_from_the_runs_weights(trained_run, given):
    config = config_from(trained_run, "last", given, ["training.learning_rate=1e-9"])
    assert config.training.learning_rate == 1e-9
    trained = load_file(train(config, "new").weights("last"))
    for name, weight in load_file(trained_run.weights("last")).items():
        torch.testing.assert_close(trained[name], weight, atol=1e-6, rtol=0)


def test_a_fine_tuned_run_lists_the_corpora_of_all_runs_before_it(trained_run, given):
    first = copy_of(trained_run, "first")
    news = {"name": "news", "licence": "CC BY-NC 4.0"}
    change_report(first, lambda report: report["corpora"][0].update(news))
    second = train(config_from(first, "best", given, []), "second")
    third = train(config_from(second, "best", given, []), "third")
    pairs = [run.report["pairs"]["train"] for run in (first, second)]
    assert [value for name, value in run_facts(third) if name == "earlier corpus"] == [
        f"tsv: train {pairs[1]}",
        f"news: train {pairs[0]}; CC BY-NC 4.0",
    ]
    assert (
        "\n\nBefore fine-tuning, the model was trained on:\n\n"
        f"- tsv: {pairs[1]} pairs in training; licence not known to nmt\n"
        f"- news: {pairs[0]} pairs in training; licence: CC BY-NC 4.0\n"
    ) in model_card(third, "best", "")


def test_a_fine_tuned_run_records_its_command(trained_run, given):
    run = train(config_from(trained_run, "last", given, [], mix=0.3), "new")
    # As resuming does.
    run.write_config(load_config(run.path / "config.yaml", ["training.epochs=9"]))
    options = f"--from {trained_run.path} --weights last --mix 0.3"
    assert ("", options) in run_facts(run)
    card = model_card(run, "best", "")
    assert "A Transformer, fine-tuned with nmt" in card
    assert f"\nnmt train {options} --config" in card


def test_all_overrides_are_recorded(trained_run, given):
    changed = override_config(given, ["training.warmup_updates=7"], "test")
    config = config_from(trained_run, "best", changed, ["data.path=new.tsv", "training.epochs=9"])
    changes = ("training.warmup_updates=7", "data.path=new.tsv", "training.epochs=9")
    assert config.origin.overrides == changes
    assert config.origin.fine_tuning == f"--from {trained_run.path}"


def test_without_a_configuration_training_continues_with_the_runs_corpus(trained_run):
    config = config_from(trained_run, "best", None, [])
    assert config.data == trained_run.config.data
    prepared = prepare(config, Path("data"))
    for split in ("validation", "test"):
        assert prepared.examples(split) == trained_run.examples(split)


def test_mix_adds_the_runs_corpus_without_its_held_out_pairs(trained_run, given):
    config = config_from(trained_run, "best", given, [], mix=0.3)
    prepared = prepare(config, Path("data"))
    assert [round(share, 3) for _, share in prepared.mixing_weights] == [0.7, 0.3]
    held_out = {example.source for example in held_out_of(trained_run)}
    former = {source for source, _ in toy_pairs()}
    assert set(text(prepared)) & former == former - held_out
    assert prepared.report["dropped"]["held out by the original run"] == len(held_out)
    assert not any(e.source in former for e in prepared.examples("test"))


def test_training_only_on_the_runs_held_out_pairs_is_refused(trained_run, tmp_path):
    path = tmp_path / "held.tsv"
    pairs = [f"{e.source}\t{e.reference}\n" for e in trained_run.examples("test")]
    path.write_text("".join(pairs), encoding="utf-8")
    changes = [f"data.path={path}", "data.validation_size=3", "data.test_size=3"]
    config = config_from(trained_run, "best", None, changes)
    with pytest.raises(UserError, match="the original run held all of them out"):
        prepare(config, Path("data"))
    assert not list(Path("data").rglob("report.json"))


def test_held_out_sentences_of_a_run_with_disjoint_splits_stay_out_on_both_sides(
    trained_run, given, tmp_path
):
    former = copy_of(trained_run, "former", "data.disjoint_splits=true")
    held_out = {example.reference for example in held_out_of(former)}
    with (tmp_path / "other.tsv").open("a", encoding="utf-8") as file:
        file.writelines(f"Anna is {number}.\t{t}\n" for number, t in enumerate(sorted(held_out)))
    found = []
    for overrides in ([], ["data.disjoint_splits=false"]):
        config = config_from(former, "best", given, overrides)
        trained_on = text(prepare(config, Path(f"data{len(overrides)}")), "target")
        found.append(len(held_out.intersection(trained_on)))
    assert found[0] == 0 < found[1]


@pytest.mark.parametrize("name", ["test.jsonl", "kept_out.jsonl"])
def test_damaged_or_missing_held_out_pairs_of_a_run_are_refused(trained_run, given, name):
    """Otherwise, they could be trained on."""
    second = train(config_from(trained_run, "best", given, []), "second")
    path = second.data / name
    if name == "kept_out.jsonl":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b"Anna", b"Anne", 1))
    with pytest.raises(UserError, match=rf"{name}: .*copy"):
        train(config_from(second, "best", given, []), "third")


def test_mix_keeps_the_held_out_pairs_of_all_runs_before_it(trained_run, given, tmp_path):
    second = train(config_from(trained_run, "best", given, [], mix=0.3), "second")
    lines = (tmp_path / "other.tsv").read_text(encoding="utf-8").replace(" Anna.", " Ben.")
    (tmp_path / "third.tsv").write_text(lines, encoding="utf-8")
    third = config_from(second, "best", given, ["data.path=third.tsv"], mix=0.3)
    trained_on = set(text(prepare(third, Path("prepared"))))
    former = {source for source, _ in toy_pairs()}
    assert trained_on & former == former - {example.source for example in held_out_of(trained_run)}


def test_a_corpus_that_several_runs_were_trained_on_is_listed_once(trained_run, given):
    second = train(config_from(trained_run, "best", given, []), "second")
    corpus = second.report["corpora"][0]
    new, old = (corpus | {"name": f"tsv {name}"} for name in ("new.tsv", "old.tsv"))
    older = old | {"read": old["read"] + 1}
    before = {"corpora_before": [old | {"train": 1}, older]}
    change_report(second, lambda report: report["inherited"].update(before))
    change_report(second, lambda report: report.update(corpora=[new, old]))  # as with --mix
    assert ParentRunData(second.data, second.config.data).corpora() == [new, old, older]


def test_overrides_of_the_new_corpus_can_be_combined_with_mix(trained_run, given, tmp_path):
    copy = Path(shutil.copy(tmp_path / "other.tsv", tmp_path / "a=b.tsv"))
    config = config_from(trained_run, "best", given, [f"data.path={copy}"], mix=0.3)
    assert [part.path for part in config.data.corpora] == [copy, trained_run.config.data.path]
    assert config.origin.overrides == (f"data.path={copy}",)


def test_the_fit_of_the_vocabulary_is_reported_before_training(
    trained_run, given, tmp_path, capsys
):
    train(config_from(trained_run, "best", given, []), "new")
    message = capsys.readouterr().out
    assert f"vocabulary of    {trained_run.path}" in message
    assert message.index("tokens per word") < message.index("parameters")


def test_a_vocabulary_with_low_coverage_is_refused(trained_run, given, tmp_path):
    corpus = tmp_path / "greek.tsv"
    pairs = [f"{s}\t{t}\n".translate({ord("n"): "ν", ord("a"): "α"}) for s, t in toy_pairs()]
    corpus.write_text("".join(pairs), encoding="utf-8")
    config = config_from(trained_run, "best", given, [f"data.path={corpus}", "data.min_coverage=1"])
    with pytest.raises(UserError, match=r"covers too few tokens.* train a new model without"):
        train(config, "new")


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("model.d_model=32", "model.d_model: 32 differs from 64 in "),
        ("model.activation=gelu", "model.activation: gelu differs from relu in "),
        ("model.score_scale=d_model", "model.score_scale: d_model differs from d_key in "),
        ("model.norm_epsilon=1e-3", "model.norm_epsilon: 0.001 differs from 1.0e-05 in "),
        ("tokenizer.kind=unigram", "tokenizer.kind: unigram differs from bpe in "),
        ("data.lowercase=both", "data.lowercase: both differs from none in "),
        ("training.freeze=[encoder, decoder, embeddings]", "nothing is left to train"),
        ("tokenizer.run=nowhere", "nowhere is not a run folder"),
        ("tokenizer.run=null", "`training.initial_weights` needs `tokenizer.run`"),
    ],
)
def test_settings_that_do_not_fit_the_run_are_refused(trained_run, given, override, named):
    with pytest.raises(UserError, match=rf"^[^\n]*{re.escape(named)}[^\n]*$"):
        train(config_from(trained_run, "best", given, [override]), "new")
    assert not Path("new").exists()


def test_weights_and_vocabulary_of_different_runs_are_refused(trained_run, toy_config, given):
    size = {"vocabulary_size": trained_run.config.tokenizer.vocabulary_size}
    data = {"path": str(given.data.path)}
    train(toy_config(data=data, tokenizer=size, training={"max_updates": 1}), "other")
    with pytest.raises(UserError, match=r"tokenizer\.run other"):
        train(config_from(trained_run, "best", given, ["tokenizer.run=other"]), "new")
    copy_of(trained_run, "copy")
    train(config_from(trained_run, "best", given, ["tokenizer.run=copy"]), "new")


@pytest.mark.parametrize(
    ("languages", "refused"),
    [
        ({"source_language": "de", "target_language": "en"}, "source_language: de"),
        ({"target_language": "fr"}, "target_language: fr"),
        ({"target_language": "de"}, None),
        ({}, None),
    ],
)
def test_a_configuration_for_other_languages_is_refused(trained_run, languages, refused):
    Path("mine.yaml").write_text(yaml.safe_dump({"data": {"source": "sample"} | languages}))
    refusal = pytest.raises(UserError, match=rf"^mine\.yaml: data\.{refused}")
    with refusal if refused else nullcontext():
        config_from(trained_run, "best", load_config("mine.yaml"), [])


@pytest.mark.parametrize("override", ["data.source=sample", "data.source_language=de"])
def test_an_override_that_does_not_fit_is_reported_with_the_run(trained_run, given, override):
    with pytest.raises(UserError, match=f"^--from {re.escape(str(trained_run.path))} with --set: "):
        config_from(trained_run, "best", given, [override])


def test_missing_weights_are_named(trained_run):
    missing = trained_run.weights("checkpoint_average")
    with pytest.raises(UserError, match=f"^{re.escape(str(missing))}: "):
        config_from(trained_run, "checkpoint_average", None, [])


@pytest.mark.parametrize("part", ["encoder", "decoder", "embeddings"])
def test_frozen_parts_keep_their_weights(trained_run, given, part):
    config = config_from(trained_run, "best", given, [f"training.freeze=[{part}]"])
    trained = load_file(train(config, "new").weights("last"))
    before = load_file(trained_run.weights("best"))
    kept = {name for name in before if torch.equal(before[name], trained[name])}
    names = {"embeddings": ("source_embedding",)}.get(part, (f"{part}.", f"{part}_norm"))
    assert kept == {name for name in before if name.startswith(names)}


def test_resuming_needs_no_initial_weights_and_is_exact(trained_run, given, monkeypatch):
    config = config_from(trained_run, "best", given, ["training.freeze=[encoder]"], mix=0.5)
    whole = train(config, "whole")
    update = TrainingState.update

    def interrupted(self: TrainingState, batches: list[Batch]) -> object:
        if self.progress.updates == 2:
            raise RuntimeError
        return update(self, batches)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingState, "update", interrupted)
        with pytest.raises(RuntimeError):
            train(config, "part")
    monkeypatch.setattr("nmt.training.step.load_initial", None)  # not called
    part = train(RunFolder(Path("part")).config, "part", resume=True)
    assert part.weights("last").read_bytes() == whole.weights("last").read_bytes()
    other = override_config(config, ["training.initial_weights=other.safetensors"], "other")
    with pytest.raises(UserError, match=r"training\.initial_weights: .*new run"):
        train(other, "part", resume=True)


@pytest.mark.parametrize(
    ("weights", "expected"), [([6, 2], [0.3, 0.1, 0.6]), ([None], [0.4, 0.6]), ([None, None], None)]
)
def test_corpora_keep_their_ratio_when_mixed(trained_run, weights, expected):
    parts = [{"source": "sample", "name": str(n), "weight": w} for n, w in enumerate(weights)]
    temperature = 1.0 if all(weights) else 5.0  # the field is for corpora without weights
    new = Config.model_validate({"data": {"corpora": parts, "mixing_temperature": temperature}})
    if expected is None:
        with pytest.raises(UserError, match="--mix needs a weight"):
            config_from(trained_run, "best", new, [], mix=0.6)
        return
    data = config_from(trained_run, "best", new, [], mix=0.6).data
    assert [part.weight for part in data.corpora] == pytest.approx(expected)
    assert data.mixing_temperature == 1.0


def run_with_corpora(
    trained_run: RunFolder, sizes: list[int], parts: int = 2, **fields: object
) -> RunFolder:
    """A copy of the run, as if trained on `parts` copies of the sample without weights."""
    run = copy_of(trained_run, "several")
    tree = run.config.model_dump(mode="json")
    languages = {name: tree["data"][name] for name in ("source_language", "target_language")}
    corpora = [{"source": "sample", "name": str(number)} for number in range(parts)]
    tree["data"] = {**languages, "corpora": corpora, **fields}
    run.write_config(Config.model_validate(tree))
    change_report(
        run,
        lambda report: report.update(
            corpora=[report["corpora"][0] | {"train": size} for size in sizes]
        ),
    )
    return RunFolder(run.path)


@pytest.mark.parametrize(
    ("temperature", "expected"), [(1, [0.5, 0.1, 0.4]), (2, [0.5, 0.17, 0.33])]
)
def test_a_runs_corpora_without_weights_are_mixed_according_to_their_size(
    trained_run, given, temperature, expected
):
    run = run_with_corpora(trained_run, [1000, 4000], mixing_temperature=temperature)
    data = config_from(run, "best", given, [], mix=0.5).data
    assert [part.weight for part in data.corpora] == pytest.approx(expected, abs=0.005)
    assert data.mixing_temperature == 1.0


def test_a_report_that_does_not_list_the_runs_corpora_is_refused(trained_run, given):
    run = run_with_corpora(trained_run, [1000])
    with pytest.raises(UserError, match=r"report\.json: "):
        config_from(run, "best", given, [], mix=0.5)


def test_mixed_corpora_pass_the_stricter_filters_of_both(trained_run, given):
    filters = {"max_ratio": 3, "min_letters": 0.5, "drop_copies": True, "max_words": 20}
    run = run_with_corpora(trained_run, [9], 1, **filters)
    overrides = ["data.max_ratio=5", "data.max_character_ratio=4", "data.check_languages=true"]
    new = override_config(given, overrides, "new")
    data = config_from(run, "best", new, [], mix=0.5).data
    assert (data.max_ratio, data.max_character_ratio, data.min_letters) == (3, 4, 0.5)
    assert (data.drop_copies, data.check_languages, data.drop_mojibake) == (True, True, False)
    assert data.max_words == new.data.max_words
    assert config_from(run, "best", new, ["data.min_letters=0"], mix=0.5).data.min_letters == 0
    assert config_from(run, "best", new, []).data.max_ratio == 5  # without the run's corpus


def test_tags_that_the_run_lacks_or_has_in_another_place_are_refused(trained_run, given):
    def tagged(*tags: str, run: Path | None = None) -> Config:
        tree = given.model_dump(mode="json")
        del tree["data"]["path"], tree["data"]["source"]
        tree["data"]["corpora"] = [{"source": "sample", "tag": tag, "name": tag} for tag in tags]
        tree["tokenizer"]["run"] = run
        return Config.model_validate(tree)

    with pytest.raises(UserError, match="tags synthetic"):
        train(config_from(trained_run, "best", tagged("synthetic"), []), "new")
    former = Path("former")
    shutil.copytree(trained_run.data, former / "data")
    (former / "config.yaml").write_text(dump_config(tagged("chat", "news")), encoding="utf-8")
    assert ParentRunData.open(tagged("chat", run=former))
    with pytest.raises(UserError, match="news"):  # which would be read as chat
        ParentRunData.open(tagged("news", run=former))


def test_the_runs_known_words_stay_known(toy_config, given, tmp_path):
    former = train(toy_config(data={"placeholders": "all"}, training={"epochs": 1}), "former")
    lines = [f"Zoe {n} sings.\tZoe {n} singt.\n" for n in "abcdefghijklmnopqrstuvwxyz" * 2]
    corpus = tmp_path / "zoe.tsv"
    corpus.write_text("".join(lines), encoding="utf-8")
    changes = [f"data.path={corpus}", "data.validation_size=2", "data.test_size=2"]
    prepared = prepare(config_from(former, "best", given, changes), Path("new"))
    assert prepared.tokenizers.known
    assert {"dances", "zoe"} <= prepared.tokenizers.known.words


def test_the_runs_target_words_stay_known_however_long_counting_takes(
    toy_config, given, tmp_path, monkeypatch
):
    former = train(toy_config(training={"epochs": 1}), "former")
    lines = [f"Zoe {n} sings.\tZoe {n} turnt.\n" for n in "abcdefghijklmnopqrstuvwxyz" * 2]
    corpus = tmp_path / "zoe.tsv"
    corpus.write_text("".join(lines), encoding="utf-8")

    def slow(*arguments: Any) -> None:
        time.sleep(0.5)
        write_statistics(*arguments)

    monkeypatch.setattr("nmt.corpus.preparing.prepare.write_statistics", slow)
    changes = [f"data.path={corpus}", "data.validation_size=2", "data.test_size=2"]
    prepared = prepare(config_from(former, "best", given, changes), Path("new"))
    words = read_target_words(prepared.folder)
    assert words
    assert {"tanzt", "turnt"} <= words.words


def test_capitals_of_the_run_are_restored_where_the_new_corpus_has_none(
    toy_config, given, tmp_path
):
    def corpus(name: str, *names: str) -> str:
        pairs = [f"{n} {i} sings.\tda singt {n} {i}.\n" for n in names for i in range(60)]
        (tmp_path / name).write_text("".join(pairs), encoding="utf-8")
        return str(tmp_path / name)

    data = {"lowercase": "both", "restore_case": True, "path": corpus("a.tsv", "Anna", "Ben")}
    former = train(toy_config(data=data, training={"epochs": 1}), "former")
    changes = [f"data.path={corpus('b.tsv', 'ben')}", "data.restore_case=true"]
    prepared = prepare(config_from(former, "best", given, changes), Path("new"))
    assert prepared.tokenizers.casing
    # The new corpus decides about "ben", which both have.
    assert prepared.tokenizers.casing.restore("da singt anna, da singt ben").endswith(
        "singt Anna, da singt ben"
    )


def test_frozen_embeddings_include_separate_ones_of_the_target():
    sizes = {"d_model": 8, "heads": 2, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(ModelConfig(tie="none", **sizes), 20, 20)
    freeze(model, ("embeddings",))
    frozen = {name for name, each in model.named_parameters() if not each.requires_grad}
    assert frozen == {"source_embedding.tokens.weight", "target_embedding.tokens.weight"}


def test_a_run_that_was_trained_again_with_more_words_passes_them_on(toy_config, given, tmp_path):
    """Its vocabulary, which comes from a third run, and its held-out pairs stay the same."""
    data = {"placeholders": "all", "min_coverage": 0.0}
    first = train(toy_config(data=data, training={"epochs": 1}), "first")
    files = {name: tmp_path / f"{name}.tsv" for name in ("train", "validation", "test")}
    files["validation"].write_text("Zoe runs.\tZoe rennt.\n", encoding="utf-8")
    files["test"].write_text("Zoe waits.\tZoe wartet.\n", encoding="utf-8")
    known = []
    lines = ["they run fast.\tsie rennen schnell.\n", "they dance daily.\tsie tanzen oft.\n"]
    for count in (1, 2):
        files["train"].write_text("".join(lines[:count]), encoding="utf-8")
        paths = [f"data.{name}_path={path}" for name, path in files.items()]
        again = override_config(given, ["data.path=null", *paths], "again")
        second = train(config_from(first, "best", again, ["data.min_coverage=0"]), "second")
        third = config_from(second, "best", given, ["data.min_coverage=0"])
        if count == 1:
            run = train(third, "third")
        tokenizers = prepare(third, Path("new")).tokenizers
        assert tokenizers.known
        known.append(tokenizers.known.words)
        prepare(third, run_data=run.data)  # with the word list of the first time
        if count == 1:
            shutil.rmtree(second.path)
    assert known[1] - known[0] == {"dance", "daily"}
    with pytest.raises(UserError, match=r"or \(with --from\) the original run; start a new run"):
        prepare(third, Path("new"), run_data=run.data)


def test_data_prepared_with_another_run_of_the_same_name_is_prepared_again(toy_config, given):
    found = []
    for size in (90, 100):
        config = toy_config(tokenizer={"vocabulary_size": size}, training={"epochs": 1})
        former = train(config, "former")
        found.append(prepare(config_from(former, "best", given, []), Path("new")))
        shutil.rmtree(former.path)
    assert found[0].fingerprint != found[1].fingerprint
    assert [prepared.tokenizers.source.size for prepared in found] == [90, 100]
