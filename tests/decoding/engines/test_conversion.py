"""The converted model in a run: created if missing, damaged or outdated, and always complete."""

import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from safetensors.torch import load_file, save_file

from nmt.config.choices import Weights
from nmt.config.model import ModelConfig
from nmt.decoding.engines import conversion
from nmt.decoding.engines.conversion import convert, converted
from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.runs.folder import RunFolder
from nmt.runs.weights import save_weights

LINES = ["Anna sings today.", "Ben swims often."]


@pytest.fixture
def run(trained_run: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the trained run, without its converted model."""
    shutil.copytree(trained_run.path, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "ctranslate2", ignore_errors=True)
    return RunFolder(tmp_path / "run")


def names_of_models(run: RunFolder) -> list[str]:
    return sorted(path.name for path in run.converted.iterdir() if path.name != ".lock")


def folder_of(run: RunFolder, weights: Weights = "best") -> Path:
    """Convert the model if needed; return its folder."""
    with converted(run, weights) as folder:
        return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def changed(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place:][1:]


def double(path: Path) -> None:
    """Replace the weights with different ones."""
    save_file({name: 2 * weight for name, weight in load_file(path).items()}, path)


def test_a_model_is_converted_once_and_kept(run):
    made = (folder_of(run) / "model.bin").stat().st_mtime_ns
    again = folder_of(run)
    assert (again / "model.bin").stat().st_mtime_ns == made
    assert names_of_models(run) == [again.name]


def test_a_model_with_a_damaged_missing_or_further_file_is_converted_again(run):
    folder = folder_of(run)
    whole = contents(folder)
    assert {"model.bin", "config.json"} < whole.keys()
    for name, content in whole.items():
        (folder / name).write_bytes(changed(content, len(content) // 2))
        assert contents(folder_of(run)) == whole, name
    [*_, vocabulary] = [name for name in whole if "vocabulary" in name]
    (folder / vocabulary).unlink()
    assert contents(folder_of(run)) == whole
    (folder / "vocabulary.json").write_text("[]")
    assert contents(folder_of(run)) == whole
    assert names_of_models(run) == [folder.name]


def test_outdated_and_partial_models_are_deleted(run):
    for name in ("0123abcd" * 4, ".half"):
        (run.converted / name).mkdir(parents=True)
    folder = folder_of(run)
    assert names_of_models(run) == [folder.name]
    (run.converted / ".half").mkdir()  # of a process killed after its last step
    convert(run, "best")
    assert names_of_models(run) == [folder.name]


def test_folders_of_others_are_never_deleted(run, tmp_path):
    photos = tmp_path / "home" / "photos"
    photos.mkdir(parents=True)
    run.converted.symlink_to(photos.parent)  # as in a run from someone else
    with converted(run, "best") as folder:
        assert (folder / "model.bin").exists()
    assert [*photos.parent.iterdir()] == [photos]
    run.converted.unlink()
    (run.converted / "photos").mkdir(parents=True)
    convert(run, "best")
    assert (run.converted / "photos").exists()


def test_damaged_weights_and_those_in_other_formats_are_not_converted(run):
    path = run.weights("best")
    content, weights = path.read_bytes(), load_file(path)
    infinite = {**weights, "encoder_norm.bias": weights["encoder_norm.bias"] / 0}
    (path.parent / "SHA256SUMS").unlink(missing_ok=True)
    for damage, reason in (
        (lambda: path.write_bytes(changed(content, len(content) - 1)), "checksum"),
        (lambda: save_file({name: x.bfloat16() for name, x in weights.items()}, path), ""),
        (lambda: save_file(infinite, path), "not finite"),
    ):
        damage()
        with pytest.raises(UserError, match=rf"best\.safetensors.*{reason}"):
            convert(run, "best")
        assert names_of_models(run) == []


def test_training_ends_with_the_converted_model(trained_run):
    [name] = names_of_models(trained_run)
    assert folder_of(trained_run) == trained_run.converted / name


def test_other_weights_are_converted_again_and_old_models_deleted(run):
    before = folder_of(run)
    double(run.weights("best"))
    double(run.weights("last"))
    found = folder_of(run)
    assert names_of_models(run) == [found.name] != [before.name]
    exact = load_translator(run, device="cpu", compute_type="float32").translate(LINES)
    plain = load_translator(run, device="cpu", engine="pytorch").translate(LINES)
    assert [t.text for t in exact] == [t.text for t in plain]


def test_each_kind_of_weights_has_its_own_converted_model(run):
    double(run.weights("last"))
    best, last = folder_of(run), folder_of(run, "last")
    assert names_of_models(run) == sorted([best.name, last.name])
    assert (best / "model.bin").read_bytes() != (last / "model.bin").read_bytes()


def test_a_read_only_run_can_translate(run):
    with (
        patch.object(Path, "mkdir", side_effect=PermissionError("read-only")),
        converted(run, "best") as folder,
    ):
        assert (folder / "model.bin").is_file()
        assert run.path not in folder.parents
    assert not folder.exists()
    assert not run.converted.exists()


def test_weights_that_do_not_match_the_configuration_are_refused(run):
    config = run.config.model
    sizes = run.report["vocabulary_size"]
    for changes in ({"d_ff": 64}, {"encoder_layers": 2}, {"tie": "none"}):
        other = ModelConfig.model_validate(config.model_dump() | changes)
        save_weights(Transformer(other, sizes["source"], sizes["target"]), run.weights("best"))
        with pytest.raises(UserError, match=r"best\.safetensors: weights cannot be read"):
            convert(run, "best")


def test_unsupported_models_are_not_converted(run, monkeypatch):
    monkeypatch.setattr(conversion, "unsupported", lambda model: ["some reason"])
    convert(run, "best")
    assert not run.converted.exists()


PROGRAM = """
import sys
from nmt.cli import main
try:
    main()
finally:
    print('imported', *sorted({'torch', 'spacy', 'ctranslate2'} & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    ("command", "converted"),
    [
        (["translate", "Anna sings today."], True),
        (["translate", "Anna sings today."], False),
        (["evaluate"], True),
    ],
)
def test_translating_imports_neither_pytorch_nor_spacy(trained_run, command, converted, tmp_path):
    run = shutil.copytree(trained_run.path, tmp_path / "run")
    if not converted:
        shutil.rmtree(run / "ctranslate2")
    call = [sys.executable, "-c", PROGRAM, *command, "--run", run]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("imported ctranslate2\n"), done.stdout
    assert "Anna singt heute." in done.stdout or "BLEU" in done.stdout
