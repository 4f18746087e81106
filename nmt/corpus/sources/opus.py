"""Corpora from OPUS (Tiedemann 2012, https://opus.nlpl.eu) and from the `mtdata` command."""

import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from nmt.config.languages import codes, three_letters
from nmt.corpus.sources.download import NotThereError, cache_folder, claim, download
from nmt.corpus.sources.readers import (
    Pair,
    align,
    damage_explained,
    decode_lines,
    open_zip,
    read_tsv,
)
from nmt.errors import UserError, one_line
from nmt.progress import elapsed

OPUS_URL = "https://object.pouta.csc.fi/"
_MOST_BYTES = 40 * 2**30
_MOST_UNPACKED = 200 * 2**30


def download_opus(name: str, languages: tuple[str, str], refresh: bool) -> Path:
    """Download the Moses zip of a corpus such as `News-Commentary/v16`; return its path."""
    corpus, _, version = name.partition("/")
    if not version or "/" in version or ".." in name:
        raise UserError(
            f"data.path: {name} is neither a file nor NAME/VERSION, such as News-Commentary/v16"
        )
    pair, other = ("-".join(sorted(languages, reverse=order)) for order in (False, True))
    destination = cache_folder() / "opus" / f"{corpus}-{version}-{pair}.zip"

    def fetch(pair: str) -> Path:
        return download(
            f"{OPUS_URL}OPUS-{corpus}/{version}/moses/{pair}.txt.zip",
            destination,
            refresh=refresh,
            max_bytes=_MOST_BYTES,
            max_unpacked=_MOST_UNPACKED,
        )

    try:
        return fetch(pair)
    except NotThereError as error:
        try:  # a few are not in alphabetical order: News-Commentary/v16 has nl-de
            return fetch(other)
        except NotThereError:
            raise error from None


def read_moses(path: Path, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of a zip that has a text file for each language: NAME.en, NAME.de."""
    with ExitStack() as stack:
        stack.enter_context(damage_explained(path))
        archive = stack.enter_context(open_zip(path))
        names = [_member(archive, path, language) for language in languages]
        lines = [
            decode_lines(stack.enter_context(archive.open(name)), f"{path}/{name}", _MOST_UNPACKED)
            for name in names
        ]
        yield from align(lines[0], lines[1], (f"{path}/{names[0]}", f"{path}/{names[1]}"))


def _member(archive: zipfile.ZipFile, path: Path, language: str) -> str:
    for name in archive.namelist():
        if name.endswith(tuple(f".{code}" for code in codes(language))):
            return name
    raise UserError(
        f"{path}: no text in {language}; set source_language and target_language, or use another "
        "corpus"
    )


def opus_licence(path: Path) -> str:
    """Return the first paragraph of the licence in a Moses zip, or where to look for it."""
    with suppress(UserError, KeyError), damage_explained(path), open_zip(path) as archive:
        with archive.open("LICENSE") as file:
            text = file.read(10_000).decode("utf-8", "replace").strip()
        return one_line(re.split(r"\n\s*\n", text)[0])[:300] or "see its README"
    return "see https://opus.nlpl.eu"


def fetch_mtdata(name: str, refresh: bool) -> Path:
    """Fetch a corpus such as Statmt-europarl-10-deu-eng with `mtdata`; return the path of the TSV.

    It runs as a subprocess because its dependencies conflict with ours.
    """
    destination = cache_folder() / "mtdata" / f"{name}.tsv"
    if destination.is_file() and not refresh:
        return destination
    if not re.fullmatch(r"\w[\w.-]*", name, re.ASCII):
        raise UserError(f"data.path: {name} is not an mtdata identifier; `mtdata list` shows them")
    program = shutil.which("mtdata")
    if program is None:
        raise UserError(
            "source `mtdata` needs the command mtdata; install it in its own environment: "
            "pipx install mtdata"
        )
    destination.parent.mkdir(parents=True, exist_ok=True)
    with claim(destination) as partial:
        if destination.is_file() and not refresh:
            return destination  # another process has fetched it while this one was waiting
        try:
            with partial.open("wb") as file, elapsed(f"mtdata echo {name}"):
                run = subprocess.run(
                    [program, "echo", name], stdout=file, stderr=subprocess.PIPE, check=False
                )
            if run.returncode or partial.stat().st_size == 0:
                reason = one_line(run.stderr.decode("utf-8", "replace"))[-300:]
                raise UserError(
                    f"mtdata echo {name}: failed ({reason}); check the name and the network"
                )
            partial.replace(destination)
        finally:
            partial.unlink(missing_ok=True)
    return destination


def read_mtdata(path: Path, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of a TSV from mtdata; its name ends in the languages of the columns."""
    # A code may have a region, as in eng-ara_SA.
    columns = [three_letters(code.partition("_")[0]) for code in path.stem.split("-")[-2:]]
    wanted = [three_letters(code) for code in languages]
    if sorted(columns) != sorted(wanted):
        raise UserError(
            f"{path}: contains {' → '.join(columns)}, not {' → '.join(wanted)}; set "
            "source_language and target_language, or use another corpus"
        )
    for first, second in read_tsv(path):
        yield (first, second) if columns == wanted else (second, first)
