"""The corpora that are available by name, for `nmt corpora`."""

from collections.abc import Iterator
from dataclasses import dataclass

from nmt.corpus.download import cache_folder
from nmt.corpus.languages import three_letters
from nmt.corpus.opus import OPUS_URL
from nmt.corpus.sources import (
    MULTI30K_LANGUAGES,
    MULTI30K_URL,
    TATOEBA_URL,
    TUTORIAL_URL,
    tatoeba_archive,
)

_OPUS = ("News-Commentary/v16", "TED2020/v1", "Europarl/v8", "Tatoeba/v2023-04-12")


@dataclass(frozen=True)
class Entry:
    """A corpus that is available by name.

    fields: the config fields that select it; pairs: their number, or "?"; address: a URL, or where
    to look; here: whether it is already downloaded
    """

    fields: str
    pairs: str
    licence: str
    address: str
    here: bool


def list_corpora(languages: tuple[str, str]) -> Iterator[Entry]:
    """Yield the corpora for a pair of languages, in either direction."""
    cache = cache_folder()
    pair = "-".join(sorted(languages))
    if pair == "de-en":
        yield Entry("source: sample", "15,500", "MIT, generated", "built in", True)
        file = cache / "english-german-both.pkl"
        yield Entry("source: pickle", "10,000", "CC BY 2.0 FR", TUTORIAL_URL, file.exists())
    if set(languages) <= set(MULTI30K_LANGUAGES):
        files = [cache / "multi30k" / f"train.{language}.gz" for language in languages]
        here = all(file.exists() for file in files)
        yield Entry("source: multi30k", "31,014", "non-commercial", MULTI30K_URL, here)
    if "en" in languages:
        [other] = [three_letters(code) for code in languages if code != "en"] or ["eng"]
        name = tatoeba_archive(other)
        here = (cache / "tatoeba" / name).exists()
        yield Entry("source: tatoeba", "?", "CC BY 2.0 FR", TATOEBA_URL + name, here)
    for corpus in _OPUS:
        name, version = corpus.split("/")
        url = f"{OPUS_URL}OPUS-{corpus}/moses/{pair}.txt.zip"
        here = (cache / "opus" / f"{name}-{version}-{pair}.zip").exists()
        yield Entry(f"source: opus, path: {corpus}", "?", "see its LICENSE", url, here)
    if pair == "de-en":
        address = "https://huggingface.co/datasets/wmt/wmt14"
        fields = "source: hub, path: wmt/wmt14, subset: de-en"
        yield Entry(fields, "4,508,785", "see dataset card", address, False)
    yield Entry("source: mtdata, path: IDENTIFIER", "?", "varies", "`mtdata list`", False)
