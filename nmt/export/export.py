"""Exports a trained model for other programs, in CTranslate2's format.

The export is what `nmt.decoding.engines.conversion` writes, but with tokens instead of ids in the
vocabularies, plus the tokenizers, which CTranslate2 does not handle. For subwords it also contains
a program, `nmt/export/translate.py`, with the same pre- and postprocessing as `nmt translate`,
but without its second search if placeholders are missing. The modules of nmt that it imports are
copied beside it.

The format of `transformers` is in `nmt/export/transformers.py`.
"""

import glob
import json
import re
import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.config.choices import ExportFormat, Weights
from nmt.config.config import Config
from nmt.corpus.text.capitals import CASING
from nmt.corpus.text.target_words import TARGET_WORDS
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers, vocabulary_files
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.decoding.engines.conversion import unsupported, write_model
from nmt.decoding.segments import TrainingLines, text_rules
from nmt.errors import UserError, writing
from nmt.files.locks import locked
from nmt.runs.folder import LICENCE, RunFolder
from nmt.special_tokens import SPECIALS

_LOCK = ".lock"
_PACKAGE = Path(__file__).parent.parent
_PROGRAM = (
    "export/translate.py",
    *(
        f"corpus/text/{name}.py"
        for name in (
            *("abbreviations", "acronyms", "codes", "dates", "division", "emphasis", "mnemonics"),
            *("names", "normalization", "parts", "placeholders", "products", "punctuation"),
            *("quotations", "sentence_edges", "target_words"),
        )
    ),
    "special_tokens.py",
)
_IMPORT = re.compile(r"^from nmt(?:\.\w+)*\.(\w+) import", re.MULTILINE)
_DECODING = {
    *("beam_size", "length_penalty", "length_offset", "max_length_factor", "max_length_extra"),
    "new_words_margin",
}


def export_run(
    run: RunFolder,
    folder: Path | str,
    weights: Weights = "best",
    format_: ExportFormat = "ctranslate2",
) -> None:
    """Write model and tokenizers to a new folder, which appears only when complete.

    Raises `UserError` if the folder exists, for damaged weights, and for a model or vocabulary that
    the format does not support.
    """
    folder = Path(folder)
    prefix = f".{folder.name}.partial."
    for remains in folder.parent.glob(f"{glob.escape(prefix)}*"):
        # Another export holds the lock while it runs; a killed one has released it.
        with suppress(UserError), locked(remains / _LOCK, "at work", wait=False):
            shutil.rmtree(remains, ignore_errors=True)
    if folder.exists():
        raise UserError(f"{folder}: already exists; delete it, or choose another folder (--output)")
    write = _write_transformers if format_ == "transformers" else _write_ctranslate2
    with (
        writing(folder),
        TemporaryDirectory(prefix=prefix, dir=folder.parent) as scratch,
        locked(Path(scratch, _LOCK), "at work"),
    ):
        partial = Path(scratch, folder.name)
        partial.mkdir()
        write(run, weights, partial)
        if (run.path / LICENCE).is_file():
            shutil.copyfile(run.path / LICENCE, partial / LICENCE)
        if folder.exists():
            raise UserError(
                f"{folder}: another export has just created it; choose another folder (--output)"
            )
        partial.rename(folder)


def _write_transformers(run: RunFolder, weights: Weights, folder: Path) -> None:
    from nmt.export import transformers as transformers_export
    from nmt.export.model_card import model_card

    if reasons := transformers_export.unsupported(run.config):
        raise UserError(f"transformers does not support this model: {'; '.join(reasons)}")
    transformers_export.write_transformers(run, run.weights(weights), folder)
    card = model_card(run, weights, transformers_export.USAGE, library_name="transformers")
    (folder / "README.md").write_text(card, encoding="utf-8")


def _write_ctranslate2(run: RunFolder, weights: Weights, folder: Path) -> None:
    config = run.config
    if reasons := unsupported(config.model):
        raise UserError(f"CTranslate2 does not support this model: {'; '.join(reasons)}")
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    vocabularies = _tokens(tokenizers.source), _tokens(tokenizers.target)
    write_model(run.weights(weights), config.model, vocabularies, folder)
    for name in vocabulary_files(config.tokenizer):
        shutil.copyfile(run.data / name, folder / name)
    if config.tokenizer.subword:
        _write_program(run, config, tokenizers, folder)


def _write_program(run: RunFolder, config: Config, tokenizers: Tokenizers, folder: Path) -> None:
    """Write translate.py, which does not need nmt, its data, and a README."""
    source_model, target_model = vocabulary_files(config.tokenizer)
    room = config.model.max_length - 1  # <eos>
    lines = TrainingLines.of(run.report, config.decoding)
    settings = {
        "source_model": source_model,
        "target_model": target_model,
        "whitespace_as_suffix": config.tokenizer.whitespace_as_suffix,
        "rules": asdict(text_rules(config.data, lines, room)),
        "split_sentences": lines.one_sentence_per_line,
        "sentence_language": config.data.source_language,  # for sentencex
        **config.data.model_dump(include={"placeholders", "restore_case"}),
        **config.decoding.model_dump(include=_DECODING),
    }
    text = json.dumps(settings, indent=2) + "\n"
    (folder / "settings.json").write_text(text, encoding="utf-8")
    for name in _PROGRAM:
        module = _IMPORT.sub(r"from \1 import", (_PACKAGE / name).read_text(encoding="utf-8"))
        (folder / Path(name).name).write_text(module, encoding="utf-8")
    readme = (_PACKAGE / "export/README.md").read_text(encoding="utf-8")
    for name in ("source_language", "target_language"):
        readme = readme.replace(f"{{{name}}}", getattr(config.data, name))
    readme = readme.replace("{source_model}", source_model).replace("{target_model}", target_model)
    (folder / "README.md").write_text(readme, encoding="utf-8")
    for name in (CASING, TARGET_WORDS):
        if (run.data / name).exists():
            shutil.copyfile(run.data / name, folder / name)
    if tokenizers.known:
        tokenizers.known.save(folder)


def _tokens(tokenizer: Tokenizer) -> list[str]:
    tokens = tokenizer.tokens(range(tokenizer.size))
    for token in SPECIALS:
        if tokens.count(token) > 1:
            raise UserError(
                f"tokenizer.kind: the corpus has the word {token}, which CTranslate2 confuses "
                "with the special token; remove it from the corpus, or use subwords"
            )
    return tokens
