"""The test sets that sacrebleu knows: wmt14/full, wmt20, multi30k/2018, iwslt17, and others."""

import difflib
import io
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from sacrebleu.dataset import DATASETS

from nmt.corpus.prepared import Example
from nmt.errors import UserError, one_line


def read_test_set(name: str, languages: tuple[str, str]) -> list[Example]:
    """Return the pairs of a test set, downloaded into sacrebleu's own cache where needed.

    Raises `UserError` if there is no such set, direction or network; no half of a download stays.
    """
    pair = "-".join(languages)
    found = _find(name, pair)
    try:
        with redirect_stderr(io.StringIO()):
            sources = list(found.source(pair))
            references = [[text.strip() for text in texts] for texts in found.references(pair)]
    except (Exception, SystemExit) as error:  # sacrebleu exits where a checksum is wrong
        # It would take what is there for complete the next time.
        shutil.rmtree(found._outdir, ignore_errors=True)
        what = "its checksum is wrong" if isinstance(error, SystemExit) else one_line(error)[:200]
        raise UserError(
            f"test set {name}: cannot be had from {found.data[0]} ({what}); check your network, "
            "or give a copy with --source and --reference"
        ) from None
    if len(references) != len(sources) or any(len(texts) != 1 for texts in references):
        raise UserError(f"test set {name}: has not one reference for each line; name another one")
    return [Example(s, r, False) for s, [r] in zip(sources, references, strict=True)]


def _find(name: str, pair: str) -> Any:  # the library's methods have no types
    if name not in DATASETS:
        close = difflib.get_close_matches(name, DATASETS, n=3) or ["wmt20"]
        raise UserError(
            f"test set {name}: unknown; did you mean {' or '.join(close)}? "
            "`nmt corpora --test-sets` lists them"
        )
    if pair not in DATASETS[name].langpairs:
        raise UserError(
            f"test set {name}: not for {pair}; `nmt corpora --test-sets` lists those that are"
        )
    return DATASETS[name]


def list_test_sets(languages: tuple[str, str]) -> Iterator[tuple[str, str, bool]]:
    """Yield name, description and whether it is here of each test set in this direction."""
    pair = "-".join(languages)
    known: dict[str, Any] = DATASETS
    for name, found in known.items():
        if pair in found.langpairs:
            here = Path(found._get_txt_file_path(pair, "src")).exists()
            yield name, one_line(found.description), here
