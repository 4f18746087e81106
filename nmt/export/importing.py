"""Makes a run of a Marian model in the format of `transformers`: `nmt import FOLDER --run RUN`.

Nothing in the model is special to such runs: weights and vocabulary are brought into the order that
nmt uses, by the same map of names that `nmt/export/transformers.py` exports with.
"""

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt.config.config import Config
from nmt.config.model import ModelConfig
from nmt.config.section import DEEPEST, WIDEST
from nmt.corpus.prepared import write_examples
from nmt.corpus.preparing.manifest import write_manifest
from nmt.corpus.preparing.report import Lengths, PreparationReport
from nmt.corpus.preparing.statistics import write_statistics
from nmt.corpus.tokenizers.subwords import LARGEST_MODEL
from nmt.corpus.tokenizers.tokenizers import vocabulary_files
from nmt.errors import UserError, one_line, unwritable
from nmt.export.transformers import marian_weights
from nmt.files.checksums import CHECKSUM, NO_CHECKSUM, sign
from nmt.files.json_files import first_problem, write_json
from nmt.files.small_files import read_small
from nmt.model.sinusoids import sinusoid_table
from nmt.runs.folder import REPORT, RunFolder
from nmt.special_tokens import BOS, SPECIALS

Form = TypeVar("Form", bound=BaseModel)
_Array = NDArray[np.float32]
_ACTIVATIONS = {"swish": "silu"}  # other names for the same function
_NEVER = -1e4  # a bias that excludes a piece, and that 16-bit numbers can express
_LARGEST_VOCABULARY = 2**27  # bytes
_LANGUAGE_TOKEN = re.compile(">>.+<<")
_LICENCE = re.compile(r"^license: *([\w.-]{1,100})\s*$", re.MULTILINE)
CARD = "README.md"
_KINDS = {1: "unigram", 2: "bpe"}  # SentencePiece's numbers for them
_Piece = ModelProto.SentencePiece
# Other names of an embedding matrix if all of them are one.
_SHARED = (
    *("model.shared.weight", "model.encoder.embed_tokens.weight"),
    *("model.decoder.embed_tokens.weight", "lm_head.weight"),
)
_BIAS = "final_logits_bias"
_POSITIONS = "embed_positions.weight"
_LARGEST_WEIGHTS = 2**33  # bytes


class _Settings(BaseModel):
    """What is needed of config.json."""

    model_type: str
    vocab_size: int = Field(ge=4, le=10_000_000)
    decoder_vocab_size: int | None = Field(None, ge=4, le=10_000_000)
    d_model: int = Field(ge=2, le=WIDEST)
    encoder_layers: int = Field(ge=1, le=DEEPEST)
    decoder_layers: int = Field(ge=1, le=DEEPEST)
    encoder_attention_heads: int
    decoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    activation_function: str
    max_position_embeddings: int
    decoder_start_token_id: int
    pad_token_id: int
    eos_token_id: int
    scale_embedding: bool = False
    share_encoder_decoder_embeddings: bool = True
    tie_word_embeddings: bool = True
    normalize_before: bool = False
    normalize_embedding: bool = False
    add_final_layer_norm: bool = False
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0


class _Languages(BaseModel):
    """What is needed of tokenizer_config.json."""

    source_lang: str | None = None
    target_lang: str | None = None
    separate_vocabs: bool = False
    pad_token: str = "<pad>"
    unk_token: str = "<unk>"
    eos_token: str = "</s>"


class _Search(BaseModel):
    """What is needed of generation_config.json, or in older models of config.json."""

    num_beams: int = 4
    length_penalty: float = 1.0


def import_run(folder: Path, run: Path) -> RunFolder:
    """Make a run of the model in `folder`; raises `UserError` if it is damaged or not supported.

    run: a folder that does not exist yet; it appears when it is complete
    """
    if run.exists():
        raise UserError(f"{run}: exists already; name another folder with --run")
    settings = _read(folder / "config.json", _Settings)
    _require_supported(folder, settings)
    try:
        run.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=run.parent) as scratch:
            partial = RunFolder(Path(scratch, run.name))
            partial.data.mkdir(parents=True)
            _write(folder, settings, partial)
            partial.path.rename(run)
    except OSError as error:
        raise unwritable(run, error) from None
    return RunFolder(run)


def _write(folder: Path, settings: _Settings, run: RunFolder) -> None:
    languages = _read(folder / "tokenizer_config.json", _Languages)
    vocabulary = _Vocabulary(folder, settings, languages)
    config = _config(folder, settings, languages, vocabulary)
    run.write_config(config)
    for path, model in zip(vocabulary_files(config.tokenizer), vocabulary.models, strict=True):
        (run.data / path).write_bytes(model.SerializeToString(deterministic=True))
    _write_data(config, run.data, vocabulary.sizes, _licence(folder / CARD))
    _write_weights(folder, settings, config.model, vocabulary, run.weights("best"))
    if (folder / CARD).is_file():
        shutil.copyfile(folder / CARD, run.path / CARD)


def _licence(card: Path) -> str:
    """Return the licence that the front matter of a model card names, or ""."""
    try:
        text = read_small(card).decode(errors="replace")
    except OSError:
        return ""
    front = text.split("---", 2)[1] if text.startswith("---") and text.count("---") > 1 else ""
    found = _LICENCE.search(front)
    return found[1] if found else ""


def _read(path: Path, form: type[Form]) -> Form:
    try:
        return form.model_validate_json(read_small(path))
    except OSError as error:
        raise _damaged(path, error.strerror or "damaged") from None
    except ValidationError as error:
        raise _damaged(path, first_problem(error)) from None


def _damaged(path: Path, reason: str) -> UserError:
    return UserError(f"{path}: cannot be read: {reason}; download the model again")


def _require_supported(folder: Path, settings: _Settings) -> None:
    reasons = []
    if settings.model_type != "marian":
        reasons.append(f"model_type is {settings.model_type}, not marian")
    for name in ("normalize_before", "normalize_embedding", "add_final_layer_norm"):
        if getattr(settings, name):
            reasons.append(f"{name} is true")
    for name in ("attention_heads", "ffn_dim"):
        if getattr(settings, f"encoder_{name}") != getattr(settings, f"decoder_{name}"):
            reasons.append(f"{name} of encoder and decoder differ")
    sizes = (settings.vocab_size, settings.decoder_vocab_size or settings.vocab_size)
    if settings.share_encoder_decoder_embeddings and sizes[0] != sizes[1]:
        reasons.append("embeddings are shared between vocabularies of different sizes")
    if reasons:
        raise UserError(
            f"{folder / 'config.json'}: nmt cannot import this model: {'; '.join(reasons)}; choose "
            "a Marian model such as those of OPUS-MT"
        )


def _config(
    folder: Path, settings: _Settings, languages: _Languages, vocabulary: "_Vocabulary"
) -> Config:
    """Return the configuration of the run; raises `UserError` for values out of range."""
    generation = folder / "generation_config.json"
    search = _read(generation if generation.is_file() else folder / "config.json", _Search)
    shared, tied = settings.share_encoder_decoder_embeddings, settings.tie_word_embeddings
    activation = settings.activation_function
    given = {"source_language": languages.source_lang, "target_language": languages.target_lang}
    sections = {
        "data": {
            **{name: code for name, code in given.items() if code},
            "unicode": "none",  # the SentencePiece models normalize text themselves
        },
        "tokenizer": {
            "kind": vocabulary.kind,
            "joint": shared,
            "vocabulary_size": max(vocabulary.sizes),
            "byte_fallback": False,
        },
        "model": {
            "d_model": settings.d_model,
            "heads": settings.encoder_attention_heads,
            "d_ff": settings.encoder_ffn_dim,
            "encoder_layers": settings.encoder_layers,
            "decoder_layers": settings.decoder_layers,
            "norm_position": "post",
            "final_norm": False,
            "activation": _ACTIVATIONS.get(activation, activation),
            "output_bias": True,
            "max_length": settings.max_position_embeddings,
            "scale_embeddings": settings.scale_embedding,
            "tie": ("all" if tied else "inputs") if shared else ("target" if tied else "none"),
            "dropout": settings.dropout,
            "attention_dropout": settings.attention_dropout,
            "feed_forward_dropout": settings.activation_dropout,
        },
        "decoding": {"beam_size": search.num_beams, "length_penalty": search.length_penalty},
    }
    try:
        return Config.model_validate(sections)
    except ValidationError as error:
        raise UserError(
            f"{folder / 'config.json'}: nmt cannot import this model: {first_problem(error)}; "
            "choose another"
        ) from None


class _Vocabulary:
    """The pieces of both sides in nmt's order, special tokens first, and where their rows are.

    kind: of SentencePiece model; models: the SentencePiece models with nmt's order; rows: by side,
    the row that each piece has in the original embeddings; never: by side, the pieces that the
    model has no output for
    """

    def __init__(self, folder: Path, settings: _Settings, languages: _Languages):
        if languages.separate_vocabs and settings.share_encoder_decoder_embeddings:
            raise _damaged(folder / "config.json", "shared embeddings of separate vocabularies")
        originals = [_read_pieces(folder / name) for name in ("source.spm", "target.spm")]
        separate = languages.separate_vocabs
        names = ("vocab.json", "target_vocab.json" if separate else "vocab.json")
        sizes = (settings.vocab_size, settings.decoder_vocab_size or settings.vocab_size)
        self.kind = _KINDS[originals[0].trainer_spec.model_type]
        self.models: list[Any] = []
        self.rows: list[NDArray[np.int64]] = []
        self.never: list[list[int]] = []
        joint = settings.share_encoder_decoder_embeddings
        for side, (name, size) in enumerate(zip(names, sizes, strict=True)):
            path = folder / name
            numbers = _read_numbers(path, size)
            special = [
                settings.pad_token_id,
                numbers.get(languages.unk_token, -1),
                settings.decoder_start_token_id,
                settings.eos_token_id,
            ]
            if not all(0 <= row < size for row in special):
                raise _damaged(path, "special tokens are missing")
            pieces = {number: piece for piece, number in numbers.items()}
            others = [row for row in range(size) if row not in special]
            # Rows that no text can reach keep a name of their own.
            order = [pieces.get(row, f"<row {row}>") for row in others]
            # Pieces without a row are unknown to the model: they get the row of <unk>.
            known = set(order)
            used = originals if joint else [originals[side]]
            lacking = sorted(
                {p.piece for model in used for p in model.pieces if p.type in _IN_TEXT}
                - known
                - {pieces.get(row) for row in special}
            )
            self.rows.append(np.array([*special, *others, *[special[1]] * len(lacking)]))
            begins = [BOS] if settings.decoder_start_token_id == settings.pad_token_id else []
            first = len(SPECIALS) + len(others)
            self.never.append([*begins, *range(first, first + len(lacking))])
            self.models.append(_reordered(originals[side], [*order, *lacking]))

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of pieces of source and target."""
        return len(self.rows[0]), len(self.rows[1])


_IN_TEXT = (_Piece.NORMAL, _Piece.USER_DEFINED, _Piece.BYTE)


def _read_pieces(path: Path) -> Any:
    try:
        model = ModelProto.FromString(read_small(path, LARGEST_MODEL))
    except OSError as error:
        raise _damaged(path, error.strerror or "damaged") from None
    except Exception:  # protobuf's errors have no public base class
        raise _damaged(path, "not a SentencePiece model") from None
    if model.trainer_spec.model_type not in _KINDS:
        raise _damaged(path, "neither a BPE nor a unigram model")
    return model


def _read_numbers(path: Path, size: int) -> dict[str, int]:
    try:
        numbers = json.loads(read_small(path, _LARGEST_VOCABULARY))
    except OSError as error:
        raise _damaged(path, error.strerror or "damaged") from None
    except (ValueError, RecursionError):
        raise _damaged(path, "not JSON") from None
    if (
        not isinstance(numbers, dict)
        or not all(type(number) is int and 0 <= number < size for number in numbers.values())
        or len(set(numbers.values())) < len(numbers)
    ):
        raise _damaged(path, "not a vocabulary of the size that config.json names")
    if languages := [piece for piece in numbers if _LANGUAGE_TOKEN.fullmatch(piece)]:
        raise UserError(
            f"{path}: nmt cannot import models with several target languages ({languages[0]}); "
            "choose a model for one pair of languages"
        )
    return numbers


def _reordered(model: Any, order: Iterable[str]) -> Any:
    """Return a SentencePiece model with these pieces, which segments text as before."""
    given = {piece.piece: piece for piece in model.pieces if piece.type in _IN_TEXT}
    unknown, control, unused = _Piece.UNKNOWN, _Piece.CONTROL, _Piece.UNUSED
    result = ModelProto()
    result.CopyFrom(model)
    del result.pieces[:]
    for name, kind in zip(SPECIALS, (control, unknown, control, control), strict=True):
        result.pieces.add(piece=name, score=0.0, type=kind)
    # In BPE, even unused pieces take part in merges; control tokens do not, but have no text.
    foreign = unused if _KINDS[model.trainer_spec.model_type] == "unigram" else control
    for name in order:
        if name in given:
            result.pieces.append(given[name])
        else:
            result.pieces.add(piece=name, score=0.0, type=foreign)
    if result.pieces[-1].type == unused:  # unused pieces at the end do not count as vocabulary
        result.pieces[-1].type = control
    spec = result.trainer_spec
    spec.pad_piece, spec.unk_piece, spec.bos_piece, spec.eos_piece = SPECIALS
    spec.pad_id, spec.unk_id, spec.bos_id, spec.eos_id = range(len(SPECIALS))
    spec.unk_surface, spec.vocab_size = SPECIALS[1], len(result.pieces)
    return result


def _write_data(config: Config, folder: Path, sizes: tuple[int, int], licence: str) -> None:
    """Write what `prepare` writes, with no text: that of the training is not known."""
    room = config.model.max_length - 1
    lengths: Lengths = {"mean": 0.0, "median": 0, "p95": 0, "longest": room}
    report: PreparationReport = {
        "read": 0,
        "dropped": {},
        "pairs": {"train": 0, "validation": 0, "test": 0},
        "hidden_names": 0,
        "lengths": {"source": lengths, "target": lengths},
        "vocabulary_size": {"source": sizes[0], "target": sizes[1]},
        "coverage": {},
        "source_in_train": {},
        "corpora": [{"name": "unknown", "licence": licence, "read": 0, "train": 0}],
    }
    write_json(folder / REPORT, report)
    for split in ("validation", "test"):
        write_examples(folder / f"{split}.jsonl", [])
    with TemporaryDirectory() as scratch:
        nothing = Path(scratch, "nothing")
        nothing.touch()
        write_statistics((nothing, nothing), np.empty(0, np.int64), folder)
    write_manifest(folder, config.data, config.tokenizer, fingerprint="imported")


def _write_weights(
    folder: Path, settings: _Settings, model: ModelConfig, vocabulary: _Vocabulary, output: Path
) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    path, given = _read_weights(folder)
    try:
        weights = _Weights(given, settings.share_encoder_decoder_embeddings, vocabulary)
        arrays = _Places()
        for name, places in marian_weights(model, arrays.take, *vocabulary.sizes):
            arrays.put(places, weights.take(name))
        weights.require_all_read(model)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, one_line(error)[:200]) from None
    if not all(np.isfinite(array).all() for array in arrays.filled.values()):
        raise _damaged(path, "it holds infinite numbers")
    try:
        save_file(arrays.filled, output, {CHECKSUM: NO_CHECKSUM})
    except SafetensorError as error:  # such as a full disk
        raise OSError(one_line(error)[:200]) from None
    sign(output)


def _read_weights(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file of the weights, and its content."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = folder / "model.safetensors"
    if not path.is_file():
        path = folder / "pytorch_model.bin"
    try:
        if path.stat().st_size > _LARGEST_WEIGHTS:
            raise _damaged(path, f"larger than {_LARGEST_WEIGHTS // 2**30} GiB")
        if path.suffix == ".safetensors":
            return path, load_file(path)
        import torch

        tensors = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        return path, {name: tensor.float().numpy() for name, tensor in tensors.items()}
    except FileNotFoundError:
        raise UserError(
            f"{folder}: has neither model.safetensors nor pytorch_model.bin; download it again"
        ) from None
    except UserError:
        raise
    except (OSError, SafetensorError) as error:
        raise _damaged(path, one_line(error)[:200]) from None
    except Exception:  # torch.load raises many types of errors for damaged files
        raise _damaged(path, "damaged, or more than tensors") from None


class _Weights:
    """Weights by their names in transformers, with the vocabulary in nmt's order."""

    def __init__(self, given: dict[str, Any], shared: bool, vocabulary: _Vocabulary):
        self._given, self._shared, self._vocabulary = given, shared, vocabulary
        self._read: set[str] = set()

    def take(self, name: str) -> _Array:
        """Return the weights of this name; raises `KeyError` if they are missing."""
        side = 0 if name.startswith("model.encoder.") else 1
        rows = self._vocabulary.rows[side]
        if name == _BIAS:
            bias = self._array(name).reshape(-1)[rows]
            bias[self._vocabulary.never[1]] = _NEVER
            return bias[None]
        if name in _SHARED:
            return self._array(name)[rows]
        return self._array(name)

    def _array(self, name: str) -> _Array:
        found = name
        if name not in self._given and name in _SHARED:
            others = _SHARED if self._shared else _SHARED[2:]
            found = next((other for other in others if other in self._given), name)
        if found not in self._given:
            raise ValueError(f"{name} is missing")
        self._read.add(found)
        return np.asarray(self._given[found], np.float32)

    def require_all_read(self, model: ModelConfig) -> None:
        """Refuse weights that the model has no place for, and positions other than sinusoids."""
        for name in sorted(self._given.keys() - self._read - {*_SHARED}):
            if not name.endswith(_POSITIONS):
                raise ValueError(f"nmt's model has no {name}")
            table = sinusoid_table(model.max_length, model.d_model)
            halves = np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)
            found = np.asarray(self._given[name], np.float32)
            if found.shape != halves.shape or np.abs(found - halves).max() > 1e-4:
                raise ValueError(f"{name} are not sinusoids")


class _Places:
    """Takes the place of the weights of a run in an export, to learn where each number goes.

    filled: the weights of the run, by name, as `put` fills them
    """

    def __init__(self) -> None:
        self.filled: dict[str, _Array] = {}
        self._starts: dict[str, int] = {}
        self._end = 0

    def take(self, name: str, *shape: int) -> NDArray[np.int64]:
        """Return the number of each place in an array of the run."""
        if name not in self.filled:
            self.filled[name] = np.full(shape, np.nan, np.float32)
            self._starts[name] = self._end
            self._end += self.filled[name].size
        start = self._starts[name]
        return np.arange(start, start + self.filled[name].size).reshape(shape)

    def put(self, places: NDArray[Any], values: _Array) -> None:
        """Write values to these places; raises `ValueError` if their shape is another."""
        if places.shape != values.shape:
            raise ValueError(f"a weight has the shape {values.shape}, not {places.shape}")
        name = next(n for n in reversed(self._starts) if self._starts[n] <= places.min())
        self.filled[name].reshape(-1)[places - self._starts[name]] = values
