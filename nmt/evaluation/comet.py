"""COMET, a learned metric (Rei et al. 2020), computed by the package unbabel-comet.

It runs as a subprocess because its dependencies conflict with ours: in an environment that `uvx`
creates, or in a virtual environment of the user's.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import cast

import torch

from nmt.device import choose_device
from nmt.errors import UserError, one_line
from nmt.files.output_files import temporary_folder

MODEL = "Unbabel/wmt22-comet-da"
_PACKAGE = "unbabel-comet==2.2.7"
_OPTIONS = ("s", "t", "r")  # of comet-score: sources, translations, references
_WITH = "setuptools<81"  # later versions lack pkg_resources, which torchmetrics imports
_LONGEST_LINE = 10_000  # bytes
_GRACE = 5  # seconds to end after SIGTERM
_PYTHON = "3.12"  # the newest that its dependencies support
_VERSION = (
    "import comet.cli.score; from importlib.metadata import version; "
    "print(version('unbabel-comet'))"
)


@dataclass(frozen=True)
class CometScore:
    """The mean of the sentences' scores; how to read it depends on the model."""

    score: float
    model: str
    """A name on the Hugging Face Hub, or a checkpoint file."""
    version: str
    """Version of unbabel-comet."""

    def __str__(self) -> str:
        return f"COMET {self.score:6.4f}  {self.model}, unbabel-comet {self.version}"


class Comet:
    """A COMET model in an environment with unbabel-comet.

    environment: folder of a virtual environment; None: `uvx` creates one, and downloads the package
    the first time; device: as in `choose_device`; COMET uses it if it is a CUDA device, otherwise
    the CPU

    Raises `UserError` without such an environment, device or checkpoint file.
    """

    def __init__(
        self, environment: Path | None = None, model: str | None = None, device: str | None = None
    ):
        self.model = model or MODEL
        self._located = _located(self.model)
        self._device = choose_device(device)
        self._python = [_interpreter(environment)] if environment else _uvx()
        run = subprocess.run(
            [*self._python, "-c", _VERSION],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if environment else None,  # uvx shows its progress
            text=True,
            check=False,
        )
        if run.returncode and environment:
            reason = one_line(run.stderr.strip().rpartition("\n")[2])[:200]
            raise UserError(
                f"{environment}: no working unbabel-comet ({reason}); {_install(environment)}"
            )
        if run.returncode:
            raise UserError(
                f"uvx cannot provide {_PACKAGE}, as shown above; check the network, or name a "
                "virtual environment that contains it: --comet-env FOLDER"
            )
        self.version = run.stdout.strip()

    def score(
        self,
        sources: Sequence[str],
        hypotheses: Sequence[str],
        references: Sequence[str],
    ) -> CometScore:
        """Return the score of hypotheses, given sources and references line by line.

        Downloads the model the first time; its progress goes to standard error.
        """
        with temporary_folder() as folder:
            for file, lines in zip(_OPTIONS, (sources, hypotheses, references), strict=True):
                text = "".join(f"{' '.join(line.splitlines())}\n" for line in lines)
                (folder / file).write_text(text, "utf-8")
            command = [*self._python, "-m", "comet.cli.score", "--quiet", "--only_system"]
            for file in _OPTIONS:
                command += [f"-{file}", file]
            gpus = "1" if self._device.type == "cuda" else "0"
            command += ["--gpus", gpus, "--model", self._located]
            # COMET opens files without naming an encoding.
            environment = {"PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore"}
            with subprocess.Popen(
                [*command, "--to_json", "scores.json"],
                cwd=folder,
                env=_visible(self._device) | environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            ) as process:
                try:
                    reason = _forward(cast(BufferedReader, process.stderr))
                except BaseException:  # such as SystemExit after SIGTERM; `with` would only wait
                    process.terminate()  # uvx passes it on, unlike SIGKILL
                    try:
                        process.wait(_GRACE)
                    except subprocess.TimeoutExpired:  # PyTorch Lightning may ignore it
                        process.kill()
                    raise
            if process.returncode:
                raise UserError(
                    f"--metric comet: unbabel-comet failed ({reason[:200]}); check the network, "
                    f"and access to the model {self.model}"
                )
            scores = _read_scores(folder / "scores.json", len(hypotheses))
        return CometScore(sum(scores) / len(scores), self.model, self.version)


def _forward(errors: BufferedReader) -> str:
    """Copy the standard error of a program to ours, except a traceback; return its last line."""
    last, shown = b"", True
    while block := errors.read1():  # without waiting for line ends, which progress bars lack
        progress, traceback, _ = block.partition(b"Traceback (most recent call last)")
        if shown:
            sys.stderr.write(progress.decode("utf-8", "replace"))
            sys.stderr.flush()
        shown = shown and not traceback
        last = (last + block)[-_LONGEST_LINE:]
    return one_line(last.decode("utf-8", "replace").strip().rpartition("\n")[2])


def _read_scores(path: Path, count: int) -> list[float]:
    try:
        [segments] = json.loads(path.read_text("utf-8")).values()
        scores = [float(segment["COMET"]) for segment in segments]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        scores = []
    if not scores or len(scores) != count:
        raise UserError(
            f"--metric comet: unbabel-comet did not score all {count} sentences; use the tested "
            f"version, {_PACKAGE}"
        )
    return scores


def _interpreter(environment: Path) -> str:
    """Return the Python interpreter of a virtual environment."""
    for path in (environment / "bin" / "python", environment / "Scripts" / "python.exe"):
        if path.is_file():
            return str(path.absolute())
    raise UserError(
        f"{environment}: not a virtual environment; create one: python -m venv "
        f"{shlex.quote(str(environment))}; " + _install(environment)
    )


def _install(environment: Path) -> str:
    pip = shlex.quote(str(environment / "bin" / "pip"))
    return f"install it: {pip} install {_PACKAGE} '{_WITH}' (Python {_PYTHON} or older)"


def _uvx() -> list[str]:
    """Return the command that runs Python with unbabel-comet in an environment created by uv."""
    program = shutil.which("uvx")
    if program is None:
        raise UserError(
            "--metric comet needs uvx (pip install uv), or --comet-env with a virtual environment "
            f"that contains {_PACKAGE}"
        )
    return [program, "--python", _PYTHON, "--with", _PACKAGE, "--with", _WITH, "python"]


def _visible(device: torch.device) -> dict[str, str]:
    """Return the environment that makes this device the first GPU that a subprocess sees."""
    if device.index is None:
        return dict(os.environ)
    name = "CUDA_VISIBLE_DEVICES"
    numbers = (os.environ.get(name) or ",".join(map(str, range(device.index + 1)))).split(",")
    return os.environ | {name: numbers[device.index]}


def _located(model: str) -> str:
    """Return the absolute path of a checkpoint file, or the model's name on the Hub."""
    if not model.endswith(".ckpt"):
        return model
    if not Path(model).is_file():
        raise UserError(f"--comet-model {model}: no such file; check the path")
    return str(Path(model).absolute())
