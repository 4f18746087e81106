"""The corpora that are available by name, for `nmt corpora`."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from textwrap import shorten

from nmt import shipped
from nmt.corpus.sources.download import cache_folder
from nmt.corpus.sources.opus import OPUS_URL, opus_licence
from nmt.corpus.sources.registry import (
    MULTI30K_LANGUAGES,
    MULTI30K_SPLITS,
    MULTI30K_URL,
    TATOEBA_URL,
    TUTORIAL_URL,
    tatoeba_archive,
)
from nmt.corpus.sources.tables import downloaded_hub_files
from nmt.corpus.text.languages import three_letters, two_letters

# German–English pairs, according to OPUS' web pages.
_OPUS = {
    "News-Commentary/v16": "294,498",
    "TED2020/v1": "296,354",
    "Europarl/v8": "1,961,119",
    "Tatoeba/v2023-04-12": "?",
}


@dataclass(frozen=True)
class Entry:
    """A corpus that is available by name.

    fields: the config fields that select it; pairs: their number, or "?"; address: a URL, or where
    to look; files: their paths after the download; empty if unknown
    """

    fields: str
    pairs: str
    licence: str
    address: str
    files: tuple[Path, ...] = ()

    @property
    def size(self) -> int | None:
        """The size of the files in bytes; None if they are not downloaded."""
        here = self.files and all(file.is_file() for file in self.files)
        return sum(file.stat().st_size for file in self.files) if here else None


def list_corpora(languages: tuple[str, str]) -> Iterator[Entry]:
    """Yield the corpora for a pair of languages, in either direction."""
    cache = cache_folder()
    languages = two_letters(languages[0]), two_letters(languages[1])
    pair = "-".join(sorted(languages))
    if pair == "de-en":
        files = tuple(sorted(shipped.EVERYDAY_CORPUS.rglob("*.tsv")))
        count = sum(file.read_bytes().count(b"\n") for file in files)
        yield Entry("source: everyday", f"{count:,}", "MIT", "built in", files)
        files = tuple(shipped.SAMPLE_CORPUS.iterdir())
        yield Entry("source: sample", "15,500", "MIT, generated", "built in", files)
        file = cache / "english-german-both.pkl"
        yield Entry("source: pickle", "10,000", "CC BY 2.0 FR", TUTORIAL_URL, (file,))
    if set(languages) <= set(MULTI30K_LANGUAGES):
        names = [f"{name}.{code}.gz" for name in MULTI30K_SPLITS.values() for code in languages]
        files = tuple(cache / "multi30k" / name for name in names)
        yield Entry("source: multi30k", "31,014", "non-commercial", MULTI30K_URL, files)
    if "en" in languages:
        [other] = [three_letters(code) for code in languages if code != "en"] or ["eng"]
        name = tatoeba_archive(other)
        file = cache / "tatoeba" / name
        pairs = "270,000+" if other == "deu" else "?"  # grows from year to year
        yield Entry("source: tatoeba", pairs, "CC BY 2.0 FR", TATOEBA_URL + name, (file,))
    for corpus, german_pairs in _OPUS.items():
        name, version = corpus.split("/")
        url = f"{OPUS_URL}OPUS-{corpus}/moses/{pair}.txt.zip"
        file = cache / "opus" / f"{name}-{version}-{pair}.zip"
        licence = opus_licence(file) if file.is_file() else "see LICENSE"
        licence = shorten(licence, 60, placeholder=" …")
        pairs = german_pairs if pair == "de-en" else "?"
        yield Entry(f"source: opus, path: {corpus}", pairs, licence, url, (file,))
    if pair == "de-en":
        address = "https://huggingface.co/datasets/wmt/wmt14"
        fields = "source: hub, path: wmt/wmt14, subset: de-en"
        files = tuple(chain(*downloaded_hub_files("wmt/wmt14", "de-en", None).values()))
        yield Entry(fields, "4,508,785", "see its card", address, files)
    yield Entry("source: mtdata, path: IDENTIFIER", "?", "varies", "`mtdata list`")
