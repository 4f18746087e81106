"""The configuration: one YAML file, one section a stage, every field typed, bounded and described.

>>> from nmt.config import load_config
>>> config = load_config("sample.yaml", overrides=["training.epochs=3"])

Loading never stops at the first mistake: all of them are reported together, each in one line that
names the file, the field, its value and what would be right.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError, PydanticUndefined

from nmt.errors import UserError
from nmt.shipped import SHIPPED_CONFIGS


def _path_or_pair(value: object) -> object:
    paths = value if isinstance(value, (list, tuple)) else [value]
    sound = all(isinstance(path, (str, Path)) for path in paths)
    if value is not None and not (sound and len(paths) == (2 if paths is value else 1)):
        # One line here, where the union of types would give one for each of its members.
        raise PydanticCustomError("path", "Input should be a path, or [source, target] paths")
    return tuple(paths) if paths is value else value


PathOrPair = Annotated[Path | tuple[Path, Path] | None, BeforeValidator(_path_or_pair)]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
SubwordKind = Literal["bpe", "unigram"]
WordKind = Literal["spacy", "whitespace"]


class Section(BaseModel):
    """A section of the YAML: unknown fields are refused, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _only_switches_are_boolean(cls, value: object, info: ValidationInfo) -> object:
        # YAML reads `no` (Norwegian) as false, and false would pass for the number 0.
        assert info.field_name
        kind = cls.model_fields[info.field_name].annotation
        if isinstance(value, bool) and kind is not bool and not hasattr(kind, "model_fields"):
            raise PydanticCustomError("boolean", "Input should be no boolean; put text in quotes")
        return value


class DataConfig(Section):
    """Where the sentence pairs come from, how they are cleaned, and how they are split."""

    source: Literal["pickle", "tsv", "parallel", "multi30k", "sample"] = Field(
        "pickle", description="kind of corpus; `sample` is built in, `pickle` the tutorial's file"
    )
    source_language: LanguageCode = Field("en", description="language code translated from")
    target_language: LanguageCode = Field("de", description="language code translated into")
    path: PathOrPair = Field(
        None,
        description="the corpus on disk, to be split here: a file (pickle, tsv), a folder "
        "(multi30k), or for parallel a [source, target] pair of files or the stem of STEM.en/"
        "STEM.de; without any path, pickle and multi30k download",
    )
    train_path: PathOrPair = Field(None, description="given training split, written as `path`")
    validation_path: PathOrPair = Field(None, description="given validation split")
    test_path: PathOrPair = Field(None, description="given test split")
    validation_size: int = Field(
        500, ge=1, description="pairs to take out for validation where no such split is given"
    )
    test_size: int = Field(
        1000, ge=1, description="pairs to take out for the test where no such split is given"
    )
    unicode: Literal["NFC", "NFKC", "none"] = Field(
        "NFC", description="Unicode normalisation form of both sides"
    )
    lowercase: Literal["none", "source", "both"] = Field(
        "none", description="which sides the model reads in lower case"
    )
    max_words: int = Field(
        100, ge=1, description="longer training pairs are dropped (words between spaces, a side)"
    )
    max_ratio: float = Field(
        9.0, ge=1, description="training pairs with a higher ratio of lengths are dropped"
    )
    drop_duplicates: bool = Field(
        True, description="keep only the first of identical training pairs"
    )
    name_copies: float = Field(
        0.0,
        ge=0,
        le=10,
        description="extra training pairs, as a share of the training pairs that hold a word "
        "written alike on both sides: copies with invented names in its place, so that the "
        "model learns to carry names over",
    )
    min_coverage: float = Field(
        0.7,
        ge=0,
        le=1,
        description="refuse to go on when a smaller share of the validation or test tokens is "
        "known to the vocabulary",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed of the split and the invented names")

    @model_validator(mode="after")
    def _paths_fit(self) -> "DataConfig":
        given = self.train_path or self.validation_path or self.test_path
        if self.source == "sample" and (self.path or given):
            raise ValueError("source `sample` is built in; it takes no paths")
        if self.source == "multi30k" and given:
            raise ValueError("source `multi30k` brings its own splits; only `path` may be set")
        if self.path and self.train_path:
            raise ValueError("`path` and `train_path` exclude each other")
        if given and not (self.path or self.train_path):
            raise ValueError("a given validation or test split needs `train_path` (or `path`) too")
        if self.source in ("tsv", "parallel") and not (self.path or self.train_path):
            raise ValueError(f"source `{self.source}` needs `path` or `train_path`")
        return self


class TokenizerConfig(Section):
    """How text becomes pieces, and pieces numbers."""

    kind: Literal["bpe", "unigram", "spacy", "whitespace"] = Field(
        "bpe",
        description="SentencePiece subwords (bpe, unigram) or words (spaCy's blank tokenizer, "
        "whitespace)",
    )
    joint: bool = Field(True, description="one vocabulary for both languages")
    vocabulary_size: int = Field(
        8000, ge=8, description="largest size of a vocabulary, special tokens counted"
    )
    min_count: int = Field(
        1, ge=1, description="words seen less often in training become <unk> (word level only)"
    )
    byte_fallback: bool = Field(
        True, description="spell characters outside the vocabulary as bytes (subwords only)"
    )
    sampling: float = Field(
        0.0,
        ge=0,
        le=1,
        description="random segmentation in training (subwords only): probability that a BPE "
        "merge is dropped (0.1 is usual); for unigram the share of words that are resegmented",
    )

    @property
    def subword(self) -> bool:
        """Whether the pieces are SentencePiece's."""
        return self.kind in get_args(SubwordKind)

    @model_validator(mode="after")
    def _sampling_needs_subwords(self) -> "TokenizerConfig":
        if self.sampling and not self.subword:
            raise ValueError("`sampling` needs subwords: set `kind: bpe` or `unigram`")
        return self


class ModelConfig(Section):
    """The Transformer (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762)."""

    d_model: int = Field(256, ge=2, description="width of embeddings and layers")
    heads: int = Field(4, ge=1, description="attention heads")
    d_key: int | None = Field(
        None, ge=1, description="width of a head's queries and keys; d_model / heads if unset"
    )
    d_value: int | None = Field(
        None, ge=1, description="width of a head's values; d_model / heads if unset"
    )
    d_ff: int = Field(1024, ge=1, description="inner width of the feed-forward layers")
    encoder_layers: int = Field(3, ge=1, description="layers of the encoder")
    decoder_layers: int = Field(3, ge=1, description="layers of the decoder")
    norm: Literal["pre", "post"] = Field(
        "pre", description="layer norm before each sublayer, or after its residual as in the paper"
    )
    final_norm: bool = Field(True, description="layer norm at the end of each stack")
    activation: Literal["relu", "gelu"] = Field("relu", description="in the feed-forward layers")
    attention_bias: bool = Field(True, description="biases in the attention projections")
    output_bias: bool = Field(False, description="bias in the output projection")
    positions: Literal["sinusoidal", "learned"] = Field(
        "sinusoidal", description="how positions are encoded"
    )
    max_length: int = Field(
        256, ge=4, description="longest sequence in pieces, <sos> and <eos> counted"
    )
    scale_embeddings: bool = Field(True, description="multiply embeddings by √d_model")
    tie: Literal["none", "target", "all"] = Field(
        "all",
        description="share weights: target embedding with output, or source embedding too "
        "(`all` needs a joint vocabulary)",
    )
    dropout: float = Field(
        0.1, ge=0, lt=1, description="on embeddings and on the output of each sublayer"
    )
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="on attention weights")
    feed_forward_dropout: float = Field(
        0.0, ge=0, lt=1, description="on the inner activations of the feed-forward layers"
    )

    @property
    def key_size(self) -> int:
        """Width of one head's queries and keys."""
        return self.d_key or self.d_model // self.heads

    @property
    def value_size(self) -> int:
        """Width of one head's values."""
        return self.d_value or self.d_model // self.heads

    @model_validator(mode="after")
    def _heads_divide(self) -> "ModelConfig":
        if (self.d_key is None or self.d_value is None) and self.d_model % self.heads:
            raise ValueError(
                f"`heads` {self.heads} must divide d_model {self.d_model}, or set d_key and d_value"
            )
        return self


class TrainingConfig(Section):
    """How the weights are learnt."""

    epochs: int = Field(20, ge=1, description="passes over the training data, at most")
    max_updates: int | None = Field(None, ge=1, description="stop after so many updates")
    max_minutes: float | None = Field(
        None, gt=0, description="stop after so many minutes of training, all resumptions counted"
    )
    batch_tokens: int | None = Field(
        4096, ge=1, description="padded tokens a batch and side, at most; unset: batch_sentences"
    )
    batch_sentences: int | None = Field(
        None, ge=1, description="a fixed number of sentence pairs a batch instead"
    )
    accumulate: int = Field(1, ge=1, description="batches an update")
    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="probability mass spread over the whole vocabulary"
    )
    optimizer: Literal["adam", "adamw", "nadam"] = Field("adam", description="optimizer")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    betas: tuple[float, float] = Field((0.9, 0.98), description="Adam's decay rates")
    epsilon: float = Field(1e-9, gt=0, description="Adam's ε")
    weight_decay: float = Field(0.0, ge=0, description="weight decay (decoupled for adamw)")
    schedule: Literal["inverse_sqrt", "cosine", "constant"] = Field(
        "inverse_sqrt", description="learning rate after the warm-up (inverse_sqrt: Noam)"
    )
    warmup_updates: int = Field(
        400, ge=0, description="updates in which the rate rises linearly to its peak"
    )
    clip_norm: float | None = Field(1.0, gt=0, description="largest norm of the gradient")
    average_decay: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="decay of the exponential moving average of the weights, which then is what "
        "is validated and used (0.999 is usual); 0: none",
    )
    validate_updates: int | None = Field(
        None, ge=1, description="updates between validations; unset: every epoch"
    )
    best: Literal["bleu", "loss"] = Field(
        "bleu", description="validation measure that chooses the best weights"
    )
    patience: int | None = Field(
        None, ge=1, description="stop after so many validations without a new best"
    )
    checkpoint_minutes: float = Field(5.0, gt=0, description="minutes between checkpoints, at most")
    checkpoint_updates: int | None = Field(
        None, ge=1, description="updates between checkpoints, at most"
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="bfloat16 autocast; auto: where the GPU supports it, else float32"
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed of weights, order and dropout")

    @field_validator("betas")
    @classmethod
    def _betas_are_decays(cls, betas: tuple[float, float]) -> tuple[float, float]:
        if not all(0 <= beta < 1 for beta in betas):
            raise PydanticCustomError("decay", "Input should be two numbers from 0 to below 1")
        return betas

    @model_validator(mode="after")
    def _one_batch_size(self) -> "TrainingConfig":
        if (self.batch_tokens is None) == (self.batch_sentences is None):
            raise ValueError(
                "set exactly one of batch_tokens and batch_sentences (the other to null)"
            )
        return self


class DecodingConfig(Section):
    """How a translation is searched."""

    beam_size: int = Field(4, ge=1, le=500, description="hypotheses kept a step; 1 is greedy")
    length_penalty: float = Field(
        0.6,
        ge=0,
        description="α of ((5 + length) / 6)^α by which log-probabilities are divided (Wu et al. "
        "2016, eq. 14); 0: none",
    )
    max_length_factor: float = Field(
        1.5, ge=0, description="longest output in pieces: factor × source pieces + extra"
    )
    max_length_extra: int = Field(20, ge=1, description="see max_length_factor")
    batch_tokens: int = Field(
        4096, ge=1, description="source tokens decoded together, at most, padding counted"
    )
    replace_unknown: bool = Field(
        True,
        description="put the source word that the decoder attends to most in the place of <unk> "
        "(word level only)",
    )


class Config(Section):
    """Everything that a run is made from."""

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @model_validator(mode="after")
    def _tying_needs_joint_vocabulary(self) -> "Config":
        if self.model.tie == "all" and not self.tokenizer.joint:
            raise ValueError("`model.tie: all` needs `tokenizer.joint: true`")
        return self

    @model_validator(mode="after")
    def _name_copies_need_subwords(self) -> "Config":
        if self.data.name_copies and not self.tokenizer.subword:
            raise ValueError(
                "`data.name_copies` needs `tokenizer.kind: bpe` or `unigram`: pieces can spell an "
                "invented name, but to a vocabulary of words any new name is <unk>"
            )
        return self


# ---------------------------------------------------------------------------------------- loading


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader; `5e-4` is a number too, and a key given twice an error."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        is_alias = isinstance(event, yaml.AliasEvent)
        name, mark = getattr(event, "anchor", None), event.start_mark
        node = super().compose_node(parent, index)
        if is_alias and not isinstance(node, yaml.ScalarNode):
            # Aliases of collections can hold each other, and a few lines grow to gigabytes.
            problem = f"`*{name}` must stand for a single value, not a list or a section"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"`{key.value}` is given twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper; text that `_Loader` would take for a number gets quotes."""


# YAML 1.1 wants a dot in a float's mantissa and a sign in its exponent; people write 5e-4 and 1e3.
for _class in (_Loader, _Dumper):
    _class.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
        list("-+0123456789"),
    )


def find_config(name: str | Path) -> Path:
    """Return the file that `--config NAME` means: a path, ./configs/NAME, or a shipped config.

    The ending `.yaml` may be left out. Raises `UserError` if there is none.
    """
    names = [Path(name), Path(f"{name}.yaml")]
    for folder in (Path(), Path("configs"), SHIPPED_CONFIGS):
        for candidate in names:
            if (folder / candidate).is_file():
                return folder / candidate
    shipped = ", ".join(sorted(str(p.relative_to(SHIPPED_CONFIGS)) for p in shipped_configs()))
    raise UserError(
        f"config {name} not found, neither as a path nor in ./configs; shipped are {shipped}"
    )


def shipped_configs() -> list[Path]:
    """Return the configs that come with the package."""
    return sorted(SHIPPED_CONFIGS.rglob("*.yaml"))


def load_config(name: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file, apply `section.field=value` overrides and check everything.

    Raises `UserError` with one line a mistake.
    """
    path = find_config(name)
    tree = _read_yaml(path)
    origins: dict[str, str] = {}
    for override in overrides:
        _apply_override(tree, override, origins)
    return parse_config(tree, str(path), origins)


def parse_config(tree: dict[str, Any], label: str, origins: dict[str, str] | None = None) -> Config:
    """Check a tree of sections; `label` names it in messages, `origins` where fields came from."""
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        lines = [_explain(details, label, origins or {}) for details in error.errors()]
        raise UserError("\n".join(lines)) from None


def dump_config(config: Config) -> str:
    """Return the resolved configuration as YAML, every field included."""
    tree = config.model_dump(mode="json")
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def describe_fields() -> Iterator[tuple[str, str, str, str]]:
    """Yield `(section.field, type, default, description)` for every field."""
    for section, section_field in Config.model_fields.items():
        assert isinstance(section_field.annotation, type)
        for name, field in section_field.annotation.model_fields.items():
            yield f"{section}.{name}", _type_name(field), _default(field), field.description or ""


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
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
    # A section that is named but left empty keeps its defaults.
    return {key: {} if value is None else value for key, value in tree.items()}


# PyYAML raises the last two for values that do not fit an explicit tag, as in `!!bool 3`.
_YAML_ERRORS = (yaml.YAMLError, ValueError, RecursionError, KeyError, AttributeError)


def _yaml_problem(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        problem = " ".join(filter(None, (error.context, error.problem)))
        return f"line {error.problem_mark.line + 1}: {problem}"
    if isinstance(error, (KeyError, AttributeError)):
        return "a value does not fit its tag (!!…)"
    return " ".join(str(error).split())


def _apply_override(tree: dict[str, Any], override: str, origins: dict[str, str]) -> None:
    field, equals, text = override.partition("=")
    section, dot, name = field.strip().partition(".")
    if not (equals and dot and section and name):
        raise UserError(f"--set {override}: expected section.field=value, as in training.epochs=3")
    try:
        value = yaml.load(text, Loader=_Loader)
    except _YAML_ERRORS:
        raise UserError(f"--set {override}: the value is not valid YAML") from None
    if section not in tree:
        tree[section] = {}
        origins[section] = "--set"
    content = tree[section]
    if isinstance(content, dict):  # else the file is wrong, and will be told so
        content[name] = value
        origins[f"{section}.{name}"] = "--set"


def _explain(details: ErrorDetails, label: str, origins: dict[str, str]) -> str:
    location = [str(part) for part in details["loc"]]
    field = ".".join(location[:2])
    where = f"{origins.get(field, label)}: {field}" if field else label
    if details["type"] in ("extra_forbidden", "invalid_key"):
        return f"{where}: unknown {_kind_and_suggestion(location)}"
    if details["type"] == "value_error":
        return f"{where}: {details['ctx']['error']}"
    wanted = _PLAIN.get(details["type"]) or details["msg"].removeprefix("Input should be ")
    info = _field(location)
    allowed = f" ({info.description})" if info is not None and info.description else ""
    return f"{where}: {_shorten(details['input'])} is wrong, it should be {wanted}{allowed}"


# What is wanted, where pydantic's own words are for programmers.
_PLAIN = {
    "model_type": "a section: fields, each on an indented line",
    "string_pattern_mismatch": "two or three small letters, such as en",
    "tuple_type": "a list of two, such as [0.9, 0.98]",
    "missing": "a list of two, such as [0.9, 0.98]",
    "too_long": "a list of two, such as [0.9, 0.98]",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
}


def _kind_and_suggestion(location: list[str]) -> str:
    section_names = list(Config.model_fields)
    if len(location) == 1:
        known, kind = section_names, "section"
    else:
        section = Config.model_fields[location[0]].annotation
        assert isinstance(section, type)
        known, kind = list(section.model_fields), "field"
    close = difflib.get_close_matches(location[-1], known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
    return f"{kind}; {hint}"


def _field(location: list[str]) -> FieldInfo | None:
    if len(location) < 2 or location[0] not in Config.model_fields:
        return None
    section = Config.model_fields[location[0]].annotation
    assert isinstance(section, type)
    found: FieldInfo | None = section.model_fields.get(location[1])
    return found


def _shorten(value: object) -> str:
    as_yaml = {None: "null", True: "true", False: "false"}
    text = as_yaml[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return ""
    return yaml.safe_dump(
        list(field.default) if isinstance(field.default, tuple) else field.default,
        default_flow_style=True,
    ).split("\n")[0]


def _type_name(field: FieldInfo) -> str:
    choices = get_args(field.annotation)
    if choices and all(isinstance(choice, str) for choice in choices):
        return " | ".join(choices)
    name = getattr(field.annotation, "__name__", None) if not choices else None
    text = name or str(field.annotation)
    for long, short in (
        ("pathlib.Path", "path"),
        ("Path", "path"),
        ("NoneType", "null"),
        ("None", "null"),
    ):
        text = text.replace(long, short)
    return text
