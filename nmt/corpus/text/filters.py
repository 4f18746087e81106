"""Filters for web corpora: drop pairs that are not translations, or not proper text.

All are off by default; see `data.drop_copies` and the following fields.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.config.data import DataConfig
from nmt.config.languages import two_letters
from nmt.corpus.text.normalization import words_only
from nmt.errors import UserError, missing_extra

Filter = Callable[[str, str], bool]  # whether to drop a cleaned pair
_SHORT = 15  # letters; too few to identify a language
_UNLIKELY = 0.01  # drop the pair if the expected language is less probable than this


def make_filters(data: DataConfig) -> dict[str, Filter]:
    """Return the enabled filters, keyed by the reason for dropping a pair that the report shows."""
    filters: dict[str, Filter] = {}
    if data.drop_copies:
        filters["copy"] = lambda source, target: words_only(source) == words_only(target)
    if data.min_letters:
        least = data.min_letters
        filters["few letters"] = lambda s, t: min(_letters(s), _letters(t)) < least
    if data.max_character_ratio:
        most = data.max_character_ratio
        filters["character ratio"] = lambda s, t: max(len(s), len(t)) > most * min(len(s), len(t))
    if data.drop_mojibake:
        is_bad = _import("ftfy.badness", "data.drop_mojibake").is_bad
        filters["mojibake"] = lambda source, target: is_bad(source) or is_bad(target)
    if data.check_languages:
        is_source = _language_check(data.source_language)
        is_target = _language_check(data.target_language)
        filters["other language"] = lambda s, t: not (is_source(s) and is_target(t))
    return filters


def apply_filters(
    filters: dict[str, Filter],
    sources: Sequence[str],
    targets: Sequence[str],
    reasons: NDArray[np.str_],
) -> NDArray[np.str_]:
    """Return why each pair is dropped, or "" if it is kept; shape (pairs,).

    reasons: those so far; only pairs without one are filtered, as some filters are slow
    """
    found = reasons.tolist()
    for reason, drop in filters.items():
        for i in [i for i, earlier in enumerate(found) if not earlier]:
            if drop(sources[i], targets[i]):
                found[i] = reason
    return np.array(found, np.str_)


def _letters(text: str) -> float:
    """Return the share of letters, accents and vowel signs among all characters but spaces."""
    characters = text.replace(" ", "")
    letters = sum(unicodedata.category(character)[0] in "LM" for character in characters)
    return letters / max(1, len(characters))


def _language_check(language: str) -> Callable[[str], bool]:
    """Return a check for whether text may be in a language; short text always passes."""
    library = _import("py3langid.langid", "data.check_languages")
    model = library.LanguageIdentifier.from_model_file(library.MODEL_FILE, norm_probs=True)
    label = two_letters(language)
    if label not in model.labels:
        raise UserError(
            f"data.check_languages: the language {language} is not supported; set this field to "
            "false"
        )

    def may_be(text: str) -> bool:
        return sum(map(str.isalpha, text)) < _SHORT or dict(model.rank(text))[label] >= _UNLIKELY

    return may_be


def _import(name: str, field: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise missing_extra(field, "filters") from None
