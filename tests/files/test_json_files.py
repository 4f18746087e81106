"""Small JSON files are written and read unchanged; other content is refused."""

from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.files.json_files import read_json, write_json


@dataclass(frozen=True)
class Pair:
    source: list[str]
    target: dict[str, str]


def test_values_are_written_and_read_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    pair = Pair(["für", "\u2028"], {"ä": "Ä"})
    write_json(path, asdict(pair))
    assert read_json(path, Pair) == pair


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"3",
        b'["a"]',
        b'{"source": ["a"]}',
        b'{"source": [1], "target": {}}',
        b'{"source": "ab", "target": {}}',
        b'{"source": ["\\ud800"], "target": {}}',
        b"[" * 100_000,
    ],
)
def test_unexpected_structure_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pair.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"pair\.json: cannot be read: damaged; delete") as caught:
        read_json(path, Pair)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"pair\.json: cannot be read: No such file"):
        read_json(tmp_path / "pair.json", Pair)
