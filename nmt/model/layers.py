"""Encoder and decoder layers, and their residual connections."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from nmt.config.model import ModelConfig
from nmt.model.attention import CrossAttention, SelfAttention
from nmt.model.cache import KeyValueCache
from nmt.ops.dropout import Dropout
from nmt.ops.linear import Linear

Sublayer = Callable[[Tensor], Tensor]
"""(batch, length, d_model) → the same shape."""
NORMS: dict[str, type[nn.LayerNorm] | type[nn.RMSNorm]] = {
    "layer": nn.LayerNorm,
    "rms": nn.RMSNorm,
}


class SwiGLU(nn.Module):
    """SiLU(a) · b, for the two halves a and b of the last dimension (Shazeer 2020, equation 6)."""

    def forward(self, x: Tensor) -> Tensor:
        """(…, 2 · width) → (…, width)."""
        gate, value = x.chunk(2, dim=-1)
        return functional.silu(gate) * value


ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "swiglu": SwiGLU,
}


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W₁ + b₁) W₂ + b₂ (Vaswani et al. 2017, equation 2), or others."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        halves = 2 if config.activation == "swiglu" else 1
        self.inner = Linear(config.d_model, halves * config.d_ff)
        self.activation = ACTIVATIONS[config.activation]()
        self.dropout = Dropout(config.feed_forward_dropout)
        self.outer = Linear(config.d_ff, config.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, d_model) → the same shape, independently per position."""
        return self.outer(self.dropout(self.activation(self.inner(x))))


class PostNorm(nn.Module):
    """The paper's residual connection: LayerNorm(x + Dropout(Sublayer(x)))   (3.1, 5.4)."""

    def __init__(self, config: ModelConfig, dropout: float):
        super().__init__()
        self.norm = NORMS[config.norm_kind](config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """(batch, length, d_model) → the same shape."""
        return self.norm(x + self.dropout(sublayer(x)))


class PreNorm(nn.Module):
    """Pre-norm: x + Dropout(Sublayer(LayerNorm(x))).

    Gradients bypass the norms, so that training is stable without a long warm-up
    (Xiong et al. 2020, https://arxiv.org/abs/2002.04745).
    """

    def __init__(self, config: ModelConfig, dropout: float):
        super().__init__()
        self.norm = NORMS[config.norm_kind](config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """(batch, length, d_model) → the same shape."""
        return x + self.dropout(sublayer(self.norm(x)))


RESIDUALS: dict[str, type[PreNorm] | type[PostNorm]] = {"pre": PreNorm, "post": PostNorm}


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        residual = RESIDUALS[config.norm_position]
        self.attention = SelfAttention(config)
        self.attention_residual = residual(config, config.attention_output_dropout_rate)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = residual(config, config.dropout)

    def forward(self, x: Tensor, source_mask: Tensor, rotations: Tensor | None = None) -> Tensor:
        """Transform the source.

        x: (batch, source, d_model); source_mask: (batch, 1, 1, source);
        rotations: see `SelfAttention.forward` → the shape of x
        """
        x = self.attention_residual(
            x, lambda y: self.attention(y, source_mask, rotations=rotations)
        )
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, then feed-forward."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        residual = RESIDUALS[config.norm_position]
        self.self_attention = SelfAttention(config)
        self.self_residual = residual(config, config.attention_output_dropout_rate)
        self.cross_attention = CrossAttention(config)
        self.cross_residual = residual(config, config.attention_output_dropout_rate)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = residual(config, config.dropout)

    def forward(
        self,
        x: Tensor,
        target_mask: Tensor | None,
        source: tuple[Tensor, Tensor],
        source_mask: Tensor,
        cache: KeyValueCache | None = None,
        rotations: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Transform the target, attending to its past and to the source.

        x: (batch, target, d_model), in decoding one position of each hypothesis (see
        `DecoderState`); target_mask, cache, rotations, is_causal: see `SelfAttention.forward`;
        source: from `cross_attention.keys_values`; source_mask: (batch, 1, 1, source)
        → (batch, target, d_model)
        """
        x = self.self_residual(
            x, lambda y: self.self_attention(y, target_mask, cache, rotations, is_causal)
        )
        x = self.cross_residual(x, lambda y: self.cross_attention(y, source, source_mask))
        return self.feed_forward_residual(x, self.feed_forward)
