"""Commands, configurations and Python in README and the documentation work.

`sh` blocks are run with small models and corpora. `bash` blocks and blocks without a language need
hours, a network or other machines: their `nmt` commands are only parsed.
"""

import gzip
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import docx
import numpy as np
import pytest
import typer
import yaml
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.config.yaml_files import describe_fields, find_config, parse_config

ROOT = Path(__file__).parent.parent
PAGES = {page.name: page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in PAGES.items()}
FIELDS = {name for name, *_ in describe_fields()}
FIELD = re.compile(r"(?<![-/\w])((?:data|tokenizer|model|training|decoding)\.[a-z_]+)\b(?!\.)")

SMALL = [
    "model.d_model=16",
    "model.heads=2",
    "model.d_ff=16",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "training.max_updates=2",
    "training.validate_updates=2",
    "tokenizer.vocabulary_size=400",
    # After two updates, a model's outputs are as long as they may be.
    "decoding.max_length_extra=5",
    "decoding.max_length_factor=0.1",
]
TOY_SIZES = ["data.validation_size=20", "data.test_size=20"]
TOY = ["data.source=tsv", "data.path=pairs.tsv", *TOY_SIZES]  # for the built-in sample
RUN_ELSEWHERE = ("nmt serve", "torchrun", "srun")  # tests/serve, tests/training/test_distributed.py


def blocks(text: str, *languages: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [block for language, block in found if language in languages]


def commands(text: str, *languages: str) -> list[str]:
    """The lines that call `nmt`, with their continuations."""
    joined = "\n".join(blocks(text, *languages)).replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if re.search(r"(^|\| |-m )nmt ", line)]


def with_language(*languages: str) -> list[str]:
    return [name for name, text in TEXTS.items() if blocks(text, *languages)]


def with_commands(*languages: str) -> list[str]:
    return [name for name, text in TEXTS.items() if commands(text, *languages)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, toy_corpus: Path) -> Path:
    """A folder with every file and run that the commands name."""
    folder = tmp_path_factory.mktemp("snippets")
    lines = toy_corpus.read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split("\t")) for line in lines]
    (folder / "english-german-both.pkl").write_bytes(pickle.dumps(np.array(pairs), protocol=3))
    (folder / "pairs.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    mine = blocks(TEXTS["your-data.md"], "yaml")[0]
    (folder / "mine.yaml").write_text(mine, encoding="utf-8")
    (folder / "captions.en").write_text("".join(s + "\n" for s, _ in pairs[:3]), encoding="utf-8")
    (folder / "captions.de").write_text("".join(t + "\n" for _, t in pairs[:3]), encoding="utf-8")
    sides = {"en": "Anna sings.", "de": "Anna singt."}  # which the runs have not held out
    unit = "".join(f"<tuv lang='{side}'><seg>{text}</seg></tuv>" for side, text in sides.items())
    memory = f"<tmx><body><tu>{unit}</tu></body></tmx>"
    (folder / "memory.tmx").write_text(memory, encoding="utf-8")
    unit = "<trans-unit id='1'><source>Where is the station?</source></trans-unit>"
    file = f"<file source-language='en'><body>{unit}</body></file>"
    (folder / "site.xlf").write_text(f"<xliff version='1.2'>{file}</xliff>", encoding="utf-8")
    letter = docx.Document()
    letter.add_paragraph("Where is the station?")
    letter.save(str(folder / "letter.docx"))
    (folder / "page.html").write_text("<p>Where is the <b>station</b>?</p>", encoding="utf-8")
    (folder / "terms.tsv").write_text("station\tHalt\n", encoding="utf-8")
    write_multi30k(folder / "multi30k", pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        invoke(made_small("nmt train --config sample.yaml"))
    shutil.copytree(folder / "runs" / "sample", folder / "runs" / "sample-2")
    return folder


def write_multi30k(folder: Path, pairs: list[tuple[str, ...]]) -> None:
    folder.mkdir()
    parts = {"train": pairs[:160], "val": pairs[160:180], "test_2016_flickr": pairs[180:]}
    for split, part in parts.items():
        for side, language in enumerate(("en", "de")):
            text = "".join(pair[side] + "\n" for pair in part)
            (folder / f"{split}.{language}.gz").write_bytes(gzip.compress(text.encode()))


def made_small(command: str) -> str:
    """Add the overrides that make a prepare or train command quick and offline."""
    if not re.match(r"nmt (prepare|train|plot lengths)", command):
        return command
    if "--resume" in command:
        overrides = ["training.max_updates=3"]
    elif "sample.yaml" in command:
        overrides = [*SMALL, *TOY]
    elif "multi30k" in command:
        overrides = [*SMALL, "data.path=multi30k"]
    elif "mine.yaml" in command:
        overrides = [*SMALL, *TOY_SIZES]
    else:
        overrides = [*SMALL, *TOY_SIZES, "data.path=english-german-both.pkl"]
    for field in (override.partition("=")[0] for override in overrides):
        command = re.sub(rf" --set {re.escape(field)}=\S+", "", command)
    return command + "".join(f" --set {override}" for override in overrides)


def invoke(command: str) -> None:
    """Run a command line, in this process if it needs no shell."""
    if not re.search(r"[|<>]", command):
        done = CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", with_commands("sh"))
def test_every_command_runs(page, folder, tmp_path, monkeypatch):
    # A copy: a command without --run must not find a run of another page.
    folder = shutil.copytree(folder, tmp_path / "page")
    monkeypatch.chdir(folder)
    for command in commands(TEXTS[page], "sh"):
        if not command.startswith(RUN_ELSEWHERE):
            print(command)
            invoke(made_small(command))
    if page == "translate.md":
        assert (folder / "captions.de").read_text().count("\n") == 3
        assert (folder / "greedy.de").read_text().count("\n") == 3


@pytest.mark.parametrize("page", with_commands("bash", "sh", ""))
def test_every_command_parses(page):
    for line in commands(TEXTS[page], "bash", "sh", ""):
        arguments = shlex.split(re.split(r"\bnmt (?:-- )?", line, maxsplit=1)[1], comments=True)
        arguments = [word for word in arguments if not word.startswith("$")]
        ends = [arguments.index(sign) for sign in ("|", ">", ">>", "&") if sign in arguments]
        parse(arguments[: min(ends, default=None)])
        for given in re.findall(r"--set (\S+?)=", line):
            assert given in FIELDS, line
        for name in re.findall(r"--config[= ](\S+)", line):
            assert name == "mine.yaml" or find_config(name).is_file(), line


def parse(arguments: list[str]) -> None:
    """Raise `click.UsageError` for a command line that Typer would refuse."""
    command: click.Command = typer.main.get_command(app)
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.commands[name]
    command.make_context(command.name, arguments)


@pytest.mark.parametrize("page", [name for name in with_language("python") if "how" not in name])
def test_python_code_runs(page, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for code in blocks(TEXTS[page], "python"):
        exec(
            code.replace(
                'load_config("sample.yaml")', f'load_config("sample.yaml", {SMALL + TOY})'
            ),
            {},
        )
        assert capsys.readouterr().out


@pytest.mark.parametrize("page", with_language("yaml"))
def test_configurations_are_valid(page):
    for block in blocks(TEXTS[page], "yaml"):
        parse_config(yaml.safe_load(block), page)


@pytest.mark.parametrize("page", TEXTS)
def test_make_targets_files_and_fields_named_on_a_page_exist(page):
    text = TEXTS[page]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)|`make ([a-z-]+?)`", text, flags=re.MULTILINE):
        assert f"\n{''.join(target)}:" in makefile
    for path in re.findall(r"`((?:nmt|configs|scripts|tests)/[\w/.-]+\.\w+)`", text):
        assert (ROOT / path).exists(), path
    if page == "README.md":  # links of the site are checked by MkDocs
        for link in re.findall(r'(?:\]\(|src=|srcset=)"?(?!http)([^)"#]+)', text):
            assert (ROOT / link).exists(), link
    prose = re.sub(r"^```python\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    assert set(FIELD.findall(prose)) - FIELDS == set()
