"""`nmt export` and `nmt push`."""

import os
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from nmt.runs.folder import RunFolder

from .command_line import assert_refused, nmt, printed, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_a_repository_name_that_is_not_utf8_is_refused(trained_run: RunFolder) -> None:
    pytest.importorskip("huggingface_hub")
    message = "cannot be uploaded: Repo id must use alphanumeric chars"
    assert_refused("push", trained_run.path, os.fsdecode(b"\xff\xfe"), message=message)


def test_export_writes_into_the_run_or_the_given_folder(trained_run: RunFolder) -> None:
    shutil.copytree(trained_run.path, "runs/copy")
    assert printed("export") == "exported         runs/copy/exported\n"
    assert Path("runs/copy/exported/model.bin").is_file()
    assert_refused("export", "runs/copy", message="runs/copy/exported: already exists")
    nmt("export", "runs/copy", "--format", "ctranslate2", "--output", "elsewhere")
    assert Path("elsewhere/model.bin").is_file()
    best = Path("elsewhere/model.bin").read_bytes()
    last = RunFolder(Path("runs/copy")).weights("last")
    weights = load_file(last)
    save_file({name: 2 * weight for name, weight in weights.items()}, last)
    nmt("export", "runs/copy", "--weights", "last", "--output", "doubled")
    assert Path("doubled/model.bin").read_bytes() != best


def test_export_warns_of_settings_that_it_does_not_support(trained_run: RunFolder) -> None:
    run = RunFolder(Path(shutil.copytree(trained_run.path, "runs/copy")))
    sampling = run.config.decoding.model_copy(update={"temperature": 1.0, "knn_k": 4})
    run.write_config(run.config.model_copy(update={"decoding": sampling}))
    warned = text(nmt("export", run.path, "--output", "sampling").stderr)
    for field in ("decoding.knn_k", "decoding.temperature"):
        assert f"exported without {field}, which the export does not support" in warned
    assert "du, ihr or Sie" not in warned
