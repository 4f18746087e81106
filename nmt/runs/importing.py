"""Makes a run of a published translation model: `nmt import FOLDER --run RUN`.

Two formats are read: that of `transformers` here, Marian's own in `nmt/runs/marian.py`. Nothing
in the model is special to such runs: weights and vocabulary are brought into the order that nmt
uses, by the map of names that exports use, too: `nmt/model/transformers_weights.py`.
"""

import json
import logging
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ValidationError
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt.config.config import Config, Origin
from nmt.config.data import TAG_NAME
from nmt.config.model import ModelConfig
from nmt.corpus.prepared import write_examples
from nmt.corpus.preparing.manifest import write_manifest
from nmt.corpus.preparing.report import Lengths, PreparationReport
from nmt.corpus.preparing.statistics import write_statistics
from nmt.corpus.tokenizers.registry import vocabulary_files
from nmt.errors import UserError, one_line, write_error
from nmt.files.checksums import CHECKSUM, NO_CHECKSUM, sign
from nmt.files.front_matter import read_front_matter
from nmt.files.json_files import first_problem, write_json
from nmt.files.small_files import read_small
from nmt.model.parameters import parameter_shapes
from nmt.model.sinusoids import sinusoid_table
from nmt.model.transformers_weights import named_weights
from nmt.runs.folder import CARD, REPORT, RunFolder
from nmt.runs.lifecycle import copy_card
from nmt.runs.marian import DECODER, read_marian
from nmt.runs.published import (
    KINDS,
    LARGEST_WEIGHTS,
    TAG_PIECE,
    Array,
    Arrays,
    Original,
    Search,
    Settings,
    damaged,
    language_code,
    language_token,
    other_model,
    read_pieces,
    reading,
    require_numbers,
    require_within_file,
    validated,
)
from nmt.special_tokens import BOS, SPECIALS, TAGS

_LOG = logging.getLogger(__name__)

_ACTIVATIONS = {"swish": "silu"}  # other names for the same function
_NEVER = -1e4  # a bias that excludes a piece, and that 16-bit numbers can express
_LARGEST_VOCABULARY = 2**27  # bytes
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that is there
_LANGUAGE_TOKEN = re.compile(f">>({TAG_NAME[1:-1]})<<")
_LONGEST_FRONT = 20_000  # characters; PyYAML takes 400 times their size in memory
_OTHERS = {  # model types that are often asked for, and their names
    "mbart": "mBART",
    "m2m_100": "M2M100 or NLLB",
    "t5": "T5",
    "nllb-moe": "NLLB",
    "pegasus": "Pegasus",
}
# With Adam, a model that was trained for weeks forgets much of it at the rates of small ones.
_PEAK = 1e-4
_LABEL_SMOOTHING = 0.1  # as in the training of Marian's models
_Piece = ModelProto.SentencePiece
_IN_TEXT = (_Piece.NORMAL, _Piece.USER_DEFINED, _Piece.BYTE)
# Other names of an embedding matrix if all of them are one.
_SHARED = (
    *("model.shared.weight", "model.encoder.embed_tokens.weight"),
    *("model.decoder.embed_tokens.weight", "lm_head.weight"),
)
_BIAS = "final_logits_bias"
_POSITIONS = "embed_positions.weight"
_UNKNOWN_PENALTY = 10.0  # of SentencePiece, for an unknown character
_MOST_ADDED = 2**27  # numbers, such as rows of pieces that the model does not know
_AT_A_TIME = 2**22  # numbers that are put into their places
_POSITIONS_MARGIN = 2e-3  # of sinusoids that were stored with 16 bits


def _content(token: object) -> object:
    """Return the text of a token, which transformers also writes with its properties."""
    return token.get("content") if isinstance(token, dict) else token


_Token = Annotated[str, BeforeValidator(_content)]


class _Languages(BaseModel):
    """What is needed of tokenizer_config.json."""

    source_lang: str | None = None
    target_lang: str | None = None
    separate_vocabs: bool = False
    unk_token: _Token = "<unk>"
    eos_token: _Token = "</s>"


def import_run(folder: Path, run: Path, address: str | None = None) -> RunFolder:
    """Make a run of the model in `folder`; raises `UserError` if it is damaged or not supported.

    run: a folder that does not exist yet; it appears when it is complete; address: where the model
    comes from; None: from `folder`
    """
    if run.exists():
        raise UserError(f"{run}: exists already; name another folder with --run")
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; give the folder of a Marian model")
    if not any((folder / name).is_file() for name in ("config.json", DECODER)):
        raise UserError(
            f"{folder}: is not a Marian model (it has neither config.json nor {DECODER}); give the "
            "folder that has"
        )
    is_marian = (folder / DECODER).is_file() and not (folder / "config.json").is_file()
    original = read_marian(folder) if is_marian else _read_transformers(folder)
    _require_supported(original.file, original.settings)
    try:
        run.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=run.parent) as scratch:
            partial = RunFolder(Path(scratch, run.name))
            partial.data.mkdir(parents=True)
            _write(original, folder, partial, address or folder.resolve().name)
            partial.path.rename(run)
    except OSError as error:
        raise write_error(run, error) from None
    return RunFolder(run)


def require_marian(folder: Path) -> None:
    """Raise `UserError` if the config.json in a folder is not that of a Marian model."""
    file = folder / "config.json"
    # Very old ones may lack the field; the others differ in further fields.
    kind = one_line(str(read_json_object(file).get("model_type", "marian")))[:50]
    if kind != "marian":
        raise other_model(file, f"it is a model of the kind {_OTHERS.get(kind, kind)}")


def _read_transformers(folder: Path) -> Original:
    file = folder / "config.json"
    require_marian(folder)
    given = read_json_object(file)
    settings = validated(file, Settings, given)
    # Newer models have null in config.json, and the values in generation_config.json.
    generation = folder / "generation_config.json"
    later = read_json_object(generation) if generation.is_file() else {}
    search = validated(generation if later else file, Search, {**given, **later})
    tokenizer = folder / "tokenizer_config.json"
    languages = validated(tokenizer, _Languages, read_json_object(tokenizer))
    if languages.separate_vocabs and settings.share_encoder_decoder_embeddings:
        raise damaged(file, "shared embeddings of separate vocabularies")
    names = ("vocab.json", "target_vocab.json" if languages.separate_vocabs else "vocab.json")
    source, target = (
        _read_numbers(folder / name, size) for name, size in zip(names, settings.sizes, strict=True)
    )
    weights = next(filter(Path.is_file, (folder / name for name in WEIGHTS)), None)
    if not weights:
        several = any(folder.glob("*.index.json"))
        remedy = "save its weights in one file" if several else "download it again"
        raise UserError(f"{folder}: has none of the files {', '.join(WEIGHTS)}; {remedy}")
    return Original(
        file,
        weights,
        settings,
        search,
        (language_code(languages.source_lang), language_code(languages.target_lang)),
        (read_pieces(folder / "source.spm"), read_pieces(folder / "target.spm")),
        (source, target),
        languages.unk_token,
        languages.eos_token,
        lambda: _open_weights(weights),
    )


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON file without its nulls; raises `UserError` if it is not an object."""
    with reading(path, "not JSON", ValueError, RecursionError):
        content = json.loads(read_small(path))
    if not isinstance(content, dict):
        raise damaged(path, "not an object in braces")
    return {name: value for name, value in content.items() if value is not None}


def _require_supported(file: Path, settings: Settings) -> None:
    reasons = [
        f"{name} is true"
        for name in ("normalize_before", "normalize_embedding", "add_final_layer_norm")
        if getattr(settings, name)
    ]
    for name in ("attention_heads", "ffn_dim"):
        if getattr(settings, f"encoder_{name}") != getattr(settings, f"decoder_{name}"):
            reasons.append(f"{name} of encoder and decoder differ")
    source, target = settings.sizes
    if settings.share_encoder_decoder_embeddings and source != target:
        reasons.append("embeddings are shared between vocabularies of different sizes")
    if reasons:
        raise other_model(file, "; ".join(reasons))


def _write(original: Original, folder: Path, run: RunFolder, address: str) -> None:
    vocabulary = _Vocabulary(original)
    config = _config(original, vocabulary)
    run.write_config(config.with_origin(Origin(file=address)))
    for path, model in zip(vocabulary_files(config.tokenizer), vocabulary.models, strict=True):
        (run.data / path).write_bytes(model.SerializeToString(deterministic=True))
    _write_data(config, run.data, vocabulary.sizes, _licence(folder / CARD))
    _write_weights(original, config.model, vocabulary, run.weights("best"))
    copy_card(folder, run.path)


def _licence(card: Path) -> str:
    """Return the licence that the front matter of a model card names, or ""."""
    front = read_front_matter(card)[0][:_LONGEST_FRONT]
    try:
        content = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ""
    found = content.get("license") if isinstance(content, dict) else None
    names = found if isinstance(found, list) else [found]
    return ", ".join(one_line(name)[:100] for name in names[:10] if isinstance(name, str))


def _config(original: Original, vocabulary: "_Vocabulary") -> Config:
    """Return the configuration of the run; raises `UserError` for values out of range."""
    settings, search = original.settings, original.search
    shared, tied = settings.share_encoder_decoder_embeddings, settings.tie_word_embeddings
    activation = settings.activation_function
    positions = settings.max_position_embeddings
    sections = {
        "data": {
            "source": "imported",
            "source_language": original.languages[0],
            "target_language": original.languages[1],
            "imported_tags": vocabulary.tags,
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
            "max_length": positions,
            "scale_embeddings": settings.scale_embedding,
            "tie": ("all" if tied else "inputs") if shared else ("target" if tied else "none"),
            "dropout": settings.dropout,
            "attention_dropout": settings.attention_dropout,
            "feed_forward_dropout": settings.activation_dropout,
        },
        "training": {"learning_rate": _PEAK, "label_smoothing": _LABEL_SMOOTHING},
        "decoding": {
            "beam_size": search.num_beams,
            "length_penalty": search.length_penalty,
            "length_offset": 0,
            "max_length_factor": 0,  # one limit for all, which counts the first token
            "max_length_extra": min(search.max_length or positions, positions) - 1,
        },
    }
    try:
        return Config.model_validate(sections)
    except ValidationError as error:
        raise other_model(original.file, first_problem(error)) from None


class _Vocabulary:
    """The pieces of both sides in nmt's order, special tokens first, and where their rows are.

    kind: of SentencePiece model; models: the SentencePiece models with nmt's order; rows: by side,
    the row that each piece has in the original embeddings; never: by side, the pieces that the
    model has no output for; tags: the target languages of a model for several, in order
    """

    def __init__(self, original: Original):
        settings, search = original.settings, original.search
        self.kind = KINDS[original.pieces[0].trainer_spec.model_type]
        self.models: list[Any] = []
        self.rows: list[NDArray[np.int64]] = []
        self.never: list[list[int]] = []
        matches = map(_LANGUAGE_TOKEN.fullmatch, original.numbers[0])
        self.tags = sorted(match[1] for match in matches if match)
        if len(self.tags) > len(TAGS):
            _LOG.warning(
                f"{original.file}: knows {len(self.tags):,} target languages; --tag can choose "
                f"only the first {len(TAGS):,}, {self.tags[0]} to {self.tags[len(TAGS) - 1]}"
            )
            del self.tags[len(TAGS) :]
        tag_pieces = {language_token(tag): TAG_PIECE + TAGS[i] for i, tag in enumerate(self.tags)}
        ours = {*SPECIALS, *tag_pieces.values()}  # which exports have, too
        suppressed = {*search.suppress_tokens, *(w[0] for w in search.bad_words_ids if len(w) == 1)}
        joint = settings.share_encoder_decoder_embeddings
        for side, (numbers, size) in enumerate(zip(original.numbers, settings.sizes, strict=True)):
            pieces = {number: piece for piece, number in numbers.items()}
            used = original.pieces if joint else [original.pieces[side]]
            in_text = {p.piece for model in used for p in model.pieces if p.type in _IN_TEXT} - ours
            pad, start = settings.pad_token_id, settings.decoder_start_token_id
            end = settings.eos_token_id
            if not joint:  # the sides may number these differently, and need only one of the first
                own, other = (pad, start) if side == 0 else (start, pad)
                if other >= size or pieces.get(other) in in_text:
                    pad = start = own
                end = end if side else numbers.get(original.end, -1)
            special = [pad, numbers.get(original.unknown, -1), start, end]
            if not all(0 <= row < size for row in special):
                raise damaged(original.file, "special tokens are missing in the vocabulary")
            others = [row for row in range(size) if row not in special]
            order = [
                piece if (piece := pieces.get(row)) and piece not in ours else _name(row, numbers)
                for row in others
            ]
            # Pieces without a row are unknown to the model: they get the row of <unk>.
            lacking = sorted(in_text - set(order) - {pieces.get(row) for row in special})
            rows = [*special, *others, *[special[1]] * len(lacking)]
            self.rows.append(np.array(rows))
            begins = [BOS] if pad == start else []
            first = len(SPECIALS) + len(others)
            unwanted = [i for i in range(len(SPECIALS), first) if rows[i] in suppressed]
            self.never.append([*begins, *unwanted, *range(first, len(rows))])
            named = [tag_pieces.get(piece, piece) for piece in order]
            self.models.append(_reordered(original.pieces[side], [*named, *lacking]))

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of pieces of source and target."""
        return len(self.rows[0]), len(self.rows[1])


def _name(row: int, numbers: Mapping[str, int]) -> str:
    """Return a name for a row that no text can reach; no piece in `numbers` has it."""
    name = f"<row {row}>"
    while name in numbers:
        name = f"<{name}>"
    return name


def _read_numbers(path: Path, size: int) -> dict[str, int]:
    with reading(path, "not JSON", ValueError, RecursionError):
        numbers = json.loads(read_small(path, _LARGEST_VOCABULARY))
    return require_numbers(path, numbers, size)


def _reordered(model: Any, order: Iterable[str]) -> Any:
    """Return a SentencePiece model with these pieces, which segments text as before."""
    given = {piece.piece: piece for piece in model.pieces if piece.type in _IN_TEXT}
    unknown, control, unused = _Piece.UNKNOWN, _Piece.CONTROL, _Piece.UNUSED
    result = ModelProto()
    result.CopyFrom(model)
    del result.pieces[:]
    for name, kind in zip(SPECIALS, (control, unknown, control, control), strict=True):
        result.pieces.add(piece=name, score=0.0, type=kind)
    # A character that only the other side's model knows is still found in a joint vocabulary.
    lowest = min((piece.score for piece in given.values()), default=0.0) - _UNKNOWN_PENALTY
    # In BPE, even unused pieces take part in merges; control tokens do not, but have no text.
    foreign = unused if KINDS[model.trainer_spec.model_type] == "unigram" else control
    for name in order:
        if name[:1] == TAG_PIECE and name[1:] in TAGS and len(name) == 2:
            result.pieces.add(piece=name, score=0.0, type=_Piece.USER_DEFINED)
        elif name in given:
            result.pieces.append(given[name])
        elif len(name) == 1:
            result.pieces.add(piece=name, score=lowest, type=_Piece.NORMAL)
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
    lengths: Lengths = {"mean": 0.0, "median": 0, "p95": room, "longest": room}
    report: PreparationReport = {
        "read": 0,
        "dropped": {},
        "pairs": {"train": 0, "validation": 0, "test": 0},
        "with_placeholders": 0,
        "lengths": {"source": lengths, "target": lengths},
        "vocabulary_size": {"source": sizes[0], "target": sizes[1]},
        "coverage": {},
        "source_in_train": {},
        "corpora": [{"name": "imported", "licence": licence, "read": 0, "train": 0}],
    }
    write_json(folder / REPORT, report)
    for split in ("validation", "test"):
        write_examples(folder / f"{split}.jsonl", [])
    with TemporaryDirectory() as scratch:
        nothing = Path(scratch, "nothing")
        nothing.touch()
        write_statistics((nothing, nothing), np.empty(0, np.int64), folder)
    write_manifest(folder, config.data, config.tokenizer, fingerprint="imported")


# ------------------------------------------------------------------------------------- weights


def _write_weights(
    original: Original, model: ModelConfig, vocabulary: _Vocabulary, output: Path
) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    shared = original.settings.share_encoder_decoder_embeddings
    with original.opened() as given:
        try:
            weights = _Weights(given, shared, vocabulary)
            arrays = _Places(original.weights, parameter_shapes(model, *vocabulary.sizes))
            for name, places in named_weights(model, arrays.take, *vocabulary.sizes):
                arrays.put(places, weights.take(name, places.shape))
            weights.require_all_read(model)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise damaged(original.weights, one_line(error)[:200]) from None
    if not all(np.isfinite(array).all() for array in arrays.filled.values()):
        raise damaged(original.weights, "it holds numbers that are infinite or not a number")
    try:
        save_file(arrays.filled, output, {CHECKSUM: NO_CHECKSUM})
    except SafetensorError as error:  # such as a full disk
        raise OSError(one_line(error)[:200]) from None
    sign(output)


@contextmanager
def _open_weights(path: Path) -> Iterator[Arrays]:
    """Yield the weights in a file of transformers; they are read one by one."""
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        if path.stat().st_size > LARGEST_WEIGHTS:
            raise damaged(path, f"larger than {LARGEST_WEIGHTS // 2**30} GiB")
        if path.suffix == ".safetensors":
            with safe_open(path, framework="pt") as file:
                # Via PyTorch, because NumPy has no bfloat16.
                yield {name: _reader(file.get_tensor, name) for name in file.keys()}  # noqa: SIM118
            return
        # PyTorch wrote no archives before version 1.6 of July 2020, and maps nothing else.
        mapped = zipfile.is_zipfile(path)
        tensors = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
        for name, tensor in tensors.items():  # one with a stride of 0 may claim any size
            require_within_file(path, str(name), tensor.nbytes, path.stat().st_size)
        found = {name: _reader(tensors.__getitem__, name) for name in tensors}
    except UserError:
        raise
    except (OSError, SafetensorError) as error:
        raise damaged(path, one_line(error)[:200]) from None
    except Exception:  # torch.load raises many types of errors for damaged files
        raise damaged(path, "damaged, or more than tensors") from None
    yield found


def _reader(get: Callable[[str], Any], name: str) -> Callable[[], Array]:
    return lambda: get(name).float().numpy()


class _Weights:
    """Weights by their names in transformers, with the vocabulary in nmt's order."""

    def __init__(self, given: Arrays, shared: bool, vocabulary: _Vocabulary):
        self._given, self._shared, self._vocabulary = given, shared, vocabulary
        self._read: set[str] = set()

    def take(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return the weights of this name; raises `ValueError` if they are missing.

        shape: that they must have; compared before rows are copied, which may be many
        """
        array = self._array(name)
        if name not in (*_SHARED, _BIAS):
            return array
        side = 0 if name.startswith(("model.encoder.", "model.shared.")) else 1
        rows = self._vocabulary.rows[side]
        if name == _BIAS:
            array, shape = array.reshape(-1), (len(rows),)
        wanted = (int(rows.max()) + 1, *shape[1:])
        if array.shape != wanted:
            raise ValueError(f"{name} has the shape {array.shape}, not {wanted}")
        if name == _BIAS:
            bias = np.maximum(array[rows], _NEVER)
            bias[self._vocabulary.never[1]] = _NEVER
            return bias[None]
        return array[rows]

    def _array(self, name: str) -> Array:
        found = name
        if name not in self._given and name in _SHARED:
            others = _SHARED if self._shared else _SHARED[2:]
            found = next((other for other in others if other in self._given), name)
        if found not in self._given:
            raise ValueError(f"{name} is missing")
        self._read.add(found)
        return np.asarray(self._given[found](), np.float32)

    def require_all_read(self, model: ModelConfig) -> None:
        """Refuse weights that the model has no place for, and positions other than sinusoids."""
        for name in sorted(self._given.keys() - self._read - {*_SHARED}):
            if not name.endswith(_POSITIONS):
                raise ValueError(f"nmt's model has no {name}")
            table = sinusoid_table(model.max_length, model.d_model)
            halves = np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)
            found = self._given[name]()
            if found.shape != halves.shape or np.abs(found - halves).max() > _POSITIONS_MARGIN:
                raise ValueError(f"{name} are not sinusoids")


class _Places:
    """Takes the place of the weights of a run in an export, to learn where each number goes.

    original: the file that they come from, which bounds their number; shapes: of the run's weights,
    by name; filled: these weights, as `put` fills them
    """

    def __init__(self, original: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._shapes = shapes
        self._room = original.stat().st_size + _MOST_ADDED
        self.filled: dict[str, Array] = {}
        self._starts: dict[str, int] = {}
        self._end = 0

    def take(self, name: str) -> NDArray[Any]:
        """Return the number of each place in an array of the run."""
        shape = self._shapes[name]
        if name not in self.filled:
            if self._end + math.prod(shape) > self._room:
                raise ValueError("it is too small for the sizes of the model")
            self.filled[name] = np.full(shape, np.nan, np.float32)
            self._starts[name] = self._end
            self._end += self.filled[name].size
        start = self._starts[name]
        end = start + math.prod(shape)
        return np.arange(start, end, dtype=np.min_scalar_type(end)).reshape(shape)

    def put(self, places: NDArray[Any], values: Array) -> None:
        """Write values to these places; raises `ValueError` if their shape is another."""
        if places.shape != values.shape:
            raise ValueError(f"a weight has the shape {values.shape}, not {places.shape}")
        name = next(n for n in reversed(self._starts) if self._starts[n] <= places.min())
        filled, numbers, given = self.filled[name].ravel(), places.ravel(), values.ravel()
        for i in range(0, len(numbers), _AT_A_TIME):
            some = slice(i, i + _AT_A_TIME)
            filled[numbers[some] - self._starts[name]] = given[some]
