"""The README's commands, run in its order, with models made small and corpora from this folder."""

import gzip
import os
import pickle
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nmt.config_files import load_config
from nmt.training.train import train

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

SMALL = [
    "model.d_model=16",
    "model.heads=2",
    "model.d_ff=16",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "training.max_updates=2",
    "training.validate_updates=2",
    "tokenizer.vocabulary_size=400",
]
TOY_SIZES = ["data.validation_size=20", "data.test_size=20"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    return [line for block in blocks("sh") for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, toy_corpus: Path) -> Path:
    """A folder with every file that the README's commands name."""
    folder = tmp_path_factory.mktemp("readme")
    lines = toy_corpus.read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split("\t")) for line in lines]
    (folder / "english-german-both.pkl").write_bytes(pickle.dumps(np.array(pairs), protocol=3))
    (folder / "pairs.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    (folder / "mine.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    (folder / "captions.en").write_text("".join(s + "\n" for s, _ in pairs[:3]), encoding="utf-8")
    multi30k = folder / "multi30k"
    multi30k.mkdir()
    for split, part in (
        ("train", pairs[:160]),
        ("val", pairs[160:180]),
        ("test_2016_flickr", pairs[180:]),
    ):
        for side, language in enumerate(("en", "de")):
            text = "".join(pair[side] + "\n" for pair in part)
            (multi30k / f"{split}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def made_small(command: str) -> str:
    """Add the overrides that make a prepare or train command quick and offline."""
    if command.startswith("nmt plot attention"):
        # After three updates a model writes on and on: more than a picture can show.
        return command + " --set decoding.max_length_extra=5"
    if not re.match(r"nmt (prepare|train|plot lengths)", command):
        return command
    overrides = list(SMALL)
    if "sample.yaml" not in command and "--resume" not in command:
        overrides += TOY_SIZES
    if "multi30k.yaml" in command:
        overrides = [*SMALL, "data.path=multi30k"]
    elif "mine.yaml" not in command and "--resume" not in command:
        overrides.append("data.path=english-german-both.pkl")
    if "sample.yaml" in command:
        overrides = list(SMALL)
    if "--resume" in command:
        overrides = ["training.max_updates=3"]
    return command + "".join(f" --set {override}" for override in overrides)


def test_every_nmt_command_runs(folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    run = [command for command in commands() if "nmt " in command]
    assert len(run) > 15
    for command in run:
        if "runs/sample-2" in command:  # the README supposes a second training
            subprocess.run(["cp", "-r", "runs/sample", "runs/sample-2"], cwd=folder, check=True)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", made_small(command)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert (folder / "captions.de").read_text().count("\n") == 3
    assert (folder / "greedy.de").read_text().count("\n") == 3


def test_the_notebook_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [code] = blocks("python")
    train(load_config("sample.yaml", SMALL), Path("runs/sample"))
    small = ", ".join(f'"{override}"' for override in SMALL)
    assert '"training.max_updates=1600"' in code
    exec(code.replace('"training.max_updates=1600"', small), {})
    assert (tmp_path / "runs" / "notebook" / "best.safetensors").exists()
    assert capsys.readouterr().out


def test_make_targets_and_files_that_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\S+)|`make (\S+?)`", README, flags=re.MULTILINE):
        assert f"\n{''.join(target)}:" in makefile
    for path in re.findall(r"`((?:nmt|configs|scripts)/\S+?\.\w+)`", README):
        assert (ROOT / path).exists(), path
    for link in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (ROOT / link).exists(), link


def test_fields_that_it_names_exist() -> None:
    from nmt.config_files import describe_fields

    known = {name for name, *_ in describe_fields()}
    prose = re.sub(r"^```python\n.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"(?<!-)\b((?:data|tokenizer|model|training|decoding)\.[a-z_]+)\b", prose)
    assert len(named) > 10
    assert set(named) - known == set()


def test_shell_commands_parse() -> None:
    for command in commands():
        assert shlex.split(command)
