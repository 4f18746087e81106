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
        *(None, b"", b"{", b"\xff", b"3", b'["a"]', b"[" * 100_000),
        b'{"source": ["a"]}',
        b'{"source": [1], "target": {}}',
        b'{"source": "ab", "target": {}}',
        b'{"source": ["\\ud800"], "target": {}}',
    ],
)
def test_anything_else_is_refused_in_one_line(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "pair.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"pair\.json: cannot be read") as caught:
        read_json(path, Pair)
    assert "\n" not in str(caught.value)
