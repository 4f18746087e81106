"""The configuration: five sections, whose fields have types, bounds and descriptions.

`nmt/config_files.py` reads it from YAML.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from nmt.choices import Best, EngineChoice
from nmt.corpus.languages import two_letters
from nmt.special_tokens import SPECIALS, TAGS


def _path_or_pair(value: object) -> object:
    paths = value if isinstance(value, (list, tuple)) else [value]
    sound = all(isinstance(path, (str, Path)) for path in paths)
    if value is not None and not (sound and len(paths) == (2 if paths is value else 1)):
        # One message; pydantic would report one for each member of the union.
        raise PydanticCustomError("path", "Input should be a path, or [source, target] paths")
    return tuple(paths) if paths is value else value


MOST_TAGS = len(TAGS)
CORPUS_PATHS = ("path", "train_path", "validation_path", "test_path")  # of the data section

PathOrPair = Annotated[Path | tuple[Path, Path] | None, BeforeValidator(_path_or_pair)]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
SubwordKind = Literal["bpe", "unigram"]
WordKind = Literal["spacy", "whitespace"]
ModelPart = Literal["encoder", "decoder", "embeddings"]

# Upper bounds far above anything useful, so that a typo is reported before memory runs out.
MOST = 1_000_000_000
WIDEST = 65_536
DEEPEST = 1000
_LARGEST_TABLE = 2**27  # numbers; configurations from elsewhere must not fill the memory
MOST_SUBWORDS = 250_000
_BYTES_AND_SPECIALS = 256 + len(SPECIALS)

BrokenRule = tuple[tuple[str, ...], str]  # the fields that the rule involves, and the message
# With this validation context, broken rules raise no error, so that all can be collected.
RULES_UNCHECKED = {"rules": "unchecked"}


class Section(BaseModel):
    """A section of the YAML. Unknown fields are refused; values are immutable after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _only_switches_are_boolean(cls, value: object, info: ValidationInfo) -> object:
        # YAML reads `no` (Norwegian) as false, and false would pass for the number 0.
        assert info.field_name
        kind = cls.model_fields[info.field_name].annotation
        if isinstance(value, bool) and kind is not bool and not hasattr(kind, "model_fields"):
            raise PydanticCustomError(
                "boolean", "Input should be text or a number; put no, yes, on and off in quotes"
            )
        return value

    def broken_rules(self) -> Iterator[BrokenRule]:
        """Yield the violated rules that involve several fields."""
        yield from ()

    @model_validator(mode="after")
    def _rules_hold(self, info: ValidationInfo) -> "Section":
        broken = [message for _, message in self.broken_rules()]
        if broken and info.context != RULES_UNCHECKED:
            raise PydanticCustomError("broken_rules", "{all}", {"all": "; ".join(broken)})
        return self


Source = Literal[
    "pickle", "tsv", "parallel", "table", "multi30k", "sample", "tatoeba", "opus", "mtdata", "hub"
]
_NAMED = ("multi30k", "tatoeba", "opus", "mtdata", "hub")  # known by name; take no files of splits
_DOWNLOADED = ("pickle", "multi30k", "sample", "tatoeba")  # these need no path


class CorpusConfig(Section):
    """Which corpus to use, by name or by files."""

    source: Source = Field(
        "pickle",
        description="type of the corpus files (pickle, tsv, parallel, table), or a named corpus; "
        "`sample` is built in; `pickle` without a path is the corpus of "
        "O'Rahilly's tutorial, 10,000 short English–German pairs",
    )
    path: PathOrPair = Field(
        None,
        description="where the corpus is. pickle, tsv, tatoeba: a file with the source in the "
        "first column, or English in the first column if English is the target. multi30k: a "
        "folder. table: a file or folder of Parquet, JSON lines, CSV or Arrow. parallel: [source, "
        "target] files, or STEM for STEM.en and STEM.de. opus: NAME/VERSION or its zip file. "
        "mtdata: an identifier. hub: the dataset's name. Without a path, pickle, multi30k and "
        "tatoeba are downloaded",
    )
    train_path: PathOrPair = Field(
        None, description="training split, if you provide one; same form as `path`"
    )
    validation_path: PathOrPair = Field(None, description="validation split, if you provide one")
    test_path: PathOrPair = Field(None, description="test split, if you provide one")
    subset: str | None = Field(
        None, description="configuration of the dataset, such as de-en (hub)"
    )
    revision: str | None = Field(None, description="branch, tag or commit of the dataset (hub)")
    columns: tuple[str, str] | None = Field(
        None,
        description="names of the source and target columns; a dot selects a nested field, as in "
        "translation.en; unset: guessed from the names (table, hub)",
    )

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`; at most one rule about paths is reported."""
        splits = [f for f in ("train_path", "validation_path", "test_path") if getattr(self, f)]
        paths = ["path", *splits] if self.path else splits
        corpus = self.path or self.train_path
        if self.source == "sample" and paths:
            yield ("source", *paths), f"source `sample` is built in; remove {', '.join(paths)}"
        elif self.source in _NAMED and splits:
            message = f"source `{self.source}` takes no files of splits; remove {', '.join(splits)}"
            yield ("source", *splits), message
        elif self.path and self.train_path:
            yield ("path", "train_path"), "`path` and `train_path` cannot both be set"
        elif self.source not in _DOWNLOADED and not corpus:
            wanted = "`path`" if self.source in _NAMED else "`path` or `train_path`"
            message = f"source `{self.source}` needs {wanted}"
            yield ("source", "path", "train_path"), message
        elif splits and not corpus:
            message = (
                f"{' and '.join(splits)} set without `train_path` or `path`; set one of them too"
            )
            yield ("source", "path", "train_path", *splits), message
        readers = {"subset": ("hub",), "revision": ("hub",), "columns": ("hub", "table")}
        for name, sources in readers.items():
            if getattr(self, name) and self.source not in sources:
                message = (
                    f"`{name}` applies to `source: {' or '.join(sources)}`, not to `{self.source}`"
                )
                yield (name, "source"), message


class CorpusPart(CorpusConfig):
    """One of several corpora that a model is trained on."""

    name: str | None = Field(None, description="name in reports; unset: source and path")
    weight: float | None = Field(
        None,
        gt=0,
        le=1e6,
        description="its share of each epoch, relative to the other weights; unset: shares "
        "follow the sizes of the corpora, as mixing_temperature says",
    )
    tag: str | None = Field(
        None,
        pattern="^[a-z0-9_-]{1,30}$",
        description="token put in front of its source sentences; use it with --tag",
    )
    held_out: bool = Field(
        True,
        description="use its validation and test splits; if none of the corpora has such a split, "
        "hold out pairs of this one",
    )

    @property
    def label(self) -> str:
        """Its name in reports."""
        found = self.path or self.train_path
        first = found[0] if isinstance(found, tuple) else found
        return self.name or (f"{self.source} {first}" if first else self.source)


class DataConfig(CorpusConfig):
    """Where the sentence pairs come from, how they are cleaned, and how they are split."""

    corpora: tuple[CorpusPart, ...] = Field(
        (),
        max_length=100,
        description="train on several corpora, instead of source and path: a list of "
        "{source, path, …, weight, tag, held_out, name}",
    )
    mixing_temperature: float = Field(
        1.0,
        ge=1,
        le=1000,
        description="T: the share of each of `corpora` in an epoch is proportional to its number "
        "of training pairs to the power of 1 / T, so small corpora are repeated (Arivazhagan et "
        "al. 2019; 5 is usual); 1: every pair once",
    )
    source_language: LanguageCode = Field("en", description="language code of the source")
    target_language: LanguageCode = Field("de", description="language code of the target")
    validation_size: int = Field(
        500,
        ge=1,
        le=MOST,
        description="pairs to hold out for validation, unless the corpus has a validation split",
    )
    test_size: int = Field(
        1000,
        ge=1,
        le=MOST,
        description="pairs to hold out for testing, unless the corpus has a test split",
    )
    unicode: Literal["NFC", "NFKC", "none"] = Field(
        "NFC", description="Unicode normalization form, applied to both sides"
    )
    lowercase: Literal["none", "source", "both"] = Field(
        "none", description="which sides to convert to lower case"
    )
    restore_case: bool = Field(
        False,
        description="restore capitals in translations, as learned from the training targets; the "
        "model itself writes lower case (needs lowercase: both)",
    )
    max_words: int = Field(
        100,
        ge=1,
        le=1_000_000,
        description="drop training pairs with a side longer than this many words separated by "
        "spaces, or 50 times as many characters",
    )
    max_ratio: float = Field(
        9.0,
        ge=1,
        le=1e6,
        description="drop training pairs whose lengths in words differ by more than this ratio",
    )
    drop_duplicates: bool = Field(
        True,
        description="keep only one of several identical training pairs: the first, but if nmt "
        "chooses the held-out pairs, preferably one from a corpus with `held_out`",
    )
    drop_copies: bool = Field(
        False,
        description="drop training pairs whose target equals the source, ignoring case and "
        "punctuation",
    )
    min_letters: float = Field(
        0.0,
        ge=0,
        le=1,
        description="drop training pairs, such as lists of numbers, with a side in which letters "
        "make up less than this share of the characters other than spaces (0.5 is usual); 0: keep "
        "all",
    )
    max_character_ratio: float | None = Field(
        None,
        ge=1,
        le=1e6,
        description="drop training pairs whose lengths in characters differ by more than this "
        "ratio",
    )
    drop_mojibake: bool = Field(
        False,
        description="drop training pairs that were decoded with the wrong encoding, such as Ã¼ "
        "(needs the extra `filters`)",
    )
    check_languages: bool = Field(
        False,
        description="drop training pairs with a side that is very likely in another language "
        "(needs the extra `filters`)",
    )
    disjoint_splits: bool = Field(
        False,
        description="ensure that no sentence, source or target, occurs in two splits, ignoring "
        "case and punctuation; training pairs that share one with a split you provide are dropped, "
        "but two splits you provide are not compared",
    )
    carry_over: Literal["none", "names", "all"] = Field(
        "none",
        description="source words to copy into the translation if they did not occur in training "
        "(subwords only): none, names (capitalized words, also at the start of a sentence), or "
        "all; in half of the training pairs that contain names, placeholders replace the names",
    )
    min_coverage: float = Field(
        0.7,
        ge=0,
        le=1,
        description="stop with an error if the vocabulary covers a smaller share of the validation "
        "or test tokens than this",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed for the split and the placeholders")

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        if self.corpora:
            yield from self._broken_rules_of_corpora()
        else:
            yield from super().broken_rules()
            if self.mixing_temperature > 1:
                yield ("mixing_temperature", "corpora"), "`mixing_temperature` needs `corpora`"
        yield from self.broken_rule_of_languages(self.model_fields_set)
        if self.restore_case and self.lowercase != "both":
            message = f"`restore_case` needs `lowercase: both`, not `{self.lowercase}`"
            yield ("restore_case", "lowercase"), message

    def broken_rule_of_languages(self, given: set[str]) -> Iterator[BrokenRule]:
        """Refuse equal languages if only one of the two is among the fields `given`.

        Set both to train on pairs of one language, for example texts and simpler versions.
        """
        languages = ("source_language", "target_language")
        if self.source_language == self.target_language and len(given & {*languages}) == 1:
            language = self.source_language
            yield (
                languages,
                f"both languages are {language}; set both `source_language` and `target_language`",
            )

    @property
    def label(self) -> str:
        """The name of the corpus, or the names of all."""
        return ", ".join(part.label for part in self.corpora) or self.source

    @property
    def tags(self) -> list[str]:
        """The corpora's different tags, in the order in which they are numbered."""
        return sorted({part.tag for part in self.corpora if part.tag})

    def _broken_rules_of_corpora(self) -> Iterator[BrokenRule]:
        for name, info in CorpusConfig.model_fields.items():
            if getattr(self, name) != info.default:
                yield (
                    ("corpora", name),
                    f"move `{name}` into an entry of `corpora`; each entry has its own",
                )
        for part in self.corpora:
            for _, message in part.broken_rules():
                yield ("corpora",), f"corpora, {part.label}: {message}"
        if len({part.weight is None for part in self.corpora}) > 1:
            yield ("corpora",), "corpora: set `weight` for all of them, or for none"
        if self.mixing_temperature > 1 and any(part.weight for part in self.corpora):
            message = "corpora: set `weight` or `mixing_temperature`, not both"
            yield ("corpora", "mixing_temperature"), message
        if not any(part.held_out for part in self.corpora):
            yield (
                ("corpora",),
                "corpora: set `held_out: true` for at least one, to validate and test on",
            )
        if len(self.tags) > MOST_TAGS:
            yield ("corpora",), f"corpora: {len(self.tags)} different tags, at most {MOST_TAGS}"


class TokenizerConfig(Section):
    """How text is split into pieces, and pieces become ids."""

    kind: Literal["bpe", "unigram", "spacy", "whitespace"] = Field(
        "bpe",
        description="SentencePiece subwords (bpe, unigram), or words (spaCy's blank tokenizer, or "
        "split at whitespace)",
    )
    joint: bool = Field(True, description="one vocabulary for both languages")
    vocabulary_size: int = Field(
        8000,
        ge=8,
        le=10_000_000,
        description="maximum size of a vocabulary, including special tokens; for subwords, at most "
        f"{MOST_SUBWORDS:,}",
    )
    word_mark: Literal["start", "end"] = Field(
        "start",
        description="whether the first or the last piece of a word carries the word boundary mark "
        "(subwords only); with end, a compound shares its last pieces with its last component; "
        "punctuation is split off, so that the mark directly follows the word",
    )
    min_count: int = Field(
        1,
        ge=1,
        le=MOST,
        description="words that occur less often than this in training become <unk> "
        "(word level only)",
    )
    byte_fallback: bool = Field(
        True, description="encode characters outside the vocabulary as bytes (subwords only)"
    )
    run: Path | None = Field(
        None,
        description="use the vocabularies of this run folder, and keep its held-out pairs out of "
        "training (nmt train --from sets it); unset: learn new vocabularies",
    )
    sampling: float = Field(
        0.0,
        ge=0,
        le=1,
        description="random segmentation during training (subwords only): for bpe, the probability "
        "of dropping a merge (0.1 is usual); for unigram, the share of words to resample",
    )

    @property
    def subword(self) -> bool:
        """Whether pieces are SentencePiece subwords."""
        return self.kind in get_args(SubwordKind)

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        if self.sampling and not self.subword:
            message = f"`sampling` needs `kind: bpe` or `unigram`, not `{self.kind}`"
            yield ("sampling", "kind"), message
        if self.word_mark == "end" and not self.subword:
            message = f"`word_mark: end` needs `kind: bpe` or `unigram`, not `{self.kind}`"
            yield ("word_mark", "kind"), message
        if self.vocabulary_size > MOST_SUBWORDS and self.subword:
            message = f"`vocabulary_size` is at most {MOST_SUBWORDS:,} for `kind: {self.kind}`"
            yield ("vocabulary_size", "kind"), message
        if self.vocabulary_size <= _BYTES_AND_SPECIALS and self.subword and self.byte_fallback:
            message = f"`vocabulary_size` must be more than {_BYTES_AND_SPECIALS} with "
            yield ("vocabulary_size", "byte_fallback", "kind"), message + "`byte_fallback: true`"
        if self.min_count > 1 and self.subword:
            message = f"`min_count` needs `kind: spacy` or `whitespace`, not `{self.kind}`"
            yield ("min_count", "kind"), message


# Fields of the model that trained weights do not depend on.
TRAINING_ONLY = {
    *("initialisation", "embedding_std", "dropout", "embedding_dropout"),
    *("attention_output_dropout", "attention_dropout", "feed_forward_dropout"),
}


class ModelConfig(Section):
    """The Transformer (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762)."""

    d_model: int = Field(256, ge=2, le=WIDEST, description="width of embeddings and layers")
    heads: int = Field(4, ge=1, le=WIDEST, description="attention heads")
    d_key: int | None = Field(
        None,
        ge=1,
        le=WIDEST,
        description="width of the queries and keys of a head; unset: d_model / heads",
    )
    d_value: int | None = Field(
        None, ge=1, le=WIDEST, description="width of the values of a head; unset: d_model / heads"
    )
    d_ff: int = Field(1024, ge=1, le=WIDEST, description="inner width of the feed-forward layers")
    encoder_layers: int = Field(3, ge=1, le=DEEPEST, description="layers of the encoder")
    decoder_layers: int = Field(3, ge=1, le=DEEPEST, description="layers of the decoder")
    norm: Literal["pre", "post"] = Field(
        "pre",
        description="layer norm before each sublayer, or after its residual sum as in the paper",
    )
    final_norm: bool = Field(True, description="layer norm at the end of each stack")
    norm_epsilon: float = Field(
        1e-5,
        ge=1e-12,
        le=1,
        description="ε added to the variance in layer norms",
    )
    activation: Literal["relu", "gelu"] = Field(
        "relu", description="activation function of the feed-forward layers"
    )
    score_scale: Literal["d_key", "d_model"] = Field(
        "d_key",
        description="attention scores are divided by the square root of this: the width of a head "
        "as in the paper, or d_model",
    )
    attention_bias: bool = Field(True, description="use biases in the attention projections")
    output_bias: bool = Field(False, description="use a bias in the output projection")
    positions: Literal["sinusoidal", "learned", "rotary"] = Field(
        "sinusoidal",
        description="position encoding: sinusoids or learned vectors, added to the embeddings, or "
        "rotary, which rotates the queries and keys of self-attention",
    )
    position_exponent: Literal["pair", "column"] = Field(
        "pair",
        description="what i counts in the sinusoids' 10000^(2i / d_model): pairs of columns, as in "
        "the paper, or single columns",
    )
    first_position: int = Field(
        0, ge=0, le=1, description="number of the first position (sinusoidal only)"
    )
    max_length: int = Field(
        256,
        ge=4,
        le=32_768,
        description="longest source or target in pieces, including <eos> or <sos>",
    )
    scale_embeddings: bool = Field(True, description="multiply embeddings by √d_model")
    tie: Literal["none", "inputs", "target", "all"] = Field(
        "all",
        description="which weights to share: source and target embeddings (inputs), target "
        "embedding and output projection (target), or all three (`inputs` and `all` need a joint "
        "vocabulary)",
    )
    initialisation: Literal["xavier_uniform", "xavier_normal"] = Field(
        "xavier_uniform",
        description="initial distribution of all weight matrices except embeddings",
    )
    embedding_std: float | None = Field(
        None,
        gt=0,
        le=100,
        description="initial standard deviation of embeddings and learned positions; unset: "
        "1 / √d_model, which suits scaled embeddings",
    )
    dropout: float = Field(
        0.1, ge=0, lt=1, description="dropout on embeddings and on the output of each sublayer"
    )
    embedding_dropout: float | None = Field(
        None, ge=0, lt=1, description="dropout on embeddings plus positions; unset: `dropout`"
    )
    attention_output_dropout: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="dropout on the output of attention sublayers; unset: `dropout`",
    )
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="dropout on attention weights")
    feed_forward_dropout: float = Field(
        0.0, ge=0, lt=1, description="dropout on the inner activations of the feed-forward layers"
    )

    @property
    def key_size(self) -> int:
        """Width of one head's queries and keys."""
        return self.d_key or self.d_model // self.heads

    @property
    def value_size(self) -> int:
        """Width of one head's values."""
        return self.d_value or self.d_model // self.heads

    @property
    def embedding_dropout_rate(self) -> float:
        """Dropout on embeddings."""
        return self.dropout if self.embedding_dropout is None else self.embedding_dropout

    @property
    def attention_output_dropout_rate(self) -> float:
        """Dropout on the output of attention sublayers."""
        rate = self.attention_output_dropout
        return self.dropout if rate is None else rate

    @property
    def has_dropout(self) -> bool:
        """Whether there is any dropout."""
        inside = self.attention_dropout, self.feed_forward_dropout
        others = self.embedding_dropout_rate, self.attention_output_dropout_rate
        return any((self.dropout, *others, *inside))

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        sinusoidal = [
            name
            for name in ("first_position", "position_exponent")
            if getattr(self, name) != type(self).model_fields[name].default
        ]
        if self.positions != "sinusoidal" and sinusoidal:
            names, kind = " and ".join(sinusoidal), self.positions
            message = f"`positions: {kind}` does not use {names}"
            yield ("positions", *sinusoidal), message
        if self.positions == "rotary" and self.key_size % 2:
            message = (
                f"rotary positions rotate pairs of columns, so the width of a head, "
                f"{self.key_size}, must be even; change d_key, d_model or heads"
            )
            yield ("positions", "d_key", "d_model", "heads"), message
        if (self.d_key is None or self.d_value is None) and self.d_model % self.heads:
            message = f"`heads` {self.heads} must divide d_model {self.d_model}"
            yield ("heads", "d_model", "d_key", "d_value"), f"{message}, or set d_key and d_value"
        if self.max_length * self.d_model > _LARGEST_TABLE:
            message = f"`max_length` {self.max_length:,} is too large for d_model {self.d_model:,}"
            yield (
                ("max_length", "d_model"),
                f"{message}: at most {_LARGEST_TABLE // self.d_model:,}",
            )


class TrainingConfig(Section):
    """How the model is trained."""

    epochs: int = Field(
        20, ge=1, le=MOST, description="maximum number of passes over the training data"
    )
    max_updates: int | None = Field(None, ge=1, le=MOST, description="stop after this many updates")
    max_minutes: float | None = Field(
        None,
        gt=0,
        le=MOST,
        description="stop after this many minutes of training in total, including resumed training",
    )
    target_bleu: float | None = Field(
        None, gt=0, le=100, description="stop as soon as validation BLEU reaches this"
    )
    batch_tokens: int | None = Field(
        4096,
        ge=1,
        le=MOST,
        description="maximum padded tokens per batch, on each side; unset: use batch_sentences",
    )
    batch_sentences: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="instead of batch_tokens: a fixed number of sentence pairs per batch",
    )
    join_pairs: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="probability that a training pair is appended to another one, drawn again for "
        "each epoch, so that a model trained on short sentences also learns longer ones (Nguyen "
        "et al. 2021); pairs with a tag stay separate; 0: off",
    )
    accumulate: int = Field(1, ge=1, le=1_000_000, description="batches per update")
    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="probability mass spread over the whole vocabulary"
    )
    r_drop: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="R-Drop's α (Liang et al. 2021): weight of the penalty for disagreement "
        "between two passes with different dropout; doubles the training time; 0: off",
    )
    initial_weights: Path | None = Field(
        None,
        description="weights of a run to start from, such as runs/everyday/best.safetensors (nmt "
        "train --from sets it); unset: random initialization",
    )
    freeze: tuple[ModelPart, ...] = Field(
        (), description="parts of the model not to train: encoder, decoder, embeddings"
    )
    optimizer: Literal["adam", "adamw", "nadam"] = Field("adam", description="optimizer")
    learning_rate: float = Field(1e-3, gt=0, le=10_000, description="peak learning rate")
    betas: tuple[float, float] = Field((0.9, 0.98), description="Adam's decay rates, β1 and β2")
    epsilon: float = Field(1e-9, gt=0, le=1, description="Adam's ε")
    weight_decay: float = Field(0.0, ge=0, le=100, description="weight decay (decoupled for adamw)")
    schedule: Literal["inverse_sqrt", "cosine", "constant"] = Field(
        "inverse_sqrt",
        description="learning rate after the warm-up; inverse_sqrt: Noam's; cosine: falls to zero "
        "at the last update that epochs and max_updates allow, so raising these limits when "
        "resuming raises the rate again",
    )
    warmup_updates: int = Field(
        400,
        ge=0,
        le=MOST,
        description="updates over which the learning rate rises linearly to its peak",
    )
    clip_norm: float | None = Field(
        1.0, gt=0, le=1e6, description="clip the gradient to this norm; unset: do not clip"
    )
    average_decay: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="decay of an exponential moving average of the weights, which is then "
        "validated and used instead of the weights themselves (0.999 is usual); 0: off",
    )
    validate_updates: int | None = Field(
        None, ge=1, le=MOST, description="updates between validations; unset: every epoch"
    )
    validate_pairs: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="validate on this many pairs, evenly spread over the validation split; unset: "
        "all",
    )
    keep_validated: int = Field(
        0,
        ge=0,
        le=1000,
        description="number of recent validations whose weights are kept, for nmt average",
    )
    best: Best = Field("bleu", description="validation metric that selects the best weights")
    patience: int | None = Field(
        None, ge=1, le=MOST, description="stop after this many validations without improvement"
    )
    checkpoint_minutes: float = Field(
        5.0, gt=0, le=MOST, description="write a checkpoint at least this often, in minutes"
    )
    checkpoint_updates: int | None = Field(
        None, ge=1, le=MOST, description="write a checkpoint at least this often, in updates"
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="precision of matrix products; auto: bfloat16 if the GPU or CPU supports it, "
        "float16 with loss scaling on older GPUs with tensor cores (T4, V100), otherwise float32",
    )
    deterministic: bool = Field(
        False,
        description="on a GPU, use only kernels that are reproducible bit for bit; some are slower",
    )
    compile: bool = Field(
        False,
        description="on a GPU, compile the layers (torch.compile), which takes time at the start "
        "and can make small models faster; needs Triton and a C compiler",
    )
    shard: bool = Field(
        False,
        description="with several processes, shard the weights and the optimizer state (FSDP), "
        "for models too large for one GPU; otherwise each process holds a full copy",
    )
    seed: int = Field(
        1, ge=0, lt=2**31, description="seed for weights, order of the data and dropout"
    )
    tensorboard: bool = Field(
        False,
        description="also log to TensorBoard, into the run folder (needs the extra `tensorboard`)",
    )

    @field_validator("betas")
    @classmethod
    def _betas_are_decays(cls, betas: tuple[float, float]) -> tuple[float, float]:
        if not all(0 <= beta < 1 for beta in betas):
            raise PydanticCustomError(
                "decay", "Input should be two numbers from 0 up to, but not including, 1"
            )
        return betas

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        tokens, sentences = self.batch_tokens, self.batch_sentences
        if (tokens is None) == (sentences is None):
            now = f"{tokens or 'null'} and {sentences or 'null'}"
            message = f"exactly one of batch_tokens and batch_sentences must be null, got {now}"
            yield ("batch_tokens", "batch_sentences"), message


class DecodingConfig(Section):
    """How translations are searched for."""

    engine: EngineChoice = Field(
        "auto",
        description="inference engine. ctranslate2: faster; pytorch: supports everything; auto: "
        "ctranslate2 if it supports the model and the options",
    )
    beam_size: int = Field(
        4, ge=1, le=500, description="hypotheses kept at each step; 1: greedy search"
    )
    length_penalty: float = Field(
        0.6,
        ge=0,
        le=10,
        description="α in ((5 + length) / 6)^α, by which log-probabilities are divided (Wu et al. "
        "2016, eq. 14); higher values favour longer translations; 0: no penalty",
    )
    max_length_factor: float = Field(
        1.5,
        ge=0,
        le=100,
        description="longest output in pieces, including <eos>: factor × source pieces + extra",
    )
    max_length_extra: int = Field(20, ge=1, le=10_000, description="see max_length_factor")
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        description="sample each piece from the probabilities raised to the power 1 / temperature; "
        "0: search for the most probable translation instead",
    )
    top_k: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="sample from this many most probable pieces only; 0: from all",
    )
    top_p: float = Field(
        1.0,
        ge=1e-6,
        le=1,
        description="sample from the smallest set of pieces with at least this total probability",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed for sampling")
    batch_tokens: int = Field(
        8192, ge=1, le=MOST, description="maximum source tokens × beam size per batch"
    )
    split_sentences: bool = Field(
        True,
        description="translate the sentences of a line separately, if training had one sentence "
        "per line",
    )
    replace_unknown: bool = Field(
        True,
        description="replace <unk> with the source word that the decoder attends to most, among "
        "the unknown ones if there are any (word level only)",
    )
    neighbours: int = Field(
        0,
        ge=0,
        le=10_000,
        description="neighbours in nearest-neighbour translation (Khandelwal et al. 2021): at each "
        "step, retrieve this many similar positions of the training text and interpolate the "
        "model's probabilities with those of the pieces that followed; helps with small corpora; "
        "0: off",
    )
    neighbour_share: float = Field(
        0.3, gt=0, lt=1, description="λ: the neighbours' share of the probability"
    )
    neighbour_temperature: float = Field(
        20,
        ge=1e-6,
        le=1e6,
        description="T: the squared distance at which a neighbour's weight falls to 1/e",
    )

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        restrictions = {"top_k": self.top_k > 0, "top_p": self.top_p < 1}
        limits = [field for field, is_set in restrictions.items() if is_set]
        if limits and not self.temperature:
            message = f"`{limits[0]}` restricts sampling; set `temperature` too, for example to 1"
            yield (*limits, "temperature"), message

    def hypotheses(self, n_best: int) -> int:
        """Return how many hypotheses per sentence to keep in order to find the `n_best`."""
        return n_best if self.temperature else max(n_best, self.beam_size)


@dataclass(frozen=True)
class Origin:
    """Where a configuration came from: a file, and the fields that were overridden.

    fine_tuning: the options of nmt train that selected a run to start from, such as --from

    All origins compare equal, so that configurations are equal if their values are.
    """

    file: str = field(default="", compare=False)
    overrides: tuple[str, ...] = field(default=(), compare=False)
    fine_tuning: str = field(default="", compare=False)


class Config(Section):
    """The settings of a run."""

    _origin: Origin = PrivateAttr(Origin())

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @property
    def origin(self) -> Origin:
        """The file and the overrides it was loaded from; empty if created in Python."""
        return self._origin

    def with_origin(self, origin: Origin) -> "Config":
        """Return a copy with this origin."""
        copy = self.model_copy()
        copy._origin = origin
        return copy

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`; includes those of all sections."""
        for section in type(self).model_fields:
            for fields, message in getattr(self, section).broken_rules():
                yield tuple(f"{section}.{field}" for field in fields), f"{section}: {message}"
        if self.model.tie in ("inputs", "all") and not self.tokenizer.joint:
            message = f"`model.tie: {self.model.tie}` needs `tokenizer.joint: true`"
            yield ("model.tie", "tokenizer.joint"), message
        if self.training.r_drop and not self.model.has_dropout:
            message = (
                "`training.r_drop` compares two passes with different dropout; set "
                "`model.dropout` too"
            )
            yield ("training.r_drop", "model.dropout"), message
        if self.data.carry_over == "names" and self.data.lowercase != "none":
            message = "`data.carry_over: names` recognizes names by capitals; set it to `all`, or "
            yield ("data.carry_over", "data.lowercase"), message + "`data.lowercase` to none"
        if self.data.carry_over == "names" and two_letters(self.data.source_language) == "de":
            message = "`data.carry_over: names` recognizes names by capitals, but all German nouns "
            fields = ("data.carry_over", "data.source_language")
            yield fields, message + "are capitalized; set it to none or all"
        if self.training.initial_weights and not self.tokenizer.run:
            message = (
                "`training.initial_weights` needs `tokenizer.run`, the run that they come from"
            )
            yield ("training.initial_weights", "tokenizer.run"), message
        if self.data.tags and not self.tokenizer.subword:
            message = "tags of `data.corpora` need `tokenizer.kind: bpe` or `unigram`"
            yield ("data.corpora", "tokenizer.kind"), message
        if self.data.carry_over != "none" and not self.tokenizer.subword:
            yield (
                ("data.carry_over", "tokenizer.kind"),
                "`data.carry_over` needs `tokenizer.kind: bpe` or `unigram`; with whole words, "
                "use `decoding.replace_unknown` instead",
            )
