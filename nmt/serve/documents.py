"""Documents: only their text is translated, everything else is preserved."""

import copy
import io
import re
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from nmt.corpus.readers import open_zip
from nmt.serve.errors import ApiError
from nmt.serve.served_run import ServedRun
from nmt.serve.translating import Part, TextTranslator

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_MOST_UNPACKED = 50_000_000  # bytes of a .docx
_SRT_TIME = re.compile(r"\d+:\d\d:\d\d[,.]\d+ *-->")


async def translate_document(
    translator: TextTranslator, run: ServedRun, name: str, content: bytes
) -> bytes:
    """Translate a document of the format that its file extension names.

    Raises `ApiError` for other formats, and for files whose content does not match.
    """
    kind = PurePosixPath(name.lower()).suffix
    if kind not in KINDS:
        raise ApiError(400, f"Invalid request: file format not supported; use {', '.join(KINDS)}")
    return await KINDS[kind](translator, run, content)


async def _translate_txt(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    [[best, *_]] = await translator.translate(run, [_decode(content)])
    return best.encode()


async def _translate_html(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    [html] = await translator.translate_html(run, [_decode(content)])
    return html.encode()


async def _translate_srt(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    lines = _decode(content).splitlines(keepends=True)
    spoken = list(_spoken(lines))
    found = await translator.translate(run, [lines[i] for i in spoken])
    for i, options in zip(spoken, found, strict=True):
        lines[i] = options[0]
    return "".join(lines).encode()


def _spoken(lines: list[str]) -> Iterator[int]:
    """Yield the indices of the lines with subtitle text; skips counters and timestamps."""
    inside = False
    for number, line in enumerate(lines):
        if _SRT_TIME.match(line.strip()):
            inside = True
        elif not line.strip():
            inside = False
        elif inside:
            yield number


async def _translate_docx(translator: TextTranslator, run: ServedRun, content: bytes) -> bytes:
    document = await anyio.to_thread.run_sync(_open_docx, content)
    stretches = list(_docx_stretches(document))
    found = await translator.translate_formatted(
        run, [[each.text for each in stretch] for stretch in stretches]
    )
    for stretch, parts in zip(stretches, found, strict=True):
        _replace_runs(stretch, parts)
    output = io.BytesIO()
    await anyio.to_thread.run_sync(document.save, output)
    return output.getvalue()


def _open_docx(content: bytes) -> "Document":
    import docx

    try:
        with open_zip(io.BytesIO(content)) as archive:
            if sum(file.file_size for file in archive.infolist()) > _MOST_UNPACKED:
                raise ApiError(413, "Invalid request: the document is too large when unpacked")
            # Its sizes may be false, and python-docx would unpack everything: copy only as much.
            plain = io.BytesIO()
            with zipfile.ZipFile(plain, "w") as copied:
                for file in archive.infolist():
                    with archive.open(file) as unpacked:
                        copied.writestr(file.filename, unpacked.read(file.file_size))
        return docx.Document(plain)
    except ApiError:
        raise
    except Exception:  # the libraries raise many types for damaged files
        raise ApiError(400, "Invalid request: the .docx file cannot be read") from None


def _docx_stretches(document: "Document") -> Iterator[list[Any]]:
    """Yield adjacent runs of a paragraph that contain only text.

    Covers the body, its tables, and the headers and footers of all sections.
    """
    from docx.text.paragraph import Paragraph

    roots = [document.element.body]
    for section in document.sections:
        for part in (section.header, section.footer, section.first_page_header,
                     section.first_page_footer):  # fmt: skip
            if not part.is_linked_to_previous:
                roots.append(part._element)
    for root in roots:
        for element in root.iter("{*}p"):
            if element.tag.endswith("wordprocessingml/2006/main}p"):
                yield from _stretches_of(Paragraph(element, document))


def _stretches_of(paragraph: "Paragraph") -> Iterator[list[Any]]:
    stretch: list[Any] = []
    for item in paragraph.iter_inner_content():
        runs = [item] if not hasattr(item, "runs") else item.runs
        linked = hasattr(item, "runs")
        if linked and stretch:
            yield stretch
            stretch = []
        for run in runs:
            plain = all(child.tag.endswith(("}t", "}rPr")) for child in run._r)
            if plain:
                stretch.append(run)
            if (not plain or linked) and "".join(each.text for each in stretch).strip():
                yield stretch
            if not plain or linked:
                stretch = []
    if "".join(each.text for each in stretch).strip():
        yield stretch


def _replace_runs(stretch: list[Any], parts: list[Part]) -> None:
    """Replace runs by their translation, each part in a copy of the run it comes from."""
    first = stretch[0]._r
    for text, number in parts:
        run = type(stretch[number])(copy.deepcopy(stretch[number]._r), stretch[number]._parent)
        run.text = text
        first.addprevious(run._r)
    for run in stretch:
        run._r.getparent().remove(run._r)


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ApiError(400, "Invalid request: the file is not UTF-8 text") from None


Translate = Callable[[TextTranslator, ServedRun, bytes], Awaitable[bytes]]
KINDS: dict[str, Translate] = {
    ".txt": _translate_txt,
    ".srt": _translate_srt,
    ".html": _translate_html,
    ".htm": _translate_html,
    ".docx": _translate_docx,
}
