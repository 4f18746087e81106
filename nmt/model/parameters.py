"""The names and shapes of a model's parameters, without PyTorch: one map for all formats."""

from collections.abc import Iterator

from nmt.config.model import ModelConfig

Named = Iterator[tuple[str, tuple[int, ...]]]


def parameter_shapes(
    config: ModelConfig, source_size: int, target_size: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter of `Transformer` by its name; tied ones occur once."""
    return dict(_parameters(config, source_size, target_size))


def _parameters(config: ModelConfig, source_size: int, target_size: int) -> Named:
    yield "source_embedding.tokens.weight", (source_size, config.d_model)
    if config.tie not in ("inputs", "all"):
        yield "target_embedding.tokens.weight", (target_size, config.d_model)
    if config.positions == "learned":
        for side in ("source", "target"):
            yield f"{side}_embedding.positions.table", (config.max_length, config.d_model)
    for number in range(config.encoder_layers):
        layer = f"encoder.{number}"
        yield from _self_attention(config, f"{layer}.attention")
        yield from _norm(config, f"{layer}.attention_residual.norm")
        yield from _feed_forward(config, layer)
    for number in range(config.decoder_layers):
        layer = f"decoder.{number}"
        yield from _self_attention(config, f"{layer}.self_attention")
        yield from _norm(config, f"{layer}.self_residual.norm")
        yield from _cross_attention(config, f"{layer}.cross_attention")
        yield from _norm(config, f"{layer}.cross_residual.norm")
        yield from _feed_forward(config, layer)
    if config.final_norm:
        yield from _norm(config, "encoder_norm")
        yield from _norm(config, "decoder_norm")
    if config.tie not in ("target", "all"):
        yield "output.weight", (target_size, config.d_model)
    if config.output_bias:
        yield "output.bias", (target_size,)


def _self_attention(config: ModelConfig, name: str) -> Named:
    width, bias = sum(_widths(config)), config.attention_bias
    yield from _linear(f"{name}.query_key_value", width, config.d_model, bias)
    yield from _output(config, name)


def _cross_attention(config: ModelConfig, name: str) -> Named:
    query, *key_value = _widths(config)
    bias = config.attention_bias
    yield from _linear(f"{name}.query", query, config.d_model, bias)
    yield from _linear(f"{name}.key_value", sum(key_value), config.d_model, bias)
    yield from _output(config, name)


def _widths(config: ModelConfig) -> tuple[int, int, int]:
    """Return the widths of queries, keys and values of all heads."""
    keys, values = config.groups * config.key_size, config.groups * config.value_size
    return config.heads * config.key_size, keys, values


def _output(config: ModelConfig, name: str) -> Named:
    width = config.heads * config.value_size
    yield from _linear(f"{name}.output", config.d_model, width, config.attention_bias)
    if config.score_scale == "learned":
        yield f"{name}.learned_scale", (1,)


def _feed_forward(config: ModelConfig, layer: str) -> Named:
    halves = 2 if config.activation == "swiglu" else 1
    yield from _linear(f"{layer}.feed_forward.inner", halves * config.d_ff, config.d_model)
    yield from _linear(f"{layer}.feed_forward.outer", config.d_model, config.d_ff)
    yield from _norm(config, f"{layer}.feed_forward_residual.norm")


def _norm(config: ModelConfig, name: str) -> Named:
    yield f"{name}.weight", (config.d_model,)
    if config.norm_kind == "layer":
        yield f"{name}.bias", (config.d_model,)


def _linear(name: str, out: int, in_: int, bias: bool = True) -> Named:
    yield f"{name}.weight", (out, in_)
    if bias:
        yield f"{name}.bias", (out,)
