"""Checksums: weight files contain their own checksum, which detects any change."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nmt.errors import UserError
from nmt.files.checksums import (
    CHECKSUM,
    NO_CHECKSUM,
    checksum,
    identity,
    recorded_checksum,
    require_undamaged,
    sign,
)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights"
    save_file({"x": np.arange(300_000)}, path, {CHECKSUM: NO_CHECKSUM})
    sign(path)
    return path


def test_the_checksum_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content := bytes(range(256)) * 10_000)
    assert checksum(tmp_path / "a") == hashlib.sha256(content).hexdigest()


def test_files_with_checksums_are_valid_and_different_weights_have_different_ones(
    weights: Path, tmp_path: Path
) -> None:
    require_undamaged(weights)
    assert load_file(weights)["x"].sum() == np.arange(300_000).sum()
    assert identity(weights) == recorded_checksum(weights) != NO_CHECKSUM
    save_file({"y": np.arange(300_000)}, tmp_path / "other", {CHECKSUM: NO_CHECKSUM})
    sign(tmp_path / "other")
    assert identity(tmp_path / "other") != identity(weights)


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    found = set()
    for _ in range(20):  # safetensors writes the metadata in random order
        save_file({"x": np.arange(3)}, tmp_path / "a", {CHECKSUM: NO_CHECKSUM, "ä": "\t", "b": "c"})
        sign(tmp_path / "a")
        require_undamaged(tmp_path / "a")
        found.add((tmp_path / "a").read_bytes())
    assert len(found) == 1
    assert load_file(tmp_path / "a")["x"].tolist() == [0, 1, 2]


def test_a_changed_byte_is_detected(weights: Path) -> None:
    content = bytearray(weights.read_bytes())
    content[-1000] ^= 1
    weights.write_bytes(content)
    with pytest.raises(UserError, match=r"damaged \(checksum mismatch\); copy"):
        require_undamaged(weights)


def test_without_a_recorded_checksum_the_identity_is_that_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "old"
    save_file({"x": np.arange(3)}, path)
    require_undamaged(path)
    assert identity(path) == checksum(path)


def write_header(path: Path, header: bytes) -> None:
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def test_invalid_headers_have_no_checksum(tmp_path: Path) -> None:
    odd = [b"", b"[]", b"{", b"\xff", b'{"__metadata__": 3}', b'{"__metadata__": {"checksum": 7}}']
    for header in (*odd, b"[" * 9**6):
        write_header(tmp_path / "odd", header)
        assert recorded_checksum(tmp_path / "odd") is None
        (tmp_path / "odd").write_bytes(b"\xff" * 8 + header)
        assert recorded_checksum(tmp_path / "odd") is None


def test_a_header_larger_than_any_of_nmt_is_not_parsed(tmp_path: Path) -> None:
    for spaces, expected in ((9_000_000, "a"), (10_000_000, None)):
        write_header(tmp_path / "odd", b" " * spaces + b'{"__metadata__": {"checksum": "a"}}')
        assert recorded_checksum(tmp_path / "odd") == expected
