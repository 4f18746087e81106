"""Install the wheel and the sdist into empty environments outside the repository, and use them.

    make package
    python scripts/check_package.py dist python3.10 python3.13

If no interpreters are given, uses the oldest and the newest on the PATH or installed by pyenv. In
each environment `nmt` trains and translates in an empty folder, and mypy checks a program that uses
the package.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONSTRAINTS = Path(__file__).parent.parent / "constraints.txt"
OLDEST, NEWEST = 10, 20  # minor versions of Python to look for
SMALL = [
    *("model.d_model=16", "model.heads=2", "model.d_ff=16", "model.encoder_layers=1"),
    *("model.decoder_layers=1", "training.max_updates=2", "tokenizer.vocabulary_size=400"),
]
PROGRAM = """\
from nmt.decoding.loading import load_translator

texts: list[str] = [t.text for t in load_translator("runs/sample").translate(["hello"])]
"""
WRONG = PROGRAM.replace("list[str]", "list[int]")


def check(package: Path, python: str) -> None:
    """Install a wheel or an sdist, and test it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, python, "-m", "venv", "venv")
        bin_folder = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        modules, nmt = [str(bin_folder / "python"), "-m"], str(bin_folder / "nmt")
        pip = [*modules, "pip", "install", "--quiet", "-c", str(CONSTRAINTS)]
        torch = next(t for t in CONSTRAINTS.read_text().splitlines() if t.startswith("torch=="))
        run(folder, *pip, torch)
        run(folder, *pip, str(package), "mypy")
        run(folder, nmt, "--version")
        overrides = [part for field in SMALL for part in ("--set", field)]
        run(folder, nmt, "train", "--config", "sample.yaml", *overrides)
        run(folder, nmt, "translate", "oscar likes to code")
        mypy = [*modules, "mypy", "--strict"]
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
        run(folder, *mypy, "program.py")
        if subprocess.run([*mypy, "wrong.py"], cwd=folder, capture_output=True).returncode != 1:
            sys.exit("mypy does not see the types of the installed package")


def run(folder: Path, *command: str) -> None:
    """Run a command in the folder; exit with its output if it fails."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def interpreters() -> list[str]:
    """Return the oldest and the newest supported Python on the PATH or installed by pyenv."""
    names = [f"python3.{minor}" for minor in range(OLDEST, NEWEST)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [
        candidate
        for name in names
        for candidate in (name, *map(str, sorted(pyenv.glob(f"*/bin/{name}"))))
        if _works(candidate)
    ] or [sys.executable]
    return list(dict.fromkeys([found[0], found[-1]]))


def _works(name: str) -> bool:
    try:
        return subprocess.run([name, "-c", ""], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    dist, *pythons = sys.argv[1:]
    packages = sorted(Path(dist).resolve().glob("nmt_trainer-*.*"))
    if len(packages) != 2:
        sys.exit(f"{dist}: expected one wheel and one sdist, found {len(packages)} files")
    for python in pythons or interpreters():
        for package in packages:
            check(package, python)
            print(f"{python}: {package.name} installs, trains, translates and has types")
