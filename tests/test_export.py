"""An exported run is a folder that CTranslate2 translates with, without nmt."""

import shutil
from pathlib import Path

import ctranslate2
import pytest
import sentencepiece
from safetensors.torch import load_file, save_file

from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.export import export_run
from nmt.run_folder import RunFolder

LINES = ["Anna sings today.", "Ben swims often.", "Jonas cooks at home."]


def test_the_folder_translates_without_nmt(trained_run: RunFolder, tmp_path: Path) -> None:
    folder = tmp_path / "exported"
    export_run(trained_run, folder)
    vocabularies = {f"{side}_vocabulary.json" for side in ("source", "target")}
    names = {"model.bin", "config.json", *vocabularies, "joint.model", "target.model"}
    assert {path.name for path in folder.iterdir()} == names

    engine = ctranslate2.Translator(str(folder), compute_type="float32")
    subwords = sentencepiece.SentencePieceProcessor(model_file=str(folder / "joint.model"))
    found = engine.translate_batch(subwords.encode(LINES, out_type=str), beam_size=1)
    target = sentencepiece.SentencePieceProcessor(model_file=str(folder / "target.model"))
    texts = [target.decode(result.hypotheses[0]) for result in found]

    greedy = ["decoding.beam_size=1"]
    ours = load_translator(trained_run, overrides=greedy, device="cpu", engine="pytorch")
    assert texts == [translation.text for translation in ours.translate(LINES)]


def test_each_kind_of_weights_is_exported(trained_run: RunFolder, tmp_path: Path) -> None:
    copy = RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "run")))
    weights = load_file(copy.weights("best"))
    save_file({name: 2 * weight for name, weight in weights.items()}, copy.weights("averaged"))
    exported = []
    for which in ("best", "averaged"):
        export_run(copy, tmp_path / which, which)
        exported.append((tmp_path / which / "model.bin").read_bytes())
    assert exported[0] != exported[1]
    copy.weights("last").unlink()
    with pytest.raises(UserError, match=r"last\.safetensors: no such weights"):
        export_run(copy, tmp_path / "last", "last")
    assert not (tmp_path / "last").exists()


def test_what_is_there_is_kept(trained_run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="exists already; delete it, or name another --output"):
        export_run(trained_run, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_nothing_half_written_is_left(
    trained_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("nmt.export.shutil.copyfile", full)
    (tmp_path / ".exported.partial.123").mkdir()  # by an export that was killed
    with pytest.raises(UserError, match=r"exported: cannot be written \(No space left"):
        export_run(trained_run, tmp_path / "exported")
    assert list(tmp_path.iterdir()) == []
