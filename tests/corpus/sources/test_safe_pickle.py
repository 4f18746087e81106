"""Pickles of string arrays load; all others are refused, without running code in them."""

import contextlib
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nmt.corpus.sources.safe_pickle import load_string_array
from nmt.errors import UserError

ROWS = [["Go.", "Geh."], ["Fine, thanks", "Schön, danke \U0001f600\n\\u0041"], ["", "leer"]]
OLD_CORE, NEW_CORE = b"numpy.core.", b"numpy._core."


def load(folder: Path, content: bytes) -> list[list[str]]:
    path = folder / "corpus.pkl"
    path.write_bytes(content)
    rows: list[list[str]] = load_string_array(path).tolist()
    return rows


def refusal(folder: Path, content: bytes) -> str:
    with pytest.raises(UserError) as caught:
        load(folder, content)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder / "corpus.pkl"))
    return message


def rename_core(content: bytes, new: bytes) -> bytes:
    """Rename numpy's core as in another major version, including length prefixes."""
    old = NEW_CORE if NEW_CORE in content else OLD_CORE
    for module in (b"multiarray", b"numeric"):
        was, becomes = old + module, new + module
        content = content.replace(
            b"\x8c%c%s" % (len(was), was), b"\x8c%c%s" % (len(becomes), becomes)
        )
        content = content.replace(b"c%s\n" % was, b"c%s\n" % becomes)
    # Frames, which are optional, store their length, which would no longer match.
    return re.sub(rb"^(\x80.)\x95.{8}", rb"\1", content, flags=re.DOTALL)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", ["<U30", ">U30", object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numpys_own_pickles_load(tmp_path: Path, protocol: int, kind: object, order: str) -> None:
    array = np.array(ROWS, dtype=kind, order=order)  # type: ignore[call-overload]
    assert load(tmp_path, pickle.dumps(array, protocol)) == ROWS


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("core", [OLD_CORE, NEW_CORE])
def test_pickles_of_numpy_1_and_2_load(tmp_path: Path, protocol: int, core: bytes) -> None:
    content = rename_core(pickle.dumps(np.array(ROWS), protocol), core)
    assert core in content
    assert load(tmp_path, content) == ROWS


def test_slices_and_read_only_arrays_load_as_in_numpy(tmp_path: Path) -> None:
    array = np.array([["a", "b"], ["c", "d"], ["e", "f"]])
    assert load(tmp_path, pickle.dumps(array[::2], 5)) == [["a", "b"], ["e", "f"]]
    array.flags.writeable = False
    assert load(tmp_path, pickle.dumps(array, 5)) == array.tolist()
    loaded = load_string_array(tmp_path / "corpus.pkl")
    assert loaded.dtype == array.dtype
    assert not loaded.flags.writeable


class Reduced:
    """An object whose pickle calls `function`."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call


def attack(function: Callable[..., object], *arguments: object, protocol: int = 2) -> bytes:
    return pickle.dumps(Reduced(function, *arguments), protocol)


def marking(path: Path) -> dict[str, tuple[bytes, str]]:
    """Return pickles that would create the file `path`, each with a part of the expected error."""
    touch, shell = f"open({str(path)!r}, 'w').close()", f"touch {path}".encode()
    code, text = touch.encode(), str(path).encode()
    system, popen = f"touch {path}", ["touch", str(path)]
    core = "numpy._core.multiarray"
    objects = np.array([[Reduced(os.system, system), ""]], dtype=object)
    after_array = pickle.dumps(np.array(ROWS), 2)[:-1] + b"0cposix\nsystem\n(V%s\ntR." % shell
    return {
        "system": (attack(os.system, system), f"{os.name}.system"),
        "system, protocol 5": (attack(os.system, system, protocol=5), f"{os.name}.system"),
        "system by its public name": (b"cos\nsystem\n(V%s\ntR." % shell, "os.system"),
        "eval": (attack(eval, touch), "__builtin__.eval"),
        "exec": (attack(exec, touch, protocol=4), "builtins.exec"),
        "open": (attack(open, str(path), "w"), "io.open"),
        "popen": (attack(subprocess.Popen, popen, protocol=3), "subprocess.Popen"),
        "instance": (b"(V%s\niposix\nsystem\n." % shell, "posix.system"),
        "object": (b"(cposix\nsystem\nV%s\no." % shell, "posix.system"),
        "new object": (b"\x80\x02csubprocess\nPopen\nV%s\n\x85\x81." % shell, "subprocess.Popen"),
        "new object ex": (b"\x80\x04csubprocess\nPopen\n)}V\nargs\nV%s\ns\x92." % shell, "Popen"),
        "getattr": (b"cbuiltins\ngetattr\n(cos\npath\nVsystem\ntR(V%s\ntR." % shell, "getattr"),
        "nested global": (b"\x80\x04cnumpy\nload.os.system\n(V%s\ntR." % shell, "numpy.load.os"),
        "attribute": (b"\x80\x04cnumpy\nndarray.tofile\n(V%s\ntR." % text, "numpy.ndarray.tofile"),
        "numpy.load": (b"cnumpy\nload\n(V%s\ntR." % text, "numpy.load"),
        "numpy.save": (b"cnumpy\nsave\n(V%s\nI1\ntR." % text, "numpy.save"),
        "numpy.memmap": (b"cnumpy\nmemmap\n(V%s\nVu1\nVw+\ntR." % text, "numpy.memmap"),
        "runstring": (b"cnumpy.testing._private.utils\nrunstring\n(V%s\n)tR." % code, "runstring"),
        "other core": (b"c%s\nfromfile\n(V%s\ntR." % (core.encode(), text), f"{core}.fromfile"),
        "scalar": (b"c%s\nscalar\n)R." % core.encode(), f"{core}.scalar"),
        "codecs": (b"c_codecs\nlookup\n(V%s\ntR." % text, "_codecs.lookup"),
        "copyreg": (b"ccopyreg\n_reconstructor\n)R.", "copyreg._reconstructor"),
        "hidden behind an array": (after_array, "POP"),
        "in an array of objects": (pickle.dumps(objects, 4), "system"),
    }


@pytest.mark.parametrize("name", marking(Path("x")))
def test_attacks_are_refused_by_name_and_run_no_code(tmp_path: Path, name: str) -> None:
    content, culprit = marking(tmp_path / "executed")[name]
    message = refusal(tmp_path, content)
    assert "refused: " in message
    assert culprit in message
    assert not (tmp_path / "executed").exists()


def test_the_attacks_work_against_the_standard_unpickler(tmp_path: Path) -> None:
    # Otherwise the test above would prove nothing.
    pickle.loads(marking(tmp_path / "executed")["exec"][0])
    assert (tmp_path / "executed").exists()


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntC\x01btR"
DTYPE = b"cnumpy\ndtype\n(VU1\nI0\nI1\ntR(I3\nV<\nNNNI4\nI4\nI8\ntb"
CONTENT = "ab".encode("utf-32-le")


def assembled(
    *,
    start: bytes = RECONSTRUCT,
    shape: bytes = b"(I1\nI2\nt",
    dtype: bytes = DTYPE,
    content: bytes = b"C\x08" + CONTENT,
) -> bytes:
    return b"\x80\x03" + start + b"(I1\n" + shape + dtype + b"I00\n" + content + b"tb."


def test_the_assembled_pickle_is_valid(tmp_path: Path) -> None:
    assert load(tmp_path, assembled()) == [["a", "b"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"no pickle at all", "not a readable pickle"),
        (b"\x80\x03", "not a readable pickle"),
        (b".", "not a readable pickle"),
        (pickle.dumps(np.array(ROWS), 4)[:-40], "not a readable pickle"),
        (assembled()[:-3], "not a readable pickle"),
        (b"P1\n.", "refused: pickle operation PERSID"),
        (b"\x80\x02K\x01Q.", "refused: pickle operation BINPERSID"),
        (b"\x80\x02\x82\x01.", "refused: pickle operation EXT1"),
        (b"\x80\x05\x97.", "refused: pickle operation NEXT_BUFFER"),
        (pickle.dumps({"a": 1}), "refused: pickle operation EMPTY_DICT"),
        (pickle.dumps([["a", "b"]]), "holds list"),
        (pickle.dumps("text"), "holds str"),
        (b"\x80\x02cnumpy\nndarray\n.", "not an array"),
        (b"\x80\x02cnumpy\nndarray\n(I9\ntR.", "not an array"),
        (b"\x80\x02" + DTYPE + b".", "holds dtype"),
        (b"\x80\x02VU1\n)R.", "refused: a call of str"),
        (b"\x80\x02cnumpy\nndarray\n(NNtb.", "refused: a change of _Name"),
        (b"\x80\x02]I1\nb.", "refused: a change of list"),
        (b"\x80\x02c_codecs\nencode\n(Vx\nVrot13\ntR.", "holds encode"),
        (assembled(content=b"c_codecs\nencode\n(Vabcdefgh\nVrot13\ntR"), "not bytes"),
        (assembled(start=RECONSTRUCT.replace(b"ndarray", b"dtype")), "unknown pickle layout"),
        (assembled(shape=b"(I99999999999\nI2\nt"), "8 bytes of text instead of"),
        (assembled(shape=b"(\x8a\xff" + b"\x7f" * 255 + b"I2\nt"), "8 bytes of text instead of"),
        (assembled(shape=b"(I-1\nI2\nt"), "shape"),
        (assembled(shape=b"(I0\nI2\nt"), "shape (0, 2)"),
        (assembled(shape=b"(I2\nt"), "shape (2,)"),
        (assembled(shape=b"(I1\nI2\nI1\nt"), "shape (1, 2, 1)"),
        (assembled(shape=b"]"), "an array with an invalid shape"),
        (assembled(dtype=DTYPE.replace(b"VU1", b"VU999999999")), "U999999999"),
        (assembled(dtype=DTYPE.replace(b"VU1", b"VO8").replace(b"V<", b"V|")), "2 strings"),
        (assembled(dtype=DTYPE.replace(b"VU1", b"VU1,O")), "U1,O"),
        (assembled(dtype=b"N"), "array of type unknown"),
        (assembled(content=b"C\x08\x00\x00\x11\x00abcd"), "not valid Unicode"),
        (assembled(content=b"C\x08\x00\xd8\x00\x00a\0\0\0"), "not valid Unicode"),
        (assembled(content=b"Vabcdefgh\n"), "str, not bytes"),
        (pickle.dumps(np.array([["a", 1]], dtype=object)), "type int"),
        (pickle.dumps(np.array([["a", None]], dtype=object)), "type NoneType"),
        (pickle.dumps(np.array([[b"a", b"b"]], dtype=object)), "type bytes"),
        (pickle.dumps(np.array([["a", "\ud800"]], dtype=object)), "not valid Unicode"),
        (pickle.dumps(np.array([[b"a", b"b"]])), "type S1"),
        (pickle.dumps(np.array([[1.0, 2.0]])), "type f8"),
        (pickle.dumps(np.array([["a", "b", "c"]])), "shape (1, 3)"),
        (pickle.dumps(np.array(["a", "b"])), "shape (2,)"),
        (pickle.dumps(np.str_("a")), "scalar"),
        # Resources: a high memo number, absurd lengths, deep nesting, a self-containing object.
        (b"\x80\x02Nr\xff\xff\xff\xff.", "holds NoneType"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0fx.", "not a readable pickle"),
        (b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\x00\x00x.", "not a readable pickle"),
        (b"\x80\x02" + b")" + b"\x85" * 200_000 + b".", "holds tuple"),
        (b"\x80\x02}(" + b")" + b"\x85" * 200_000 + b"Nu.", "EMPTY_DICT"),
        (b"\x80\x02]q\x00h\x00a.", "holds list"),
        (assembled(shape=b"]q\x00h\x00a"), "an array with an invalid shape"),
        (b"\x80\x02" + b"K\x01" * 3 + b"\x86" * 9 + b".", "not a readable pickle"),
        (b"\x80\x04\x8c\x01\n\x8c\x05\x1b[31m\x93.", "refused: ?.?[31m"),
        # A tuple that contains the same tuple twice, and so on: exponentially large when expanded.
        (
            b"\x80\x04)q\x00"
            + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60))
            + b"\x8c\x01ah\x3c\x93.",
            "refused: a name of types str and tuple instead of two strings",
        ),
    ],
)
def test_anything_but_an_array_of_pairs_is_refused_in_one_line(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    assert reason in refusal(tmp_path, content)


def test_too_many_operations_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"\x80\x02" + b"]" * 2000 + b"."
    assert "holds list" in refusal(tmp_path, content)
    monkeypatch.setattr("nmt.corpus.sources.safe_pickle.FREE_OPERATIONS", 1000)
    assert "more than 1333 pickle operations in 2003 bytes" in refusal(tmp_path, content)
    monkeypatch.setattr("nmt.corpus.sources.safe_pickle.MAX_OPERATIONS", 700)
    assert "more than 700 pickle operations" in refusal(tmp_path, content)


PEAK = """
from pathlib import Path
from nmt.corpus.sources.safe_pickle import load_string_array

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024

before = peak()
try:
    load_string_array(Path("corpus.pkl"))
    print("loaded")
except Exception as error:
    print(type(error).__name__)
print(peak() - before)
"""
ONE_LONG = np.array([["a" * 20_000, "b"], *[[f"word {i}", "Wort"] for i in range(20_000)]], object)
MANY_SHORT = np.array([[f"i {i}", f"ich {i}"] for i in range(100_000)], object)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (pickle.dumps(ONE_LONG, 4), "loaded"),
        (pickle.dumps(MANY_SHORT, 4), "loaded"),
        *(
            pytest.param(content, "UserError", marks=pytest.mark.slow)
            for content in (
                b"\x80\x04" + b"]" * 5_000_000,
                b"\x80\x04" + b"]\x94" * 2_500_000,
                b"\x80\x04" + b"(" * 5_000_000,
                b"\x80\x04cnumpy\ndtype\n\x94" + b"h\0)R" * 1_250_000,
            )
        ),
    ],
    ids=["one long string", "many short strings", "lists", "remembered lists", "marks", "calls"],
)
def test_memory_is_bounded_by_the_size_of_the_file(
    tmp_path: Path, content: bytes, outcome: str
) -> None:
    (tmp_path / "corpus.pkl").write_bytes(content)
    command = [sys.executable, "-c", PEAK]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found, peak = run.stdout.split()
    assert found == outcome
    assert int(peak) < 20 * len(content) + 300_000_000


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pickletools warns of odd escapes
def test_a_small_file_that_repeats_a_long_string_is_refused(tmp_path: Path) -> None:
    long = "x" * 100_000
    content = pickle.dumps(np.array([[long, long]] * 500, dtype=object))
    assert len(content) < 200_000
    assert "holds more than" in refusal(tmp_path, content)
    short = np.array([["ja", "yes"]] * 5000, dtype=object)
    assert load(tmp_path, pickle.dumps(short)) == short.tolist()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pickletools warns of odd escapes
def test_random_damage_never_raises_anything_but_a_user_error(tmp_path: Path) -> None:
    good = [pickle.dumps(np.array(ROWS), protocol) for protocol in range(6)]
    random = np.random.default_rng(1)
    for number in range(1200):
        content = bytearray(good[number % 6])
        for place in random.integers(0, min(len(content), 250), size=3):
            content[place] = random.integers(256)
        with contextlib.suppress(UserError):
            load(tmp_path, bytes(content))


def test_large_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.pkl"
    for missing in (path, tmp_path):
        with pytest.raises(UserError, match=f"{missing}: cannot be read"):
            load_string_array(missing)
    path.write_bytes(assembled())
    with pytest.raises(UserError, match="10 bytes"):
        load_string_array(path, max_bytes=10)


@pytest.mark.parametrize(("name", "pairs"), [("test", 1000), ("train", 9000), ("both", 10000)])
def test_the_tutorials_files_load(corpora: Path, name: str, pairs: int) -> None:
    array = load_string_array(corpora / f"english-german-{name}.pkl")
    assert array.shape == (pairs, 2)
    if name == "test":
        assert array[0].tolist() == ["im a purist", "ich bin ein purist"]
