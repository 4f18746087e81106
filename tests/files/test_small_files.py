"""Files of forged runs are refused in memory that is bounded by their size."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.files.small_files import LARGEST, read_small

PEAK = """
import sys
from pathlib import Path
from nmt.config.tokenizer import TokenizerConfig
from nmt.config.yaml_files import load_config
from nmt.corpus.prepared import read_report
from nmt.corpus.preparing.statistics import read_statistics
from nmt.corpus.tokenizers.subwords import SubwordTokenizer
from nmt.errors import UserError
from nmt.runs.folder import RunFolder

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024

before = peak()
try:
    eval(sys.argv[1])
except UserError as error:
    print(error, file=sys.stderr)
    print(peak() - before)
"""


def json_list(before: str, item: str, count: int, after: str) -> bytes:
    return f"{before}[{f'{item},' * count}{item}]{after}".encode()


REPORT, METRICS = "read_report(Path())", "RunFolder(Path()).read_metrics()"
FILES = [
    ("config.yaml", b"data: [" + b"a," * 600_000 + b"]", "load_config('config.yaml')"),
    ("report.json", json_list('{"corpora":', "{}", 150_000, "}"), REPORT),
    ("report.json", json_list('{"inherited":{"corpora_before":', "{}", 150_000, "}}"), REPORT),
    ("run.json", json_list('{"overrides":', "0", 600_000, "}"), "RunFolder(Path()).origin"),
    ("metrics.jsonl", json_list('{"update":1,"samples":', "{}", 150_000, "}"), METRICS),
    ("metrics.jsonl", json_list("", "[0]", 3_000_000, ""), METRICS),
    (
        "frequent_words.json",
        json_list('{"source":', "0", 2_000_000, ',"target":[]}'),
        "read_statistics(Path(), 0)",
    ),
    (
        "joint.model",
        b"\n\0" * 10_000_000,
        "SubwordTokenizer(Path('joint.model'), TokenizerConfig())",
    ),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("name", "content", "read"), FILES)
def test_memory_of_a_refusal_is_bounded_by_the_size_of_the_file(
    tmp_path: Path, name: str, content: bytes, read: str
) -> None:
    (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", PEAK, read]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert name in run.stderr
    assert int(run.stdout) < 20 * len(content) + 300_000_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_instead_of_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a file"):
        read_small(tmp_path / "pipe")


def test_a_small_file_is_read_and_a_large_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    path.write_bytes(b"x" * LARGEST)
    assert read_small(path) == b"x" * LARGEST
    path.write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(OSError, match="larger than 500,000 bytes"):
        read_small(path)
