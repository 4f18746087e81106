"""The Transformer: encoder, decoder, embeddings and output projection.

>>> model = Transformer(config.model, source_size=8000, target_size=8000)
>>> logits = model(source, target_in)          # (batch, target, target_size)
"""

import math

import torch
from torch import Tensor, nn

from nmt.config.model import ModelConfig
from nmt.model.cache import KeyValueCache
from nmt.model.layers import NORMS, DecoderLayer, EncoderLayer
from nmt.model.masks import for_kernels, padding_mask, target_mask
from nmt.model.positions import POSITIONS, LearnedPositions
from nmt.ops.dropout import Dropout
from nmt.ops.linear import Linear, linear
from nmt.special_tokens import PAD

# Glorot & Bengio 2010, equation 16, and the normal distribution with the same variance.
XAVIER = {"xavier_uniform": nn.init.xavier_uniform_, "xavier_normal": nn.init.xavier_normal_}


class Embedding(nn.Module):
    """Token embeddings plus positions, then dropout (Vaswani et al. 2017, sections 3.4, 3.5).

    Rotary positions are not added; `rotations` provides them for the layers.
    """

    def __init__(self, config: ModelConfig, tokens: nn.Embedding):
        super().__init__()
        self.tokens = tokens
        self.scale = config.d_model**0.5 if config.scale_embeddings else 1.0
        self.positions = POSITIONS[config.positions](config)
        self.rotary = config.positions == "rotary"
        self.dropout = Dropout(config.embedding_dropout_rate)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """ids: (batch, length), after `start` earlier tokens → (batch, length, d_model)."""
        x = self.tokens(ids) * self.scale
        if not self.rotary:
            x = x + self.positions(start, ids.shape[1])
        return self.dropout(x)

    def rotations(self, start: int, length: int) -> Tensor | None:
        """Return the rotations of queries and keys at these positions, if any."""
        return self.positions(start, length) if self.rotary else None


class OutputLayer(Linear):
    """The logits of all target tokens: (…, d_model) → (…, target_size)."""

    @property
    def target_weight(self) -> Tensor:
        """The weights of target tokens; source-only tokens of a joint vocabulary come last."""
        if len(self.weight) == self.out_features:
            return self.weight  # slicing would copy the gradient
        return self.weight[: self.out_features]

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        return linear(x, self.target_weight, self.bias)


class DecoderState:
    """The state of decoding a batch between steps.

    All sources have the same number of hypotheses. The hypotheses of a source are the queries,
    (batch, hypotheses, d_model), over one shared cache, in which a mask shows each hypothesis only
    its own tokens. So reordering hypotheses copies a mask instead of the cache, but step t computes
    scores of t × hypotheses keys for each hypothesis, of which only t count.

    source: projected keys and values of the source in each layer, computed once;
    source_mask: (batch, 1, 1, source); caches: the tokens of all hypotheses so far in each layer;
    history_mask: (batch, 1, hypotheses, tokens so far), whether a token belongs to a hypothesis,
    None: all do; length: number of target positions decoded so far
    """

    def __init__(self, source: list[tuple[Tensor, Tensor]], source_mask: Tensor) -> None:
        self.source = source
        self.source_mask = source_mask
        self.caches = [KeyValueCache() for _ in source]
        self.history_mask: Tensor | None = None
        self.length = 0

    def advance(self, hypotheses: int) -> Tensor | None:
        """Start a step with this many hypotheses per source; return the mask for self-attention.

        → (batch, 1, hypotheses, tokens so far + hypotheses): each sees its own and itself
        """
        self.length += 1
        if self.history_mask is not None:
            itself = torch.eye(hypotheses, dtype=torch.bool, device=self.history_mask.device)
            itself = itself.expand(len(self.history_mask), 1, -1, -1)
            self.history_mask = torch.cat([self.history_mask, itself], dim=3)
        return self.history_mask

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder hypotheses.

        rows: (new batch, new hypotheses), each the number of the source × hypotheses per source +
        the number of the hypothesis; each row has hypotheses of one source; sources may be
        dropped, but not reordered
        """
        batch = len(self.source_mask)
        hypotheses = 1 if self.history_mask is None else self.history_mask.shape[2]
        if self.history_mask is None and rows.shape[1] > 1:
            self.history_mask = self.source_mask.new_ones(batch, 1, 1, self.length)
        if self.history_mask is not None:
            self.history_mask = self.history_mask.flatten(0, 2)[rows][:, None]
        if len(rows) < batch:  # sources were dropped
            self._select_sources(rows[:, 0].div(hypotheses, rounding_mode="floor"))

    def _select_sources(self, sources: Tensor) -> None:
        for cache in self.caches:
            cache.select(sources)
        self.source_mask = self.source_mask.index_select(0, sources)
        self.source = [
            (key.index_select(0, sources), value.index_select(0, sources))
            for key, value in self.source
        ]


class Transformer(nn.Module):
    """Encoder–decoder Transformer (Vaswani et al. 2017).

    The source is its tokens and <eos>; the decoder's input is <sos> and the target's tokens.
    """

    def __init__(self, config: ModelConfig, source_size: int, target_size: int):
        super().__init__()
        self.config, self.sizes = config, (source_size, target_size)
        source_tokens = nn.Embedding(source_size, config.d_model)
        target_tokens = (
            source_tokens  # its first rows are the target's tokens
            if config.tie in ("inputs", "all")
            else nn.Embedding(target_size, config.d_model)
        )
        self.source_embedding = Embedding(config, source_tokens)
        self.target_embedding = Embedding(config, target_tokens)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = _final_norm(config)
        self.decoder_norm = _final_norm(config)
        self.output = OutputLayer(config.d_model, target_size, bias=config.output_bias)
        if config.tie in ("target", "all"):
            self.output.weight = target_tokens.weight
        self._initialize()

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Return the logits of all next target tokens (teacher forcing).

        source: (batch, source); target_in: (batch, target) → (batch, target, target_size)
        """
        return self.logits(self.decoder_output(source, target_in))

    def decoder_output(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Return the output of the decoder, (batch, target, d_model); arguments as in `forward`."""
        source_mask = for_kernels(padding_mask(source), self.output.weight.dtype)
        memory = self.encode(source, source_mask)
        # Padding is on the right, so no labelled position attends to it. Without a padding mask the
        # loss is the same, and a GPU uses its fastest kernel.
        is_causal = target_in.device.type != "cpu"
        mask = None if is_causal else target_mask(target_in)
        rotations = self.target_embedding.rotations(0, target_in.shape[1])
        x = self.target_embedding(target_in)
        for layer in self.decoder_layers():
            keys_values = layer.cross_attention.keys_values(memory)
            x = layer(x, mask, keys_values, source_mask, rotations=rotations, is_causal=is_causal)
        return self.decoder_norm(x)

    def encode(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """Return the encoder's output.

        source: (batch, source); source_mask: (batch, 1, 1, source) → (batch, source, d_model)
        """
        rotations = self.source_embedding.rotations(0, source.shape[1])
        x = self.source_embedding(source)
        for layer in self.encoder:
            x = layer(x, source_mask, rotations)
        return self.encoder_norm(x)

    def init_state(self, source: Tensor) -> DecoderState:
        """Encode a batch of sources for decoding, with one hypothesis each.

        source: (batch, source)
        """
        source_mask = padding_mask(source)
        memory = self.encode(source, for_kernels(source_mask, self.output.weight.dtype))
        projected = [layer.cross_attention.keys_values(memory) for layer in self.decoder_layers()]
        return DecoderState(projected, source_mask)

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """Decode one more position from the cache.

        tokens: (batch * hypotheses,), the last token of each row
        → logits (batch * hypotheses, target_size)
        """
        return self.logits(self.step_output(tokens, state))

    def step_output(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """Return the output of the decoder at the next position; arguments as in `step`.

        → (batch * hypotheses, d_model)
        """
        x = self.target_embedding(tokens[:, None], start=state.length)
        x = x.view(len(state.source_mask), -1, x.shape[2])  # (batch, hypotheses, d_model)
        rotations = self.target_embedding.rotations(state.length, 1)  # of every hypothesis
        history_mask, dtype = state.advance(x.shape[1]), self.output.weight.dtype
        mask = None if history_mask is None else for_kernels(history_mask, dtype)
        source_mask = for_kernels(state.source_mask, dtype)
        for layer, cache, source in zip(
            self.decoder_layers(), state.caches, state.source, strict=True
        ):
            x = layer(x, mask, source, source_mask, cache, rotations)
        return self.decoder_norm(x).flatten(0, 1)

    def logits(self, hidden: Tensor) -> Tensor:
        """Project to the target vocabulary: (…, d_model) → (…, target_size)."""
        return self.output(hidden)

    def encoder_layers(self) -> list[EncoderLayer]:
        """Return the encoder's layers, first to last."""
        return list(self.encoder)  # type: ignore[arg-type]

    def decoder_layers(self) -> list[DecoderLayer]:
        """Return the decoder's layers, first to last."""
        return list(self.decoder)  # type: ignore[arg-type]

    def _initialize(self) -> None:
        """Set the initial weights: matrices and biases, then embeddings and learned positions."""
        every, biases = self.config.initialization, self.config.initial_biases
        projections = self.config.attention_initialization or every
        for name, parameter in self.named_parameters():
            matrices = projections if "attention." in name else every
            if parameter.dim() > 1 and matrices != "pytorch":
                XAVIER[matrices](parameter)
            elif name.endswith("bias") and (biases or every) != "pytorch":
                nn.init.zeros_(parameter)
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                self._initialize_embedding(module.weight)
                with torch.no_grad():
                    module.weight[PAD].zero_()
            elif isinstance(module, LearnedPositions):
                self._initialize_embedding(module.table)

    def _initialize_embedding(self, table: Tensor) -> None:
        # Scaled by √d_model, embeddings are then comparable in magnitude to position encodings.
        std = self.config.embedding_std or self.config.d_model**-0.5
        if self.config.embedding_distribution == "uniform":
            limit = std * math.sqrt(3)
            nn.init.uniform_(table, -limit, limit)
        else:
            nn.init.normal_(table, std=std)


def _final_norm(config: ModelConfig) -> nn.Module:
    if not config.final_norm:
        return nn.Identity()
    return NORMS[config.norm_kind](config.d_model, eps=config.norm_epsilon)


def count_parameters(model: nn.Module) -> int:
    """Count trainable parameters; shared ones count once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
