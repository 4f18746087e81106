"""The documentation site builds, and its generated pages match the code."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import pytest
import typer
from docs_pages import command_line, configuration

from nmt.cli.app import app
from nmt.config.yaml_files import describe_fields

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in ("index", "configuration/index", "command-line/index", "python/index"):
        assert (tmp_path / f"{page}.html").exists()


def test_every_field_is_in_the_configuration_page():
    page = configuration()
    for field, *_ in describe_fields(nested=True):
        assert f"- **`{field.partition('.')[2]}`**: " in page


def test_every_command_is_in_the_command_line_page():
    page = command_line()
    for command in ("prepare", "train", "translate", "evaluate", "plot attention", "config show"):
        assert f"`nmt {command}`" in page
    assert "* `train`: Train a model, preparing the data first if necessary.\n" in page


def test_every_command_is_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in vars(typer.main.get_command(app))["commands"]:
        assert f"`nmt {command}`" in readme or f"`{command}`" in readme, command
