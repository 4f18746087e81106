"""Count the inputs, typed as people type them, whose translations are as they should be.

    python scripts/measure_typed.py runs/everyday cases.tsv

Each line of the file has three columns. `same`: both texts have the same translation; `wrap`: the
second has that of the first, without regard to case, with the marks around it; `keep`: the first
text becomes the second; `has`: the translation of the first contains the second, once. The texts
are translated on the command line, by the server, in a document, and by the exported translate.py.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from starlette.testclient import TestClient

from nmt.decoding.loading import load_translator
from nmt.runs.finding import open_run
from nmt.serve.app import make_app
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Service

KINDS: dict[str, Callable[[str, str, str], bool]] = {
    "same": lambda first, second, _: first == second,
    "wrap": lambda first, second, _: first.lower().rstrip("?") in second.lower(),
    "keep": lambda first, _, text: first == text,
    "has": lambda first, _, text: first.count(text) == 1,
}
"""Whether translations of the first and second text are right, given the second text."""


def by_command(texts: list[str], *command: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, *command], input="\n".join(texts), capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("cases", type=Path)
    arguments = parser.parse_args()
    lines = arguments.cases.read_text(encoding="utf-8").split("\n")
    cases = [line.split("\t") for line in lines if line]
    texts = [text for _, first, second in cases for text in (first, second)]

    run = open_run(arguments.run)
    translator = load_translator(run)
    service = Service([ServedRun("run", run, translator, translator.engine.name)], Limits())
    data = run.config.data
    languages = {"source": data.source_language, "target": data.target_language}

    def served(text: str) -> str:
        answer = server.post("/translate", json={"q": text, **languages}).json()
        return str(answer["translatedText"])

    def in_document(text: str) -> str:
        file = {"file": ("text.txt", text.encode())}
        found = server.post("/translate_file", files=file, data=languages).json()
        return str(server.get(urlsplit(found["translatedFileUrl"]).path).text)

    with (
        TestClient(make_app(service), base_url="http://localhost:5000") as server,
        TemporaryDirectory() as folder,
    ):
        exported = Path(folder, "exported")
        by_command([], "-m", "nmt", "export", str(run.path), "--output", str(exported))
        ways = {
            "command line": by_command(texts, "-m", "nmt", "translate", "--run", str(run.path)),
            "server": list(map(served, texts)),
            "document": list(map(in_document, texts)),
            "export": by_command(texts, str(exported / "translate.py")),
        }
    for way, found in ways.items():
        faults = [
            f"  {kind}: {first!r}, {second!r}: {ours!r}, {theirs!r}"
            for (kind, first, second), ours, theirs in zip(
                cases, found[::2], found[1::2], strict=True
            )
            if not KINDS[kind](ours, theirs, second)
        ]
        print(f"{way}: {len(cases) - len(faults)} of {len(cases)}", *faults, sep="\n")


if __name__ == "__main__":
    main()
