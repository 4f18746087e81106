"""Runs for the tests of the command line."""

import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from nmt.config.yaml_files import dump_config
from nmt.runs.folder import RunFolder


@pytest.fixture
def untrained(in_empty_folder: None, trained_run: RunFolder) -> Path:
    """An untrained run of the same prepared data."""
    copy = RunFolder(Path(shutil.copytree(trained_run.path, "runs/untrained")))
    weights = load_file(copy.weights("best"))
    save_file({name: value * 0 for name, value in weights.items()}, copy.weights("best"))
    return copy.path


@pytest.fixture
def mine(in_empty_folder: None, trained_run: RunFolder) -> None:
    """The configuration of the trained run as mine.yaml."""
    Path("mine.yaml").write_text(dump_config(trained_run.config))


@pytest.fixture
def a_copy(in_empty_folder: None, trained_run: RunFolder) -> Path:
    """A copy of the trained run, to draw into."""
    return Path(shutil.copytree(trained_run.path, "runs/toy"))
