"""`nmt translate`."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.cli.documents import (
    by_lines,
    is_document,
    is_wrapped,
    lines_of,
    open_document,
    require_fitting,
    require_lines,
    require_lines_of_text,
    translate_document,
)
from nmt.cli.options import (
    RunOption,
    TagOption,
    TranslatorOptions,
    find_runs,
    given_tag,
    with_translator_options,
)
from nmt.cli.output import (
    SAMPLE,
    align_lines,
    format_translations,
    indented,
    reporting,
    require_another,
    require_plain,
    warn_of_broken_lines,
    warn_of_language,
    warn_of_missing,
    write_lines,
)
from nmt.cli.prompt import converse
from nmt.errors import UserError, require_utf8

if TYPE_CHECKING:
    from nmt.decoding.glossary import Term

_LOG = logging.getLogger(__name__)


@with_translator_options("config", "address", "glossary", "memory", "engine", "compute_type")
def translate(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="Sentences to translate; default: --input or standard input."),
    ] = None,
    run: RunOption = None,
    input_: Annotated[
        Path | None,
        typer.Option(
            "--input",
            "-i",
            help="Text file, one sentence per line; or a document: .docx, .html, "
            ".md, .json, .srt, .vtt, or XLIFF, PO or TMX, whose empty targets are filled.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file instead of standard output; for a document, with the same "
            "extension.",
        ),
    ] = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best",
            min=1,
            max=500,
            help="Print this many translations of each line: line number, score, text.",
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Prefix the text with its log-probability and mean probability per token.",
        ),
    ] = False,
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment", help="Append the word alignment, such as 0-0 1-2 (PyTorch engine)."
        ),
    ] = False,
    prefix: Annotated[
        str | None,
        typer.Option(
            "--prefix",
            help="Start the translation with this text, which may end within a word. With --input: "
            "a file with one such line per input line (empty: no constraint).",
        ),
    ] = None,
    tag: TagOption = None,
    *,
    options: TranslatorOptions,
) -> None:
    """Translate sentences, a file or document, standard input, or what you type at a prompt.

    Several runs translate together, as an ensemble.
    Example: nmt translate "Where is the station?"
    A document: nmt translate --input letter.docx --output brief.docx
    """
    from nmt.corpus.sources.readers import count_lines
    from nmt.files.output_files import require_file

    input_, output = (None if path == Path("-") else path for path in (input_, output))
    text = None if text == ["-"] else text
    if text and all(map(_is_file, text)):
        remedy = "add --input in front of it" if len(text) == 1 else "use --input, one at a time"
        raise UserError(f"{text[0]}: is a file; to translate it, {remedy}")
    if text and input_:
        raise UserError("give either text or --input, not both")
    for each in text or []:
        require_utf8(each)
    if text and len(text) > 1 and not any(" " in each for each in text):
        _LOG.warning("each word is translated by itself; put quotation marks around a sentence")
    asked = not text and not input_ and sys.stdin.isatty()
    if asked and output:
        raise UserError(
            "--output does not work with the prompt; give text, --input or standard input"
        )
    if output:
        require_file(output)
        require_plain(output)
    if input_ and not input_.exists():
        raise UserError(
            f"{input_}: no such file; give a text file, one sentence per line, or a document"
        )
    if alignment and (asked or n_best or scores):
        raise UserError("--alignment cannot be combined with --n-best, --scores or the prompt")
    if alignment and options.engine == "ctranslate2":
        raise UserError(
            "--alignment needs attention weights, which CTranslate2 does not expose; omit --engine"
        )
    if prefix is not None and (alignment or not (text or input_)):
        raise UserError("--prefix needs text or --input, and does not work with --alignment")
    if prefix and input_ and not Path(prefix).is_file():
        raise UserError(
            f"--prefix {prefix}: no such file; with --input, give one with a line per input line"
        )
    if tag and options.address:
        raise UserError("--tag and --address cannot be combined, because --address is itself a tag")
    given = {"--n-best": n_best is not None, "--scores": scores, "--alignment": alignment}
    given |= {"--prefix": prefix is not None, "--tag": tag is not None}
    of_lines = [option for option, is_given in given.items() if is_given]
    file = input_ if input_ and is_document(input_) else None
    if input_ and not file:
        require_lines_of_text(input_)
        if not of_lines and is_wrapped(input_):
            file = input_
            _LOG.warning(
                f"{file}: sentences continue on the next line, so paragraphs are translated as a "
                f"whole; to translate each line separately: {by_lines(file)}"
            )
    if file:
        require_fitting(file, output, of_lines)
    elif output:
        require_lines(output)
        if input_:
            require_another(output, input_)
    if alignment:
        options = replace(options, engine="pytorch")
    runs = find_runs(run, options.weights)
    source_tag = given_tag(tag, runs[0].config.data)
    document = open_document(file, runs[0].config.data.languages) if file else None
    if file and document:
        warn_of_language(file, (each.text for each in document.texts[:SAMPLE]), runs[0])
    translator = options.open(*runs)
    if n_best and n_best > translator.decoding.beam_size and not translator.decoding.temperature:
        _LOG.warning(f"--n-best {n_best} raises the beam size to {n_best}")
    missing: Counter[Term] = Counter()
    if file and document:
        translate_document(document, file, output, translator, missing)
        warn_of_missing(missing, translator)
        return
    if asked:
        converse(translator, runs[0], n_best, source_tag, scores=scores)
        return
    typed_lines = "\n".join(text).split("\n") if text else []
    total = len(typed_lines) or (count_lines(input_) if input_ and output else None)
    read: Iterator[str] = iter(typed_lines or _input_lines(input_))
    if input_ and input_.is_file():
        head = list(islice(read, SAMPLE))
        warn_of_language(input_, head, runs[0])
        warn_of_broken_lines(input_, head, of_lines)
        read = chain(head, read)
    typed, read = tee(read)
    lines = (source_tag + line for line in read)
    if alignment:
        write_lines(align_lines(translator, lines, missing), output, "translating", total)
        warn_of_missing(missing, translator)
        return
    begun = None
    if prefix is not None:
        begun = _input_lines(Path(prefix)) if input_ else [prefix] * len(text or [])
    found = translator.stream(lines, n_best or 1, begun, soon=True)
    printed = format_translations(reporting(found, missing), n_best, scores)
    if not (n_best or scores):
        printed = indented(typed, printed)
    write_lines(printed, output, "translating", None if n_best else total)
    warn_of_missing(missing, translator)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path
        return False


def _input_lines(path: Path | None) -> Iterator[str]:
    """Yield the lines of a file or of standard input, split at line feeds only."""
    from nmt.corpus.sources.readers import decode_lines

    return lines_of(path) if path else decode_lines(sys.stdin.buffer, "standard input")
