"""Output of commands: translations and results line by line, warnings on standard error."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmt.corpus.text.normalization import SEPARATORS
from nmt.errors import UserError, escape_terminal

if TYPE_CHECKING:
    from collections import Counter

    from nmt.decoding.glossary import Term
    from nmt.decoding.translator import Translation, Translator
    from nmt.runs.folder import RunFolder

_LOG = logging.getLogger(__name__)
SAMPLE = 1000  # lines of an input whose language is checked
_MOST_UNKNOWN = 20  # characters or words to name


def format_translations(
    found: Iterator[list["Translation"]], n_best: int | None, scores: bool = False
) -> Iterator[str]:
    """Yield output lines; warn on standard error about sentences that were split or truncated.

    scores: prefix the text with its log-probability and the mean probability per token
    """
    for number, translations in enumerate(found, 1):
        warn_of_parts(f"line {number}", translations[0])
        for each in translations:
            columns = [str(number), f"{each.score:.4f}"] if n_best else []
            if scores:
                columns += [f"{each.log_probability:.4f}", f"{each.mean_probability:.4f}"]
            yield "\t".join([*columns, in_one_line(each.text)])


def indented(sources: Iterable[str], translations: Iterable[str]) -> Iterator[str]:
    """Yield each translation with the spaces and tabs at the start of its source."""
    for source, translation in zip(sources, translations, strict=True):
        indent = source[: len(source) - len(source.lstrip(" \t"))]
        yield indent + translation if translation else ""


def warn_of_language(input_: Path, lines: Iterable[str], run: "RunFolder") -> None:
    """Warn if a run is given text in its target language; lines: the first ones of the input."""
    from nmt.config.languages import common_words, seem_to_be_in

    source, target = run.config.data.languages
    if seem_to_be_in(target, common_words(lines), source):
        _LOG.warning(
            f"{input_}: seems to be in {target}, but {run.path} translates from {source}; if so, "
            f"use a run that translates from {target}"
        )


def warn_of_broken_lines(input_: Path, lines: Sequence[str], options: Sequence[str]) -> None:
    """Warn if a sentence continues on the next line.

    lines: the first ones of the input; options: those given that need each line by itself
    """
    from nmt.documents.plain_text import first_broken

    number = first_broken(lines)
    if number is not None:
        remedy = f"omit {' and '.join(options)}" if options else "name the file .txt"
        _LOG.warning(
            f"{input_}: the sentence on line {number + 1} continues on the next, but each line is "
            f"translated separately; to join them, {remedy}"
        )


def warn_of_parts(source: str, found: "Translation") -> None:
    """Warn of what may be wrong with a translation; source: its source in messages."""
    if found.is_long:
        _LOG.warning(f"{source}: unusually long, translated in {found.parts} parts")
    if not found.complete:
        _LOG.warning(f"{source}: translation truncated; raise decoding.max_length_extra")
    if not found.in_proportion:
        _LOG.warning(f"{source}: the length of the translation is unusual; words may be missing")
    if found.unknown:
        unknown = escape_terminal(" ".join(found.unknown[:_MOST_UNKNOWN]))
        _LOG.info("%s: the model cannot read: %s", source, unknown)


def reporting(
    found: "Iterator[list[Translation]]", missing: "Counter[Term]"
) -> "Iterator[list[Translation]]":
    """Yield the translations, log what is special, count the terms that the best of each lacks."""
    for number, options in enumerate(found, start=1):
        if options[0].from_memory:
            _LOG.info("line %d is from the memory", number)
        for term in options[0].missing_terms:
            missing[term] += 1
            _LOG.info("line %d lacks %s", number, term)
        yield options


def warn_of_missing(missing: "Counter[Term]", translator: "Translator") -> None:
    """Warn of the glossary's terms that translations lack, as `reporting` counts them."""
    if missing:
        terms = ", ".join(str(term) for term, _ in missing.most_common(5))
        more = ", …" if len(missing) > 5 else ""
        unknown = " ".join(translator.out_of_vocabulary(missing))
        why = f"; the model does not know {unknown}" if unknown else ""
        _LOG.warning(
            f"could not place {missing.total():,} of the glossary's terms: {terms}{more}{why}"
        )


def in_one_line(text: str) -> str:
    """Replace tabs and every character that any program reads as a line end with spaces."""
    return text.translate(SEPARATORS)


def align_lines(
    translator: "Translator", lines: Iterable[str], missing: "Counter[Term]"
) -> Iterator[str]:
    """Yield the translation of each line with its word alignment; warn as for translations.

    missing: see `reporting`
    """
    from nmt.decoding.alignment import align, format_pairs

    if len(translator.pytorch.models) > 1:
        raise UserError("--alignment works with one model only; give a single --run")
    given, read = tee(lines)
    found = zip(given, reporting(translator.stream(read, soon=True), missing), strict=True)
    for number, (line, [translation, *_]) in enumerate(found, 1):
        pairs = align(translator, line, translation)
        warn_of_parts(f"line {number}", translation)
        yield f"{in_one_line(translation.text)}\t{format_pairs(pairs)}"


def write_lines(
    lines: Iterator[str], output: Path | None, doing: str = "writing", total: int | None = None
) -> None:
    """Print lines, or write them to a file that appears only when complete.

    doing, total: what the progress bar shows; None: any number
    """
    # Standard output may be a file that other output also goes to: never replace it.
    if output is None or is_standard_output(output):
        for line in lines:
            typer.echo(line)
        return
    from nmt.progress import in_bursts

    with _place(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in in_bursts(lines, doing, total))


def write_content(content: bytes, output: Path | None) -> None:
    """Print the content of a file, or write it to a file that appears only when complete."""
    if output is None or is_standard_output(output):
        typer.echo(content, nl=False)
        return
    with _place(output) as path:
        path.write_bytes(content)


def _place(output: Path) -> AbstractContextManager[Path]:
    """Return where to write a file that appears only when complete."""
    from nmt.files.output_files import replacing

    # Write to a device or pipe such as /dev/null; never replace it.
    is_file = output.is_file() or not output.exists()
    return replacing(output.resolve()) if is_file else nullcontext(output)


def require_plain(output: Path) -> None:
    """Refuse names that nmt would later read as compressed files."""
    if output.suffix.lower() in (".gz", ".zip"):
        raise UserError(f"{output}: the output is not compressed; omit {output.suffix}")


def require_another(output: Path, given: Path) -> None:
    """Refuse to replace the input, also by another name of the same file."""
    if output.is_file() and output.samefile(given):
        raise UserError(f"{output}: is the input; choose another file to write")


def is_standard_output(path: Path) -> bool:
    """Return whether a path, such as /dev/stdout, leads to where standard output goes."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:  # no such file, or standard output is closed
        return False
