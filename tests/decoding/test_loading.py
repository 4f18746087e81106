"""A run folder contains everything that a translator needs."""

import itertools
import json
import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

from nmt.config.config import Config
from nmt.config.decoding import DecodingConfig
from nmt.config.yaml_files import dump_config
from nmt.corpus.preparing.prepare import prepare
from nmt.decoding.loading import choose_engine, load_translator
from nmt.decoding.translator import Translator
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.runs import folder as run_folder
from nmt.runs.folder import RunFolder
from nmt.runs.lifecycle import create_run
from nmt.runs.weights import save_weights

CPU = torch.device("cpu")
LINES = ["Anna sings today.", "", "Ben reads at home."]


def make_run(config: Config, folder: Path) -> RunFolder:
    prepared = prepare(config, folder / "prepared")
    run = create_run(folder / "run", config, prepared)
    sizes = prepared.tokenizers.source.size, prepared.tokenizers.target.size
    for which, seed in (("best", 1), ("last", 2)):
        torch.manual_seed(seed)
        save_weights(Transformer(config.model, *sizes), run.weights(which))
    return run


@pytest.fixture
def run(toy_config: Callable[..., Config], tmp_path: Path) -> RunFolder:
    return make_run(toy_config(), tmp_path)


def load(*runs: RunFolder | Path | str, **options: object) -> Translator:
    return load_translator(*runs, **{"device": CPU} | options)


def translated(*runs: RunFolder, **options: object) -> list[str]:
    return [translation.text for translation in load(*runs, **options).translate(LINES)]


def test_another_models_attention_is_never_shown(run, caplog):
    """The run is trained further after CTranslate2 has loaded its weights."""
    translator = load(run, engine="ctranslate2")
    expected = translator.translate(LINES)
    shutil.copyfile(run.weights("last"), run.weights("best"))
    with pytest.raises(UserError, match="was trained further since it was opened; open it again"):
        translator.pytorch  # noqa: B018
    assert (
        translator.segment_search.pytorch_if_possible()
        is translator.segment_search.pytorch_if_possible()
        is None
    )
    [warning] = caplog.messages
    assert "missing placeholders stay" in warning
    assert translator.translate(LINES) == expected
    assert load(run, engine="ctranslate2").pytorch.models


def test_pytorch_uses_the_cpu_if_it_lacks_the_device_of_ctranslate2(run, monkeypatch):
    opened = load(run, engine="ctranslate2")
    monkeypatch.setattr("nmt.decoding.engines.ctranslate2.open_run", lambda *_: opened.engine)
    translator = load_translator(run, device="cuda:77", engine="ctranslate2")
    [model] = translator.pytorch.models
    assert next(model.parameters()).device == CPU


def test_damaged_weights_are_reported_also_when_pytorch_is_needed_later(run):
    translator = load(run, engine="ctranslate2")
    content = bytearray(run.weights("best").read_bytes())
    content[-1] ^= 1  # the header, with its checksum, stays
    run.weights("best").write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        translator.segment_search.pytorch_if_possible()


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"tokenizer": {"joint": False, "vocabulary_size": 90}, "model": {"tie": "target"}},
        {"tokenizer": {"kind": "whitespace"}, "data": {"min_coverage": 0.1}},
        {"tokenizer": {"kind": "spacy", "joint": False}, "model": {"tie": "none"}},
    ],
)
def test_a_translator_is_loaded_from_a_run_folder(sections, toy_config, tmp_path):
    run = make_run(toy_config(**sections), tmp_path)
    found = load(run).translate(LINES)
    assert len(found) == 3
    assert found[1].text == ""
    assert load(run).translate(LINES) == found
    moved = RunFolder(run.path.rename(tmp_path / "elsewhere"))
    assert load(moved).translate(LINES) == found


def test_weights_and_decoding_may_be_chosen(run):
    default, best, last = (
        load(run, **weights).pytorch.models[0].output.weight
        for weights in ({}, {"weights": "best"}, {"weights": "last"})
    )
    assert not torch.equal(best, last)
    assert torch.equal(best, default)
    assert load(run).decoding.beam_size == 2
    assert load(run, overrides=["decoding.beam_size=7"]).decoding.beam_size == 7


def test_the_configuration_is_read_once(run):
    with patch.object(run_folder, "load_config", wraps=run_folder.load_config) as read:
        load(run.path, overrides=["decoding.beam_size=7"], engine="ctranslate2")
    [call] = read.call_args_list
    assert call.args[0] == run.path / "config.yaml"


def test_lines_longer_than_those_in_training_are_split(run):
    [found] = load(run).translate([" ".join(["Anna sings today."] * 4)])
    assert found.parts == 4


@pytest.mark.parametrize(
    "override",
    [
        *("model.d_model=64", "data.lowercase=both", "training.epochs=1", "decoding"),
        "decoding.beam_size=0",
    ],
)
def test_overrides_other_than_valid_ones_of_decoding_are_refused(override, run):
    with pytest.raises(UserError, match=override.replace("beam_size=", "beam_size: ")):
        load(run, overrides=["decoding.beam_size=1", override])


@pytest.mark.parametrize("engine", ["ctranslate2", "pytorch"])
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_devices_that_this_machine_lacks_are_refused(device, engine, run):
    with pytest.raises(UserError, match=f"--device {device}"):
        load(run, device=device, engine=engine)


def test_weights_that_the_run_lacks_are_refused(run):
    with pytest.raises(UserError, match=r"ema\.safetensors"):
        load(run, weights="ema")


def test_a_run_may_be_a_string_but_texts_must_be_a_list(run):
    translator = load(str(run.path))
    assert len(translator.translate(["Anna sings today."])) == 1
    with pytest.raises(UserError, match=r"takes a list of lines: translate\(\[text\]\)"):
        translator.translate("Anna sings today.")


def test_weights_of_another_vocabulary_are_refused(run, toy_config):
    other = Transformer(toy_config().model, 50, 50)
    save_weights(other, run.weights("best"))
    with pytest.raises(UserError, match=r"best\.safetensors: weights cannot be read"):
        load(run)


# ---------------------------------------------------------------------------------------- ensembles


def copy_of(run: RunFolder, name: str, seed: int, **changes: dict[str, object]) -> RunFolder:
    """Copy a run next to it, with other weights and changed sections of its configuration."""
    copy = RunFolder(Path(shutil.copytree(run.path, run.path.with_name(name))))
    sections = {
        section: getattr(run.config, section).model_copy(update=fields)
        for section, fields in changes.items()
    }
    config = run.config.model_copy(update=sections)
    (copy.path / "config.yaml").write_text(dump_config(config), encoding="utf-8")
    tokenizers = load(run).tokenizers
    torch.manual_seed(seed)
    sizes = tokenizers.source.size, tokenizers.target.size
    save_weights(Transformer(config.model, *sizes), copy.weights("best"))
    return copy


def test_runs_of_different_sizes_can_form_an_ensemble(run):
    larger = {"d_model": 48, "decoder_layers": 2, "max_length": 32}
    other = copy_of(run, "other", 3, model=larger, decoding={"beam_size": 5})
    assert translated(run, other) not in (translated(run), translated(other))
    together = load(run, other)
    assert [model.config.d_model for model in together.pytorch.models] == [32, 48]
    assert together.decoding == run.config.decoding


def test_an_ensemble_of_a_run_with_itself_translates_like_the_run(run):
    alone = load(run, engine="pytorch").translate(LINES)
    found = load(run, run).translate(LINES)
    assert [t.text for t in found] == [t.text for t in alone]
    assert [t.score for t in found] == pytest.approx([t.score for t in alone], abs=1e-4)


@pytest.mark.parametrize(
    ("section", "changes", "named"),
    [
        ("data", {"lowercase": "both"}, "data.lowercase"),
        ("data", {"unicode": "NFKC"}, "data.unicode"),
        ("data", {"placeholders": "names"}, "data.placeholders"),
        ("data", {"source_language": "nl"}, "data.source_language"),
        (
            "data",
            {"lowercase": "source", "target_language": "fr"},
            "data.target_language, data.lowercase",
        ),
        ("tokenizer", {"kind": "unigram"}, "tokenizer.kind"),
    ],
)
def test_runs_with_different_preprocessing_are_refused(section, changes, named, run):
    other = copy_of(run, "other", 3, **{section: changes})
    refusal = rf"^{re.escape(str(other.path))}: [^\n]* {re.escape(named)};[^\n]*$"
    with pytest.raises(UserError, match=refusal):
        load(run, run, other)


def test_other_fields_may_differ(run):
    changes = {"data": {"max_ratio": 5.0, "min_coverage": 0.5}, "training": {"epochs": 7}}
    assert len(translated(run, copy_of(run, "other", 3, **changes))) == 3


def test_runs_with_different_vocabularies_are_refused(toy_config, tmp_path):
    runs = []
    for size in (120, 110):
        (tmp_path / str(size)).mkdir()
        config = toy_config(tokenizer={"vocabulary_size": size})
        runs.append(make_run(config, tmp_path / str(size)))
    for first, second in itertools.permutations(runs):
        differing = rf"{second.path}: .* differ in joint\.model, target\.model;"
        with pytest.raises(UserError, match=differing):
            load(first, second)


def test_runs_with_different_known_words_are_refused(toy_config, tmp_path):
    run = make_run(toy_config(data={"placeholders": "names"}), tmp_path)
    other = copy_of(run, "other", 3)
    assert len(load(run, other).pytorch.models) == 2
    (other.data / "known_words.json").write_text('["Anna"]', encoding="utf-8")
    with pytest.raises(UserError, match=r"differ in known_words\.json;"):
        load(run, other)


@pytest.mark.parametrize(
    ("first", "second", "alone", "together"),
    [((40, 1.0), (1, 1.0), 1, 2), ((40, 0.0), (40, 1.0), 2, 2), ((40, 1.0), (40, 0.0), 1, 2)],
)
def test_ensembles_split_lines_as_the_run_trained_on_the_shortest_would(
    first, second, alone, together, run
):
    """A run: its longest training line, and the share of lines with several sentences."""
    other = copy_of(run, "other", 3)
    change_report(run, *first)
    change_report(other, *second)
    for runs, parts in (((run,), alone), ((run, other), together), ((other, run), together)):
        [found] = load(*runs).translate(["Anna sings. Ben."])
        assert found.parts == parts


@pytest.mark.parametrize(
    ("share", "split_sentences", "parts"),
    [(None, True, 2), (0.05, True, 2), (0.06, True, 1), (0.0, False, 1)],
)
def test_sentences_are_separated_if_training_had_one_per_line(share, split_sentences, parts, run):
    change_report(run, longest=40, several_sentences=share)
    translator = load(run, overrides=[f"decoding.split_sentences={split_sentences}"])
    [found] = translator.translate(["Anna sings. Ben."])
    assert found.parts == found.sentences == parts


def change_report(run: RunFolder, longest: int, several_sentences: float | None) -> None:
    """Change what the report says about training lines; None: as in older versions."""
    report = run.report
    report["lengths"]["source"]["longest"] = longest
    del report["several_sentences"]
    if several_sentences is not None:
        report["several_sentences"] = several_sentences
    (run.data / "report.json").write_text(json.dumps(report), encoding="utf-8")


# ------------------------------------------------------------------------------------------ engine


@pytest.mark.parametrize(
    ("engine", "neighbours", "runs", "device", "chosen"),
    [
        ("auto", 0, 1, None, r"ctranslate2 \(.*fastest"),
        ("ctranslate2", 0, 1, "cuda:1", r"ctranslate2 \(.*decoding.engine"),
        ("pytorch", 0, 1, None, r"pytorch \(.*decoding.engine"),
        ("auto", 0, 2, None, r"pytorch \(.*one run"),
        ("auto", 4, 1, "mps", r"pytorch \(.*decoding.knn_k.*device mps"),
    ],
)
def test_the_engine_is_chosen_by_what_it_supports(engine, neighbours, runs, device, chosen):
    config = Config(decoding=DecodingConfig(engine=engine, knn_k=neighbours))
    assert re.match(chosen, str(choose_engine(config, runs, device)))


def test_a_requested_engine_that_cannot_be_used_is_refused():
    config = Config(decoding=DecodingConfig(engine="ctranslate2", knn_k=4))
    with pytest.raises(UserError, match=r"decoding\.engine: .* decoding\.knn_k; .*--engine"):
        choose_engine(config, runs=2)


def test_runs_and_engine_are_logged(run, caplog):
    other = copy_of(run, "other", 3)
    caplog.set_level(logging.INFO)
    load(run, other)
    runs, engine, *_ = caplog.messages
    assert runs == f"run              {run.path}, {other.path}"
    assert engine.startswith("engine           pytorch (")


def test_the_precision_is_for_ctranslate2(run):
    library = load(run, compute_type="int8").engine._library
    assert library.compute_type.startswith("int8")
    with pytest.raises(UserError, match=r"^--compute-type is for CTranslate2, but the engine is "):
        load(run, compute_type="int8", engine="pytorch")


def test_a_run_follows_its_own_glossary_unless_another_is_given(run, tmp_path):
    pytest.importorskip("simplemma", reason="the extra `terms` is not installed")
    copy = RunFolder(Path(shutil.copytree(run.path, tmp_path / "terms")))
    terms, others = tmp_path / "x.tsv", tmp_path / "y.tsv"
    terms.write_text("sings\tBen\n")
    others.write_text("today\tBen\n")
    decoding = copy.config.decoding.model_copy(update={"glossary": terms})
    copy.write_config(copy.config.model_copy(update={"decoding": decoding}))
    terms.unlink()

    def found(**given):
        translator = load(copy, engine="pytorch", **given)
        return [term.term.source for s in translator.segments(LINES[0]) for term in s.terms]

    assert found() == ["sings"]
    assert found(glossary=others) == found(overrides=[f"decoding.glossary={others}"]) == ["today"]
    assert found(overrides=["decoding.glossary=null"]) == []
