"""Text cut into sentences and put together again, its white space as it was."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SPACE = re.compile(r"\s+")
_ENDS = re.compile(r"[.!?…][\"'”’“»)\]]*$")
_ABBREVIATION = re.compile(r"\b([Mm]rs?|[DdSs][rt]|\w)\.$")
_LOOK_BACK = 8  # characters before a space that tell whether a sentence ends there


@dataclass(frozen=True)
class CutText:
    """Sentences, and the white space around them: `gaps[0]` before the first, and so on."""

    sentences: list[str]
    gaps: list[str]

    def join(self, translations: Sequence[str]) -> str:
        """Put translations in the places of the sentences."""
        pieces = [self.gaps[0]]
        for translation, gap in zip(translations, self.gaps[1:], strict=True):
            pieces += [translation, gap]
        return "".join(pieces)


def cut(text: str) -> CutText:
    """Cut text at line breaks and between sentences.

    >>> cut("Anna sings.  Ben reads.\\n")
    CutText(sentences=['Anna sings.', 'Ben reads.'], gaps=['', '  ', '\\n'])
    """
    sentences, gaps, start = [], [""], 0
    for space in _SPACE.finditer(text):
        if space.start() == 0:
            gaps[0] = space.group()
        elif _is_boundary(text, space):
            sentences.append(text[start : space.start()])
            gaps.append(space.group())
        else:
            continue
        start = space.end()
    if start < len(text):
        sentences.append(text[start:])
        gaps.append("")
    return CutText(sentences, gaps)


def _is_boundary(text: str, space: re.Match[str]) -> bool:
    if space.end() == len(text) or not {"\n", "\r"}.isdisjoint(space.group()):
        return True
    before = text[max(0, space.start() - _LOOK_BACK) : space.start()]
    return bool(_ENDS.search(before)) and not _ABBREVIATION.search(before)
