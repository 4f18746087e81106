"""Reads a pickled numpy array of strings without trusting the pickle.

A pickle is a program, and `pickle.load` runs it. This module runs none of it: the few operations
that numpy writes for a string array build inert records, from which this module creates the array.
Every other operation and every other name is refused.

A `pickle.Unpickler` with a strict `find_class` is not enough. It still performs the operations, and
a few bytes make its C implementation fill the memory (a high memo number) or crash the interpreter
(a deeply nested tuple as a dictionary key).
"""

import io
import pickletools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from nmt.errors import UserError

MAX_FILE_BYTES = 2**30
# One byte of pickle can create an object of 100 bytes; in genuine files, an operation takes
# 10 bytes on average.
MAX_OPERATIONS = 10_000_000
FREE_OPERATIONS, BYTES_PER_OPERATION = 500_000, 6

_SURROGATE = re.compile("[\ud800-\udfff]")
# A pickle can refer to one string many times, so a small file could hold any amount of text.
_REPEATS, _FREE_CHARACTERS = 10, 20_000_000
_NO_UNICODE = "holds text that is not valid Unicode"
_REMEDY = "use a numpy array of strings, shape (pairs, 2), or a tsv file with data.source: tsv"
_NAMES = {
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    # numpy 2 moved its core; both names occur in files.
    ("numpy.core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy._core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy.core.numeric", "_frombuffer"): "frombuffer",
    ("numpy._core.numeric", "_frombuffer"): "frombuffer",
}


def load_string_array(
    path: Path, *, max_bytes: int = MAX_FILE_BYTES
) -> NDArray[np.str_] | NDArray[np.object_]:
    """Return the pickled array of strings in `path`, read-only, of shape (n, 2) with n ≥ 1.

    Uses at most 300 MB of memory plus 20 times the file size, even if the file is refused. Raises
    `UserError` if the file cannot be read, is larger than `max_bytes`, or contains anything else.
    """
    data = _read(path, max_bytes)
    try:
        array = _make_array(_run(data), most=_REPEATS * len(data) + _FREE_CHARACTERS)
    except _RefusedError as error:
        raise UserError(f"{path}: {error}; {_REMEDY}") from None
    except Exception as error:
        # Hostile or damaged bytes can cause any exception; none deserves a stack trace.
        what = f"{type(error).__name__} {_printable(error)}".strip()
        raise UserError(f"{path}: not a readable pickle ({what}); {_REMEDY}") from None
    return array


class _RefusedError(Exception):
    """The reason why a pickle is refused, worded for the user."""


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except (OSError, ValueError, MemoryError) as error:
        raise UserError(f"{path}: cannot be read ({_printable(error)}); check the path") from None
    if len(data) > max_bytes:
        raise UserError(f"{path}: larger than {max_bytes} bytes; split it, or use a tsv file")
    if not data:
        raise UserError(f"{path}: the file is empty; download or copy it again")
    return data


def _printable(value: object) -> str:
    text = "".join(c if c.isprintable() else "?" for c in str(value))
    return text if len(text) <= 80 else text[:77] + "..."


# ------------------------------------------------------------------------------------ operations


@dataclass(frozen=True, slots=True)
class _Name:
    """An allowed global, not resolved."""

    name: str


@dataclass(slots=True)
class _Call:
    """A call that the pickle requests, recorded but not made; its result would receive `state`."""

    name: str
    arguments: object
    state: object = None


class _Machine:
    """The stack and the memo of the pickle machine."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def pop_to_mark(self) -> list[Any]:
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def push_tuple(self, size: int) -> None:
        if len(self.stack) < size:
            raise ValueError("stack underflow")
        self.stack[-size:] = [tuple(self.stack[-size:])]

    def push_name(self, module: object, name: object) -> None:
        if not (isinstance(module, str) and isinstance(name, str)):
            types = f"{type(module).__name__} and {type(name).__name__}"
            _refuse(f"a name of types {types} instead of two strings")
        if (module, name) not in _NAMES:
            _refuse(f"{module}.{name}")
        self.stack.append(_Name(_NAMES[module, name]))

    def push_stack_name(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.push_name(module, name)

    def push_call(self) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, _Name):
            _refuse(f"a call of {type(function).__name__}")
        self.stack.append(_Call(function.name, arguments))

    def build(self) -> None:
        state = self.stack.pop()
        if not isinstance(self.stack[-1], _Call):
            _refuse(f"a change of {type(self.stack[-1]).__name__}")
        self.stack[-1].state = state

    def extend(self, items: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            _refuse(f"a change of {type(self.stack[-1]).__name__}")
        self.stack[-1].extend(items)


def _push(machine: _Machine, argument: object) -> None:
    machine.stack.append(argument)


def _refuse(what: str) -> NoReturn:
    raise _RefusedError(f"refused: {_printable(what)}")


# The effect of each operation on the machine `m`, given its argument `a`.
_Operation = Callable[[_Machine, Any], None]
_OPERATIONS: dict[str, _Operation] = {
    "PROTO": lambda m, a: None,
    "FRAME": lambda m, a: None,
    "NONE": lambda m, a: m.stack.append(None),
    "NEWTRUE": lambda m, a: m.stack.append(True),
    "NEWFALSE": lambda m, a: m.stack.append(False),
    "MARK": lambda m, a: m.marks.append(len(m.stack)),
    "EMPTY_TUPLE": lambda m, a: m.stack.append(()),
    "TUPLE": lambda m, a: m.stack.append(tuple(m.pop_to_mark())),
    "TUPLE1": lambda m, a: m.push_tuple(1),
    "TUPLE2": lambda m, a: m.push_tuple(2),
    "TUPLE3": lambda m, a: m.push_tuple(3),
    "EMPTY_LIST": lambda m, a: m.stack.append([]),
    "LIST": lambda m, a: m.stack.append(m.pop_to_mark()),
    "APPEND": lambda m, a: m.extend([m.stack.pop()]),
    "APPENDS": lambda m, a: m.extend(m.pop_to_mark()),
    "GLOBAL": lambda m, a: m.push_name(*a.split(" ", 1)),
    # INST combines GLOBAL and a call. numpy does not write it, but its name makes a good message.
    "INST": lambda m, a: _refuse(a.replace(" ", ".", 1)),
    "STACK_GLOBAL": lambda m, a: m.push_stack_name(),
    "REDUCE": lambda m, a: m.push_call(),
    "BUILD": lambda m, a: m.build(),
    "MEMOIZE": lambda m, a: m.memo.update({len(m.memo): m.stack[-1]}),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), lambda m, a: m.memo.update({a: m.stack[-1]})),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda m, a: m.stack.append(m.memo[a])),
    **dict.fromkeys(("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1"), _push),
    **dict.fromkeys(("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"), _push),
    **dict.fromkeys(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"), _push),
}


def _run(data: bytes) -> object:
    """Return the top of the stack: numbers, text, tuples, lists and records."""
    machine = _Machine()
    most = min(MAX_OPERATIONS, FREE_OPERATIONS + len(data) // BYTES_PER_OPERATION)
    for count, (opcode, argument) in enumerate(_operations(data)):
        if count >= most:
            raise _RefusedError(f"more than {most} pickle operations in {len(data)} bytes")
        if opcode == "STOP":
            break
        if opcode not in _OPERATIONS:
            _refuse(f"pickle operation {opcode}")
        _OPERATIONS[opcode](machine, argument)
    return machine.stack.pop()


def _operations(data: bytes) -> Iterator[tuple[str, Any]]:
    # Reading stops at the end of the data, so a forged length cannot make it allocate memory.
    for opcode, argument, _ in pickletools.genops(io.BytesIO(data)):
        yield opcode.name, argument


# ----------------------------------------------------------------------------------------- arrays


def _make_array(result: object, most: int) -> NDArray[np.str_] | NDArray[np.object_]:
    """Build the array that the records describe, as numpy's functions would.

    most: characters that it may hold if strings are references
    """
    if not isinstance(result, _Call) or result.name not in ("reconstruct", "frombuffer"):
        found = result.name if isinstance(result, _Call) else type(result).__name__
        raise _RefusedError(f"holds {found}, not an array of strings")
    order: Literal["C", "F"]
    match result.arguments, result.state:
        case ((_Name("ndarray"), _, _), (_, shape, dtype, bool() | 0 | 1 as fortran, content)):
            order = "F" if fortran else "C"
        case ((content, dtype, shape, "C" | "F" as order), None):
            pass
        case _:
            raise _RefusedError("contains an array in an unknown pickle layout")
    pairs = _count_pairs(shape)
    kind = _string_type(dtype)
    if kind is None:
        # Objects are always written in row order, whatever the memory layout was.
        return _from_objects(content, pairs, most).reshape((pairs, 2))
    array = _from_bytes(content, kind, pairs)
    _check_characters(array)
    return array.reshape((pairs, 2), order=order)


def _count_pairs(shape: object) -> int:
    match shape:
        case (int(pairs), 2) if pairs >= 1:
            return pairs
        case tuple() if len(shape) <= 4 and all(isinstance(size, int) for size in shape):
            raise _RefusedError(f"holds an array of shape {_printable(shape)}, not (pairs, 2)")
    raise _RefusedError("holds an array with an invalid shape")


def _string_type(dtype: object) -> "np.dtype[np.str_] | None":
    """Return the type of fixed-width strings, or None for Python objects."""
    match dtype:
        case _Call("dtype", (str(code), _, _), (_, "|", *_)) if code in ("O", "O4", "O8"):
            return None
        case _Call("dtype", (str(code), _, _), (_, "<" | ">" | "=" as order, *_)):
            if re.fullmatch(r"U[1-9]\d{0,7}", code, re.ASCII):
                return np.dtype(f"{order}{code}")
        case _Call("dtype", (str(code), *_), _):
            pass
        case _:
            code = "unknown"
    raise _RefusedError(f"holds an array of type {_printable(code)}, not of strings")


def _from_bytes(content: object, kind: "np.dtype[np.str_]", pairs: int) -> NDArray[np.str_]:
    if isinstance(content, _Call):
        match content:
            # How protocols 0 to 2 write bytes.
            case _Call("encode", (str(text), "latin1" | "latin-1"), None):
                content = text.encode("latin-1")
    if not isinstance(content, bytes | bytearray):
        raise _RefusedError(f"holds an array whose content is {type(content).__name__}, not bytes")
    expected = pairs * 2 * kind.itemsize
    if len(content) != expected:
        wanted = _printable(expected)
        raise _RefusedError(f"holds {len(content)} bytes of text instead of {wanted}")
    return np.frombuffer(content, kind)


def _from_objects(content: object, pairs: int, most: int) -> NDArray[np.object_]:
    """Keep strings as objects: with a fixed width, one long string would widen all others."""
    if not isinstance(content, list) or len(content) != 2 * pairs:
        raise _RefusedError(f"does not hold {_printable(2 * pairs)} strings, as its shape says")
    characters = 0
    for item in content:
        if not isinstance(item, str):
            kind = type(item).__name__
            raise _RefusedError(f"holds an array of objects, not of strings: one is of type {kind}")
        characters += len(item)
        if characters > most:  # a pickle can refer to one long string many times
            raise _RefusedError(f"holds more than {most} characters in {2 * pairs} strings")
        if not item.isascii() and _SURROGATE.search(item):
            raise _RefusedError(_NO_UNICODE)
    array = np.array(content, dtype=np.object_)
    array.flags.writeable = False
    return array


def _check_characters(array: NDArray[np.str_]) -> None:
    """Refuse invalid code points here; later the error would be far from its cause."""
    codes = array.view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
    if codes.max(initial=0) > 0x10FFFF or ((codes >= 0xD800) & (codes < 0xE000)).any():
        raise _RefusedError(_NO_UNICODE)
