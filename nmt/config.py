"""The configuration: one section a stage, every field typed, bounded and described.

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
from nmt.special_tokens import TAGS


def _path_or_pair(value: object) -> object:
    paths = value if isinstance(value, (list, tuple)) else [value]
    sound = all(isinstance(path, (str, Path)) for path in paths)
    if value is not None and not (sound and len(paths) == (2 if paths is value else 1)):
        # One line here, where the union of types would give one for each of its members.
        raise PydanticCustomError("path", "Input should be a path, or [source, target] paths")
    return tuple(paths) if paths is value else value


MOST_TAGS = len(TAGS)
CORPUS_PATHS = ("path", "train_path", "validation_path", "test_path")  # of the data section

PathOrPair = Annotated[Path | tuple[Path, Path] | None, BeforeValidator(_path_or_pair)]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
SubwordKind = Literal["bpe", "unigram"]
WordKind = Literal["spacy", "whitespace"]
ModelPart = Literal["encoder", "decoder", "embeddings"]

# Upper bounds far above what is of use: a slip of the finger is told before memory ends.
MOST = 1_000_000_000
WIDEST = 65_536
DEEPEST = 1000

BrokenRule = tuple[tuple[str, ...], str]  # the fields that the rule looks at, and what is wrong
# The validation context in which broken rules are no error, so that all can be asked for.
RULES_UNCHECKED = {"rules": "unchecked"}


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

    def broken_rules(self) -> Iterator[BrokenRule]:
        """Yield the rules across fields that do not hold."""
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
_NAMED = ("multi30k", "tatoeba", "opus", "mtdata", "hub")  # corpora that are one thing
_DOWNLOADED = ("pickle", "multi30k", "sample", "tatoeba")  # that need no path


class CorpusConfig(Section):
    """Which corpus: by its name, or by its files."""

    source: Source = Field(
        "pickle",
        description="kind of corpus: files (pickle, tsv, parallel, table), or one by its name; "
        "`sample` is built in, `pickle` without a path the tutorial's file",
    )
    path: PathOrPair = Field(
        None,
        description="the corpus on disk, to be split here: a file with the source in its first "
        "column, but English first if it is the target (pickle, tsv, tatoeba), a folder "
        "(multi30k), a file or folder of parquet, JSON lines, CSV or Arrow (table), or for "
        "parallel a [source, target] pair of files or the stem of STEM.en/STEM.de; without any "
        "path, pickle, multi30k and tatoeba download; for opus NAME/VERSION or its zip, for "
        "mtdata an identifier, for hub the dataset's name",
    )
    train_path: PathOrPair = Field(None, description="given training split, written as `path`")
    validation_path: PathOrPair = Field(None, description="given validation split")
    test_path: PathOrPair = Field(None, description="given test split")
    subset: str | None = Field(None, description="configuration of the dataset, as de-en (hub)")
    revision: str | None = Field(None, description="branch, tag or commit of the dataset (hub)")
    columns: tuple[str, str] | None = Field(
        None,
        description="columns of source and target, as translation.en for a field within one; "
        "unset: found by their names (table, hub)",
    )

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`; of those about paths, one at most can be broken."""
        splits = [f for f in ("train_path", "validation_path", "test_path") if getattr(self, f)]
        paths = ["path", *splits] if self.path else splits
        corpus = self.path or self.train_path
        if self.source == "sample" and paths:
            yield ("source", *paths), f"source `sample` is built in; take out {', '.join(paths)}"
        elif self.source in _NAMED and splits:
            message = f"source `{self.source}` brings its own splits; take out {', '.join(splits)}"
            yield ("source", *splits), message
        elif self.path and self.train_path:
            yield ("path", "train_path"), "`path` and `train_path` exclude each other"
        elif self.source not in _DOWNLOADED and not corpus:
            wanted = "`path`" if self.source in _NAMED else "`path` or `train_path`"
            message = f"source `{self.source}` needs {wanted}"
            yield ("source", "path", "train_path"), message
        elif splits and not corpus:
            message = f"{' and '.join(splits)} given without `train_path` or `path`; set one too"
            yield ("source", "path", "train_path", *splits), message
        readers = {"subset": ("hub",), "revision": ("hub",), "columns": ("hub", "table")}
        for name, sources in readers.items():
            if getattr(self, name) and self.source not in sources:
                message = f"`{name}` is for source {' and '.join(sources)}, not `{self.source}`"
                yield (name, "source"), message


class CorpusPart(CorpusConfig):
    """One of several corpora of a training."""

    name: str | None = Field(None, description="what reports call it; its source and path if unset")
    weight: float | None = Field(
        None,
        gt=0,
        le=1e6,
        description="its share of every epoch, beside the others' weights; unset: its size",
    )
    tag: str | None = Field(
        None,
        pattern="^[a-z0-9_-]{1,30}$",
        description="put before its sources as a piece, and before others with --tag",
    )
    held_out: bool = Field(
        True, description="validation and test come from it: its own splits, or taken out of it"
    )

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name or " ".join(filter(None, (self.source, self._where)))

    @property
    def _where(self) -> str:
        found = self.path or self.train_path
        return str(found[0] if isinstance(found, tuple) else found or "")


class DataConfig(CorpusConfig):
    """Where the sentence pairs come from, how they are cleaned, and how they are split."""

    corpora: tuple[CorpusPart, ...] = Field(
        (),
        max_length=100,
        description="several corpora in one training, in place of source and path: a list of "
        "{source, path, …, weight, tag, held_out, name}",
    )
    source_language: LanguageCode = Field("en", description="language code translated from")
    target_language: LanguageCode = Field("de", description="language code translated into")
    validation_size: int = Field(
        500,
        ge=1,
        le=MOST,
        description="pairs to take out for validation where no such split is given",
    )
    test_size: int = Field(
        1000,
        ge=1,
        le=MOST,
        description="pairs to take out for the test where no such split is given",
    )
    unicode: Literal["NFC", "NFKC", "none"] = Field(
        "NFC", description="Unicode normalisation form of both sides"
    )
    lowercase: Literal["none", "source", "both"] = Field(
        "none", description="which sides the model reads in lower case"
    )
    restore_case: bool = Field(
        False,
        description="write translations with the capitals that training's target text has; the "
        "model itself writes in lower case (needs lowercase: both)",
    )
    max_words: int = Field(
        100,
        ge=1,
        le=1_000_000,
        description="longer training pairs are dropped (words between spaces, a side; or 50 times "
        "as many characters)",
    )
    max_ratio: float = Field(
        9.0, ge=1, le=1e6, description="training pairs with a higher ratio of lengths are dropped"
    )
    drop_duplicates: bool = Field(
        True, description="keep only the first of identical training pairs"
    )
    drop_copies: bool = Field(
        False, description="drop training pairs whose target is the source, but for punctuation"
    )
    min_letters: float = Field(
        0.0,
        ge=0,
        le=1,
        description="smallest share of letters in a side of a training pair, spaces not counted, "
        "against lists of numbers and symbols (0.5 is usual); 0: any",
    )
    max_character_ratio: float | None = Field(
        None,
        ge=1,
        le=1e6,
        description="training pairs with a higher ratio of lengths in characters are dropped",
    )
    drop_mojibake: bool = Field(
        False,
        description="drop training pairs in which letters were decoded wrongly, such as Ã¼ "
        "(needs the extra `filters`)",
    )
    check_languages: bool = Field(
        False,
        description="drop training pairs of which a side is very likely in another language "
        "(needs the extra `filters`)",
    )
    disjoint_splits: bool = Field(
        False,
        description="no sentence, source or target, is in two splits, compared without case and "
        "punctuation; training pairs that share one with a given split are dropped",
    )
    carry_over: Literal["none", "names", "all"] = Field(
        "none",
        description="source words that training never saw are put into the translation as they "
        "are (subwords only): none, names (words with a capital, also where a sentence begins), "
        "or all; half of the training pairs that hold names are then learnt with placeholders in "
        "their places",
    )
    min_coverage: float = Field(
        0.7,
        ge=0,
        le=1,
        description="refuse to go on when a smaller share of the validation or test tokens is "
        "known to the vocabulary",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed of the split and the placeholders")

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        if self.corpora:
            yield from self._broken_rules_of_corpora()
        else:
            yield from super().broken_rules()
        if self.restore_case and self.lowercase != "both":
            message = f"`restore_case` needs `lowercase: both`, not `{self.lowercase}`"
            yield ("restore_case", "lowercase"), message

    @property
    def tags(self) -> list[str]:
        """The corpora's different tags, in the order in which they are numbered."""
        return sorted({part.tag for part in self.corpora if part.tag})

    def _broken_rules_of_corpora(self) -> Iterator[BrokenRule]:
        for name, info in CorpusConfig.model_fields.items():
            if getattr(self, name) != info.default:
                yield ("corpora", name), f"`corpora` name their own `{name}`; take out one of them"
        for part in self.corpora:
            for _, message in part.broken_rules():
                yield ("corpora",), f"corpora, {part.label}: {message}"
        if len({part.weight is None for part in self.corpora}) > 1:
            yield ("corpora",), "corpora: set `weight` for all of them, or for none"
        if not any(part.held_out for part in self.corpora):
            yield ("corpora",), "corpora: set `held_out: true` for one, to validate and test on"
        if len(self.tags) > MOST_TAGS:
            yield ("corpora",), f"corpora: {len(self.tags)} different tags, at most {MOST_TAGS}"


class TokenizerConfig(Section):
    """How text becomes pieces, and pieces numbers."""

    kind: Literal["bpe", "unigram", "spacy", "whitespace"] = Field(
        "bpe",
        description="SentencePiece subwords (bpe, unigram) or words (spaCy's blank tokenizer, "
        "whitespace)",
    )
    joint: bool = Field(True, description="one vocabulary for both languages")
    vocabulary_size: int = Field(
        8000,
        ge=8,
        le=10_000_000,
        description="largest size of a vocabulary, special tokens counted",
    )
    word_mark: Literal["start", "end"] = Field(
        "start",
        description="where a word's pieces tell that it starts or ends (subwords only); with end, "
        "words and punctuation are parted, so that the end of a compound and the word that it is "
        "have the same pieces",
    )
    min_count: int = Field(
        1,
        ge=1,
        le=MOST,
        description="words seen less often in training become <unk> (word level only)",
    )
    byte_fallback: bool = Field(
        True, description="spell characters outside the vocabulary as bytes (subwords only)"
    )
    run: Path | None = Field(
        None,
        description="run folder whose vocabularies are used as they are; the pairs it has held out "
        "stay out of training too (nmt train --from sets it); unset: new ones are learnt",
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

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        if self.sampling and not self.subword:
            message = f"`sampling` needs `kind: bpe` or `unigram`, not `{self.kind}`"
            yield ("sampling", "kind"), message
        if self.word_mark == "end" and not self.subword:
            message = f"`word_mark: end` needs `kind: bpe` or `unigram`, not `{self.kind}`"
            yield ("word_mark", "kind"), message


class ModelConfig(Section):
    """The Transformer (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762)."""

    d_model: int = Field(256, ge=2, le=WIDEST, description="width of embeddings and layers")
    heads: int = Field(4, ge=1, le=WIDEST, description="attention heads")
    d_key: int | None = Field(
        None,
        ge=1,
        le=WIDEST,
        description="width of a head's queries and keys; d_model / heads if unset",
    )
    d_value: int | None = Field(
        None, ge=1, le=WIDEST, description="width of a head's values; d_model / heads if unset"
    )
    d_ff: int = Field(1024, ge=1, le=WIDEST, description="inner width of the feed-forward layers")
    encoder_layers: int = Field(3, ge=1, le=DEEPEST, description="layers of the encoder")
    decoder_layers: int = Field(3, ge=1, le=DEEPEST, description="layers of the decoder")
    norm: Literal["pre", "post"] = Field(
        "pre", description="layer norm before each sublayer, or after its residual as in the paper"
    )
    final_norm: bool = Field(True, description="layer norm at the end of each stack")
    norm_epsilon: float = Field(
        1e-5,
        ge=1e-12,
        le=1,
        description="ε that layer norms add to the variance, against division by zero",
    )
    activation: Literal["relu", "gelu"] = Field("relu", description="in the feed-forward layers")
    score_scale: Literal["d_key", "d_model"] = Field(
        "d_key",
        description="attention scores are divided by the square root of this: of a head's width "
        "as in the paper, or of d_model",
    )
    attention_bias: bool = Field(True, description="biases in the attention projections")
    output_bias: bool = Field(False, description="bias in the output projection")
    positions: Literal["sinusoidal", "learned", "rotary"] = Field(
        "sinusoidal",
        description="how positions are encoded: by vectors added to the embeddings, computed or "
        "learned by each side, or by turning the queries and keys of self-attention",
    )
    position_exponent: Literal["pair", "column"] = Field(
        "pair",
        description="what i counts in the sinusoids' 10000^(2i / d_model): pairs of columns as in "
        "the paper, or columns",
    )
    first_position: int = Field(
        0, ge=0, le=1, description="number of the first position (sinusoidal only)"
    )
    max_length: int = Field(
        256, ge=4, le=1_000_000, description="longest sequence in pieces, <sos> and <eos> counted"
    )
    scale_embeddings: bool = Field(True, description="multiply embeddings by √d_model")
    tie: Literal["none", "inputs", "target", "all"] = Field(
        "all",
        description="share weights: source with target embedding (inputs), target embedding with "
        "output (target), or all three (`inputs` and `all` need a joint vocabulary)",
    )
    initialisation: Literal["xavier_uniform", "xavier_normal"] = Field(
        "xavier_uniform",
        description="distribution of the first weights of all matrices but the embeddings",
    )
    embedding_std: float | None = Field(
        None,
        gt=0,
        le=100,
        description="standard deviation of the first embeddings and learned positions; "
        "1 / √d_model if unset, which suits scaled ones",
    )
    dropout: float = Field(
        0.1, ge=0, lt=1, description="on embeddings and on the output of each sublayer"
    )
    embedding_dropout: float | None = Field(
        None, ge=0, lt=1, description="on embeddings with their positions; `dropout` if unset"
    )
    attention_output_dropout: float | None = Field(
        None, ge=0, lt=1, description="on the output of attention sublayers; `dropout` if unset"
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
        """Whether anything is dropped at all."""
        inside = self.attention_dropout, self.feed_forward_dropout
        return any((self.embedding_dropout_rate, self.attention_output_dropout_rate, *inside))

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        sinusoidal = [
            name
            for name in ("first_position", "position_exponent")
            if getattr(self, name) != type(self).model_fields[name].default
        ]
        if self.positions != "sinusoidal" and sinusoidal:
            names, kind = " and ".join(sinusoidal), self.positions
            message = f"{names} set, but `positions: {kind}` has no such formula"
            yield ("positions", *sinusoidal), message
        if self.positions == "rotary" and self.key_size % 2:
            message = f"rotary positions turn pairs; make a head's width {self.key_size} even"
            yield ("positions", "d_key", "d_model", "heads"), message
        if (self.d_key is None or self.d_value is None) and self.d_model % self.heads:
            message = f"`heads` {self.heads} must divide d_model {self.d_model}"
            yield ("heads", "d_model", "d_key", "d_value"), f"{message}, or set d_key and d_value"


class TrainingConfig(Section):
    """How the weights are learnt."""

    epochs: int = Field(20, ge=1, le=MOST, description="passes over the training data, at most")
    max_updates: int | None = Field(None, ge=1, le=MOST, description="stop after so many updates")
    max_minutes: float | None = Field(
        None,
        gt=0,
        le=MOST,
        description="stop after so many minutes of training, all resumptions counted",
    )
    target_bleu: float | None = Field(
        None, gt=0, le=100, description="stop when a validation reaches this BLEU"
    )
    batch_tokens: int | None = Field(
        4096,
        ge=1,
        le=MOST,
        description="padded tokens a batch and side, at most; unset: batch_sentences",
    )
    batch_sentences: int | None = Field(
        None, ge=1, le=MOST, description="a fixed number of sentence pairs a batch instead"
    )
    accumulate: int = Field(1, ge=1, le=1_000_000, description="batches an update")
    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="probability mass spread over the whole vocabulary"
    )
    r_drop: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="R-Drop's α: how much two passes over each batch, under different dropout, are "
        "to agree (Liang et al. 2021), for twice the time; 0: one pass",
    )
    initial_weights: Path | None = Field(
        None,
        description="weights of a run to start from, as runs/everyday/best.safetensors (nmt train "
        "--from sets it); unset: random ones",
    )
    freeze: tuple[ModelPart, ...] = Field(
        (), description="parts of the model that keep their weights: encoder, decoder, embeddings"
    )
    optimizer: Literal["adam", "adamw", "nadam"] = Field("adam", description="optimizer")
    learning_rate: float = Field(1e-3, gt=0, le=10_000, description="peak learning rate")
    betas: tuple[float, float] = Field((0.9, 0.98), description="Adam's decay rates")
    epsilon: float = Field(1e-9, gt=0, le=1, description="Adam's ε")
    weight_decay: float = Field(0.0, ge=0, le=100, description="weight decay (decoupled for adamw)")
    schedule: Literal["inverse_sqrt", "cosine", "constant"] = Field(
        "inverse_sqrt",
        description="learning rate after the warm-up (inverse_sqrt: Noam; cosine: to zero at the "
        "last update that epochs and max_updates allow, so raising them raises the rate again)",
    )
    warmup_updates: int = Field(
        400, ge=0, le=MOST, description="updates in which the rate rises linearly to its peak"
    )
    clip_norm: float | None = Field(1.0, gt=0, le=1e6, description="largest norm of the gradient")
    average_decay: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="decay of the exponential moving average of the weights, which then is what "
        "is validated and used (0.999 is usual); 0: none",
    )
    validate_updates: int | None = Field(
        None, ge=1, le=MOST, description="updates between validations; unset: every epoch"
    )
    validate_pairs: int | None = Field(
        None,
        ge=1,
        le=1_000_000_000,
        description="pairs of the validation split that validations score, evenly spread over it; "
        "unset: all",
    )
    keep_validated: int = Field(
        0,
        ge=0,
        le=1000,
        description="keep the weights of the last so many validations, for nmt average",
    )
    best: Best = Field("bleu", description="validation measure that chooses the best weights")
    patience: int | None = Field(
        None, ge=1, le=MOST, description="stop after so many validations without a new best"
    )
    checkpoint_minutes: float = Field(
        5.0, gt=0, le=MOST, description="minutes between checkpoints, at most"
    )
    checkpoint_updates: int | None = Field(
        None, ge=1, le=MOST, description="updates between checkpoints, at most"
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="of matrix products; auto: bfloat16 where GPU or CPU have instructions for it, "
        "float16 with a scaled loss on older GPUs with tensor cores (T4, V100)",
    )
    deterministic: bool = Field(
        False,
        description="on a GPU, only kernels that give the same bits in each run; some are slower",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed of weights, order and dropout")
    tensorboard: bool = Field(
        False,
        description="write the validations for TensorBoard too, into the run folder (needs the "
        "package tensorboard)",
    )

    @field_validator("betas")
    @classmethod
    def _betas_are_decays(cls, betas: tuple[float, float]) -> tuple[float, float]:
        if not all(0 <= beta < 1 for beta in betas):
            raise PydanticCustomError("decay", "Input should be two numbers from 0 to below 1")
        return betas

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`."""
        tokens, sentences = self.batch_tokens, self.batch_sentences
        if (tokens is None) == (sentences is None):
            now = f"{tokens or 'null'} and {sentences or 'null'}"
            message = f"set exactly one of batch_tokens and batch_sentences to null, now {now}"
            yield ("batch_tokens", "batch_sentences"), message


class DecodingConfig(Section):
    """How a translation is searched."""

    engine: EngineChoice = Field(
        "auto",
        description="what runs the model: the library ctranslate2, for speed; pytorch, for "
        "everything; auto: ctranslate2 where it can",
    )
    beam_size: int = Field(4, ge=1, le=500, description="hypotheses kept a step; 1 is greedy")
    length_penalty: float = Field(
        0.6,
        ge=0,
        le=10,
        description="α of ((5 + length) / 6)^α by which log-probabilities are divided (Wu et al. "
        "2016, eq. 14); 0: none",
    )
    max_length_factor: float = Field(
        1.5, ge=0, le=100, description="longest output in pieces: factor × source pieces + extra"
    )
    max_length_extra: int = Field(20, ge=1, le=10_000, description="see max_length_factor")
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        description="sample: draw each piece at random, with probabilities to the power of "
        "1 / temperature; 0: search for the best instead",
    )
    top_k: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="sample from this many of the most probable pieces; 0: from all",
    )
    top_p: float = Field(
        1.0,
        gt=0,
        le=1,
        description="sample from the fewest pieces that together have this probability",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed of sampling")
    batch_tokens: int = Field(
        8192, ge=1, le=MOST, description="source tokens × beam size decoded together, at most"
    )
    replace_unknown: bool = Field(
        True,
        description="put the source word that the decoder attends to most in the place of <unk> "
        "(word level only)",
    )
    neighbours: int = Field(
        0,
        ge=0,
        le=10_000,
        description="training positions most like the present one whose next pieces are mixed into "
        "the model's probabilities (Khandelwal et al. 2021), for small corpora; 0: none",
    )
    neighbour_share: float = Field(
        0.3, gt=0, lt=1, description="λ: what part of the probability is the neighbours'"
    )
    neighbour_temperature: float = Field(
        20,
        ge=1e-6,
        le=1e6,
        description="T: squared distance at which a neighbour counts 1/e as much as one at 0",
    )

    def hypotheses(self, n_best: int) -> int:
        """Return how many hypotheses of a sentence are kept to find the `n_best`."""
        return n_best if self.temperature else max(n_best, self.beam_size)


@dataclass(frozen=True)
class Origin:
    """Where a configuration came from: a file, and the fields that were overridden.

    All origins are equal, so that configurations with the same values are.
    """

    file: str = field(default="", compare=False)
    overrides: tuple[str, ...] = field(default=(), compare=False)


class Config(Section):
    """Everything that a run is made from."""

    _origin: Origin = PrivateAttr(Origin())

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @property
    def origin(self) -> Origin:
        """The file and the overrides that it was loaded from; empty if made in Python."""
        return self._origin

    def with_origin(self, origin: Origin) -> "Config":
        """Return the same configuration, said to come from there."""
        copy = self.model_copy()
        copy._origin = origin
        return copy

    def broken_rules(self) -> Iterator[BrokenRule]:
        """See `Section.broken_rules`; those of all sections and across sections."""
        for section in type(self).model_fields:
            for fields, message in getattr(self, section).broken_rules():
                yield tuple(f"{section}.{field}" for field in fields), f"{section}: {message}"
        if self.model.tie in ("inputs", "all") and not self.tokenizer.joint:
            message = f"`model.tie: {self.model.tie}` needs `tokenizer.joint: true`"
            yield ("model.tie", "tokenizer.joint"), message
        if self.training.r_drop and not self.model.has_dropout:
            message = "`training.r_drop` compares two passes under dropout; set `model.dropout` too"
            yield ("training.r_drop", "model.dropout"), message
        if self.data.carry_over == "names" and self.data.lowercase != "none":
            message = "`data.carry_over: names` knows names by their capital; set it to `all`, or "
            yield ("data.carry_over", "data.lowercase"), message + "`data.lowercase` to none"
        if self.data.carry_over == "names" and self.data.source_language == "de":
            message = "`data.carry_over: names` knows names by their capital, but all German nouns "
            fields = ("data.carry_over", "data.source_language")
            yield fields, message + "have one; set it to none or all"
        if self.data.tags and not self.tokenizer.subword:
            message = "tags of `data.corpora` need `tokenizer.kind: bpe` or `unigram`"
            yield ("data.corpora", "tokenizer.kind"), message
        if self.data.carry_over != "none" and not self.tokenizer.subword:
            yield (
                ("data.carry_over", "tokenizer.kind"),
                "`data.carry_over` needs `tokenizer.kind: bpe` or `unigram`; to carry unknown "
                "words over, a vocabulary of words has `decoding.replace_unknown`",
            )
