"""Markdown: its text is translated; code, HTML, front matter and the targets of links stay.

The alternative text of a picture and the title of a link are texts of their own.

markdown-it-py finds the blocks and what is in each. Its tokens have lines, but no places within
them, so that the marks are found again by reading the source along with the tokens.
"""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, pairwise

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from nmt.documents.errors import DocumentError
from nmt.documents.formatting import Formatted, Part, Span, has_letters

# The parser's time grows with the square of their numbers.
_MOST_CHARACTERS = 200_000
_MOST_BRACKETS = 20_000
_OBJECT = "\ufffc"  # in place of code and other things that stay as they are
_KEPT_SPACE = "\ue000"  # at which a line is not broken
_RESERVED = str.maketrans("\0\ue001", "\ufffd\ufffd")
_SIGNED = re.compile("\ue001\\d+\ue001")  # in place of a label, with its number
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\n.*?^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.M
)
# The box of a task, the number of a footnote, the kind of a note.
_LABEL = re.compile(r"(?:\[[ xX]\]|\[\^[^\]\s]+\]:|\[![A-Za-z]+\])(?=\s|$)[ \t]*")
_DEFINITION = re.compile(r":[ \t]+")  # in a line after its term
_TEMPLATE_TAG = r"\{%(?:(?!\{%|%\}).)*%\}|\{\{[<%][^{}\n]*[>%]\}\}"
_KEPT_TEXT = re.compile(
    rf"{_TEMPLATE_TAG}|\[\^[^\[\]\s]+\](?!:)"
    r"|\$\$[^$\n]+\$\$|\$[^\s$](?:[^$\n]*[^\s$])?\$"
    r"|(?<!\{)\{(?::|[ \t]*(?:[#.][\w-]|\w+=))[^{}\n]*\}"  # attributes, as in # Title {#id}
    r"|(?<![\w:]):[a-z][a-z\d_+-]*:(?![\w:])"  # an emoji by its name
)  # footnotes, formulas
# A line without text within a paragraph, or the first of several: attributes, tags, a formula.
_MARKUP_LINE = re.compile(
    rf"\{{:.*\}}|(?:(?:{_TEMPLATE_TAG})[ \t]*)+|\$\$[^$]+\$\$"
    r"|(?P<formula>\$\$[ \t]*(?:\\[^$]*)?)|\\begin\{(?P<environment>[^{}]*)\}.*"
)
# The target of a link; elsewhere than in CommonMark, also directly below a paragraph.
_REFERENCE = re.compile(
    r"\[(?!\^)(?:[^\[\]\\]|\\.)+\]:[ \t]*(?:<[^<>]*>|[^\s/#:]*[/#:]\S*)"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
)
_CONTAINER = re.compile(r":{3,}[ \t]*(?:\{[^{}]*\}|[^\s\[{]+)?[ \t]*")  # a title may follow
# A note of MkDocs: !!! warning "Its title"; its text follows, indented by four spaces.
_NOTE = re.compile(r"(?:!{3}|\?{3}\+?)(?:[ \t]+[\w-]+)+(?:[ \t]+\"([^\"]*)\")?")
_END_OF_ENVIRONMENT = re.compile(r"\\end\{([^{}\n]*)\}")
_BREAK = re.compile(r"[ \t]*(\\?)\n[ \t]*")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)(?![\w-])[^<>]*?(/?)>", re.DOTALL)
_TAGS_OF_CODE = frozenset(("code", "kbd", "math", "samp", "svg", "var"))
_NAME = re.compile(r"\[(?:[^\[\]\\]|\\.)*\]", re.DOTALL)  # of the target of a link
_SPECIAL = "\\`*_[]<&"
_BEFORE_MARK = re.compile(
    r"(?<![ \t\v\f])[ \t\v\f]+(?=[<|`~])"
)  # of what would begin another block in a new line
_AT_START = re.compile(  # of a line: another block
    r"(\d{0,9})(?:[-+*#=~.)](?=[-#>=~]*(?:\s|$))|(?<!\d)>)"
)


@dataclass(eq=False)
class _Format:
    """Marks around text, such as ** and **, or [ and ](address)."""

    start: str
    end: str = ""
    name: str = ""
    """The name of a link's target, if the text of the link is that name."""

    @property
    def is_link(self) -> bool:
        """Whether it is a link or a picture."""
        return self.end.startswith("]")

    def marks(self, text: str) -> tuple[str, str]:
        """Return the marks around a text; a link keeps its target if its text is another now."""
        is_other = self.name and text != self.name
        return self.start, f"][{self.name}]" if is_other else self.end


@dataclass
class _Label:
    """A text within a mark: that of a picture within a sentence, or the title of a link."""

    text: str
    special: str
    """Characters that need a backslash."""

    def translated(self, parts: Sequence[Part]) -> str:
        """Return the source of a translation."""
        text = " ".join("".join(text for text, _ in parts).split())
        return "".join("\\" + each if each in self.special else each for each in text)


@dataclass
class _Element:
    """A part of a text."""

    kind: str
    """One of text, kept (stays as it is), start and end (of a format), line, and break (a forced
    one).
    """
    raw: str
    """As it stands in the source."""
    text: str = ""
    chain: tuple[_Format, ...] = ()
    """The formats around it, outermost first."""
    breaks: int = 0
    """How many line breaks it has in the source."""


@dataclass
class _Stretch:
    """A text that is translated as a whole."""

    start: int
    end: int
    """It is the source from `start` to before `end`."""
    indent: str
    """What stands before each line but the first."""
    width: int
    """Width of its lines, 0 if it is in one line."""
    is_paragraph: bool
    """Whether a line of it may seem to begin another block."""
    is_cell: bool
    """Whether it is a cell of a table."""
    pieces: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    chains: list[tuple[_Format, ...]] = field(default_factory=list)
    plain: set[str] = field(default_factory=set)  # characters that need no backslash here

    @cached_property
    def formatted(self) -> Formatted:
        """The text, without what stays as it is."""
        marks = {i for i, raw in enumerate(self.raw) if raw}
        links = {form for chain in self.chains for form in chain if form.is_link}
        return Formatted(self.pieces, marks, formats=self.chains, links=links)

    def translated(self, parts: Sequence[Part]) -> str:
        """Return the source of a translation."""
        marked: list[tuple[str, tuple[_Format, ...]]] = []
        before = ""
        for text, number, chain in self.formatted.with_formats(parts):
            raw = self.raw[number]
            apart = raw and number and self.pieces[number - 1][-1:].isspace()
            if apart and before and not before[-1].isspace():
                marked.append((" ", self.chains[number - 1]))
            shown = raw.replace(" ", _KEPT_SPACE) if raw else self._escaped(text)
            marked.append((shown, chain))
            before = text
        line = _render(marked)
        if self.is_cell:
            line = line.replace("|", r"\|")
        rows = [line]
        if self.width:
            width = max(self.width - len(self.indent), 20)
            line = _BEFORE_MARK.sub(_KEPT_SPACE, line)
            rows = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        rows = [row.replace(_KEPT_SPACE, " ") for row in rows]
        if self.is_paragraph:
            rows = [_escaped_start(row) for row in rows]
        return f"\n{self.indent}".join(rows)

    def _escaped(self, text: str) -> str:
        special = {*_SPECIAL} - self.plain
        escaped = ("\\" + each if each in special else each for each in text)
        return "".join(escaped).replace("\\&", "&amp;")


class Markdown:
    """A Markdown document; raises `DocumentError` if it is too long.

    stretches: its texts, in order; labels: those within marks
    """

    def __init__(self, text: str):
        if len(text) > _MOST_CHARACTERS or text.count("[") > _MOST_BRACKETS:
            raise DocumentError(
                f"Markdown of more than {_MOST_CHARACTERS:,} characters, or "
                f"{_MOST_BRACKETS:,} brackets",
                too_large=True,
            )
        self._has_returns = "\r\n" in text
        self._text = text.replace("\r\n", "\n").translate(_RESERVED)
        matter = _FRONT_MATTER.match(self._text)
        begin = matter.end() if matter else 0
        reader = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
        reader.block.ruler.before(
            "fence",
            "markup_line",
            _skip_markup,
            {"alt": ["paragraph", "reference", "blockquote", "list"]},
        )
        self.labels: list[_Label] = []
        self.stretches = list(self._find(reader.parse(self._text[begin:]), begin))

    @property
    def texts(self) -> list[Formatted]:
        """The texts to translate: those of `stretches`, and then of `labels`."""
        labels = [Formatted([each.text]) for each in self.labels]
        return [*(each.formatted for each in self.stretches), *labels]

    def replace(self, translations: Sequence[Sequence[Part]]) -> str:
        """Return the document with each of `texts` replaced by its translation."""
        rest = iter(translations[len(self.stretches) :])
        labels = {
            _signed(i): label.translated(parts)
            for i, (label, parts) in enumerate(zip(self.labels, rest, strict=True))
        }
        found, place = [], 0
        for stretch, parts in zip(self.stretches, translations, strict=False):
            source = stretch.translated(parts)
            source = _SIGNED.sub(lambda sign: labels.get(sign[0], sign[0]), source)
            found += [self._text[place : stretch.start], source]
            place = stretch.end
        text = "".join(found) + self._text[place:]
        return text.replace("\n", "\r\n") if self._has_returns else text

    def _find(self, tokens: list[Token], begin: int) -> Iterator[_Stretch]:
        """Yield the texts of all blocks; `begin`: place of the first one in the source."""
        starts = [begin]  # of the lines
        for line in re.findall(r"[^\n]*\n|[^\n]+$", self._text[begin:]):
            starts.append(starts[-1] + len(line))
        place = begin
        for around, token in pairwise(tokens):
            if token.type != "inline" or token.map is None:
                continue
            is_cell = around.type in ("th_open", "td_open")
            rows: list[Span] = []  # where each line of the content is
            for number, line in enumerate(token.content.split("\n"), token.map[0]):
                shown = line.strip(" \t").replace("|", r"\|") if is_cell else line.strip(" \t")
                found = self._text.find(shown, max(place, starts[number]), starts[number + 1])
                if found < 0:
                    break
                place = found + len(shown)
                rows.append((found, place))
            else:
                elements = _read(token, self.labels)
                yield from self._stretches(elements, rows, around.type == "paragraph_open", is_cell)

    def _stretches(
        self, elements: list[_Element], rows: list[Span], is_paragraph: bool, is_cell: bool
    ) -> Iterator[_Stretch]:
        """Yield the texts of a block, which forced line breaks divide; rows: its lines."""
        width = max(end - start for start, end in rows)
        row = 0
        for is_break, group in groupby(elements, lambda each: each.kind == "break"):
            own = list(group)
            if is_break:
                row += len(own)
                continue
            last = row + sum(each.breaks for each in own)  # also within code and links
            start, end = rows[row][0], rows[last][1]
            if self._text[end - 1] == "\\" and own[-1] is not elements[-1]:  # a forced break
                end -= 1
            if label := (_LABEL if own[0] is elements[0] else _DEFINITION).match(own[0].text):
                start += label.end()
                own[0] = replace(own[0], text=own[0].text[label.end() :])
                if not own[0].text and own[1:] and own[1].kind == "line":  # a line of its own
                    own, row = own[2:], row + 1
                    start = rows[row][0]
            second = rows[min(row + 1, last)][0]
            indent = self._text[self._text.rfind("\n", 0, second) + 1 : second]
            stretch = _Stretch(
                start, end, indent, width + len(indent) if last > row else 0, is_paragraph, is_cell
            )
            for each in own:
                if each.kind in ("text", "kept", "line"):
                    stretch.pieces.append(each.text)
                    stretch.raw.append(each.raw if each.kind == "kept" else "")
                    stretch.chains.append(each.chain)
            for each in own:
                if each.kind == "text" and not each.raw:
                    stretch.plain |= set(each.text)
            for each in own:
                if each.kind == "text" and each.raw:
                    stretch.plain -= set(each.text)
            if has_letters("".join(stretch.pieces)) or any(_SIGNED.search(x.raw) for x in own):
                yield stretch
            row = last


def _skip_markup(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """Skip lines that markdown-it would read as text; a rule of its parser of blocks."""
    if state.is_code_block(line):
        return False
    text = _line_of(state, line)
    if silent and _REFERENCE.fullmatch(text):  # ends a paragraph; markdown-it reads it
        return True
    title = ""
    end: int | None = line
    if note := _NOTE.fullmatch(text):
        title = note[1] or ""
    elif container := _CONTAINER.match(text):
        title = text[container.end() :]
    elif found := _MARKUP_LINE.fullmatch(text):
        if found["formula"]:
            end = _end_of_formula(state, line, last)
        elif found["environment"]:
            end = _end_of_environment(state, line, last, found["environment"])
    else:
        return False
    if end is None:
        return False
    if not silent:
        state.line = end + 1
        if title:
            state.push("title_open", "", 1)
            inline = state.push("inline", "", 0)
            inline.content, inline.map, inline.children = title, [line, line + 1], []
            state.push("title_close", "", -1)
        if note:
            _read_note(state, line + 1, last)
    return True


def _read_note(state: StateBlock, line: int, last: int) -> None:
    """Read the blocks of a note, which are indented by four spaces more than the line before."""
    inside = state.blkIndent + 4
    end = line
    while end < last and (state.isEmpty(end) or state.sCount[end] >= inside):
        end += 1
    state.blkIndent = inside
    state.md.block.tokenize(state, line, end)
    state.blkIndent -= 4
    state.line = end


def _end_of_formula(state: StateBlock, line: int, last: int) -> int | None:
    """Return the line with the next $$, unless an empty one is before it."""
    for number in range(line + 1, last):
        text = _line_of(state, number)
        if not text or "$$" in text:
            return number if text else None
    return None


def _end_of_environment(state: StateBlock, line: int, last: int, name: str) -> int | None:
    ends: dict[str, list[int]] | None = state.env.get("ends of environments")
    if ends is None:  # Searching the rest for each beginning would take quadratic time.
        ends = state.env["ends of environments"] = {}
        for found in _END_OF_ENVIRONMENT.finditer(state.src):
            number = bisect_left(state.eMarks, found.start())
            ends.setdefault(found[1], []).append(number)
    own = ends.get(name, [])
    place = bisect_left(own, line)
    return own[place] if place < len(own) and own[place] < last else None


def _line_of(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _read(token: Token, labels: list[_Label]) -> list[_Element]:
    """Return the parts of a block's text, by reading its source along with its tokens.

    Labels within marks are added to `labels`.
    """
    source, place, begun = token.content, 0, 0
    elements: list[_Element] = []

    def add(kind: str, end: int, text: str = "", found: Sequence[tuple[int, _Label]] = ()) -> None:
        """Add what ends at `end`; found: labels in it, with their places."""
        nonlocal place
        raw, breaks = "", source.count("\n", place, end)
        for start, label in found:
            if has_letters(label.text):
                raw += source[place:start] + _signed(len(labels))
                labels.append(label)
                place = start + len(label.text)
        elements.append(_Element(kind, raw + source[place:end], text, breaks=breaks))
        place = end

    def skip(mark: str) -> int:
        """Return the end of a mark, which is here or after spaces that the parser dropped."""
        return source.index(mark, place) + len(mark)

    def add_end(name: str) -> None:
        """Add the end of a link or a picture; name: its text in the source."""
        end, title = _end_of_link(source, skip("]"))
        add("end", end, found=title)
        if elements[-2].kind == "start":  # a link without text
            first, last = elements[-2:]
            raw, breaks = first.raw + last.raw, first.breaks + last.breaks
            elements[-2:] = [_Element("kept", raw, _OBJECT, breaks=breaks)]
        elif elements[-1].raw in ("]", "][]"):
            elements[-1].text = " ".join(name.split())

    kinds = sorted(child.type for child in token.children or [])
    is_picture = kinds in (["image"], ["image", "link_close", "link_open"])  # not within text
    is_picture = is_picture and any(child.content for child in token.children or [])
    children = iter(token.children or [])
    for child in children:
        kind = child.type
        if kind == "text":
            if child.content:
                place = source.index(child.content, place) + len(child.content)
                elements += _texts(child.content)
        elif kind == "text_special":  # an escape or an entity
            if child.content == "\\":
                add("kept", skip(child.markup), _OBJECT)
            else:
                add("text", skip(child.markup), child.content)
        elif kind in ("softbreak", "hardbreak"):
            found = _BREAK.search(source, place)
            assert found
            defines = _DEFINITION.match(source, found.end())
            is_line = kind == "softbreak" and not defines
            add("line" if is_line else "break", found.end(), " ")
        elif kind == "code_inline":
            ticks = re.compile(rf"(?<!`){child.markup}(?!`)")
            closed = ticks.search(source, skip(child.markup))
            assert closed
            add("kept", closed.end(), _OBJECT)
        elif kind == "html_inline":
            add("kept", skip(child.content), _OBJECT)
        elif kind == "image" and is_picture:
            add("start", skip("!["))
            add("text", place + len(child.content), child.content)
            add_end(child.content)
        elif kind == "image":
            start = skip("![")
            after = skip(f"![{child.content}]")
            end, found_labels = _end_of_link(source, after)
            is_plain = all(each.type in ("text", "softbreak") for each in child.children or [])
            # In ![name] and ![name][], the text names a reference.
            if (
                is_plain
                and source[after : after + 1] in ("(", "[")
                and not source.startswith("[]", after)
            ):
                found_labels.insert(0, (start, _Label(child.content, _SPECIAL + "|")))
            add("kept", end, _OBJECT, found_labels)
        elif kind == "link_open" and child.info == "auto":
            add("kept", source.index(">", place) + 1, _OBJECT)
            while next(children).type != "link_close":
                pass
        elif kind == "link_open":
            add("start", skip("["))
            begun = place  # links are not within one another
        elif kind == "link_close":
            add_end(source[begun : skip("]") - 1])
        else:  # emphasis
            add("start" if child.nesting > 0 else "end", skip(child.markup))
    _pair_tags(elements)
    _set_chains(elements)
    return elements


def _texts(text: str) -> Iterator[_Element]:
    """Yield parts of a text, some of which stay as they are."""
    end = 0
    for found in _KEPT_TEXT.finditer(text):
        yield _Element("text", "", text[end : found.start()])
        yield _Element("kept", found[0], _OBJECT)
        end = found.end()
    yield _Element("text", "", text[end:])


def _signed(number: int) -> str:
    return f"\ue001{number}\ue001"


def _end_of_link(source: str, place: int) -> tuple[int, list[tuple[int, _Label]]]:
    """Return where a link ends whose text ends at `place`: after (address "title") or [name].

    Also return its title with its place; none if it contains a backslash or an entity.
    """
    if source[place : place + 1] == "(":
        end = _skip_spaces(source, place + 1)
        address = parseLinkDestination(source, end, len(source))
        end = _skip_spaces(source, address.pos if address.ok else end)
        title = parseLinkTitle(source, end, len(source))
        start, end = end + 1, _skip_spaces(source, title.pos if title.ok else end)
        if source[end : end + 1] == ")":
            plain = title.str if source.startswith(title.str, start) else ""
            sign = source[start - 1]
            return end + 1, [(start, _Label(plain, "\\|" + ("()" if sign == "(" else sign)))]
    name = _NAME.match(source, place)
    return (name.end() if name else place), []


def _skip_spaces(source: str, place: int) -> int:
    while source[place : place + 1].isspace():
        place += 1
    return place


def _pair_tags(elements: list[_Element]) -> None:
    """Make formats of HTML tags that enclose text, such as <b> and </b>, not <a id="x"></a>.

    What <kbd> and others enclose stays as it is.
    """
    opened: list[tuple[str, int]] = []  # names of tags, "" for other formats, with their places
    code: list[Span] = []
    last = None  # the last element that is not empty
    for place, each in enumerate(elements):
        tag = _TAG.fullmatch(each.raw) if each.kind == "kept" else None
        if each.kind == "start" or (tag and not tag[1] and not tag[3]):
            opened.append((tag[2].lower() if tag else "", place))
        elif each.kind == "end":
            while opened and opened.pop()[0]:
                pass
        elif tag and tag[1] and opened and opened[-1][0] == tag[2].lower():
            name, start = opened.pop()
            opening = elements[start]
            if name in _TAGS_OF_CODE:
                code.append((start, place))
            elif opening is not last:
                opening.kind, each.kind = "start", "end"
        last = each if each.text else last
    end = 0
    for start, place in sorted(code):
        for each in elements[max(start, end) : max(place, end)]:
            if each.kind == "text" and each.text:
                each.kind, each.raw, each.text = "kept", each.raw or each.text, _OBJECT
        end = max(place, end)


def _set_chains(elements: list[_Element]) -> None:
    opened: list[_Format] = []
    for each in elements:
        if each.kind == "start":
            opened.append(_Format(each.raw))
        elif each.kind == "end":
            form = opened.pop()
            form.end, form.name = each.raw, each.text.replace(_OBJECT, "")
        each.chain = tuple(opened)


def _escaped_start(row: str) -> str:
    """Return a line of a paragraph that does not seem to begin a list or another block."""
    found = _AT_START.match(row)
    return f"{found[1]}\\{row[found.end(1) :]}" if found else row


def _render(parts: Sequence[tuple[str, tuple[_Format, ...]]]) -> str:
    """Return the source of parts, each with the formats around it, outermost first."""
    found = ""
    for form, group in groupby(parts, lambda part: part[1][0] if part[1] else None):
        alike = list(group)
        if form is None:
            found += "".join(text for text, _ in alike)
            continue
        inner = _render([(text, chain[1:]) for text, chain in alike])
        body = inner.strip()
        before, after = inner.partition(body)[::2] if body else (inner, "")
        marks = form.marks(body.replace(_KEPT_SPACE, " "))
        start, end = (each.replace(" ", _KEPT_SPACE) for each in marks)
        found += f"{before}{start}{body}{end}{after}" if body else before
    return found
