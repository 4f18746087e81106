"""Local paths in what others read become file names; everything else stays."""

from pathlib import Path
from typing import Any

import pytest

from nmt.files.private_paths import without_folders


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Path("clients/x.tsv"), "x.tsv"),
        ("/home/Max M/x.tsv", "x.tsv"),
        ("tsv /home/Max M, private/x.tsv", "tsv x.tsv"),
        ("~/private/x.tsv", "x.tsv"),
        ({"paths": ("/home/a.en", Path("/home/a.de"))}, {"paths": ["a.en", "a.de"]}),
        (r"tsv C:\Users\anna\x.tsv", "tsv x.tsv"),
        (r"\\server\private\x.tsv", "x.tsv"),
        ("tsv (/home/anna/a, b)", "tsv (a, b)"),
        ('"/home/Max M/x.tsv"', '"x.tsv"'),
        ("('~/private/x.tsv')", "('x.tsv')"),
        ("(/home)", "(home)"),
        ("(~5 pairs)", "(~5 pairs)"),
        ("data/x.tsv", "data/x.tsv"),
        ("MIT / CC BY 2.0 FR, https://tatoeba.org", "MIT / CC BY 2.0 FR, https://tatoeba.org"),
        ("hf:user/name", "hf:user/name"),
        ({"licence": "free for research /see https://x.org"},) * 2,
    ],
)
def test_paths_become_file_names(value: Any, expected: Any) -> None:
    assert without_folders(value) == expected
