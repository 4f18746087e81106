"""Any configuration and command line gives a clear message, never a traceback."""

import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nmt import cli
from nmt.cli.app import app
from nmt.config.config import Config
from nmt.config.yaml_files import describe_fields, dump_config, load_config, parse_config
from nmt.errors import UserError, escape_terminal

FIELDS = [field for field, *_ in describe_fields()]
ODD = st.sampled_from(
    [
        *("", "~", "yes", "0x" + "f" * 5000, "9" * 5000, "1e22", "-1e400", ".nan", "1e-45", "1_0"),
        *("!!map [a]", "!!set [a]", "!!bool 3", "!!binary x", '"\\UFFFFFFFF"', "{", "[[]]", "0b"),
        *("2001-01-01", "\udcff", "\x00", "\x1b[2J", "\u2028", "a" * 5000, "* x", "? :", "&a [*a]"),
    ]
)
WORDS = st.one_of(ODD, st.text(max_size=30), st.integers().map(str), st.floats().map(repr))
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**19, 10**25),
    st.floats(),
    st.text(max_size=20),
    st.dates(),
    st.binary(max_size=5),
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


def _tree(fields: dict[str, Any], extra: dict[Any, Any]) -> dict[Any, Any]:
    tree: dict[Any, Any] = dict(extra)
    for field, value in fields.items():
        section, name = field.split(".")
        if isinstance(tree.setdefault(section, {}), dict):
            tree[section][name] = value
    return tree


TREES = st.builds(
    _tree,
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
    st.dictionaries(st.one_of(LEAVES, st.just("model")), VALUES, max_size=1),
)


def assert_loads_or_is_refused(load: Callable[[], Config]) -> None:
    refusal = ""
    try:
        config = load()
    except UserError as error:
        refusal = str(error) or "nothing said"
    else:
        again = yaml.safe_load(dump_config(config))
        assert parse_config(again, "again") == config
    assert refusal != "nothing said"
    # Spaces of any width and joiners may be shown; they are harmless in a terminal.
    visible = "".join(map(escape_terminal, refusal.split("\n")))
    harmless = "\u200c\u200d"
    assert all(c.isprintable() or unicodedata.category(c) == "Zs" or c in harmless for c in visible)


def configurations(examples: int) -> Callable[..., None]:
    @settings(max_examples=examples, deadline=None)
    @given(tree=TREES)
    def check(tree: dict[Any, Any]) -> None:
        assert_loads_or_is_refused(lambda: parse_config(tree, "x.yaml"))

    return check


def files_and_overrides(folder: Path, examples: int) -> Callable[..., None]:
    path = folder / "x.yaml"

    @settings(max_examples=examples, deadline=None)
    @given(
        content=st.one_of(st.binary(max_size=60), st.text(max_size=60), ODD),
        overrides=st.lists(st.tuples(st.one_of(st.sampled_from(FIELDS), WORDS), WORDS), max_size=2),
    )
    def check(content: bytes | str, overrides: list[tuple[str, str]]) -> None:
        raw = content if isinstance(content, bytes) else content.encode(errors="surrogateescape")
        path.write_bytes(raw)
        assert_loads_or_is_refused(lambda: load_config(path, [f"{a}={b}" for a, b in overrides]))

    return check


def _words() -> list[str]:
    from typer.main import get_command

    command: Any = get_command(app)
    names = list(command.commands)
    options = {
        option
        for sub in command.commands.values()
        for parameter in sub.params
        for option in parameter.opts
    }
    return [*names, *sorted(options - {"--interactive"})]


def command_lines(
    folder: Path, capsys: pytest.CaptureFixture[str], examples: int
) -> Callable[..., None]:
    quick = ["config", "show", "runs", "plot", "export", "evaluate", "translate", "datastore"]
    words = st.one_of(st.sampled_from(_words()), WORDS, st.just(str(folder)))
    ignored = [HealthCheck.function_scoped_fixture]

    @settings(max_examples=examples, deadline=None, suppress_health_check=ignored)
    @given(command=st.sampled_from(quick), rest=st.lists(words, max_size=5))
    def check(command: str, rest: list[str]) -> None:
        assume(not {"\x00", "--refresh", "--device"} & set(rest))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["nmt", command, *rest])
            with pytest.raises(SystemExit) as end:
                cli.main()
        stderr = capsys.readouterr().err
        assert "please report it" not in stderr
        assert "Traceback" not in stderr
        assert end.value.code in (None, 0, 2)

    return check


def test_random_configurations_load_or_are_refused() -> None:
    configurations(150)()


def test_random_files_and_overrides_load_or_are_refused(tmp_path: Path) -> None:
    files_and_overrides(tmp_path, 150)()


def test_random_command_lines_give_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command_lines(tmp_path, capsys, 60)()


@pytest.mark.slow
def test_ten_thousand_random_configurations_load_or_are_refused(tmp_path: Path) -> None:
    configurations(5000)()
    files_and_overrides(tmp_path, 5000)()


@pytest.mark.slow
def test_two_thousand_random_command_lines_give_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command_lines(tmp_path, capsys, 2000)()
