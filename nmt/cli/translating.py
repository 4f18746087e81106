"""`nmt translate`."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.cli.options import (
    RunOption,
    TagOption,
    TranslatorOptions,
    find_runs,
    prefix_of,
    with_translator_options,
)
from nmt.cli.prompt import converse
from nmt.cli.writing import (
    align_lines,
    format_translations,
    reporting,
    require_plain,
    warn_of_missing,
    write_lines,
)
from nmt.echo import echo
from nmt.errors import UserError, require_utf8

if TYPE_CHECKING:
    from nmt.decoding.glossary import Term
    from nmt.decoding.translator import Translator
    from nmt.runs.folder import RunFolder

_LOG = logging.getLogger(__name__)
# Endings of those that nmt serve translates; importing its readers takes 0.15 s.
DOCUMENTS = (".srt", ".vtt", ".html", ".htm", ".md", ".json", ".docx")


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
            help="Text file, one sentence per line; or XLIFF, PO or TMX, whose empty targets are "
            "filled (with --output).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of standard output."),
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
            help="Let the translation begin so; may end within a word. With --input, a file with a "
            "line for each, empty if it is free.",
        ),
    ] = None,
    tag: TagOption = None,
    *,
    options: TranslatorOptions,
) -> None:
    """Translate sentences, a file, standard input, or what you type at a prompt.

    Several runs translate together, as an ensemble.
    Example: nmt translate "Where is the station?"
    """
    from nmt.config.data import translation_format
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
    asked = not text and not input_ and sys.stdin.isatty()
    if asked and output:
        raise UserError(
            "--output does not work with the prompt; give text, --input or standard input"
        )
    if output:
        require_file(output)
        require_plain(output)
    if input_ and not input_.exists():
        raise UserError(f"{input_}: no such file; give a text file, one sentence per line")
    if alignment and (asked or n_best or scores):
        raise UserError("--alignment cannot be combined with --n-best, --scores or the prompt")
    if alignment and options.engine == "ctranslate2":
        raise UserError(
            "--alignment needs attention weights, which CTranslate2 does not expose; omit --engine"
        )
    if prefix is not None and (alignment or not (text or input_)):
        raise UserError("--prefix needs text or --input, and does not work with --alignment")
    if prefix and input_ and not Path(prefix).is_file():
        raise UserError(f"--prefix {prefix}: no such file; with --input, give a line for each")
    if tag and options.address:
        raise UserError("give either --tag or --address, which is a tag, too")
    file = None
    if input_ and translation_format(input_.name):
        if n_best or scores or alignment or prefix is not None or tag:
            raise UserError(
                f"{input_}: a file of a translation tool goes without --n-best, --scores, "
                "--alignment, --prefix and --tag"
            )
        if not output:
            raise UserError(f"{input_}: name a file to write with --output")
        file = input_
    elif input_:
        _warn_of_document(input_)
    if alignment:
        options = replace(options, engine="pytorch")
    runs = find_runs(run, options.weights)
    tagged = prefix_of(tag, runs[0].config.data)
    translator = options.open(*runs)
    if n_best and n_best > translator.decoding.beam_size and not translator.decoding.temperature:
        _LOG.warning(f"--n-best {n_best} raises the beam size to {n_best}")
    missing: Counter[Term] = Counter()
    if file and output:
        _fill(file, output, runs[0], translator, missing)
        warn_of_missing(missing, translator)
        return
    if asked:
        converse(translator, runs[0], n_best, tagged, scores=scores)
        return
    given = "\n".join(text).split("\n") if text else _input_lines(input_)
    lines = (tagged + line for line in given)
    if alignment:
        write_lines(align_lines(translator, lines, missing), output)
        warn_of_missing(missing, translator)
        return
    begun = None
    if prefix is not None:
        begun = _input_lines(Path(prefix)) if input_ else [prefix] * len(text or [])
    found = translator.stream(lines, n_best or 1, begun)
    found = reporting(found, missing)
    write_lines(format_translations(found, n_best, scores), output)
    warn_of_missing(missing, translator)


def _fill(
    input_: Path, output: Path, run: "RunFolder", translator: "Translator", missing: "Counter[Term]"
) -> None:
    """Fill the empty targets of a translation file; count the terms that translations lack."""
    from nmt.files.output_files import replacing
    from nmt.files.small_files import read_small
    from nmt.progress import with_progress
    from nmt.serve.served_run import ServedRun
    from nmt.serve.translation_files import LARGEST, TranslationFile

    try:
        content = read_small(input_, LARGEST)
    except OSError as error:
        raise UserError(f"{input_}: cannot be read ({error.strerror}); check the file") from None
    served = ServedRun(run.name, run, translator, "")
    file = TranslationFile(str(input_), content, (served.source, served.target))
    parts, remembered = [], set()
    found = with_progress(served.translate_formatted(file.texts), f"writing {output.name}")
    for number, each in enumerate(found):
        parts.append(each.parts)
        if each.from_memory:
            remembered.add(number)
        for term in (term for sentence in each.sentences for term in sentence.missing_terms):
            missing[term] += 1
            source = shorten(file.texts[number].text, 60, placeholder=" …")
            _LOG.info('unit "%s" lacks %s', source, term)
    content = file.replace(parts, remembered)
    with replacing(output.resolve()) as path:
        path.write_bytes(content)
    of_memory = f", {len(remembered):,} of them from the memory" if remembered else ""
    echo(f"filled {len(parts):,} targets{of_memory}; left {file.kept:,} as they were")


def _warn_of_document(path: Path) -> None:
    """Say that `nmt serve` translates a document as such; refuse one that has no lines."""
    kind = path.suffix.lower()
    if kind not in DOCUMENTS or not find_spec("starlette"):  # of the extra `serve`
        return
    if kind == ".docx":
        raise UserError(f"{path}: is not plain text; nmt serve translates such documents")
    _LOG.warning(f"{path}: is translated line by line; nmt serve translates whole documents")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path
        return False


def _input_lines(path: Path | None) -> Iterator[str]:
    """Yield the lines of a file or of standard input, split at line feeds only."""
    from nmt.corpus.sources.readers import decode_lines, read_lines

    return read_lines(path) if path else decode_lines(sys.stdin.buffer, "standard input")
