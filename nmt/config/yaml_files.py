"""YAML configurations: find, read, override, validate, write and explain them.

>>> from nmt.config.yaml_files import load_config
>>> config = load_config("sample.yaml", overrides=["training.epochs=3"])

Loading reports all mistakes together, one line per mistake, with the file, the field, its value and
what was expected.
"""

import difflib
import logging
import math
import re
import textwrap
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined

from nmt.config.config import Config, Origin
from nmt.config.data import TAG_NAME, CorpusConfig, CorpusPart
from nmt.config.section import RULES_UNCHECKED, Section
from nmt.errors import UserError, one_line
from nmt.files.small_files import read_small
from nmt.shipped import SHIPPED_CONFIGS

_LOG = logging.getLogger(__name__)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, but `5e-4` is a number, and a duplicate key is an error."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        is_alias = isinstance(event, yaml.AliasEvent)
        name, mark = getattr(event, "anchor", None), event.start_mark
        node = super().compose_node(parent, index)
        if is_alias and not isinstance(node, yaml.ScalarNode):
            # Nested aliases can make a few lines expand to gigabytes.
            problem = f"`*{name}` must refer to a single value, not to a list or a section"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        if isinstance(node, yaml.ScalarNode):
            node.value.encode()  # ValueError for a lone surrogate, which UTF-8 cannot encode
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"`{key.value}` occurs twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper, but text that `_Loader` would read as a number is quoted."""


SCHEMA_LINE = "# yaml-language-server: $schema="  # how editors' YAML plugins find a schema

# Fields of earlier versions: their present name, or None if the field was removed.
FORMER_FIELDS: dict[str, str | None] = {
    "data.name_copies": None,
    "data.carry_over": "data.placeholders",
    "data.carry_numbers": "data.number_placeholders",
    "tokenizer.word_mark": "tokenizer.whitespace_as_suffix",
    "tokenizer.sampling": "tokenizer.subword_regularization",
    "model.norm": "model.norm_position",
    "model.initialisation": "model.initialization",
    "decoding.neighbours": "decoding.knn_k",
    "decoding.neighbour_share": "decoding.knn_weight",
    "decoding.neighbour_temperature": "decoding.knn_temperature",
}
# Their values, where the present field has other ones.
FORMER_VALUES: dict[str, dict[object, object]] = {
    "tokenizer.word_mark": {"start": False, "end": True}
}

# YAML 1.1 requires a dot and a signed exponent in floats; people write 5e-4 and 1e3.
for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
        list("-+0123456789"),
    )
# No field is a date, but a revision of a dataset may look like one.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: str(node.value))


def find_config(name: str | Path) -> Path:
    """Return the file that `--config NAME` means: a path, ./configs/NAME, or a shipped config.

    The extension `.yaml` is optional. Raises `UserError` if no file is found.
    """
    if found := _configs_named(name):
        return found[0]
    shipped = [config_name(path) for path in shipped_configs()]
    stems = [each.removesuffix(".yaml") for each in shipped]
    close = difflib.get_close_matches(str(name).removesuffix(".yaml"), stems, n=1, cutoff=0.7)
    raise UserError(
        f"config {name} not found, neither as a path nor in ./configs; "
        + (f"did you mean {close[0]}.yaml?" if close else f"shipped configs: {', '.join(shipped)}")
    )


def _configs_named(name: str | Path) -> list[Path]:
    """Return the files that a name can mean, in the order of their precedence."""
    names = [Path(name), Path(f"{name}.yaml")]
    folders = (Path(), Path("configs"), SHIPPED_CONFIGS)
    return [path for folder in folders for each in names if (path := folder / each).is_file()]


def _hidden_by(path: Path, name: str | Path) -> Path | None:
    """Return the configuration that `name` would mean without the file at `path`."""
    others = (each for each in _configs_named(name) if not each.samefile(path))
    return next((each for each in others if each.stat().st_size), None)


def shipped_configs() -> list[Path]:
    """Return the configs that come with the package."""
    return sorted(SHIPPED_CONFIGS.rglob("*.yaml"))


def load_config(name: str | Path, overrides: Sequence[str] = (), of_run: bool = False) -> Config:
    """Read a YAML file, apply `section.field=value` overrides and validate the result.

    of_run: whether the file is a run's own, which nmt wrote: no hints at former names of its fields

    Raises `UserError` with one line per mistake.
    """
    path = find_config(name)
    tree = _read_yaml(path)
    for former in _rename(tree):
        if not of_run:
            _hint(former)
    if not tree and not overrides:
        hidden = _hidden_by(path, name)
        remedy = f"delete it: it hides {hidden}" if hidden else "use base.yaml"
        raise UserError(f"{path}: is empty; write a section such as `data:`, or {remedy}")
    return _parse(tree, str(path), overrides).with_origin(
        Origin(config_name(path), tuple(overrides))
    )


def override_config(config: Config, overrides: Sequence[str], label: str) -> Config:
    """Apply overrides to a configuration, as `load_config` does; `label` names it in messages."""
    origin = replace(config.origin, overrides=(*config.origin.overrides, *overrides))
    return _parse(config.model_dump(mode="json"), label, overrides).with_origin(origin)


def _parse(tree: dict[str, Any], label: str, overrides: Sequence[str]) -> Config:
    overridden: set[str] = set()
    problems = [_apply_override(tree, override, overridden) for override in overrides]
    problems = [problem for problem in problems if problem]
    try:
        config = parse_config(tree, label, overridden)
        # Most files set both languages; making them equal with one override is a mistake, too.
        given = {field.removeprefix("data.") for field in overridden}
        for _, message in config.data.broken_rule_of_languages(given):
            problems.append(f"{label} with --set: data: {message}")
    except UserError as error:
        problems.append(str(error))
    if problems:
        raise UserError("\n".join(filter(None, problems)))
    return config


def config_name(path: Path) -> str:
    """Return the name of a shipped configuration, or a path with ? for bytes that are not UTF-8."""
    if path.is_relative_to(SHIPPED_CONFIGS):
        return path.relative_to(SHIPPED_CONFIGS).as_posix()
    return str(path).encode("utf-8", "replace").decode("utf-8")


def parse_config(
    tree: dict[str, Any], label: str, overridden: Container[str] = frozenset()
) -> Config:
    """Validate a tree of sections.

    label: its name in messages; overridden: the fields that were set by --set
    """
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        mistakes = [details for details in error.errors() if details["type"] != "broken_rules"]
    lines = [_explain(details, label, overridden) for details in mistakes]
    # Check the rules across fields with defaults in place of invalid fields, and skip the rules
    # that involve such a field. An unknown field counts as the known one it resembles.
    locations = [_location(details) for details in mistakes]
    wrong = {".".join([*place[:-1], *(_close(place) or place[-1:])]) for place in locations}
    config = Config.model_validate(_without(tree, wrong), context=RULES_UNCHECKED)
    for fields, message in config.broken_rules():
        if wrong.isdisjoint([*fields, *(field.split(".")[0] for field in fields)]):
            with_set = " with --set" if any(field in overridden for field in fields) else ""
            lines.append(f"{label}{with_set}: {message}")
    raise UserError("\n".join(dict.fromkeys(lines)))


def _without(tree: dict[str, Any], wrong: set[str]) -> dict[str, Any]:
    """Return the known sections and fields of `tree`, without those in `wrong`."""
    return {
        section: {
            name: content[name]
            for name in _fields(section)
            if name in content and f"{section}.{name}" not in wrong
        }
        for section, content in tree.items()
        if section in Config.model_fields and section not in wrong
    }


def dump_config(config: Config) -> str:
    """Return the configuration as YAML, with every field."""
    tree = config.model_dump(mode="json")
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def describe_fields(which: str = "", nested: bool = False) -> Iterator[tuple[str, str, str, str]]:
    """Yield `(section.field, type, default, description)` of every field.

    which: only this section, section.field, or field if only one section has it; raises `UserError`
    if there is none of that name; nested: include `data.corpora.field` for the fields that only its
    entries have
    """
    fields = dict(_all_fields(nested))
    if which not in ("", *Config.model_fields, *fields):
        which = _full_name(which, list(fields))
    for name, field in fields.items():
        if not which or f"{name}.".startswith(f"{which}."):
            default = "" if field.default is PydanticUndefined else written(field.default)
            yield name, _type_name(field.annotation), default, field.description or ""


def _full_name(which: str, names: list[str]) -> str:
    """Return SECTION.FIELD for a field's own name; raises `UserError` unless exactly one fits."""
    found = [name for name in names if name.endswith(f".{which}")]
    if len(found) > 1:
        raise UserError(f"several sections have a field {which}: {', '.join(found)}; choose one")
    if not found:
        known = [*Config.model_fields, *names, *(name.rpartition(".")[2] for name in names)]
        close = difflib.get_close_matches(which, known, n=1)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else "the sections are " + ", ".join(Config.model_fields)
        )
        raise UserError(f"there is no section or field {which}; {hint}")
    return found[0]


def _all_fields(nested: bool) -> Iterator[tuple[str, FieldInfo]]:
    for section in Config.model_fields:
        for name, field in _fields(section).items():
            yield f"{section}.{name}", field
            if nested and name == "corpora":
                for own, its in CorpusPart.model_fields.items():
                    if own not in CorpusConfig.model_fields:
                        yield f"{section}.{name}.{own}", its


def config_schema() -> dict[str, Any]:
    """Return the JSON schema of configurations."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Config.model_json_schema()


def with_schema(text: str) -> str:
    """Return YAML with the shipped schema named at its top, for editors."""
    lines = [line for line in text.splitlines() if not line.startswith(SCHEMA_LINE)]
    address = (SHIPPED_CONFIGS / "schema.json").as_uri()
    return "\n".join([f"{SCHEMA_LINE}{address}", *lines]) + "\n"


def commented_config(name: str) -> str:
    """Return a configuration file with a comment above each field that describes it."""
    path = find_config(name)
    if not path.stat().st_size:  # emptied by the shell: nmt config new sample > sample.yaml
        path = _hidden_by(path, name) or path
    load_config(path)  # raises an error unless it is a valid configuration
    lines = []
    section, indent = "", 0
    text = path.read_text(encoding="utf-8-sig")
    text = re.sub(r"(?m)^(# nmt train --config) \S+", r"\1 mine.yaml", text, count=1)
    for line in text.splitlines():
        if found := re.match(r"(\w+):", line):
            section, indent = found[1], 0
        field = re.match(r"( +)(\w+):", line)
        indent = indent or (len(field[1]) if field else 0)
        known = _fields(section) if section in Config.model_fields else {}
        # Lines indented further belong to entries of `data.corpora`.
        info = known.get(field[2]) if field and len(field[1]) == indent else None
        if info is not None and info.description:
            lines += textwrap.wrap(
                info.description, 96, initial_indent="  # ", subsequent_indent="  # "
            )
        lines.append(line)
    return "\n".join(lines) + "\n"


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.load(read_small(path).decode(), Loader=_Loader)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start + 1}); save it as UTF-8") from None
    except _YAML_ERRORS as error:
        raise UserError(f"{path}: not valid YAML: {_yaml_problem(error)}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UserError(f"{path}: expected sections such as `training:`, got {_shorten(tree)}")
    # An empty section keeps its defaults.
    return {key: {} if value is None else value for key, value in tree.items()}


def _rename(tree: dict[str, Any]) -> Iterator[str]:
    """Rename the fields of earlier versions, as given by `FORMER_FIELDS`; yield those found."""
    for former, present in FORMER_FIELDS.items():
        section, name = former.split(".")
        content = tree.get(section)
        if not isinstance(content, dict) or name not in content:
            continue
        value = content.pop(name)
        with suppress(TypeError):  # lists and sections are refused later
            value = FORMER_VALUES.get(former, {}).get(value, value)
        if present:
            section, name = present.split(".")
            if isinstance(content := tree.setdefault(section, {}), dict):
                content.setdefault(name, value)
        yield former


@cache  # a command may read a file or an override several times
def _hint(former: str) -> None:
    """Warn once that a field has another name now, or was removed."""
    present = FORMER_FIELDS[former]
    _LOG.warning("%s is %s", former, f"now {present}" if present else "no longer used; remove it")


# PyYAML raises the last four if a value does not match its explicit tag, as in `!!bool 3`.
_YAML_ERRORS = (
    *(yaml.YAMLError, ValueError, RecursionError),
    *(LookupError, AttributeError, TypeError, OverflowError),
)


def _yaml_problem(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        problem = " ".join(filter(None, (error.context, error.problem)))
        return f"line {error.problem_mark.line + 1}: {problem}"
    if isinstance(error, (LookupError, AttributeError, TypeError, OverflowError)):
        return "a value does not match its tag (!!…)"
    return one_line(error)


def _apply_override(tree: dict[str, Any], override: str, overridden: set[str]) -> str | None:
    """Apply an override to the tree. Return an error message if it is malformed."""
    field, equals, text = override.partition("=")
    former = field.strip()
    section, dot, name = (FORMER_FIELDS.get(former) or former).partition(".")
    if not (equals and dot and section.isidentifier() and name.isidentifier()):
        return f"--set {override}: expected section.field=value, as in training.epochs=3"
    try:
        value = read_value(text)
    except _YAML_ERRORS:
        return f"--set {override}: the value is not valid YAML"
    if FORMER_FIELDS.get(former):
        _hint(former)
        with suppress(TypeError):
            value = FORMER_VALUES.get(former, {}).get(value, value)
    if value is None and text.strip().lower() not in ("null", "~"):
        return f"--set {override}: no value; write {section}.{name}=null to unset the field"
    if section not in tree:
        tree[section] = {}
        overridden.add(section)
    content = tree[section]
    if isinstance(content, dict):  # otherwise validation reports the section
        content[name] = value
        overridden.add(f"{section}.{name}")
    return None


def read_value(text: str) -> Any:
    """Return what a value means in a configuration; raises `yaml.YAMLError` and others."""
    return yaml.load(text, Loader=_Loader)


def _explain(details: ErrorDetails, label: str, overridden: Container[str]) -> str:
    location = _location(details)
    field = ".".join(location)
    where = f"{'--set' if field in overridden else label}: {field}"
    name, known = location[-1], _known(location)
    if field == "data.corpora" and len(details["loc"]) > 2:
        where += f", entry {int(details['loc'][2]) + 1}"
        if len(details["loc"]) > 3:
            name, known = str(details["loc"][3]), CorpusPart.model_fields
            where += f", {name}"
    if details["type"] in ("extra_forbidden", "invalid_key"):
        kind = "section" if len(location) == 1 else "field"
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(known)}"
        return f"{where}: unknown {kind}; {hint}"
    expected = details.get("ctx", {}).get("pattern", details["type"])
    wanted = _PLAIN.get(expected) or details["msg"].removeprefix("Input should be ")
    info = known[name] if len(location) == 2 else None
    if info and ... in get_args(info.annotation):
        if expected == "tuple_type":
            wanted = "a list in square brackets"
        elif expected == "too_long":
            wanted = f"a list of at most {details['ctx']['max_length']}"
    allowed = f" ({info.description})" if info and info.description else ""
    return f"{where}: {_shorten(details['input'])} is invalid, it should be {wanted}{allowed}"


# What was expected, where pydantic's own wording is for programmers.
_PLAIN = {
    "model_type": "a section: one indented line per field",
    "^[a-z]{2,3}$": "two or three lower-case letters, such as en",
    TAG_NAME: "up to 30 letters without accents, digits, -, _ and @, such as news",
    "tuple_type": "a list of two, such as [first, second]",
    "missing": "a list of two, such as [first, second]",
    "too_long": "a list of two, such as [first, second]",
    "path_type": "a path",
    "string_type": "text",
    "string_unicode": "text",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
}


def _location(details: ErrorDetails) -> list[str]:
    """Return the section, and the field unless the whole section is wrong."""
    return [str(part) for part in details["loc"][:2]]


def _known(location: list[str]) -> dict[str, FieldInfo]:
    """Return the sections, or the fields of the section, that a location may name."""
    return _fields(location[0]) if len(location) == 2 else Config.model_fields


def _close(location: list[str]) -> list[str]:
    """Return the valid name that is most similar to the last part of a location, if any."""
    return difflib.get_close_matches(location[-1], _known(location), n=1)


def _fields(section: str) -> dict[str, FieldInfo]:
    kind = Config.model_fields[section].annotation
    assert isinstance(kind, type)
    assert issubclass(kind, Section)
    return kind.model_fields


def _shorten(value: object) -> str:
    as_yaml = {None: "null", True: "true", False: "false"}
    try:
        text = as_yaml[value] if value is None or isinstance(value, bool) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def written(value: object) -> str:
    """Return a field's value as YAML, in one line."""
    plain = list(value) if isinstance(value, tuple) else value
    plain = str(plain) if isinstance(plain, Path) else plain
    return yaml.safe_dump(plain, default_flow_style=True, width=math.inf).split("\n")[0]


def _type_name(kind: Any) -> str:
    if kind is CorpusPart:
        return "corpus"
    choices = get_args(kind)
    if choices and choices[-1] is ...:
        return f"list of {_type_name(choices[0])}"
    if choices and all(isinstance(choice, str) for choice in choices):
        return " | ".join(choices)
    name = getattr(kind, "__name__", None) if not choices else None
    text = name or str(kind)
    for long, short in (
        ("pathlib._local.Path", "path"),  # Python 3.13
        ("pathlib.Path", "path"),
        ("Path", "path"),
        ("nmt.config.", ""),
        ("NoneType", "null"),
        ("None", "null"),
    ):
        text = text.replace(long, short)
    return text
