"""Shared fixtures: a corpus of 200 pairs, and a tiny configuration that learns from it."""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest


def _clean_environment() -> None:
    """Remove what differs between users: GPUs, proxies, caches, and settings of terminals."""
    prefixes = ("HF_", "HUGGINGFACE_", "TQDM_")
    terminal = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONUNBUFFERED")
    for name in list(os.environ):
        if name.startswith(prefixes) or name in terminal or name.lower().endswith("_proxy"):
            del os.environ[name]
    os.environ["NO_PROXY"] = "*"  # macOS has proxies outside the environment
    os.environ["CUDA_VISIBLE_DEVICES"] = ""


_clean_environment()  # PyTorch and tqdm read some of it when they are imported

import torch  # noqa: E402

from nmt.config.config import Config  # noqa: E402
from nmt.config.yaml_files import parse_config  # noqa: E402
from nmt.progress import Bar  # noqa: E402
from nmt.runs.folder import RunFolder  # noqa: E402
from nmt.training.train import train  # noqa: E402

_mps: Any = torch.backends.mps
_mps.is_available = lambda: False

NAMES = ["Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas"]
VERBS = {
    "sings": "singt",
    "reads": "liest",
    "dances": "tanzt",
    "cooks": "kocht",
    "swims": "schwimmt",
}
TIMES = {"today": "heute", "often": "oft", "at home": "zu Hause", "at night": "nachts"}


def toy_pairs() -> list[tuple[str, str]]:
    """Return 200 distinct pairs such as ("Anna sings today.", "Anna singt heute.")."""
    return [
        (f"{name} {verb} {time}.", f"{name} {german_verb} {german_time}.")
        for name in NAMES
        for verb, german_verb in VERBS.items()
        for time, german_time in TIMES.items()
    ]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Use one thread: more do not help tiny tensors, and slow down tests that run in parallel."""
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"  # for the processes that tests start


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c() -> None:
    """Handle Ctrl-C, also if a shell runs the tests in the background and so ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def immediate_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress at once instead of after two seconds."""
    monkeypatch.setattr("nmt.progress.Bar", lambda *v, **named: Bar(*v, **named | {"delay": 0}))


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Let PyTorch use two threads in one test."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def toy_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tsv file of the 200 pairs."""
    path = tmp_path_factory.mktemp("corpus") / "toy.tsv"
    text = "".join(f"{source}\t{target}\n" for source, target in toy_pairs())
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def toy_config(toy_corpus: Path) -> Callable[..., Config]:
    """Return a function that creates a small configuration; dictionaries override its sections."""

    def make(**sections: dict[str, object]) -> Config:
        tree: dict[str, dict[str, object]] = {
            "data": {
                "source": "tsv",
                "path": str(toy_corpus),
                "validation_size": 16,
                "test_size": 16,
            },
            "tokenizer": {"vocabulary_size": 120, "byte_fallback": False},
            "model": {
                "d_model": 32,
                "heads": 2,
                "d_ff": 64,
                "encoder_layers": 1,
                "decoder_layers": 1,
                "max_length": 64,
            },
            "training": {"epochs": 2, "batch_tokens": 256, "warmup_updates": 10},
            "decoding": {"beam_size": 2},
        }
        for section, fields in sections.items():
            tree[section].update(fields)
        return parse_config(tree, "toy")

    return make


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory, toy_corpus: Path) -> Iterator[RunFolder]:
    """A run that has learned the toy corpus; tests must not change it, which is checked at last."""
    root = tmp_path_factory.mktemp("trained")
    tree = {
        "data": {"source": "tsv", "path": str(toy_corpus), "validation_size": 16, "test_size": 16},
        "tokenizer": {"vocabulary_size": 120, "byte_fallback": False},
        "model": {"d_model": 64, "heads": 4, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1},
        "training": {
            "epochs": 60,
            "batch_tokens": 512,
            "learning_rate": 5e-3,
            "warmup_updates": 20,
            "validate_updates": 100,
            "precision": "float32",  # similar results on all processors
        },
    }
    before = Path.cwd()
    os.chdir(root)
    try:
        run = RunFolder(train(parse_config(tree, "toy"), root / "runs" / "toy").path)
    finally:
        os.chdir(before)
    files = [file for file in run.path.iterdir() if file.suffix]
    contents = [file.read_bytes() for file in files]
    yield run
    assert contents == [file.read_bytes() for file in files], f"a test changed {run.path}"


@contextmanager
def _full_disk(largest: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    """A context in which no file may exceed a number of bytes, to simulate a full disk."""
    return _full_disk


@pytest.fixture
def corpora() -> Path:
    """The folder of real corpora, if there is one."""
    folder = os.environ.get("NMT_CORPORA")
    if not folder:
        pytest.skip("NMT_CORPORA is not set")
    return Path(folder)
