"""The section `model`."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from typing_extensions import override

from nmt.config.section import DEEPEST, WIDEST, BrokenRule, Section

_LARGEST_TABLE = 2**27  # numbers; configurations from elsewhere must not fill the memory
# Fields of the model that trained weights do not depend on.
TRAINING_ONLY = {
    *("initialization", "attention_initialization", "initial_biases"),
    *("embedding_distribution", "embedding_std", "dropout", "embedding_dropout"),
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
    key_value_heads: int | None = Field(
        None,
        ge=1,
        le=WIDEST,
        description="heads of keys and values, each used by a group of query heads (grouped-query "
        "attention, Ainslie et al. 2023); unset: one for every attention head",
    )
    d_ff: int = Field(1024, ge=1, le=WIDEST, description="inner width of the feed-forward layers")
    encoder_layers: int = Field(3, ge=1, le=DEEPEST, description="layers of the encoder")
    decoder_layers: int = Field(3, ge=1, le=DEEPEST, description="layers of the decoder")
    norm_position: Literal["pre", "post"] = Field(
        "pre",
        description="layer norm before each sublayer, or after its residual sum as in the paper",
    )
    final_norm: bool = Field(True, description="layer norm at the end of each stack")
    norm_kind: Literal["layer", "rms"] = Field(
        "layer",
        description="layer norm as in the paper, or RMSNorm (Zhang and Sennrich 2019), which does "
        "not subtract the mean and has no bias",
    )
    norm_epsilon: float = Field(
        1e-5,
        ge=1e-12,
        le=1,
        description="ε added to the variance in layer norms",
    )
    activation: Literal["relu", "gelu", "silu", "swiglu"] = Field(
        "relu",
        description="activation function of the feed-forward layers; swiglu multiplies a second "
        "projection by the SiLU of the first (Shazeer 2020), with 50% more weights",
    )
    score_scale: Literal["d_key", "d_model", "learned"] = Field(
        "d_key",
        description="attention scores are divided by the square root of this: the width of a head "
        "as in the paper, or d_model; learned: multiplied by one trained number per layer instead",
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
        description="longest source or target in tokens, including <eos> or <sos>",
    )
    scale_embeddings: bool = Field(True, description="multiply embeddings by √d_model")
    tie: Literal["none", "inputs", "target", "all"] = Field(
        "all",
        description="which weights to share: source and target embeddings (inputs), target "
        "embedding and output projection (target), or all three (`inputs` and `all` need a joint "
        "vocabulary)",
    )
    initialization: Literal["xavier_uniform", "xavier_normal", "pytorch"] = Field(
        "xavier_uniform",
        description="initial distribution of all weight matrices except embeddings; pytorch: that "
        "of nn.Linear",
    )
    attention_initialization: Literal["xavier_uniform", "xavier_normal", "pytorch"] | None = Field(
        None, description="that of the attention projections; unset: `initialization`"
    )
    initial_biases: Literal["zero", "pytorch"] | None = Field(
        None,
        description="initial biases: zero, or from the distribution of nn.Linear; unset: zero, "
        "with `initialization: pytorch` those of nn.Linear",
    )
    embedding_distribution: Literal["normal", "uniform"] = Field(
        "normal",
        description="initial distribution of embeddings and learned positions, around zero",
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
    def groups(self) -> int:
        """Number of heads of keys and values."""
        return self.key_value_heads or self.heads

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

    @override
    def broken_rules(self) -> Iterator[BrokenRule]:
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
        if self.heads % self.groups:
            message = f"`key_value_heads` {self.groups} must divide heads {self.heads}"
            yield ("key_value_heads", "heads"), message
        if self.max_length * self.d_model > _LARGEST_TABLE:
            message = f"`max_length` {self.max_length:,} is too large for d_model {self.d_model:,}"
            yield (
                ("max_length", "d_model"),
                f"{message}: at most {_LARGEST_TABLE // self.d_model:,}",
            )
