"""JSON: its strings are translated; keys, structure, spaces and placeholders are preserved."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from html import unescape

from nmt.corpus.text.placeholders import TEMPLATE_FIELD
from nmt.documents.errors import DocumentError
from nmt.documents.formatting import Formatted, has_letters

_MOST_OPEN = 500  # brackets
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_KEY = re.compile(r"\s*:")
# Of i18next, Vue, React and Angular, of printf, Python and .NET.
_PLACEHOLDER = re.compile(
    rf"{TEMPLATE_FIELD}|%%|<\d+/?>|</\d+>|@(?:\.\w+)?:(?:\w+(?:\.\w+)*|\([\w.]+\))"
)
_SPACE_INSIDE = re.compile(r"<\d+>\s|\s</\d+>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# A message of ICU that chooses among forms.
CHOICE = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,")
# An address, a path, an identifier, a color, a date, a time zone: no text.
_CODE = re.compile(
    r"[#./@$]\S+|\w+_\w*|[a-z]+[A-Z]\w*|\S*[\w/)](?:[.\\:#@=]+|/{2,})[\w/(]\S*|(?:[\w.-]+/){2,}\S*"
    r"|(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z]\w+"
)
_LONGEST_CODE = 500
# A word with signs of programs: a selector, a call, a part of a regular expression, an operator.
_WORD_OF_CODE = re.compile(
    r"[#.@$]\S+|\S*[\^\\]\S*|\*\.\S+|[^\s(]*\w\((?![^\W\d_]+\))\S*|\S*[\])][+*{$]\S*|[<>=|&*+~]+"
)
_OPERATION = re.compile(r"\S\s(?:\*|==+|=>|&&|\|\|)\s\S")
# Keys whose values are no text if they look like names in a program.
_KEYS_OF_CODES = frozenset(
    (
        *("align", "class", "classes", "classname", "cls", "code", "color", "country", "css"),
        *("currency", "fmt", "format", "href", "icon", "id", "key", "lang", "language", "layout"),
        *("locale", "method", "mime", "rel", "role", "route", "rt", "sel", "selector", "size"),
        *("slug", "src", "style", "target", "theme", "type", "tz", "unit", "valign", "variant"),
        "zone",
    )
)
# Keys whose values may be several such names, as in `btn btn-primary` and `div > p`.
_KEYS_OF_NAMES = frozenset(("class", "classes", "classname", "cls", "css", "sel", "selector"))
_LAST_WORD = re.compile(r"([A-Z]?[a-z]+|[A-Z]+)[^a-zA-Z]*$")  # of mimeType, country_code
_NAMES = re.compile(r"(?=.*[-\d:>+~])[a-z][\w:./-]*(?:(?: ?[,>+~] ?| )[a-z][\w:./-]*)*")
_DATE_PART = r"(?:[yY]{4}|[yY]{2}|M{1,4}|[dD]{1,4}|Do|E{3,4}|[hH]{1,2}|mm|ss|[aA]|%-?[A-Za-z])"
_DATE_FORMAT = re.compile(  # such as MMM D, YYYY
    rf"(?=.*(?:[yY]{{2}}|MM|[dD]{{2}}|mm|%)){_DATE_PART}(?:[\s.,:/'-]+{_DATE_PART})+"
)
_NAME = re.compile(r"[a-z\d]+(?:-[a-zA-Z\d]+)*|[A-Z]{2,3}|[\w+.-]+/[\w+.-]+")


class JsonStrings:
    """The strings in a JSON file that are text; raises `DocumentError` if it is not JSON.

    texts: those to translate; is_html: whether each contains HTML
    """

    def __init__(self, source: str):
        depth = deepest = 0
        for found in _TOKEN.finditer(source):
            depth += (found[0] in "[{") - (found[0] in "]}")
            deepest = max(deepest, depth)
        if deepest > _MOST_OPEN:
            raise DocumentError(f"JSON of more than {_MOST_OPEN} levels")
        try:
            json.loads(source)
        except ValueError as error:
            raise DocumentError(f"the file is not JSON ({error})") from None
        self._source = source
        self._spans = []
        self.texts = []
        key = ""  # the last one, also of the strings in a list
        outer: list[str] = []  # of what is around each open bracket
        for found in _TOKEN.finditer(source):
            if found[0] in "[{":
                outer.append(key)
                continue
            if found[0] in "]}":
                key = outer.pop()
                continue
            text = json.loads(found[0])
            if _KEY.match(source, found.end()):
                key = text
            elif _is_text(text) and not _is_name(text, key):
                self._spans.append(found.span())
                self.texts.append(text)
        self.is_html = [bool(_TAG.search(text)) for text in self.texts]

    def replace(self, translations: Sequence[str]) -> str:
        """Return the file with each text replaced by its translation."""
        escapes = self._source.isascii() and "\\u" in self._source
        found, place = [], 0
        for (start, end), text in zip(self._spans, translations, strict=True):
            found += [self._source[place:start], json.dumps(text, ensure_ascii=escapes)]
            place = end
        return "".join(found) + self._source[place:]


def _is_text(text: str) -> bool:
    """Return whether a string is text, not code, and of a form whose parts may be reordered."""
    if not has_letters(_PLACEHOLDER.sub("", text)) or CHOICE.search(text):
        return False
    if _SURROGATE.search(text):  # half a character, which no encoding can write
        return False
    return len(text) > _LONGEST_CODE or not (
        _CODE.fullmatch(text) or _DATE_FORMAT.fullmatch(text) or _is_program(text)
    )


def _is_program(text: str) -> bool:
    """Return whether most words of a string have signs that are usual in programs only."""
    words = unescape(text).split()
    coded = [x for x in words if _WORD_OF_CODE.fullmatch(x) and not _PLACEHOLDER.fullmatch(x)]
    return bool(_OPERATION.search(text)) or 2 * len(coded) > len(words)


def _is_name(text: str, key: str) -> bool:
    """Return whether the value of a key is a name in a program, or several."""
    word = _LAST_WORD.search(key)
    keys = {key.lower(), word[1].lower() if word else ""}
    return bool(
        (keys & _KEYS_OF_CODES and _NAME.fullmatch(text))
        or (keys & _KEYS_OF_NAMES and _NAMES.fullmatch(text))
    )


def keeps_placeholders(source: str, translation: str) -> bool:
    """Return whether a translation has the placeholders of its source, each as often."""
    found, expected = (Counter(_PLACEHOLDER.findall(each)) for each in (translation, source))
    return found == expected


def with_spaces_outside(source: str, translation: str) -> str:
    """Return a translation without spaces within <0>…</0>, at its edges, if its source has none."""
    if not _SPACE_INSIDE.search(source):
        translation = re.sub(r" ?(<\d+>) +", r" \1", translation)
        translation = re.sub(r"(?<! ) +(</\d+>)(?=\w)", r"\1 ", translation)
        translation = re.sub(r"(?<! ) +(</\d+>)", r"\1", translation)
    return translation


def with_placeholders(text: str) -> Formatted:
    """Return a text whose placeholders are marks, which stay after the word before them."""
    pieces: list[str] = []
    places: set[int] = set()
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        pieces += [text[end : found.start()], found[0]]
        places.add(len(pieces) - 1)
        end = found.end()
    return Formatted([*pieces, text[end:]], places)
