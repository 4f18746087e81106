"""Reads a model in the format of Marian (https://marian-nmt.github.io), as OPUS-MT publishes them.

decoder.yml           names the files of weights and vocabularies, and the settings of the search
*.npz                 the weights as NumPy arrays, and the settings of the model as YAML
*.vocab.yml           the number of each piece; or SentencePiece models in its place
source.spm,           SentencePiece models, which split the text
target.spm

The names of the weights become those of `transformers`. As there, a row of zeros is added to the
embeddings: the decoder's first token, which in Marian has no embedding.
"""

import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import yaml
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic
from pydantic import BaseModel, Field

from nmt.config.languages import is_code
from nmt.config.tokenizer import MOST_SUBWORDS
from nmt.errors import UserError, one_line
from nmt.files.small_files import LARGEST, read_small
from nmt.runs.published import (
    LARGEST_WEIGHTS,
    Array,
    Arrays,
    Original,
    Search,
    Settings,
    damaged,
    language_code,
    other_model,
    read_pieces,
    reading,
    require_numbers,
    require_within_file,
    validated,
)

DECODER = "decoder.yml"
_SETTINGS = "special:model.yml"  # the array with the settings, as text that ends with a zero byte
_LARGEST_VOCABULARY = 20_000_000  # bytes
_POSITIONS = 512  # Marian computes as many as it needs; it trains with up to 500 pieces
_EMBEDDINGS = {"Wemb": "shared", "encoder_Wemb": "encoder.embed_tokens"} | {
    "decoder_Wemb": "decoder.embed_tokens"
}
_OUTPUT = "decoder_ff_logit_out"
_ATTENTION = {"self": "self_attn", "context": "encoder_attn"}
_PROJECTIONS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
_END = "</s>"
_Shape = Callable[[Array], Array]
_LAYER = re.compile(r"(encoder|decoder)_l(\d+)_(self|context|ffn)_(.+)")
_README_LANGUAGE = r"^\W*{} languages?(?:\(s\))?: *(.+?)\s*$"
_NAME_LANGUAGES = re.compile(r"(.*)(?<![^-_])([a-z]{2,3})[-_]([a-z]{2,3})")


class _Decoder(BaseModel):
    """What is needed of decoder.yml."""

    models: list[str] = Field(min_length=1, max_length=1)
    vocabs: list[str] = Field(min_length=2, max_length=2)
    beam_size: int = Field(6, alias="beam-size")
    normalize: float = Field(0.0, ge=0)


class _Model(BaseModel):
    """What is needed of the settings in the weights."""

    type: str
    dim_emb: int = Field(alias="dim-emb")
    heads: int = Field(alias="transformer-heads")
    dim_ffn: int = Field(alias="transformer-dim-ffn")
    activation: str = Field(alias="transformer-ffn-activation")
    encoder_layers: int = Field(alias="enc-depth")
    decoder_layers: int = Field(alias="dec-depth")


# Settings that must have one of these values, the first of which is the default.
_REQUIRED: dict[str, tuple[object, ...]] = {
    "type": ("transformer",),
    "transformer-preprocess": ("",),
    "transformer-postprocess": ("dan",),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-postprocess-top": ("",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-no-projection": (False,),
    "transformer-train-position-embeddings": (False,),
    "transformer-ffn-depth": (2,),
    "transformer-tied-layers": ([],),
}


def read_marian(folder: Path) -> Original:
    """Read all but the weights; raises `UserError` if a file is damaged or not supported."""
    decoder = validated(folder / DECODER, _Decoder, _read_yaml(folder / DECODER))
    weights = _inside(folder, decoder.models[0])
    with _opened(weights) as file:
        given, arrays = _settings(weights, file), set(file.files)
    model = validated(weights, _Model, given)
    for name, values in _REQUIRED.items():
        if given.get(name, values[0]) not in values:
            raise other_model(weights, f"{name} is {one_line(str(given[name]))[:50]!r}")
    shared = "Wemb" in arrays
    files = [_inside(folder, name) for name in decoder.vocabs]
    numbers = [_read_vocabulary(file) for file in files]
    sizes = [max(each.values(), default=0) + 1 for each in numbers]
    if shared and numbers[0] != numbers[1]:
        raise other_model(folder / DECODER, "its sides share embeddings, but not the vocabulary")
    settings = validated(
        weights,
        Settings,
        {
            "vocab_size": sizes[0] + 1,
            "decoder_vocab_size": sizes[1] + 1,
            "d_model": model.dim_emb,
            "encoder_layers": model.encoder_layers,
            "decoder_layers": model.decoder_layers,
            "encoder_attention_heads": model.heads,
            "decoder_attention_heads": model.heads,
            "encoder_ffn_dim": model.dim_ffn,
            "decoder_ffn_dim": model.dim_ffn,
            "activation_function": model.activation,
            "max_position_embeddings": _POSITIONS,
            "pad_token_id": sizes[0],
            "decoder_start_token_id": sizes[1],
            "eos_token_id": numbers[1].get(_END, -1),
            "scale_embedding": True,
            "share_encoder_decoder_embeddings": shared,
            "tie_word_embeddings": f"{_OUTPUT}_W" not in arrays,
        },
    )
    return Original(
        file=folder / DECODER,
        weights=weights,
        settings=settings,
        search=Search(num_beams=decoder.beam_size, length_penalty=decoder.normalize),
        languages=_languages(folder),
        pieces=(_pieces(folder, files[0], "source"), _pieces(folder, files[1], "target")),
        numbers=(numbers[0], numbers[1]),
        unknown="<unk>",
        end=_END,
        opened=lambda: _renamed(weights),
    )


def _inside(folder: Path, name: str) -> Path:
    """Return a file of the folder; the names in decoder.yml may come from anyone."""
    return folder / Path(name.replace("\\", "/")).name


def _read_yaml(path: Path) -> dict[str, Any]:
    with reading(path, "not YAML"):
        text = read_small(path)
    return _parsed(path, text)


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    with reading(path, "not YAML", yaml.YAMLError, ValueError, RecursionError):
        content = yaml.safe_load(text)
    if not isinstance(content, dict):
        raise damaged(path, "not YAML with names and values")
    return content


def _languages(folder: Path) -> tuple[str, str]:
    """Return the languages that README.md or the name of the folder names."""
    found = []
    try:
        text = read_small(folder / "README.md").decode(errors="replace")
    except OSError:
        text = ""
    for side in ("source", "target"):
        names = re.findall(_README_LANGUAGE.format(side), text, re.MULTILINE)
        found += names[:1]
    if len(found) < 2:
        found = _languages_at_end(folder.resolve().name)
        if not found:
            raise UserError(
                f"{folder}: neither README.md nor the folder's name says which languages the "
                "model translates; rename the folder, for example to en-de"
            )
    return language_code(found[0]), language_code(found[1])


def _languages_at_end(name: str) -> list[str]:
    """Return the two languages with which a folder's name ends, or an empty list.

    >>> [_languages_at_end(name) for name in ("opus-mt-en-de", "opus-mt-en", "opus-mt-mt-en")]
    [['en', 'de'], [], ['mt', 'en']]
    """
    named = _NAME_LANGUAGES.fullmatch(name)
    if not named:
        return []
    before, *found = named.groups()
    # Parts of a longer name may be abbreviations of something else, such as machine translation.
    is_other = "mt" in found and "mt" not in re.split("[-_]", before)
    known = all(map(is_code, found)) and not is_other if before else any(map(is_code, found))
    return found if known else []


def _pieces(folder: Path, vocabulary: Path, side: str) -> Any:
    """Return the SentencePiece model of a side, which may be its vocabulary, too."""
    return read_pieces(vocabulary if vocabulary.suffix == ".spm" else folder / f"{side}.spm")


def _read_vocabulary(path: Path) -> dict[str, int]:
    if path.suffix == ".spm":
        numbers: object = {p.piece: number for number, p in enumerate(read_pieces(path).pieces)}
    else:
        numbers = _read_numbers(path)
    return require_numbers(path, numbers, MOST_SUBWORDS)


def _read_numbers(path: Path) -> dict[str, int]:
    """Read a vocabulary as YAML, event by event: as a whole, it takes 400 times the memory.

    The keys stay as written: `yes`, `~` and `1` are pieces.
    """
    numbers: dict[str, int] = {}
    with reading(path, "not a vocabulary", yaml.YAMLError, ValueError, RecursionError):
        text = read_small(path, _LARGEST_VOCABULARY)
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        scalars = [x.value for x in yaml.parse(text, loader) if isinstance(x, yaml.ScalarEvent)]
        for piece, number in zip(scalars[0::2], scalars[1::2], strict=True):
            numbers[piece] = int(number)
    return numbers


# ------------------------------------------------------------------------------------- weights


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Yield the arrays in a file by name; raises `UserError` if it is damaged or too large."""
    if not path.is_file():
        raise damaged(path, "no such file")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
            if size > LARGEST_WEIGHTS:
                raise damaged(path, f"larger than {LARGEST_WEIGHTS // 2**30} GiB")
            for each in archive.infolist():
                with archive.open(each) as file:
                    require_within_file(path, each.filename, _announced(file), each.file_size)
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise damaged(path, one_line(error)[:200]) from None


def _announced(file: IO[bytes]) -> int:
    """Return how many bytes an array takes, by its header: NumPy allocates them before reading."""
    version = read_magic(file)
    read = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[version]
    shape, _, kind = read(file)
    return math.prod(shape) * kind.itemsize


def _settings(path: Path, arrays: Any) -> dict[str, Any]:
    if arrays.zip.getinfo(f"{_SETTINGS}.npy").file_size > LARGEST:
        raise damaged(path, f"its settings are larger than {LARGEST:,} bytes")
    return _parsed(path, arrays[_SETTINGS].tobytes().rstrip(b"\0"))


@contextmanager
def _renamed(path: Path) -> Iterator[Arrays]:
    """Yield the weights with their names in transformers; they are read one by one."""
    with _opened(path) as arrays:
        found: dict[str, Callable[[], Array]] = {}
        for name in arrays.files:
            if name != _SETTINGS:
                theirs, shape = _name(name)
                if theirs in found:
                    raise ValueError(f"{name} is there under another name, too")
                found[theirs] = partial(_shaped, arrays, name, shape)
        # Without a bias, as with the option output-omit-bias.
        embeddings = "Wemb" if "Wemb" in arrays else "decoder_Wemb"
        if "final_logits_bias" not in found:
            found["final_logits_bias"] = lambda: np.zeros(len(arrays[embeddings]) + 1, np.float32)
        yield found


def _name(name: str) -> tuple[str, _Shape]:
    """Return a weight's name in transformers, and how to bring it into the form there.

    >>> _name("encoder_l1_self_Wq")[0]
    'model.encoder.layers.0.self_attn.q_proj.weight'
    """
    if name in _EMBEDDINGS:
        return f"model.{_EMBEDDINGS[name]}.weight", _with_first_token
    if name == f"{_OUTPUT}_W":
        return "lm_head.weight", lambda x: _with_first_token(x.T)
    if name == f"{_OUTPUT}_b":
        return "final_logits_bias", lambda x: np.append(x.reshape(-1), np.float32(0))
    layer = _LAYER.fullmatch(name)
    if not layer:
        return name, np.asarray  # which the model has no place for
    stack, number, part, rest = layer.groups()
    place = f"model.{stack}.layers.{int(number) - 1}"
    if norm := re.fullmatch(r"(?:Wo|ffn)_ln_(scale|bias)", rest):
        kind = {"scale": "weight", "bias": "bias"}[norm[1]]
        before = "final" if part == "ffn" else _ATTENTION[part]
        return f"{place}.{before}_layer_norm.{kind}", np.ravel
    kind, which = rest[:1], rest[1:]
    inner = f"fc{which}" if part == "ffn" else f"{_ATTENTION[part]}.{_PROJECTIONS.get(which)}"
    if kind == "W":
        return f"{place}.{inner}.weight", np.transpose
    return f"{place}.{inner}.bias", np.ravel


def _shaped(arrays: Any, name: str, shape: _Shape) -> Array:
    return shape(np.asarray(arrays[name], np.float32))


def _with_first_token(embeddings: Array) -> Array:
    return np.pad(embeddings, ((0, 1), (0, 0)))
