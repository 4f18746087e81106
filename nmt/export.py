"""A trained model as CTranslate2 reads it, an engine that people deploy.

model.bin                 the weights, in float32
config.json               the special tokens, the layer norms' ε
source_vocabulary.json,   the pieces in the order of their ids; shared_vocabulary.json where
target_vocabulary.json    both sides have the same
joint.model, …            the run's own tokenizers, which CTranslate2 leaves to others
"""

import shutil
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nmt.config import ModelConfig
from nmt.corpus.tokenizers import Tokenizer, Tokenizers, load_tokenizers, vocabulary_files
from nmt.errors import UserError
from nmt.model.attention import CrossAttention, SelfAttention
from nmt.model.layers import DecoderLayer, EncoderLayer
from nmt.model.transformer import Embedding, Transformer
from nmt.model.weights import load_weights
from nmt.run_folder import RunFolder, Weights
from nmt.special_tokens import EOS, SOS, SPECIALS, UNK

if TYPE_CHECKING:
    from ctranslate2.specs import TransformerSpec


def export_run(run: RunFolder, folder: Path, weights: Weights = "best") -> None:
    """Write a run to a new folder, whole or not at all, with its tokenizers beside the model.

    Raises `UserError` where there is something already, or as `write_ctranslate2` does.
    """
    require_ctranslate2()
    if folder.exists():
        raise UserError(f"{folder}: exists already; delete it, or name another --output")
    config = run.config
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    sizes = tokenizers.source.size, tokenizers.target.size
    model = load_weights(run.weights(weights), config.model, *sizes, torch.device("cpu"))
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as scratch:
        partial = Path(scratch, folder.name)
        partial.mkdir()
        write_ctranslate2(model, tokenizers, partial)
        for name in vocabulary_files(config.tokenizer):
            shutil.copyfile(run.data / name, partial / name)
        partial.rename(folder)


def require_ctranslate2() -> None:
    """Raise `UserError` where the library is missing."""
    if find_spec("ctranslate2") is None:
        raise UserError(
            "CTranslate2 is not installed; install nmt with its extra `ctranslate2`: "
            "pip install '.[ctranslate2]'"
        )


def write_ctranslate2(model: Transformer, tokenizers: Tokenizers, folder: Path) -> None:
    """Write a model to an empty folder in CTranslate2's format, by its own converter interface.

    Raises `UserError` for a model or a vocabulary that the format cannot hold.
    """
    from ctranslate2.converters import Converter

    _require_carried(model.config)
    pieces = _pieces(tokenizers.source), _pieces(tokenizers.target)

    class RunConverter(Converter):  # type: ignore[misc]
        def _load(self) -> "TransformerSpec":
            specification = _specify(model)
            specification.register_source_vocabulary(pieces[0])
            specification.register_target_vocabulary(pieces[1])
            return specification

    RunConverter().convert(str(folder), force=True)


def _require_carried(config: ModelConfig) -> None:
    if config.key_size != config.value_size:
        raise UserError(
            f"model.d_value: {config.value_size} is not model.d_key {config.key_size}, and "
            "CTranslate2 has one width for both; train with both alike"
        )


def _pieces(tokenizer: Tokenizer) -> list[str]:
    pieces = tokenizer.pieces(range(tokenizer.size))
    for piece in SPECIALS:
        if pieces.count(piece) > 1:
            raise UserError(
                f"tokenizer.kind: the corpus has the word {piece}, which CTranslate2 cannot tell "
                "from the special token; take it out of the corpus, or use subwords"
            )
    return pieces


# -------------------------------------------------------------------------------- the specification


def _specify(model: Transformer) -> "TransformerSpec":
    """Fill the library's description of a Transformer with a model's sizes and weights."""
    from ctranslate2.specs import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec

    config = model.config
    layout: dict[str, Any] = {
        "num_heads": config.heads,
        "head_dim": config.key_size,
        "no_final_norm": not config.final_norm,
        "activation": _activation(config),
    }
    if config.positions == "rotary":
        layout["rotary_dim"] = config.key_size
    encoder = TransformerEncoderSpec(config.encoder_layers, **layout)
    decoder = TransformerDecoderSpec(config.decoder_layers, **layout)
    for side in (encoder, decoder):
        # Set only now: in its constructor, post-norm would leave no place for a final norm.
        side.pre_norm = config.norm == "pre"
    _set_encoder(encoder, model)
    _set_decoder(decoder, model)
    specification = TransformerSpec(encoder, decoder)
    specification.config.unk_token = SPECIALS[UNK]
    specification.config.bos_token = specification.config.decoder_start_token = SPECIALS[SOS]
    specification.config.eos_token = SPECIALS[EOS]
    specification.config.add_source_eos = True
    specification.config.layer_norm_epsilon = config.norm_epsilon
    return specification


def _activation(config: ModelConfig) -> Any:
    from ctranslate2.specs import Activation

    return {"relu": Activation.RELU, "gelu": Activation.GELU}[config.activation]


def _set_encoder(spec: Any, model: Transformer) -> None:
    embedding = model.source_embedding
    _set_embedding(spec, spec.embeddings[0], embedding, embedding.tokens.weight)
    for part, layer in zip(spec.layer, model.encoder_layers(), strict=True):
        _set_self_attention(part.self_attention, layer.attention)
        _set_norm(part.self_attention.layer_norm, layer.attention_residual.norm)
        _set_feed_forward(part.ffn, layer)
    if model.config.final_norm:
        _set_norm(spec.layer_norm, model.encoder_norm)


def _set_decoder(spec: Any, model: Transformer) -> None:
    embedding = model.target_embedding
    target_pieces = embedding.tokens.weight[: model.output.out_features]
    _set_embedding(spec, spec.embeddings, embedding, target_pieces)
    for part, layer in zip(spec.layer, model.decoder_layers(), strict=True):
        _set_self_attention(part.self_attention, layer.self_attention)
        _set_norm(part.self_attention.layer_norm, layer.self_residual.norm)
        _set_cross_attention(part.attention, layer.cross_attention)
        _set_norm(part.attention.layer_norm, layer.cross_residual.norm)
        _set_feed_forward(part.ffn, layer)
    if model.config.final_norm:
        _set_norm(spec.layer_norm, model.decoder_norm)
    _set_product(spec.projection, model.output.rows, model.output.bias)


def _set_embedding(spec: Any, tokens: Any, embedding: Embedding, weight: Tensor) -> None:
    tokens.weight = _numbers(weight)
    spec.scale_embeddings = embedding.scale
    if not embedding.rotary:
        # A table, whatever it was made by: the library need not know our formula.
        table = embedding.positions.table
        assert isinstance(table, Tensor)
        spec.position_encodings.encodings = _numbers(table)


def _set_self_attention(spec: Any, attention: SelfAttention) -> None:
    spec.queries_scale = np.float32(attention.scale)
    _set_linear(spec.linear[0], attention.query_key_value)
    _set_linear(spec.linear[1], attention.output)


def _set_cross_attention(spec: Any, attention: CrossAttention) -> None:
    spec.queries_scale = np.float32(attention.scale)
    _set_linear(spec.linear[0], attention.query)
    _set_linear(spec.linear[1], attention.key_value)
    _set_linear(spec.linear[2], attention.output)


def _set_feed_forward(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    _set_norm(spec.layer_norm, layer.feed_forward_residual.norm)
    _set_linear(spec.linear_0, layer.feed_forward.inner)
    _set_linear(spec.linear_1, layer.feed_forward.outer)


def _set_norm(spec: Any, norm: nn.Module) -> None:
    assert isinstance(norm, nn.LayerNorm)
    spec.gamma, spec.beta = _numbers(norm.weight), _numbers(norm.bias)


def _set_linear(spec: Any, linear: nn.Linear) -> None:
    _set_product(spec, linear.weight, linear.bias)


def _set_product(spec: Any, weight: Tensor, bias: Tensor | None) -> None:
    spec.weight = _numbers(weight)
    if bias is not None:
        spec.bias = _numbers(bias)


def _numbers(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().float().cpu().numpy()
