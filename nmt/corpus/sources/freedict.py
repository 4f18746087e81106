"""Dictionaries from FreeDict (https://freedict.org), TEI files: single words, phrases, examples."""

import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from itertools import takewhile
from lzma import LZMAError
from pathlib import Path
from urllib.parse import urlsplit

from nmt.config.data import DataConfig
from nmt.config.languages import three_letters
from nmt.corpus.sources.corpus import Corpus, Listing
from nmt.corpus.sources.download import cache_folder, claim, download
from nmt.corpus.sources.paths import single_files
from nmt.corpus.sources.readers import Pair
from nmt.errors import UserError, writing
from nmt.files.xml_files import Event, read_xml
from nmt.progress import elapsed

FREEDICT_URL = "https://freedict.org/freedict-database.json"
_GERMAN_PAIRS = "496,272"  # English–German, in the release of April 2022
_MOST_LISTED = 2**26  # bytes
_MOST_UNPACKED = 4 * 2**30
_DIRECTION = re.compile(r"(?<![a-z])([a-z]{3})-([a-z]{3})(?![a-z])")
_REMARK = re.compile(r"\s*\([^()]*\)")
_SHORT = {  # as the dictionaries of English and German write them
    "sb.": "somebody",
    "sth.": "something",
    "jd.": "jemand",
    "jdn.": "jemanden",
    "jdm.": "jemandem",
    "jds.": "jemandes",
    "etw.": "etwas",
}


def open_freedict(data: DataConfig, refresh: bool) -> Corpus:
    """Find the dictionary that the section names, or download the one of its languages."""
    files = single_files(data) or {"train": (download_dictionary(data.languages, refresh),)}
    [path] = files["train"]
    reverse = is_reversed(path, data.languages)
    return Corpus(files, read_dictionary, reverse, freedict_licence(path))


def list_freedict(languages: tuple[str, str]) -> Iterator[Listing]:
    """Yield the dictionary of two languages, without knowing whether there is one."""
    if languages[0] != languages[1]:
        path = cache_folder() / "freedict" / f"{'-'.join(map(three_letters, languages))}.tei"
        pairs = _GERMAN_PAIRS if {*languages} == {"en", "de"} else "?"
        yield Listing("source: freedict", pairs, "mostly GPL", "https://freedict.org", (path,))


def download_dictionary(languages: tuple[str, str], refresh: bool) -> Path:
    """Download the dictionary from the first language to the second, or else the reverse one.

    Returns the path of the TEI file, whose name says which one it is, such as eng-deu.tei.
    """
    first, second = map(three_letters, languages)
    folder = cache_folder() / "freedict"
    names = f"{first}-{second}", f"{second}-{first}"
    for name in () if refresh else names:
        if (path := folder / f"{name}.tei").is_file():
            return path
    listed = folder / "freedict-database.json"
    urls = _addresses(download(FREEDICT_URL, listed, refresh=refresh, max_bytes=_MOST_LISTED))
    for name in names:
        if name in urls:
            archive = folder / Path(urlsplit(urls[name]).path).name
            return _unpacked(download(urls[name], archive), folder / f"{name}.tei")
    listed.unlink(missing_ok=True)  # a later list may have more
    raise UserError(
        f"data: FreeDict has no dictionary {names[0]} or {names[1]}; set source_language and "
        "target_language, or use another corpus"
    )


def _addresses(path: Path) -> dict[str, str]:
    """Return the address of the TEI files of each dictionary in FreeDict's list."""
    try:
        found = {
            entry["name"]: release["URL"]
            for entry in json.loads(path.read_bytes())
            if "name" in entry
            for release in entry["releases"]
            if release["platform"] == "src" and str(release["URL"]).endswith(".tar.xz")
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        path.unlink()
        raise UserError(
            f"{FREEDICT_URL}: is not FreeDict's list of dictionaries; try again later, or download "
            "a dictionary by hand and set data.path to its .tei file"
        ) from None
    return {name: url for name, url in found.items() if url.startswith(("https://", "http://"))}


def _unpacked(archive: Path, destination: Path) -> Path:
    """Extract the dictionary from FreeDict's archive, and delete the archive."""
    damaged = UserError(
        f"{archive.name}: holds no complete file {destination.name}; try again later, or download "
        "the dictionary by hand and set data.path to its .tei file"
    )
    with writing(destination), claim(destination) as partial, elapsed(f"unpacking {archive.name}"):
        try:
            with tarfile.open(archive) as files:
                sizes = {m.name: m for m in files if m.isfile() and m.size <= _MOST_UNPACKED}
                [name] = [each for each in sizes if Path(each).name == destination.name]
                source = files.extractfile(sizes[name])
                assert source is not None  # a regular file
                with source, partial.open("wb") as file:
                    shutil.copyfileobj(source, file)
            partial.replace(destination)
        except (tarfile.TarError, LZMAError, EOFError, ValueError):
            raise damaged from None
        finally:
            archive.unlink(missing_ok=True)
            partial.unlink(missing_ok=True)
    return destination


def is_reversed(path: Path, languages: tuple[str, str]) -> bool:
    """Return whether the dictionary goes from the second language to the first, by its name."""
    given = tuple(map(three_letters, languages))
    if found := _DIRECTION.search(path.name):
        named = found[1], found[2]
        if sorted(named) == sorted(given):
            return named != given
    wanted = "-".join(given)
    raise UserError(
        f"{path}: its name does not say that it is {wanted}; set source_language and "
        f"target_language, or rename it to {wanted}.tei"
    )


def freedict_licence(path: Path) -> str:
    """Return what the header of a dictionary says about its licence, at most 300 characters."""
    inside, parts = False, []
    for event in takewhile(lambda event: event.value != "text", read_xml(path)):
        if event.value == "availability" and event.kind != "text":
            inside = event.kind == "start"
        elif inside and event.kind == "text":
            parts.append(event.value)
    return " ".join("".join(parts).split())[:300] or "see its header"


def read_dictionary(path: Path) -> Iterator[Pair]:
    """Yield each headword with the first translation of each sense, and the examples.

    Left out are remarks in parentheses, and entries that are no text: prefixes, suffixes, and
    alternatives separated by a slash.
    """
    for headwords, translation in _articles(read_xml(path)):
        for headword in headwords:
            pair = _plain(headword), _plain(translation)
            if all(text and "-" not in (text[0], text[-1]) and "/" not in text for text in pair):
                yield pair


def _articles(events: Iterator[Event]) -> Iterator[tuple[list[str], str]]:
    """Yield headwords, or the text of an example, with a translation."""
    headwords: list[str] = []
    example: str | None = None
    translated = False
    quotations: list[str] = []  # types of the elements <cit> around the current event
    text: list[str] | None = None
    for kind, name, attributes, _ in events:
        if kind == "text":
            if text is not None:
                text.append(name)
        elif name in ("orth", "quote"):
            if kind == "start":
                text = []
                continue
            found, text = "".join(text or []), None
            if name == "orth":
                headwords.append(found)
            elif quotations == ["trans"] and not translated:
                translated = True
                yield headwords, found
            elif quotations == ["example"]:
                example = found
            elif quotations == ["example", "trans"] and example:
                yield [example], found
                example = None  # the first translation only
        elif name == "cit":
            if kind == "start":
                quotations.append(attributes.get("type", ""))
            else:
                quotations.pop()
        elif kind == "start" and name in ("entry", "sense"):
            translated = False
            if name == "entry":
                headwords = []


def _plain(text: str) -> str:
    return " ".join(_SHORT.get(word, word) for word in _REMARK.sub("", text).split())
