"""Names of several words in typed text, and their genitives.

`PlaceholderRules` replaces each such name with one placeholder. Needs only the standard library,
because `nmt export` copies this file beside translate.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from nmt.corpus.text.dates import DAYS, MONTHS
from nmt.special_tokens import PLACEHOLDERS

WORD = re.compile(r"[^\W\d_]+")
"""A word is a run of letters."""
# Capitalized words in a row, which may be parts of one name: Jean-Luc O'Neill. `re` has no class of
# capitals; what begins with another lower-case letter, such as ö, is sorted out later.
_CAPITALIZED = r"[^\W\d_a-z][^\W\d_]*(?![^\W\d_])(?!(?<=[nN])['’][tT]\b)"
_JOINED = (
    rf"{_CAPITALIZED}(?:(?:['’](?!(?i:s|t|re|ve|ll|d|m)\b)|-(?:[a-z]{{1,4}}-)?| & |/)"
    rf"{_CAPITALIZED})*"
)
_INITIAL = r"[^\W\d_a-zI]\.(?= [^\W\d_a-z])"
_PARTICLES = (
    *("van", "von", "de", "der", "den", "del", "della", "di", "da", "dos", "du", "la", "le"),
    *("al", "el", "bin", "bint", "ibn", "ten", "ter", "y", "zu"),
)
_COMMON_WORDS = frozenset(("van", "den", "bin", "ten", "y", "Den", "Bin", "Ten"))  # of English
_PARTICLE = "|".join(f"[{p[0]}{p[0].upper()}]{p[1:]}" for p in _PARTICLES)
_ATTACHED = re.compile(  # al-Rahman, Saint-Denis, d'Alene
    rf"(?:(?:{_PARTICLE}|Sainte?)-|[dl]['’])(?=[^\W\d_a-z])"
)
_NAME = (
    rf"(?:{_INITIAL}|(?:[JS]r|(?:Ft|Mt|St)(?=\. [^\W\d_a-z]))\.|(?:{_ATTACHED.pattern})?{_JOINED})"
)
_WITH_PARTICLES = rf"((?:(?:{_PARTICLE}) ){{0,2}})({_NAME})"
_IN_A_ROW = re.compile(rf"(?<![^\W\d_])(?<![^\W\d_]['’-])(?! )(?: ?{_WITH_PARTICLES})+")
_LONGEST_PARTICLE = 2  # of a name, such as O'
# What is joined with these is no name, such as Post-War.
_PREFIXES = frozenset(
    (
        *("all", "anti", "co", "ex", "half", "inter", "mid", "multi", "non", "post", "pre", "pro"),
        *("re", "self", "semi", "sub", "well"),
    )
)
# Before names such as Brown
TITLES = ("Mr. ", "Mrs. ", "Ms. ", "Mr ", "Mrs ", "Ms ", "Dr. ", "Dr ", "Prof. ")
_LONGEST_TITLE = max(map(len, TITLES))
_OFFICES = frozenset(("president", "chairman", "speaker", "secretary", "minister", "mayor"))
# Though in capitals
_NO_SURNAMES = frozenset((*DAYS, *MONTHS, "English", "German", "French", "Christmas", "Easter"))
# Headlines have capitals in words of so many letters, these aside.
_FEWEST_CAPITALIZED = 4
_PREPOSITIONS = frozenset(
    (
        *("about", "after", "against", "before", "between", "during", "from", "into", "like"),
        *("over", "than", "that", "through", "under", "upon", "when", "with", "within", "without"),
    )
)
_HISSING = tuple("sßxz")  # ends of names that take no s in the German genitive
_APOSTROPHE_ALONE = re.compile(rf"(?:\b[Tt]he )?([{PLACEHOLDERS}])['’](?= [^\W\d_])")
_GERMAN_GENITIVE = re.compile(rf"([{PLACEHOLDERS}])['’]s?(?= \(?[^\W\d_])")
_OPENING_QUOTE = re.compile(rf"(?<![\w{PLACEHOLDERS}])['’](?=\S)")


@dataclass(frozen=True)
class NameRules:
    """Decides which words are one name."""

    is_known: Callable[[str], bool]
    """Whether training has a word, in lower case."""
    target_words: frozenset[str]
    """Lower-cased words of the target text; those of both languages are mostly names."""
    language: str
    """The code of the text's language."""

    def hide_whole_names(self, text: str, hide: Callable[[str], str]) -> str:
        """Replace names of several words with what `hide` returns, or a model may divide them.

        These are unknown words in a row, and words joined by hyphens or apostrophes.
        """

        is_headline = _is_headline(text)

        def replacement(row: re.Match[str]) -> str:
            pieces = []
            for is_name, group in groupby(self._words_of(row, is_headline), itemgetter(0)):
                words = " ".join(word for _, word in group)
                several = is_name and not WORD.fullmatch(words)
                pieces.append(hide(words) if several else words)
            return " ".join(pieces)

        return _IN_A_ROW.sub(replacement, text)

    def _words_of(self, row: re.Match[str], is_headline: bool) -> list[tuple[bool, str]]:
        """Return the words and particles in a row, each with whether it belongs to a name."""
        words: list[tuple[bool, str]] = []
        preceding = row.string[max(0, row.start() - _LONGEST_TITLE) : row.start()]
        for before, word in re.findall(_WITH_PARTICLES, row[0]):
            follows_name = bool(words) and words[-1][0]  # as in Zoe van Dyck
            follows_title = preceding.endswith(TITLES)
            particles = before.split()
            is_name = (
                self._is_name(word)
                or (follows_title and is_after_title(word))
                or (follows_name and not particles and not is_headline and _is_surname(word))
            )
            begin = follows_name or follows_title or self._begin_names(particles)
            belong = is_name and begin
            if belong and not follows_name and row.start() > 1 and words:  # Yusuf ibn Tariq
                words[-1] = (words[-1][1].lower() in self.target_words, words[-1][1])
            words += [(belong or self._is_name(particle), particle) for particle in particles]
            words.append((is_name, word))
            preceding = f"{word} "
        return words

    def _begin_names(self, particles: Sequence[str]) -> bool:
        """Return whether particles belong to the name that follows; in German, von may be from."""
        return self.language == "en" and not _COMMON_WORDS.issuperset(particles)

    def _is_name(self, joined: str) -> bool:
        """Return whether the model would not translate any part of a capitalized word."""
        if attached := _ATTACHED.match(joined):
            joined = joined[attached.end() :]
        parts = WORD.findall(joined)
        between = [part for part in parts[1:-1] if part.islower()]  # Stratford-upon-Avon
        parts = [part for part in parts if part not in between]
        if not all(part[0].isupper() for part in parts):
            return False
        unknown = {part for part in parts if not self.is_known(part.lower())}
        if len(parts) == 1:
            return bool(unknown) or joined.endswith(".")
        if parts[0].lower() in _PREFIXES and joined[len(parts[0])] == "-":
            return False
        if between:
            return len(unknown) == len(set(parts))
        return all(
            part in unknown
            or (len(part) > _LONGEST_PARTICLE and part.lower() in self.target_words)
            or (
                len(part) <= _LONGEST_PARTICLE
                and not re.search(f"{part}-|/", joined)
                and bool(unknown)
            )
            for part in parts
        )


def is_after_title(word: str) -> bool:
    """Return whether a word after a title, such as Mr, is a name, by its capital."""
    return word.istitle() and word.lower() not in _OFFICES


def _is_surname(word: str) -> bool:
    """Return whether a word after a name may be a surname, such as Brown, by its capital."""
    return word.istitle() and len(word) > 2 and word not in _NO_SURNAMES


def _is_headline(text: str) -> bool:
    """Return whether a text is in title case: at least half of the words, and more than three.

    The others are short, such as articles, or prepositions.
    """
    words = WORD.findall(text)
    titles = sum(map(str.istitle, words))
    others = (word for word in words if word.islower())
    return (
        titles > 3
        and 2 * titles >= len(words)
        and all(len(word) < _FEWEST_CAPITALIZED or word in _PREPOSITIONS for word in others)
    )


def hisses(name: str) -> bool:
    """Return whether a name takes no s in the German genitive, such as James."""
    return name[-1:].lower() in _HISSING


def with_genitives(text: str, words: Mapping[str, str]) -> str:
    """Return an English text with the genitive's s after names that have only its apostrophe.

    "James' car" becomes "James's car". The article before the name of a family is removed: "the
    Smiths' house" becomes "Smiths's house". Texts in single quotation marks stay as they are.

    words: what the placeholders stand for
    """

    def replacement(match: re.Match[str]) -> str:
        return f"{match[1]}'s" if hisses(words[match[1]]) else match[0]

    if _OPENING_QUOTE.search(text):
        return text
    return _APOSTROPHE_ALONE.sub(replacement, text)


def with_german_genitives(translation: str) -> str:
    """Return a German translation with s in place of an apostrophe, or 's, before a word.

    Models see both forms in training, since names such as James have an apostrophe only.
    """
    if _OPENING_QUOTE.search(translation):
        return translation
    return _GERMAN_GENITIVE.sub(r"\1s", translation)
