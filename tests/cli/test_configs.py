"""`nmt config`: descriptions of fields, the schema, and new configurations."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.config.config import Config
from nmt.config.data import CorpusConfig, CorpusPart
from nmt.config.yaml_files import SCHEMA_LINE, describe_fields, load_config, shipped_configs
from nmt.errors import UserError
from nmt.shipped import SHIPPED_CONFIGS

from .command_line import nmt, printed, text

runner = CliRunner()
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def refusal(*arguments: str) -> str:
    """Return the message of the error of a command."""
    error = runner.invoke(app, arguments).exception
    assert isinstance(error, UserError)
    return str(error)


def test_fields_can_be_limited_to_a_section_or_a_field() -> None:
    shown = printed("config", "fields", "tokenizer")
    assert "tokenizer.kind" in shown
    assert "model." not in shown
    assert [name for name, *_ in describe_fields("model.norm_position")] == ["model.norm_position"]


def test_the_fields_of_an_entry_of_corpora_are_explained() -> None:
    shown = printed("config", "fields", "data.corpora")
    assert "data.corpora: list of corpus = []" in shown
    own = CorpusPart.model_fields.keys() - CorpusConfig.model_fields.keys()
    assert own == {"name", "weight", "tag", "held_out"}
    for field in own:
        assert f"\ndata.corpora.{field}: " in shown
        alone = printed("config", "fields", field)
        assert alone.startswith(f"data.corpora.{field}: ")
        assert alone in shown
    assert "data.corpora.path" not in shown  # as data.path
    assert printed("config", "fields", "corpora") == shown


def test_a_field_may_be_given_without_its_section_if_it_is_unique() -> None:
    shown = printed("config", "fields", "patience")
    assert shown == printed("config", "fields", "training.patience")
    assert shown.startswith("training.patience: ")
    message = refusal("config", "fields", "seed")
    fields = "data.seed, training.seed, decoding.seed"
    assert message == f"several sections have a field seed: {fields}; choose one"


def test_descriptions_are_wrapped_at_80_columns_between_words() -> None:
    shown = printed("config", "fields")
    lines = [line for line in shown.splitlines() if line.startswith("    ")]
    assert max(map(len, lines)) <= 80
    words = {word for *_, text in describe_fields(nested=True) for word in text.split()}
    assert {word for line in lines for word in line.split()} <= words


def test_an_unknown_field_gets_a_suggestion() -> None:
    message = refusal("config", "fields", "trainin")
    assert "there is no section or field trainin; did you mean training?" in message


def test_the_schema_describes_the_fields() -> None:
    schema = json.loads(printed("config", "schema"))
    assert set(schema["properties"]) == set(Config.model_fields)
    training = schema["$defs"]["TrainingConfig"]
    assert training["properties"]["schedule"]["enum"] == ["inverse_sqrt", "cosine", "constant"]
    assert training["properties"]["epochs"]["description"]
    assert training["additionalProperties"] is False


def test_the_shipped_schema_is_up_to_date() -> None:
    shipped = (SHIPPED_CONFIGS / "schema.json").read_text(encoding="utf-8")
    assert shipped == printed("config", "schema"), "run: nmt config schema > configs/schema.json"


def test_a_new_configuration_names_the_schema(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"a {i}\tb {i}\n" for i in range(100)), encoding="utf-8")
    for arguments in (["sample"], ["--corpus", str(pairs)]):
        first, second = printed("config", "new", *arguments).split("\n")[:2]
        assert first == f"{SCHEMA_LINE}{(SHIPPED_CONFIGS / 'schema.json').as_uri()}"
        assert not second.startswith(SCHEMA_LINE)


@pytest.mark.parametrize("path", shipped_configs(), ids=lambda path: path.stem)
def test_a_new_configuration_equals_the_shipped_one_plus_comments(
    path: Path, tmp_path: Path
) -> None:
    shown = printed("config", "new", str(path))
    (tmp_path / "mine.yaml").write_text(shown, encoding="utf-8")
    assert load_config(tmp_path / "mine.yaml") == load_config(path)
    assert shown.count("#") > path.read_text(encoding="utf-8").count("#")
    assert shown.splitlines()[1].startswith("# nmt train --config mine.yaml")


def test_a_new_configuration_has_no_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("data:\n  seed: 3\n", encoding="utf-8-sig")
    shown = printed("config", "new", str(path))
    path.write_text(shown, encoding="utf-8")
    assert load_config(path).data.seed == 3


def test_a_new_configuration_explains_each_field_of_a_section_once(tmp_path: Path) -> None:
    entry = "    - source: tsv\n      path: {}.tsv\n      weight: 1\n"
    text = "data:\n  corpora:\n" + entry.format("a") + entry.format("b") + "  seed: 3\n"
    (tmp_path / "two.yaml").write_text(text, encoding="utf-8")
    shown = printed("config", "new", str(tmp_path / "two.yaml"))
    assert entry.format("a") + entry.format("b") in shown
    assert "  # seed for the split" in shown


@pytest.mark.parametrize("content", [b"\xff", b"no configuration", b"training: {epochs: 0}"])
def test_config_new_refuses_another_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.yaml"
    path.write_bytes(content)
    assert refusal("config", "new", str(path)).startswith(f"{path}: ")


def test_a_new_configuration_may_have_the_name_of_a_shipped_one() -> None:
    """The shell makes the file before nmt starts: nmt config new sample > sample.yaml."""
    expected = printed("config", "new", "sample")
    Path("sample.yaml").touch()
    assert printed("config", "new", "sample") == expected != ""
    message = refusal("config", "show", "--config", "sample")
    assert "sample.yaml: is empty; " in message
    assert "or delete it: it hides " in message
    Path("configs").mkdir()
    Path("configs/sample.yaml").touch()
    assert printed("config", "new", "sample") == expected
    Path("configs/sample.yaml").write_text("data: {seed: 7}\n")
    assert "seed: 7" in printed("config", "new", "sample")


def test_the_training_time_is_that_of_the_option(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a {i}\tb {i}\n" for i in range(200)), encoding="utf-8")
    command = ["config", "new", "--corpus", str(path)]
    for more, minutes in (([], 30), (["--minutes", "5"], 5)):
        assert f"  max_minutes: {minutes}\n" in printed(*command, *more)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["sample", "--minutes", "5"], "training.max_minutes"),
        ([], "--corpus FILE"),
        (["sample", "--corpus", "x.tsv"], "--corpus FILE"),
    ],
)
def test_config_new_needs_either_a_configuration_or_a_corpus(
    arguments: list[str], named: str
) -> None:
    assert named in refusal("config", "new", *arguments)


def test_config_show_prints_resolved_yaml() -> None:
    done = nmt("config", "show", "--config", "base.yaml", "--set", "training.epochs=3")
    tree = yaml.safe_load(done.stdout)
    assert tree["training"]["epochs"] == 3
    assert tree["model"]["norm_position"] == "pre"


def test_config_fields_shows_types_and_defaults() -> None:
    fields = printed("config", "fields")
    assert "training.label_smoothing: float = 0.1\n" in fields
    assert "decoding.beam_size: int = 4\n" in fields


def test_all_mistakes_in_a_config_are_reported_at_once() -> None:
    Path("mine.yaml").write_text("training:\n  lable_smoothing: 0.1\nmodel:\n  heads: many\n")
    done = nmt("train", "--config", "mine.yaml")
    first, second = text(done.stderr).splitlines()
    assert done.returncode == 2
    assert "mine.yaml: model.heads: " in first
    assert "mine.yaml: training.lable_smoothing: " in second
    assert not Path("runs").exists()
