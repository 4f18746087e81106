"""What a published translation model consists of, whichever its format, and what is wrong with it.

`nmt/runs/importing.py` makes a run of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from sentencepiece import SentencePieceProcessor
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt.config.languages import two_letters
from nmt.config.section import DEEPEST, WIDEST
from nmt.config.tokenizer import MOST_SUBWORDS
from nmt.corpus.tokenizers.subwords import LARGEST_MODEL
from nmt.errors import UserError, one_line
from nmt.files.json_files import first_problem
from nmt.files.small_files import read_small
from nmt.runs.lifecycle import cached_repository

Form = TypeVar("Form", bound=BaseModel)
Array = NDArray[np.float32]
Arrays = Mapping[str, Callable[[], Array]]  # each is read when it is called
LARGEST_WEIGHTS = 2**33  # bytes
TAG_PIECE = "▁"  # before a tag in a SentencePiece model: then no piece for the space precedes it
KINDS = {1: "unigram", 2: "bpe"}  # SentencePiece's numbers for them
_CODE = re.compile("[A-Za-z]{2,3}")
_SEVERAL = "mul"  # ISO 639's code for several languages
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which JSON can express


def _only(value: object) -> object:
    """Return the one item of a list, as which transformers also writes single tokens."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


class Settings(BaseModel):
    """What is needed of config.json."""

    vocab_size: int = Field(ge=4, le=MOST_SUBWORDS)
    decoder_vocab_size: int | None = Field(None, ge=4, le=MOST_SUBWORDS)
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
    eos_token_id: Annotated[int, BeforeValidator(_only)]
    scale_embedding: bool = False
    share_encoder_decoder_embeddings: bool = True
    tie_word_embeddings: bool = True
    normalize_before: bool = False
    normalize_embedding: bool = False
    add_final_layer_norm: bool = False
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of the embeddings of source and target."""
        return self.vocab_size, self.decoder_vocab_size or self.vocab_size


class Search(BaseModel):
    """What is needed of generation_config.json, or in older models of config.json."""

    num_beams: int = 4
    length_penalty: float = 1.0
    max_length: int | None = None
    bad_words_ids: list[list[int]] = []
    suppress_tokens: list[int] = []


@dataclass(frozen=True)
class Original:
    """A published model, whatever its format."""

    file: Path
    weights: Path
    """`file` and `weights` are named in messages if something is wrong with them."""
    settings: Settings
    search: Search
    languages: tuple[str, str]
    """Language codes of source and target."""
    pieces: tuple[Any, Any]
    """The SentencePiece models of source and target."""
    numbers: tuple[dict[str, int], dict[str, int]]
    """For each side, the row of each of its pieces in the embeddings."""
    unknown: str
    """The piece for everything that has none of its own."""
    end: str
    """The piece that ends a sentence."""
    opened: Callable[[], AbstractContextManager[Arrays]]
    """Opens the weights, with their names in transformers."""


def language_code(name: str | None) -> str:
    """Return the code of a language; `mul` for groups such as ROMANCE or deu+eng+nld."""
    return two_letters(name.lower()) if name and _CODE.fullmatch(name) else _SEVERAL


def language_token(tag: str) -> str:
    """Return the token that selects a target language of a Marian model."""
    return f">>{tag}<<"


def validated(path: Path, form: type[Form], content: object) -> Form:
    """Check what was read from a file; raises `UserError` if something needed is wrong."""
    try:
        return form.model_validate(content)
    except ValidationError as error:
        raise damaged(path, first_problem(error)) from None


def damaged(path: Path, reason: str) -> UserError:
    """Return the error for a file of a published model."""
    repository = cached_repository(path.parent)
    remedy = f"delete {repository} and " if repository else ""
    return UserError(f"{path}: cannot be read: {reason}; {remedy}download the model again")


@contextmanager
def reading(path: Path, otherwise: str, *errors: type[Exception]) -> Iterator[None]:
    """Make a `UserError` of the errors of reading a file: the system's, and `errors`."""
    try:
        yield
    except OSError as error:
        raise damaged(path, error.strerror or "damaged") from None
    except errors:
        raise damaged(path, otherwise) from None


def require_within_file(path: Path, name: str, size: int, file_size: int) -> None:
    """Raise `UserError` for an array that claims more bytes than the file that holds it has."""
    if size > file_size:
        raise damaged(
            path,
            f"{one_line(name)[:50]} claims {size:,} bytes, more than the {file_size:,} of its file",
        )


def other_model(file: Path, reasons: str) -> UserError:
    """Return the error for a model of another architecture."""
    return UserError(
        f"{file}: nmt cannot import this model: {reasons}; choose a Marian model such as those of "
        "OPUS-MT"
    )


def read_pieces(path: Path) -> Any:
    """Read a SentencePiece model; raises `UserError` unless it is one of subwords."""
    if not path.exists() and path.with_suffix(".bpe").is_file():
        raise other_model(path.with_suffix(".bpe"), "it has BPE files instead of SentencePiece's")
    # protobuf's errors have no public base class.
    with reading(path, "not a SentencePiece model", Exception):
        content = read_small(path, LARGEST_MODEL)
        model = ModelProto.FromString(content)
        SentencePieceProcessor(model_proto=content)  # checks more, such as empty pieces
    # protobuf also reads an empty file, and one that ends between two parts.
    if not all(map(model.HasField, ("trainer_spec", "normalizer_spec"))):
        raise damaged(path, "not a complete SentencePiece model")
    if model.trainer_spec.model_type not in KINDS:
        raise damaged(path, "neither a BPE nor a unigram model")
    return model


def require_numbers(path: Path, numbers: object, size: int) -> dict[str, int]:
    """Return a vocabulary; raises `UserError` if it does not number at most `size` pieces."""
    if (
        not isinstance(numbers, dict)
        or not all(isinstance(piece, str) for piece in numbers)
        or not all(type(number) is int and 0 <= number < size for number in numbers.values())
        or len(set(numbers.values())) < len(numbers)
    ):
        raise damaged(path, f"not a vocabulary of {size:,} pieces, as the model has")
    if "" in numbers or _SURROGATE.search("".join(numbers)):
        raise damaged(path, "a piece is empty, or is not valid Unicode")
    return numbers
