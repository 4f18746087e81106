"""Configurations: every mistake gives one line that says what was expected; valid ones load."""

import json
import math
import sys
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args

import pytest
from annotated_types import Le, Lt
from pydantic import ValidationError

from nmt.config.config import Config
from nmt.config.data import DataConfig
from nmt.config.model import ModelConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.config.yaml_files import (
    FORMER_FIELDS,
    _hint,
    describe_fields,
    dump_config,
    find_config,
    load_config,
    parse_config,
    shipped_configs,
)
from nmt.errors import UserError
from nmt.shipped import SHIPPED_CONFIGS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.yaml"


def load(path: Path, text: str | bytes, *overrides: str) -> Config:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(path, overrides)


def refusal(path: Path, text: str | bytes, *overrides: str) -> str:
    """Return the error message, with the path of the file replaced by PATH."""
    with pytest.raises(UserError) as caught:
        load(path, text, *overrides)
    return str(caught.value).replace(str(path), "PATH")


def one_line_refusal(path: Path, text: str | bytes, *overrides: str) -> str:
    message = refusal(path, text, *overrides)
    assert "\n" not in message
    return message


KNOWN = {field: description for field, _, _, description in describe_fields()}


# -------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "override", "place", "names"),
    [
        (
            "training: {lable_smoothing: 0.1}",
            "",
            "PATH: training.lable_smoothing",
            "label_smoothing",
        ),
        ("trainig: {epochs: 3}", "", "PATH: trainig", "training"),
        ("data: {}", "training.epoch=3", "--set: training.epoch", "epochs"),
        ("data: {}", "trainings.epochs=3", "--set: trainings", "training"),
        ("zzz: 3", "", "PATH: zzz", "data, tokenizer, model, training, decoding"),
        ("tokenizer: {17: 3}", "", "PATH: tokenizer.17", ", ".join(TokenizerConfig.model_fields)),
    ],
)
def test_an_unknown_name_gets_a_suggestion_or_the_known_names(
    path: Path, text: str, override: str, place: str, names: str
) -> None:
    message = refusal(path, text, *filter(None, [override]))
    assert message.startswith(f"{place}: unknown ")
    assert message.rstrip("?").endswith(f" {names}")


@pytest.mark.parametrize("text", ["training: {rate: 0.5}", "training: {rate: 0.5, old: 3}"])
def test_renamed_fields_of_earlier_versions_are_read(
    path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = {"training.rate": "training.learning_rate", "training.old": None}
    monkeypatch.setattr("nmt.config.yaml_files.FORMER_FIELDS", former)
    assert load(path, text) == load(path, "training: {learning_rate: 0.5}")


def test_a_former_name_may_have_had_other_values(path: Path) -> None:
    text = "tokenizer: {word_mark: end, sampling: 0.1}"
    present = load(path, "tokenizer: {whitespace_as_suffix: true, subword_regularization: 0.1}")
    assert load(path, text) == present
    given = ("tokenizer.word_mark=end", "tokenizer.sampling=0.1")
    assert load(path, "tokenizer: {kind: bpe}", *given) == present


@pytest.mark.parametrize("given", ["file", "override", "a run's own file"])
def test_a_former_name_is_accepted_with_one_hint(
    path: Path, given: str, caplog: pytest.LogCaptureFixture
) -> None:
    _hint.cache_clear()
    text = "training: {epochs: 3}" if given == "override" else "model: {norm: pre}"
    overrides = ["model.norm=pre"] if given == "override" else []
    path.write_text(text, encoding="utf-8")
    for _ in range(2):
        config = load_config(path, overrides, of_run=given == "a run's own file")
    assert config.model.norm_position == "pre"
    hints = [] if given == "a run's own file" else ["model.norm is now model.norm_position"]
    assert caplog.messages == hints


def test_renamed_fields_map_to_existing_fields() -> None:
    assert KNOWN.keys().isdisjoint(FORMER_FIELDS)
    assert KNOWN.keys() >= set(filter(None, FORMER_FIELDS.values()))


VALUES = ["", " ", "# 3", "[", "{a: 1, a: 2}", "*x", "a: b: c", "!!bool 3", "\0"]
VALUES += ["!!map [a]", "!!set [a]", '"\\UFFFFFFFF"', "9" * 6000]
OVERRIDES = ["", "training", "training.epochs", "epochs=3", "training.=3", ".epochs=3", "=3"]


@pytest.mark.parametrize("override", [*OVERRIDES, *(f"training.epochs={v}" for v in VALUES)])
def test_overrides_need_a_section_a_field_and_a_value(path: Path, override: str) -> None:
    assert one_line_refusal(path, "data: {}", override).startswith(f"--set {override}: ")


def test_every_number_of_the_configuration_has_an_upper_bound() -> None:
    for section, kind in Config.model_fields.items():
        assert kind.annotation
        for name, field in kind.annotation.model_fields.items():
            if {int, float} & {field.annotation, *get_args(field.annotation)}:
                bounded = any(isinstance(bound, Le | Lt) for bound in field.metadata)
                assert bounded or name == "betas", f"{section}.{name}"


EXPECTED = [  # one of each kind
    ("data.source", "Pickle", "'Pickle'", "'pickle', 'tsv', 'parallel', 'table', 'tmx',"),
    ("data.source_language", "ENGL", "'engl'", "two or three lower-case letters, such as en"),
    ("data.target_language", "no", "false", "text or a number; put no, yes, on and off in quotes"),
    ("data.unicode", "null", "null", "'NFC', 'NFKC' or 'none'"),
    ("data.validation_size", "0", "0", "greater than or equal to 1"),
    ("data.test_size", "1.5", "1.5", "a whole number"),
    ("data.drop_duplicates", "3", "3", "true or false"),
    ("data.min_coverage", "1.1", "1.1", "less than or equal to 1"),
    ("data.seed", "2147483648", "2147483648", "less than 2147483648"),
    ("data.subset", "3", "3", "text ("),
    ("data.columns", "[a]", "['a']", "a list of two, such as [first, second] (names"),
    ("tokenizer.run", "3", "3", "a path ("),
    ("training.epochs", "true", "true", "text or a number"),
    ("training.epochs", "null", "null", "a whole number"),
    ("training.max_minutes", "0", "0", "greater than 0"),
    ("training.max_minutes", "1e308", "1e+308", "less than or equal to 1000000000"),
    ("training.learning_rate", ".nan", "nan", "a finite number"),
    ("training.learning_rate", "fast", "'fast'", "a number"),
    ("training.betas", "[0.9, 1]", "[0.9, 1]", "two numbers from 0 up to, but not including, 1"),
    ("training.betas", "0.9", "0.9", "a list of two, such as [first, second]"),
    ("training.freeze", "encoder", "'encoder'", "a list in square brackets (parts"),
    ("model.encoder_layers", "1e20", "1e+20", "a smaller whole number"),
]
INVALID = [
    "data.max_words=many", "data.max_ratio=0.5", "data.placeholders=some", "data.seed=-1",
    "tokenizer.kind=bpee", "tokenizer.vocabulary_size=7", "tokenizer.min_count=0",
    "tokenizer.subword_regularization=1.01", "model.d_model=1", "model.d_model=70000",
    "model.heads=0", "model.d_key=0", "model.max_length=3", "model.dropout=1",
    "model.attention_dropout=-0.1", "model.norm_position=middle", "training.max_minutes=.inf",
    "training.learning_rate=-1e-3", "training.learning_rate=0", "training.learning_rate=-.inf",
    "training.label_smoothing=1", "training.betas=[-0.1, 0.9]", "training.betas=[.nan, 0.9]",
    "training.betas=[.nan, .nan]", "training.betas=[0.9]", "training.average_decay=1",
    "training.accumulate=99999999999999999999", "training.epochs=0x" + "f" * 6000,
    "decoding.beam_size=501", "decoding.length_penalty=-1", "decoding.max_length_extra=0",
    "decoding.batch_tokens=1e22", "decoding.knn_temperature=1e-45",
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "shown", "wanted"), EXPECTED)
def test_an_invalid_value_is_reported_in_one_line_with_what_is_expected(
    path: Path, field: str, value: str, shown: str, wanted: str
) -> None:
    section, name = field.split(".")
    message = one_line_refusal(path, f"{section}:\n  {name}: {value}\n")
    assert message.startswith(f"PATH: {field}: {shown} is invalid, it should be {wanted}")
    assert message.endswith(f"({KNOWN[field]})")


@pytest.mark.parametrize("override", INVALID)
def test_every_field_has_its_bounds(path: Path, override: str) -> None:
    message = one_line_refusal(path, "data: {}", override)
    assert message.startswith(f"--set: {override.partition('=')[0]}: ")


@pytest.mark.parametrize("names", [("English", "ger"), ("eng", "DE"), ("en_US", "German")])
def test_languages_may_be_named_by_any_code_or_name(names: tuple[str, str]) -> None:
    data = dict(zip(("source_language", "target_language"), names, strict=True))
    assert parse_config({"data": {**data, "address": True}}, "test").data.languages == ("en", "de")


def test_too_long_a_list_is_reported_with_its_limit() -> None:
    corpora = [{"source": "tsv", "path": "pairs.tsv"}] * 101
    with pytest.raises(UserError, match="it should be a list of at most 100"):
        parse_config({"data": {"corpora": corpora}}, "test")


@pytest.mark.parametrize(
    "value", [["a", "b", "c"], ["a"], [], ["a", 3], [["a"], "b"], 123, {"a": "b"}]
)
@pytest.mark.parametrize("name", ["path", "train_path", "validation_path", "test_path"])
def test_an_invalid_path_is_reported_in_one_line(path: Path, name: str, value: object) -> None:
    message = one_line_refusal(path, f"data: {{{name}: {json.dumps(value)}}}")
    expected = "is invalid, it should be a path, or [source, target] paths"
    assert message.startswith(f"PATH: data.{name}: {value} {expected}")


def test_very_long_values_are_shortened(path: Path) -> None:
    message = refusal(path, f"model: {{norm: {'x' * 10_000}}}")
    assert message.startswith(f"PATH: model.norm_position: '{'x' * 56}... is invalid")
    assert len(message) < 250
    assert len(refusal(path, f"model: {{d_model: [{'1,' * 10_000}]}}")) < 250


@pytest.mark.parametrize("value", ["3", "[1]", "text", "true"])
def test_a_section_must_contain_fields(path: Path, value: str) -> None:
    message = refusal(path, f"model: {value}", "model.heads=2")
    assert message.startswith("PATH: model: ")
    assert message.endswith("is invalid, it should be a section: one indented line per field")


# ------------------------------------------------------------------------------ rules across fields


# Combinations that are refused, and the fields that the message names.
INCOMPATIBLE = [
    ("model: {d_model: 10, heads: 3}", "heads d_model d_key d_value"),
    ("model: {positions: learned, first_position: 1}", "positions first_position"),
    ("model: {positions: rotary, first_position: 1}", "positions first_position"),
    ("model: {positions: rotary, d_key: 3}", "d_key d_model heads"),
    ("model: {max_length: 30_000, d_model: 65_536}", "max_length d_model"),
    ("model: {positions: learned, position_exponent: column}", "positions position_exponent"),
    ("model: {dropout: 0}\ntraining: {r_drop: 1}", "model.dropout training.r_drop"),
    ("tokenizer: {joint: false}", "tokenizer.joint model.tie"),
    ("tokenizer: {joint: false}\nmodel: {tie: inputs}", "tokenizer.joint model.tie"),
    ("tokenizer: {vocabulary_size: 260}", "vocabulary_size byte_fallback"),
    ("tokenizer: {kind: unigram, vocabulary_size: 250001}", "kind vocabulary_size"),
    ("tokenizer: {kind: spacy, subword_regularization: 0.1}", "kind subword_regularization"),
    ("tokenizer: {kind: spacy, whitespace_as_suffix: true}", "kind whitespace_as_suffix"),
    ("tokenizer: {min_count: 2}", "kind min_count"),
    ("training: {batch_sentences: 3}", "batch_tokens batch_sentences"),
    ("training: {batch_tokens: null}", "batch_tokens batch_sentences"),
    ("training: {drop_last: true}", "drop_last batch_sentences"),
    ("training: {initial_weights: a}", "training.initial_weights tokenizer.run"),
    ("decoding: {top_k: 1}", "top_k temperature"),
    ("decoding: {top_p: 0.9}", "top_p temperature"),
    ("data: {lowercase: source, restore_case: true}", "lowercase restore_case"),
    ("data: {placeholders: all}\ntokenizer: {kind: spacy}", "data.placeholders tokenizer.kind"),
    ("data: {placeholders: names, lowercase: source}", "data.placeholders data.lowercase"),
    ("data: {placeholders: names, source_language: de, target_language: en}", "data.placeholders"),
    ("data: {source_language: de}", "source_language target_language"),
    ("data: {path: a, train_path: b}", "path train_path"),
    ("data: {source: tsv}", "source path train_path"),
    ("data: {source: parallel}", "source path train_path"),
    ("data: {test_path: a}", "path train_path test_path"),
    ("data: {source: multi30k, test_path: a}", "source test_path"),
    ("data: {source: multi30k, train_path: a}", "source train_path"),
    ("data: {source: sample, path: a}", "source path"),
    ("data: {source: sample, validation_path: a}", "source validation_path"),
]


@pytest.mark.parametrize(("text", "fields"), INCOMPATIBLE)
def test_incompatible_fields_are_refused_unless_one_of_them_is_invalid(
    path: Path, text: str, fields: str
) -> None:
    rule = one_line_refusal(path, text)
    section = text.partition(":")[0]
    assert rule.startswith("PATH: `" if "." in fields else f"PATH: {section}: ")
    for field in fields.split():
        assert field in rule
        name = field if "." in field else f"{section}.{field}"
        message = one_line_refusal(path, text, f"{name}={{}}")
        assert message.startswith(f"--set: {name}: {{}} is invalid")
    assert rule in refusal(path, text, "decoding.beam_size={}").split("\n")


def test_pairs_of_one_language_need_both_fields(path: Path) -> None:
    both = "data: {source_language: en, target_language: en}"
    config = load(path, both)
    path.write_text(dump_config(config), encoding="utf-8")  # as in the folder of a run
    assert load_config(path) == config
    assert load_config(path, ["training.epochs=1"]).data == config.data
    languages = ["data.source_language=de", "data.target_language=de"]
    assert load_config("base.yaml", languages).data.source_language == "de"
    with pytest.raises(
        UserError, match="with --set: data: both languages are de; set both `source_"
    ):
        load_config("base.yaml", languages[:1])


def test_mistakes_of_every_kind_are_reported_at_once(path: Path) -> None:
    text = """
        data: {source: tsv, placeholders: all, seed: -1}
        tokenizer: {kind: spacy, subword_regularization: 0.1, joint: false}
        model: {d_model: 10, heads: 3, foo_bar_baz: 1}
        training: {lable_smoothing: 0.1, batch_sentences: 8}
        zzz: {}
    """
    beginnings = [
        "--set nonsense: ", "PATH: data.seed: ", "--set: model.norm_position: ",
        "PATH: model.foo_bar_baz: ", "--set: model.haedss: ", "PATH: training.lable_smoothing: ",
        "PATH: zzz: ", "PATH: data: source ", "PATH: tokenizer: `subword_regularization` ",
        "PATH: training: ", "PATH: `model.tie: all` ", "PATH: `data.placeholders` ",
    ]  # fmt: skip
    lines = refusal(path, text, "nonsense", "model.norm_position=3", "model.haedss=4").split("\n")
    for line, beginning in zip(lines, beginnings, strict=True):
        assert line.startswith(beginning)


@pytest.mark.parametrize(
    "text",
    [
        "data: {source: tsv, pathh: a}",
        "dataa: {source: tsv, path: a}\ndata: {source: tsv}",
        "data: {source: tsv, path: 3}\ntokenizer: [joint]\nmodel: {tie: all}",
    ],
)
def test_rules_are_skipped_if_a_field_name_is_mistyped(path: Path, text: str) -> None:
    assert "needs" not in refusal(path, text)


DROPOUTS = ["dropout", "embedding_dropout", "attention_output_dropout"]


@pytest.mark.parametrize("name", [*DROPOUTS, "attention_dropout", "feed_forward_dropout"])
def test_any_dropout_permits_r_drop(name: str) -> None:
    model = dict.fromkeys(DROPOUTS, 0) | {name: 0.1}
    parse_config({"model": model, "training": {"r_drop": 1}}, "test")


def test_a_rule_broken_by_an_override_names_the_override(path: Path) -> None:
    message = refusal(path, "model: {d_model: 10, heads: 2}", "model.heads=3")
    assert message.startswith("PATH with --set: model: `heads` 3 ")


def test_python_callers_see_all_broken_rules_of_a_section() -> None:
    with pytest.raises(ValidationError, match=r"`tsv` needs `path` or `train_path`"):
        DataConfig(source="tsv")
    tokenizer, model = TokenizerConfig(kind="spacy", joint=False), ModelConfig()
    with pytest.raises(ValidationError, match=r"`model.tie: all` needs .*; `data.placeholders`"):
        Config(data=DataConfig(placeholders="all"), tokenizer=tokenizer, model=model)


@pytest.mark.parametrize(
    "text",
    [
        "model: {d_model: 10, heads: 3, d_key: 4, d_value: 5}",
        "tokenizer: {joint: false}\nmodel: {tie: target}",
        "tokenizer: {vocabulary_size: 260, byte_fallback: false}",
        "training: {batch_sentences: 3, batch_tokens: null}",
        "data: {source: tsv, path: a, test_path: b}",
        "data: {source: multi30k, path: a}",
        "data: {placeholders: all}\ntokenizer: {kind: unigram}",
        "data: {placeholders: none}\ntokenizer: {kind: spacy}",
    ],
)
def test_compatible_fields_are_accepted(path: Path, text: str) -> None:
    assert isinstance(load(path, text), Config)


# ------------------------------------------------------------------------------------------ YAML


@pytest.mark.parametrize(
    ("text", "number"),
    [("5e-4", 5e-4), ("1e3", 1000), ("5E-4", 5e-4), ("1.e3", 1000), ("0.5", 0.5), ("2", 2)],
)
def test_numbers_may_be_written_in_common_notations(path: Path, text: str, number: float) -> None:
    assert load(path, f"training: {{learning_rate: {text}}}").training.learning_rate == number
    assert load(path, "", f"training.learning_rate={text}").training.learning_rate == number


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("data: {seed: &seed 7}\ntraining: {seed: *seed}", {"data.seed": 7, "training.seed": 7}),
        (b"\xef\xbb\xbftraining:\r\n  epochs: 3\r\n", {"training.epochs": 3}),  # of Windows
        (
            "model: {d_model: 12, heads: 3, d_value: 7}",
            {"model.key_size": 4, "model.value_size": 7},
        ),
        (
            "model: {dropout: 0.3, embedding_dropout: 0.0}",
            {"model.embedding_dropout_rate": 0.0, "model.attention_output_dropout_rate": 0.3},
        ),
    ],
    ids=["alias", "byte order mark", "sizes of heads", "dropout"],
)
def test_values_are_read_and_follow_from_others(
    path: Path, text: str | bytes, values: dict[str, float]
) -> None:
    config = load(path, text)
    assert {name: attrgetter(name)(config) for name in values} == values


@pytest.mark.parametrize("text", ["training:\n", "training: null\n"])
def test_an_empty_section_keeps_the_defaults(path: Path, text: str) -> None:
    assert load(path, text) == Config()


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}"])
def test_an_empty_file_is_refused(path: Path, text: str) -> None:
    with pytest.raises(UserError, match=r"is empty; write a section .* use base\.yaml"):
        load(path, text)


def bomb(text: str, value: str) -> str:
    """Return a few lines that aliases expand to gigabytes."""
    lines = [f"a0: &a0 {value}"]
    lines += [f"a{n}: &a{n} " + text.format(", ".join([f"*a{n - 1}"] * 9)) for n in range(1, 12)]
    return "\n".join([*lines, "data: {path: *a11}"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("training: {epochs: 1,\n  epochs: 2}", "line 2: `epochs` occurs twice"),
        ("model: {heads: 1}\nmodel: {heads: 1}", "line 2: `model` occurs twice"),
        *(("model: [", "line 1: "), ("model:\n\theads: 1", "line 2: "), ("? [a]\n: 1", "line 1: ")),
        *(("--- {}\n--- {}", "line 2: "), ("model: &a {heads: *a}", "line 1: `*a` ")),
        *(("training: {epochs: !!bool 3}", ""), ("training: {epochs: !!int ''}", "")),
        *(("model: {heads: \0}", ""), ('"\\ud800": 1', ""), ('data: {path: "\\ud800"}', "")),
        *(("model: " + "[" * 5000, ""), ("training: {epochs: " + "9" * 5000 + "}", "")),
        *(
            (bomb("[{}]", "[x]"), "line 2: `*a0` "),
            (bomb("{{<<: [{}]}}", "{x: 1}"), "line 2: `*a0` "),
        ),
        ("data: {path: !!python/object/apply:os.system ['touch made']}", "line 1: "),
    ],
)
def test_invalid_yaml_is_reported_in_one_line(path: Path, text: str, problem: str) -> None:
    assert one_line_refusal(path, text).startswith(f"PATH: not valid YAML: {problem}")


@pytest.mark.usefixtures("in_empty_folder")
def test_python_tags_are_not_executed(path: Path) -> None:
    tag = "!!python/object/apply:os.system ['touch made']"
    refusal(path, f"data: {{path: {tag}}}")
    assert refusal(path, "", f"data.path={tag}").startswith(f"--set data.path={tag}: ")
    assert not Path("made").exists()


@pytest.mark.parametrize(
    ("text", "shown"), [("- training", "['training']"), ("training", "'training'"), ("3", "3")]
)
def test_the_top_level_must_consist_of_sections(path: Path, text: str, shown: str) -> None:
    assert refusal(path, text) == f"PATH: expected sections such as `training:`, got {shown}"


@pytest.mark.parametrize("text", [b"data: {path: M\xfcller}", b"\xff\xfed\0a\0"])
def test_files_that_are_not_utf8_are_refused(path: Path, text: bytes) -> None:
    position = text.index(b"\xfc" if b"\xfc" in text else b"\xff") + 1
    assert refusal(path, text) == f"PATH: not UTF-8 (byte {position}); save it as UTF-8"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode")
def test_the_name_of_the_file_need_not_be_utf8(tmp_path: Path) -> None:
    config = load(tmp_path / "caf\udce9.yaml", "data: {source: sample}")
    assert config.origin.file == f"{tmp_path}/caf?.yaml"


# ------------------------------------------------------------------------------------------ --set


def test_overrides_win_over_the_file_and_the_last_one_over_others(path: Path) -> None:
    text = "training: {epochs: 3, patience: 2}"
    overrides = ["training.epochs=4", "model.heads=2", " training.epochs = 5"]
    overrides += ["training.clip_norm=null", "training.betas=[0.8, 0.9]"]
    config = load(path, text, *overrides)
    assert (config.training.epochs, config.training.patience, config.model.heads) == (5, 2, 2)
    assert (config.training.clip_norm, config.training.betas) == (None, (0.8, 0.9))


def test_text_that_looks_like_a_number_needs_quotes(path: Path) -> None:
    assert load(path, "", "data.path='1e3'").data.path == Path("1e3")
    assert refusal(path, "", "data.path=1e3").startswith("--set: data.path: 1000.0 is invalid")


# ----------------------------------------------------------------------------------- where to look


def test_a_name_is_looked_up_as_a_path_then_in_configs_then_among_shipped_configs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    monkeypatch.setattr("nmt.config.yaml_files.SHIPPED_CONFIGS", shipped)
    monkeypatch.chdir(tmp_path)
    for folder in (shipped, tmp_path / "configs", tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / "v1.2.yaml").touch()
        expected = [(folder / "v1.2.yaml").resolve()] * 2
        assert [find_config(name).resolve() for name in ("v1.2.yaml", "v1.2")] == expected


def test_shipped_configs_are_found_by_folder_and_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = SHIPPED_CONFIGS / "tutorials" / "orahilly.yaml"
    assert find_config("tutorials/orahilly.yaml") == find_config("tutorials/orahilly") == expected
    Path("base.yaml").mkdir()  # not taken for a configuration
    assert find_config("base") == next(p for p in shipped_configs() if p.name == "base.yaml")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        *((name, None) for name in ("nowhere", "test", "configs/mine.yaml", "german.yaml")),
        *((name, "sample.yaml") for name in ("sampel", "sampel.yaml")),
    ],
)
def test_a_missing_config_names_a_similar_one_or_the_shipped_ones(
    name: str, suggestion: str | None
) -> None:
    shipped = [path.relative_to(SHIPPED_CONFIGS).as_posix() for path in shipped_configs()]
    assert {"base.yaml", "tutorials/orahilly.yaml"} <= set(shipped)
    with pytest.raises(UserError) as caught:
        load_config(name)
    assert str(caught.value).startswith(f"config {name} not found")
    end = f"{suggestion}?" if suggestion else ", ".join(shipped)
    assert str(caught.value).endswith(f" {end}")


# ------------------------------------------------------------------------------------- the config


HUB = {"source": "hub", "path": "a/b"}


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"data": {"source": "parallel", "path": ["1e3", "no"]}},
        {"data": {"source": "tsv", "train_path": "5e-4", "test_path": "Übung: #1 \u2028\x85"}},
        {"training": {"learning_rate": 3e-05, "clip_norm": None, "betas": [0.0, 0.999]}},
        {"data": {"source_language": "no", "target_language": "on"}},
        *({"data": {**HUB, "revision": date}} for date in ("2024-05-01", "2020-13-45")),
    ],
)
def test_dumping_and_loading_a_config_is_lossless(path: Path, tree: dict[str, Any]) -> None:
    config = parse_config(tree, "test")
    assert load(path, dump_config(config)) == config


def test_dates_are_text(path: Path) -> None:
    for date in ("2024-05-01", "2020-13-45"):
        text = f"data: {{source: hub, path: a/b, revision: {date}}}"
        assert load(path, text).data.revision == date


def test_every_field_has_a_type_a_default_and_a_description() -> None:
    rows = {name: row for name, *row in describe_fields()}
    assert rows.keys() == {
        f"{s}.{f}" for s, fields in Config().model_dump().items() for f in fields
    }
    assert all(all(row) for row in rows.values())
    assert rows["training.betas"][:2] == ["tuple[float, float]", "[0.9, 0.98]"]
    assert rows["data.path"][:2] == ["path | tuple[path, path] | null", "null"]
    assert rows["tokenizer.run"][:2] == ["path | null", "null"]
    assert rows["model.norm_position"][:2] == ["pre | post", "pre"]


def test_the_documented_defaults_equal_the_defaults(path: Path) -> None:
    tree: dict[str, list[str]] = {}
    for name, _, default, _ in describe_fields():
        section, field = name.split(".")
        tree.setdefault(section, [f"{section}:"]).append(f"  {field}: {default}")
    assert load(path, "\n".join(line for lines in tree.values() for line in lines)) == Config()


def test_configs_are_frozen() -> None:
    config = Config()
    with pytest.raises(ValidationError, match="frozen"):
        config.data = DataConfig()
    with pytest.raises(ValidationError, match="frozen"):
        config.training.epochs = 3


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_python_callers_cannot_pass_nan_or_infinity(number: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        TokenizerConfig(subword_regularization=number)
