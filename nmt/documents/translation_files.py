"""Files of translation tools (XLIFF, TMX, PO): empty targets are filled, all else stays as it is.

`nmt.corpus.sources.translation_files` reads the same formats as corpora.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Literal

from nmt.config.data import translation_format
from nmt.config.languages import base_language
from nmt.corpus.sources.translation_files import GETTEXT_HEADER
from nmt.documents.document import Document, Languages
from nmt.documents.formatting import has_letters
from nmt.documents.inline_markup import InlineText, Slot, Token, tokens_in
from nmt.documents.json_strings import CHOICE
from nmt.documents.po_files import PoFile
from nmt.documents.texts import FoundText
from nmt.errors import UserError
from nmt.files.xml_files import Element, XmlDocument

Edit = tuple[int, int, str]
_MOST_INLINE = 50  # nesting depth of inline elements
# Elements that hold the original's markup instead of text, by what they do.
_OPENING = frozenset({"bpt", "bx", "sc", "sm"})
_CLOSING = frozenset({"ept", "ex", "ec", "em"})
_SINGLE = frozenset({"ph", "it", "ut", "x", "cp"})
_WHAT_IS_SHOWN = ("equiv-text", "equiv", "disp")
_FINISHED = re.compile(
    r"translated|final|signed-off|reviewed|approved.*|manuallyconfirmed|proofread|.*confirmed",
    re.IGNORECASE,
)
_UNTOUCHED = ("new", "initial", "needs-translation", "notstarted")
_INDENTED_BREAK = re.compile(r"[ \t]*\r?\n[ \t]+")


class TranslationFile(Document):
    """A file whose empty targets are to be filled.

    texts: those to translate; filled: the number of targets that are filled, also with tags only;
    kept: the number of units that stay as they are, because they have a translation, are approved,
    or are not to be translated
    """

    def __init__(self, name: str, content: bytes, languages: Languages | None = None):
        """Read a file; languages: source and target, None to read the sources only.

        Raises `UserError` for faulty files, and for those in other languages.
        """
        path = Path(name)
        format_ = translation_format(name)
        if format_ is None:
            raise UserError(f"{path}: is no file of a translation tool; give XLIFF, PO or TMX")
        if name.lower().endswith(".gz"):
            raise UserError(f"{path}: is compressed; unpack it first")
        read: type[PoFile] | type[_XmlFile]
        read = PoFile if format_ == "po" else _XmlFile
        self._file = read(path, content, languages)
        self._asked = [slot for slot in self._file.slots if has_letters(slot.text.plain)]
        self.texts = [slot.text.formatted for slot in self._asked]
        self.filled, self.kept = len(self._file.slots), self._file.kept

    def written(self, found: Sequence[FoundText]) -> bytes:
        """Return the file with translations of `texts`, marked as the format has it."""
        for slot, each in zip(self._asked, found, strict=True):
            slot.translation = slot.text.written(each.parts)
            slot.is_remembered = each.from_memory
        return self._file.written()


# ------------------------------------------------------------------------------- XLIFF and TMX


class _XmlFile:
    """A TMX or XLIFF file; slots: its texts to translate; kept: number of other segments."""

    def __init__(self, path: Path, content: bytes, languages: Languages | None):
        self._path, self._languages = path, languages
        self._document = XmlDocument(path, content)
        self.slots: list[Slot] = []
        self.kept = 0
        self._fills: list[Callable[[], Iterator[Edit]]] = []  # one for each unit with slots
        # Units of XLIFF 1.2 whose targets are copies of the sources without a state.
        self._copies: list[tuple[Element, bool]] = []
        self._is_translated = False  # whether a target of XLIFF 1.2 is not a copy
        self._is_wanted = True  # the current part of an XLIFF file, by its languages
        self._target_code = ""  # as a TMX file writes the target language
        self._target_language = base_language(languages[1]) if languages else ""
        self._read()

    def written(self) -> bytes:
        """Return the file with the translations of the slots."""
        return self._document.changed(edit for fill in self._fills for edit in fill())

    def _read(self) -> None:
        units = 0
        for unit, around in self._document.elements(("trans-unit", "unit", "tu"), self._begin):
            units += 1
            self._take_unit(unit, around)
        if not (self.slots or self._is_translated):  # as Okapi extracts them
            for unit, preserved in self._copies:
                before = len(self.slots)
                self._take_xliff_1(unit, preserved, copied=True)
                self.kept -= len(self.slots) > before
        if units and self._languages and not (self.slots or self.kept):
            raise UserError(
                f"{self._path}: has nothing to translate from {self._languages[0]} to "
                f"{self._languages[1]}; check its languages, or choose another run"
            )

    def _begin(self, element: Element, is_root: bool) -> None:
        """Take what an element around the units says."""
        wanted = translation_format(self._path.name) or "xliff"
        if is_root and element.local != wanted:
            raise UserError(
                f"{self._path}: is not {wanted.upper()}, but begins with <{element.name[:50]}>"
            )
        self._take_languages(element)

    def _take_unit(self, unit: Element, around: list[Element]) -> None:
        before = len(self.slots)
        if unit.local == "tu":
            if not self._take_tmx(unit):
                return
        elif not self._is_wanted:
            return
        else:
            self._is_translated |= _has_translation(unit)
            if _inherited("translate", unit, around) != "no":
                preserved = _inherited("xml:space", unit, around) == "preserve"
                take = self._take_xliff_1 if unit.local == "trans-unit" else self._take_xliff_2
                take(unit, preserved)
        self.kept += len(self.slots) == before

    def _side(self, code: str) -> Literal[0, 1] | None:
        base = base_language(code)
        assert self._languages
        sides = [base_language(language) for language in self._languages]
        return None if base not in sides else 0 if base == sides[0] else 1

    def _slot(self, source: Element, preserved: bool = True) -> Slot:
        tokens = self._tokens(source, preserved)
        raw = self._document.raw(source.inner, source.after)
        slot = Slot(InlineText(tokens, _escaped, mnemonics=True, has_lines=True), raw)
        self.slots.append(slot)
        return slot

    def _tokens(self, node: Element, preserved: bool, depth: int = 0) -> Iterator[Token]:
        """Yield the pieces of a segment."""
        for child in node.children:
            if isinstance(child, str):
                text = child if preserved else _INDENTED_BREAK.sub(" ", child)
                yield from tokens_in(text, _escaped)
                continue
            raw = self._document.raw(child.start, child.end)
            name, given = child.local, child.attributes
            shown = next((given[each] for each in _WHAT_IS_SHOWN if each in given), child.text)
            kept = given.get("translate") == "no" or given.get("mtype") == "protected"
            if name == "mrk" and given.get("mtype") == "x-sdl-deleted":
                continue
            # A note on the source in XLIFF 1.2; version 2 has annotations in targets, too.
            if name == "mrk" and "mtype" in given and not kept:
                yield from self._tokens(child, preserved, depth + 1)
            elif name in _OPENING:
                key = given.get("rid") or given.get("i") or given.get("id", "")
                yield Token("open", raw, f"#{key}")  # unlike the name of a tag
            elif name in _CLOSING:
                key = given.get("startRef") or given.get("rid") or given.get("i", "")
                yield Token("close", raw, f"#{key or given.get('id', '')}")
            elif name in _SINGLE or kept or not has_letters(child.text) or depth > _MOST_INLINE:
                kind = given.get("ctype") or given.get("type") or given.get("subType") or ""
                breaks = kind in ("lb", "fmt:lb", "x-html-br") or shown[:3].lower() == "<br"
                yield Token("object", raw, shows=shown, breaks=breaks)
            else:
                key = str(child.start)
                opening = self._document.raw(child.start, child.inner)
                yield Token("open", opening, key, is_element=True)
                yield from self._tokens(child, preserved, depth + 1)
                closing = self._document.raw(child.after, child.end)
                yield Token("close", closing, key, is_element=True)

    # --------------------------------------------------------------------------------- XLIFF

    def _take_languages(self, node: Element) -> None:
        """Take the languages of an XLIFF file or, in version 1.2, of a part of it."""
        source = node.attributes.get("source-language") or node.attributes.get("srcLang")
        if not source or not self._languages:
            return
        name = "trgLang" if "srcLang" in node.attributes else "target-language"
        target = node.attributes.get(name)
        self._is_wanted = self._side(source) == 0 and (not target or self._side(target) == 1)

        def fill() -> Iterator[Edit]:
            if self.slots:  # the format demands the language where there are targets
                yield self._changed_tag(node, {name: self._target_language})

        if self._is_wanted and not target:
            self._fills.append(fill)

    def _take_xliff_1(self, unit: Element, preserved: bool, copied: bool = False) -> None:
        """Take a unit of XLIFF 1.2; copied: whether its target is an untouched copy of its source.

        Without a state, it is one if all targets in the file are copies.
        """
        source, target = unit.child("source"), unit.child("target")
        status = unit.attribute("status")  # of memoQ
        locked = unit.attribute("locked").lower() not in ("", "no", "false", "unlocked")
        approved = unit.attributes.get("approved") == "yes"
        if source is None or approved or locked or _is_header(unit):
            return
        state = status or (target.attributes.get("state", "") if target else "")
        confirmed = unit.attribute("confirmed") == "1"  # of Memsource
        if target and not (_is_empty(target) or state or confirmed or copied):
            self._copies.append((unit, preserved))
        divided = unit.child("seg-source")
        parts = _segments(divided) if divided else {}
        if divided is not None and parts:
            self._take_divided(unit, divided, parts, target, preserved, copied)
            return
        if not _is_open(source, target, "new" if copied else state):
            return
        slot = self._slot(source, preserved)

        def fill() -> Iterator[Edit]:
            marks = {} if status else _mark(slot)
            yield self._target(source, divided or source, target, slot.translation, marks)
            if status:
                yield self._changed_tag(unit, {_named(unit, "status"): _memoq_status(slot)})

        self._fills.append(fill)

    def _take_divided(
        self,
        unit: Element,
        divided: Element,
        parts: dict[str, Element],
        target: Element | None,
        preserved: bool,
        copied: bool,
    ) -> None:
        """Take a unit whose segments are marked in its <seg-source>, as in SDL Trados."""
        definitions = {
            each.attributes.get("id", ""): each
            for each in unit.within("seg")
            if each.name != "seg"  # <sdl:seg>
        }
        filled = _segments(target) if target else {}
        if target and not filled and not _is_empty(target):
            return  # translated as a whole
        if target and _FINISHED.fullmatch(target.attributes.get("state", "")):
            return
        slots: dict[str, Slot] = {}
        for number, part in parts.items():
            known = definitions.get(number)
            state = known.attributes.get("conf", "") if known else ""
            if known and known.attributes.get("locked") == "true":
                continue
            if filled and number not in filled:
                continue
            if _is_open(part, filled.get(number), state or ("new" if copied else "")):
                slots[number] = self._slot(part, preserved)
        if not slots:
            return

        def fill() -> Iterator[Edit]:
            if filled:
                for number, slot in slots.items():
                    yield self._content(filled[number], slot.translation)
                if target and not definitions:
                    yield self._changed_tag(target, _mark(next(iter(slots.values()))))
            else:
                pieces, end = [], divided.inner
                for number, part in parts.items():
                    slot_or_none = slots.get(number)
                    translation = slot_or_none.translation if slot_or_none else ""
                    pieces += [self._document.raw(end, part.start), self._with(part, translation)]
                    end = part.end
                text = "".join([*pieces, self._document.raw(end, divided.after)])
                marks = {} if definitions else _mark(next(iter(slots.values())))
                yield self._target(divided, divided, target, text, marks)
            for number, slot in slots.items():
                if number in definitions:
                    yield self._changed_tag(definitions[number], _trados_mark(slot))

        self._fills.append(fill)

    def _take_xliff_2(self, unit: Element, preserved: bool) -> None:
        for segment in unit.own("segment"):
            source, target = segment.child("source"), segment.child("target")
            state = segment.attributes.get("state", "")
            if source is None or not _is_open(source, target, state):
                continue
            spaces = source.attributes.get("xml:space")
            slot = self._slot(source, spaces == "preserve" if spaces else preserved)
            self._fills.append(self._fill_segment(segment, source, target, slot))

    def _fill_segment(
        self, segment: Element, source: Element, target: Element | None, slot: Slot
    ) -> Callable[[], Iterator[Edit]]:
        def fill() -> Iterator[Edit]:
            # The state "translated" would say that a person has seen it.
            marks = {"state": "initial"}
            if not _is_copied_message(slot):
                marks["subState"] = "nmt:memory" if slot.is_remembered else "nmt:mt"
            yield self._changed_tag(segment, marks)
            yield self._target(source, source, target, slot.translation, {})

        return fill

    # ----------------------------------------------------------------------------------- TMX

    def _take_tmx(self, unit: Element) -> bool:
        """Take a unit of a memory; return whether it is in the source language."""
        variants = [(each, _language(each), each.child("seg")) for each in unit.own("tuv")]
        if self._languages is None:
            for _, _, segment in variants[:1]:
                if segment:
                    self._slot(segment)
            return True
        sides = [self._side(code) for _, code, _ in variants]
        if 0 not in sides:
            return False
        source, _, read = variants[sides.index(0)]
        target, code, written = variants[sides.index(1)] if 1 in sides else (None, "", None)
        if code:
            self._target_code = self._target_code or code
        if read is None or _is_empty(read) or (target and (not written or not _is_empty(written))):
            return True
        slot = self._slot(read)

        def fill() -> Iterator[Edit]:
            by = {"creationid": "TM" if slot.is_remembered else "MT", "creationtool": "nmt"}
            if target is not None and written is not None:
                yield self._changed_tag(target, by)
                yield self._content(written, slot.translation)
                return
            language = "xml:lang" if "xml:lang" in source.attributes else "lang"
            code = self._target_code or self._target_language
            made = _with_attributes(f"<{source.name}>", {language: code, **by})
            text = f"{made}<{read.name}>{slot.translation}</{read.name}></{source.name}>"
            yield source.end, source.end, self._indentation(source) + text

        self._fills.append(fill)
        return True

    # --------------------------------------------------------------------------------- edits

    def _target(
        self,
        source: Element,
        before: Element,
        target: Element | None,
        text: str,
        marks: Mapping[str, str],
    ) -> Edit:
        """Fill a <target>, or write one after an element, in the style of its source."""
        if target:
            opening = _with_attributes(self._opening(target), marks)
            return target.start, target.end, f"{opening}{text}</{target.name}>"
        name = source.name.removesuffix(source.local) + "target"
        opening = _with_attributes(f"<{name}>", marks)
        made = f"{self._indentation(source)}{opening}{text}</{name}>"
        return before.end, before.end, made

    def _content(self, node: Element, text: str) -> Edit:
        return node.start, node.end, self._with(node, text)

    def _with(self, node: Element, text: str) -> str:
        """Return an element with other content."""
        return f"{self._opening(node)}{text}</{node.name}>"

    def _opening(self, node: Element) -> str:
        tag = self._document.raw(node.start, node.inner)
        return f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag

    def _changed_tag(self, node: Element, attributes: Mapping[str, str]) -> Edit:
        tag = self._document.raw(node.start, node.inner)
        return node.start, node.inner, _with_attributes(tag, attributes)

    def _indentation(self, node: Element) -> str:
        """Return the white space in front of an element."""
        text = self._document.data[max(0, node.start - 200) : node.start].decode(errors="ignore")
        return text[len(text.rstrip()) :]


def _is_empty(element: Element) -> bool:
    """Return whether an element has neither text nor objects."""
    return not element.text.strip() and not any(
        next(element.within(name), None) for name in _SINGLE | _OPENING | _CLOSING
    )


def _is_header(unit: Element) -> bool:
    """Return whether a unit holds the header of a PO file that was converted to XLIFF."""
    return unit.attributes.get("restype") == GETTEXT_HEADER


def _has_translation(unit: Element) -> bool:
    """Return whether a unit of XLIFF 1.2 has a target that is not a copy of its source."""
    source, target = unit.child("source"), unit.child("target")
    if source is None or target is None or _is_empty(target) or _is_header(unit):
        return False
    return target.text != source.text


def _inherited(name: str, unit: Element, around: list[Element]) -> str:
    """Return an attribute of a unit or, if it lacks it, of the nearest element around it."""
    given = (each.attributes.get(name) for each in (unit, *reversed(around)))
    return next(filter(None, given), "")


def _segments(node: Element) -> dict[str, Element]:
    """Return the segments that are marked in a text, by number."""
    found: dict[str, Element] = {}
    for mark in node.within("mrk"):
        if mark.attributes.get("mtype") == "seg":
            found[mark.attributes.get("mid", "")] = mark
        else:
            found |= _segments(mark)
    return found


def _is_open(source: Element, target: Element | None, state: str) -> bool:
    """Return whether a target is to be filled: empty, or a copy of the source nobody has touched.

    state: as the file has it, in lower case or not
    """
    if _is_empty(source) or _FINISHED.fullmatch(state):
        return False
    if target is None or _is_empty(target):
        return True
    return state.lower() in _UNTOUCHED and target.text == source.text


def _is_copied_message(slot: Slot) -> bool:
    """Return whether a slot has no text but messages, whose forms are not translated."""
    return not has_letters(slot.text.plain) and bool(CHOICE.search(slot.translation))


def _mark(slot: Slot) -> dict[str, str]:
    """Return the attributes of a <target> of XLIFF 1.2."""
    if _is_copied_message(slot):
        return {"state": "needs-translation"}
    kind = "leveraged-tm" if slot.is_remembered else "leveraged-mt"
    return {"state": "needs-review-translation", "state-qualifier": kind}


def _trados_mark(slot: Slot) -> dict[str, str]:
    by = {"origin": "tm" if slot.is_remembered else "mt", "origin-system": "nmt"}
    return {"conf": "Draft", **by}


def _memoq_status(slot: Slot) -> str:
    return "Pretranslated" if slot.is_remembered else "MachineTranslated"


def _named(node: Element, name: str) -> str:
    """Return the name of an attribute with its prefix."""
    return next(each for each in node.attributes if each.rpartition(":")[2] == name)


def _language(node: Element) -> str:
    return node.attributes.get("xml:lang") or node.attributes.get("lang") or ""


def _with_attributes(tag: str, attributes: Mapping[str, str]) -> str:
    """Return an opening tag with these attributes, replaced or added."""
    for name, value in attributes.items():
        written = f'{name}="{escape(value)}"'
        value_ = r"(?:\"[^\"]*\"|'[^']*')"
        pattern = rf"((?:[^\"']|{value_})*?\s){re.escape(name)}\s*=\s*{value_}"
        if found := re.match(pattern, tag):  # not within another value
            tag = tag[: found.end(1)] + written + tag[found.end() :]
        else:
            end = len(tag[: -2 if tag.endswith("/>") else -1].rstrip())
            tag = f"{tag[:end]} {written}{tag[end:]}"
    return tag


def _escaped(text: str) -> str:
    return escape(text, quote=False)
