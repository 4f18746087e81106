"""Converts the weights of a run to CTranslate2's format, using only NumPy.

The result is stored in RUN/ctranslate2/DIGEST. The digest covers the weights and everything else
that the model depends on, so a folder never changes, and different weights get a different
folder.

model.bin                 the weights, in float32
config.json               special tokens and ε of the layer norms
source_vocabulary.json,   ids as text, or tokens in exported models;
target_vocabulary.json    shared_vocabulary.json if both sides are equal
SHA256SUMS                the checksums of these files, in run folders only
"""

import hashlib
import math
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from nmt.config.choices import Weights
from nmt.config.model import TRAINING_ONLY, ModelConfig
from nmt.decoding.engines.interface import unknown_fields, unknown_values
from nmt.errors import infinite_weights, no_such_weights, unreadable_weights
from nmt.files.checksums import checksums, identity, require_undamaged
from nmt.files.locks import locked
from nmt.files.output_files import temporary_folder
from nmt.model.parameters import parameter_shapes
from nmt.model.sinusoids import sinusoid_table
from nmt.runs.folder import RunFolder
from nmt.special_tokens import BOS, EOS, UNK

_CHECKSUMS = "SHA256SUMS"
_OURS = re.compile(r"[0-9a-f]{32}|\..+")  # names of folders that this module creates
_FORMAT = 1  # of these files; after a change, every model is converted again
ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "silu": "SWISH"}  # the library's names
# The fields that are converted, and those that only training needs.
MODEL_FIELDS = TRAINING_ONLY | {
    *("d_model", "heads", "d_key", "d_value", "d_ff", "encoder_layers", "decoder_layers"),
    *("norm_position", "final_norm", "norm_epsilon", "activation", "score_scale", "attention_bias"),
    *("output_bias", "positions", "position_exponent", "first_position", "max_length"),
    *("scale_embeddings", "tie", "norm_kind", "key_value_heads"),
}
MODEL_VALUES: dict[str, Collection[object]] = {
    "norm_position": {"pre", "post"},
    "norm_kind": {"layer"},
    "key_value_heads": {None},
    "activation": ACTIVATIONS.keys(),
    "score_scale": {"d_key", "d_model"},
    "positions": {"sinusoidal", "learned", "rotary"},
    "tie": {"none", "inputs", "target", "all"},
}
Vocabularies = tuple[Sequence[str], Sequence[str]]  # source and target
Arrays = Mapping[str, NDArray[np.float32]]


def unsupported(model: ModelConfig) -> list[str]:
    """Return the reasons why the library does not support a model, if any."""
    reasons = unknown_fields("model", model, MODEL_FIELDS)
    reasons += unknown_values("model", model, MODEL_VALUES)
    if model.key_size != model.value_size:
        widths = f"model.d_key {model.key_size} and d_value {model.value_size}"
        reasons.append(f"it needs {widths} to be equal")
    return reasons


@contextmanager
def converted(run: RunFolder, weights: Weights) -> Iterator[Path]:
    """Yield the folder of a run's converted model, converting it first if necessary.

    If the run folder is read-only, the yielded folder is temporary. Raises `UserError` if the run
    lacks these weights or they are damaged.
    """
    folder = run.converted / _digest(run, weights)
    if _is_complete(folder) or _keep(run, weights, folder):
        yield folder
        return
    with temporary_folder() as scratch:
        _write(run, weights, scratch)
        yield scratch


def convert(run: RunFolder, weights: Weights) -> None:
    """Store the converted model in the run folder, if the library supports it."""
    if not unsupported(run.config.model):
        _keep(run, weights, run.converted / _digest(run, weights))


def _is_complete(folder: Path) -> bool:
    try:
        return _checksums(folder) == (folder / _CHECKSUMS).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def _checksums(folder: Path) -> str:
    """Return the checksums of all files, as `sha256sum --check` reads them."""
    found = checksums(path for path in folder.iterdir() if path.name != _CHECKSUMS)
    return "".join(f"{digest}  {name}\n" for name, digest in found.items())


def _keep(run: RunFolder, weights: Weights, folder: Path) -> bool:
    """Write the model to `folder`, delete those of older weights; return False if that fails."""
    if run.converted.is_symlink():  # it may come with the run, and lead to someone's other folders
        return False
    try:
        run.converted.mkdir(exist_ok=True)
        with locked(run.converted / ".lock", f"{run.path}: waiting for another conversion"):
            _delete_outdated(run)
            if _is_complete(folder):  # e.g. converted by the process that this one waited for
                return True
            shutil.rmtree(folder, ignore_errors=True)
            with TemporaryDirectory(prefix=".", dir=run.converted) as scratch:
                partial = Path(scratch, folder.name)
                partial.mkdir()
                _write(run, weights, partial)
                partial.rename(folder)
    except OSError:
        return False
    return True


def _delete_outdated(run: RunFolder) -> None:
    """Delete models of older weights, and partial files of killed processes."""
    kinds: tuple[Weights, ...] = get_args(Weights)
    current = {_digest(run, kind) for kind in kinds if run.weights(kind).exists()}
    for folder in run.converted.iterdir():
        if _OURS.fullmatch(folder.name) and folder.is_dir() and folder.name not in current:
            shutil.rmtree(folder, ignore_errors=True)


def _digest(run: RunFolder, weights: Weights) -> str:
    path = run.weights(weights)
    try:
        parts = identity(path), run.config.model.model_dump_json(), run.report["vocabulary_size"]
    except FileNotFoundError:
        raise no_such_weights(path) from None
    return hashlib.sha256(repr((_FORMAT, *parts)).encode()).hexdigest()[:32]


def _write(run: RunFolder, weights: Weights, folder: Path) -> None:
    """Write a run's model with ids as text instead of tokens."""
    sizes, path = run.report["vocabulary_size"], run.weights(weights)
    if max(sizes["source"], sizes["target"]) * run.config.model.d_model > path.stat().st_size:
        raise unreadable_weights(path, ValueError("too small for the vocabulary of report.json"))
    source, target = ([str(i) for i in range(size)] for size in (sizes["source"], sizes["target"]))
    write_model(path, run.config.model, (source, target), folder)
    (folder / _CHECKSUMS).write_text(_checksums(folder), encoding="utf-8", newline="\n")


def write_model(
    weights: Path, config: ModelConfig, vocabularies: Vocabularies, folder: Path
) -> None:
    """Write a model to an empty folder.

    Raises `UserError` for weights that are damaged or of another model, `OSError` if writing fails.
    """
    source, target = map(list, vocabularies)
    arrays = read_arrays(weights, parameter_shapes(config, len(source), len(target)))
    specification = _specify(config, arrays, len(target))
    specification.config.unk_token = target[UNK]
    specification.config.bos_token = specification.config.decoder_start_token = target[BOS]
    specification.config.eos_token = target[EOS]
    specification.register_source_vocabulary(source)
    specification.register_target_vocabulary(target)
    specification.validate()
    specification.optimize()
    specification.save(str(folder))


def read_arrays(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> Arrays:
    """Read the weights of a run by name; raises `UserError` unless they have exactly these shapes.

    shapes: those of `parameter_shapes`
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        require_undamaged(path)
        arrays = {name: array.astype(np.float32) for name, array in load_file(path).items()}
    except FileNotFoundError:
        raise no_such_weights(path) from None
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, AttributeError) as error:
        # The last two: NumPy has no bfloat16 or float8.
        raise unreadable_weights(path, error) from None
    for name, shape in shapes.items():
        if name not in arrays:
            raise unreadable_weights(path, ValueError(f"{name} is missing"))
        if arrays[name].shape != shape:
            problem = f"{name} has the shape {arrays[name].shape}, not {shape}"
            raise unreadable_weights(path, ValueError(problem))
    if rest := sorted(arrays.keys() - shapes.keys()):
        raise unreadable_weights(path, ValueError(f"the configured model has no {rest[0]}"))
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise infinite_weights(path)
    return arrays


# -------------------------------------------------------------------------------- the specification


def _specify(config: ModelConfig, arrays: Arrays, target_size: int) -> Any:
    """Fill the library's model specification with sizes and weights."""
    specs = _import_specs()
    layout: dict[str, Any] = {
        "num_heads": config.heads,
        "head_dim": config.key_size,
        "no_final_norm": not config.final_norm,
        "activation": specs.Activation[ACTIVATIONS[config.activation]],
    }
    if config.positions == "rotary":
        layout["rotary_dim"] = config.key_size
    encoder = specs.TransformerEncoderSpec(config.encoder_layers, **layout)
    decoder = specs.TransformerDecoderSpec(config.decoder_layers, **layout)
    for side in (encoder, decoder):
        # Set afterwards: the constructor allows no final norm for post-norm models.
        side.pre_norm = config.norm_position == "pre"
    filler = _Filler(config, arrays)
    filler.encoder(encoder)
    filler.decoder(decoder, target_size)
    specification = specs.TransformerSpec(encoder, decoder)
    specification.config.add_source_eos = True
    specification.config.layer_norm_epsilon = config.norm_epsilon
    return specification


def _import_specs() -> Any:
    """Import `ctranslate2.specs` without PyTorch, which it imports but does not need here."""
    hidden = "torch" not in sys.modules
    if hidden:
        sys.modules["torch"] = None  # type: ignore[assignment]  # importing it fails
    try:
        from ctranslate2 import specs
    finally:
        if hidden:
            del sys.modules["torch"]
    return specs


class _Filler:
    """Copies arrays into the specification, by the names of `Transformer`'s parameters."""

    def __init__(self, config: ModelConfig, arrays: Arrays):
        self._config, self._arrays = config, arrays

    def encoder(self, spec: Any) -> None:
        self._embedding(spec, spec.embeddings[0], "source_embedding", self._source_tokens)
        for number, part in enumerate(spec.layer):
            name = f"encoder.{number}"
            self._self_attention(part.self_attention, f"{name}.attention")
            self._norm(part.self_attention.layer_norm, f"{name}.attention_residual.norm")
            self._feed_forward(part.ffn, name)
        if self._config.final_norm:
            self._norm(spec.layer_norm, "encoder_norm")

    def decoder(self, spec: Any, target_size: int) -> None:
        tie = self._config.tie
        if tie in ("inputs", "all"):  # the target's tokens are the first rows of the source's table
            tokens = self._source_tokens[:target_size]
        else:
            tokens = self._arrays["target_embedding.tokens.weight"]
        self._embedding(spec, spec.embeddings, "target_embedding", tokens)
        for number, part in enumerate(spec.layer):
            name = f"decoder.{number}"
            self._self_attention(part.self_attention, f"{name}.self_attention")
            self._norm(part.self_attention.layer_norm, f"{name}.self_residual.norm")
            self._cross_attention(part.attention, f"{name}.cross_attention")
            self._norm(part.attention.layer_norm, f"{name}.cross_residual.norm")
            self._feed_forward(part.ffn, name)
        if self._config.final_norm:
            self._norm(spec.layer_norm, "decoder_norm")
        tied = tie in ("target", "all")
        spec.projection.weight = tokens if tied else self._arrays["output.weight"]
        if self._config.output_bias:
            spec.projection.bias = self._arrays["output.bias"]

    @property
    def _source_tokens(self) -> NDArray[np.float32]:
        return self._arrays["source_embedding.tokens.weight"]

    def _embedding(self, spec: Any, tokens: Any, name: str, weight: NDArray[np.float32]) -> None:
        config = self._config
        tokens.weight = weight
        spec.scale_embeddings = config.d_model**0.5 if config.scale_embeddings else 1.0
        if config.positions == "learned":
            spec.position_encodings.encodings = self._arrays[f"{name}.positions.table"]
        elif config.positions == "sinusoidal":
            # As a table, because the library's own formula differs.
            spec.position_encodings.encodings = sinusoid_table(
                config.max_length, config.d_model, config.first_position, config.position_exponent
            )

    def _self_attention(self, spec: Any, name: str) -> None:
        spec.queries_scale = self._scale()
        self._linear(spec.linear[0], f"{name}.query_key_value")
        self._linear(spec.linear[1], f"{name}.output")

    def _cross_attention(self, spec: Any, name: str) -> None:
        spec.queries_scale = self._scale()
        self._linear(spec.linear[0], f"{name}.query")
        self._linear(spec.linear[1], f"{name}.key_value")
        self._linear(spec.linear[2], f"{name}.output")

    def _scale(self) -> NDArray[np.float32]:
        widths = {"d_key": self._config.key_size, "d_model": self._config.d_model}
        return np.array(1 / math.sqrt(widths[self._config.score_scale]), np.float32)

    def _feed_forward(self, spec: Any, name: str) -> None:
        self._norm(spec.layer_norm, f"{name}.feed_forward_residual.norm")
        self._linear(spec.linear_0, f"{name}.feed_forward.inner")
        self._linear(spec.linear_1, f"{name}.feed_forward.outer")

    def _norm(self, spec: Any, name: str) -> None:
        spec.gamma, spec.beta = self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"]

    def _linear(self, spec: Any, name: str) -> None:
        spec.weight = self._arrays[f"{name}.weight"]
        if (bias := self._arrays.get(f"{name}.bias")) is not None:
            spec.bias = bias
