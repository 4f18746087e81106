"""The stage `prepare`: turns sentence pairs into prepared data.

>>> from nmt.config.yaml_files import load_config
>>> from nmt.corpus.preparing.prepare import prepare
>>> prepared = prepare(load_config("sample.yaml"))
"""

import glob
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nmt.config.config import Config
from nmt.config.data import CORPUS_PATHS, DataConfig
from nmt.corpus.prepared import SIDES, PreparedData, Sequences, open_prepared, read_examples
from nmt.corpus.preparing.encoding import encode_examples, encode_train, read_as_model
from nmt.corpus.preparing.manifest import (
    FORMAT,
    MANIFEST,
    changed,
    read_manifest,
    require_manifest,
    require_same_data,
    require_same_vocabulary,
    write_manifest,
)
from nmt.corpus.preparing.parent_run import ParentRunData
from nmt.corpus.preparing.report import CorpusReport, InheritedReport, length_summary
from nmt.corpus.preparing.split_plan import (
    PARTS,
    SplitPlan,
    keep_lines,
    plan_splits,
    read_given,
    write_splits,
)
from nmt.corpus.preparing.statistics import write_statistics
from nmt.corpus.sources.corpus import Corpus
from nmt.corpus.sources.readers import Split
from nmt.corpus.sources.registry import open_corpora
from nmt.corpus.text.capitals import CASING, Casing
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.training_placeholders import TrainingPlaceholders, list_words
from nmt.corpus.tokenizers.registry import (
    Tokenizers,
    load_tokenizers,
    train_tokenizers,
    vocabulary_files,
)
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.corpus.tokenizers.words import word_splitter
from nmt.errors import UserError, writing
from nmt.files.checksums import checksum
from nmt.files.locks import locked
from nmt.files.text_files import read_chunks, read_line_pairs, text_writer
from nmt.progress import Bar, with_progress
from nmt.special_tokens import NUMBERS

_LOG = logging.getLogger(__name__)
_BY_FILE_MANAGERS = {".DS_Store", "Thumbs.db", "desktop.ini"}
# In the hash, so that data prepared before the fields were renamed is still recognized.
_FORMER_NAMES = {
    '"placeholders":': '"carry_over":',
    '"number_placeholders":': '"carry_numbers":',
    '"whitespace_as_suffix":true': '"word_mark":"end"',
    '"subword_regularization"': '"sampling"',
}
_ENDINGS = {".ids", ".offsets", ".keys", ".jsonl", ".json", ".model"}


def prepare(
    config: Config,
    folder: Path | str | None = None,
    refresh: bool = False,
    run_data: Path | None = None,
) -> PreparedData:
    """Read, clean, split and tokenize the corpus; write the result to `folder`.

    Does nothing if the folder already holds the result for this corpus and configuration. The
    folder is either complete or absent: it is built next to its final location, then moved into
    place. If several processes prepare the same folder, one does the work and the others wait.
    `refresh` downloads the corpus again.

    run_data: the data in a run folder; if the result would differ from it, `UserError` is raised
    before anything is replaced
    """
    corpora = open_corpora(config.data, refresh)
    inherited = ParentRunData.open(config)
    folder = Path(folder) if folder else default_folder(config)
    fingerprint = _fingerprint(config, corpora, inherited)
    if run_data:
        require_same_data(run_data, fingerprint)
    with _claim(folder) as partial:
        manifest = read_manifest(folder)
        # The fingerprint omits the original run's word lists, which change if it is trained again.
        wanted = from_run = inherited.checksum if inherited else None
        if run_data:
            wanted = require_manifest(run_data).inherited or from_run
        current = manifest and manifest.fingerprint == fingerprint and manifest.is_complete()
        if not current or (manifest and manifest.inherited not in (None, wanted)):
            if run_data and wanted != from_run:
                raise changed(run_data)
            _require_own(folder)
            with writing(folder):
                partial.mkdir()
                tokenizers = _write(config, corpora, inherited, partial, fingerprint)
                if run_data:
                    require_same_vocabulary(run_data, partial, vocabulary_files(config.tokenizer))
                _replace_folder(folder.resolve(), partial)
            return open_prepared(folder, config.data, config.tokenizer, tokenizers)
        if run_data:
            require_same_vocabulary(run_data, folder, vocabulary_files(config.tokenizer))
        _LOG.info("already prepared %s", folder)
        return open_prepared(folder, config.data, config.tokenizer)


@contextmanager
def _claim(folder: Path) -> Iterator[Path]:
    """Yield a path at which to build `folder`, and lock out other processes."""
    place = folder.resolve()
    with writing(folder):
        place.parent.mkdir(parents=True, exist_ok=True)
    # Each process uses its own path, in case locking is unavailable.
    partial = place.with_name(f".{place.name}.partial-{os.getpid()}")
    lock = place.with_name(f".{place.name}.lock")
    with locked(lock, f"waiting for another process to prepare {folder}") as alone:
        others = place.parent.glob(f".{glob.escape(place.name)}.partial-*") if alone else []
        for remains in {partial, *others}:  # left by killed processes
            shutil.rmtree(remains, ignore_errors=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _require_own(folder: Path) -> None:
    """Refuse to replace anything except an empty folder or one that `prepare` wrote."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UserError(f"{folder}: is a file, not a folder; move it, or choose another folder")
    names = {path.name for path in folder.iterdir()} - _BY_FILE_MANAGERS
    if names and MANIFEST not in names:
        raise UserError(
            f"{folder}: is not empty, but holds no prepared data; delete it, or move your files"
        )
    manifest = read_manifest(folder)
    own = {*manifest.files, MANIFEST} if manifest else names  # damaged: judge by the endings
    if others := sorted(
        name
        for name in names
        if name not in own or Path(name).suffix not in _ENDINGS or (folder / name).is_dir()
    ):
        raise UserError(
            f"{folder}: holds files that nmt did not write; move them: {', '.join(others[:3])}"
        )


def _replace_folder(folder: Path, new: Path) -> None:
    """Move `new` to `folder`; delete the old folder only after that succeeds."""
    for path in new.iterdir():  # first, so that a power failure leaves no incomplete files
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    old = new.with_name(f"{new.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def default_folder(config: Config) -> Path:
    """Return ./data/prepared/SOURCE-HASH, with a hash of the data and tokenizer sections."""
    digest = hashlib.sha256(_sections(config).encode()).hexdigest()[:10]
    name = "corpora" if config.data.corpora else config.data.source
    return Path("data", "prepared", f"{name}-{digest}")


def _sections(config: Config, paths: bool = True) -> str:
    """Return the non-default fields of both sections, so that new fields do not change the hash."""
    without = {} if paths else dict.fromkeys(CORPUS_PATHS, True)
    exclude: Any = {**without, "corpora": {"__all__": without}}
    data = config.data.model_dump_json(exclude=exclude, exclude_defaults=True)
    no_run = None if paths else {"run"}
    tokenizer = config.tokenizer.model_dump_json(exclude=no_run, exclude_defaults=True)
    text = data + tokenizer
    for present, former in _FORMER_NAMES.items():
        text = text.replace(present, former)
    return text


def _fingerprint(config: Config, corpora: list[Corpus], inherited: ParentRunData | None) -> str:
    """Return a hash of everything that the prepared data depends on."""
    digest = hashlib.sha256(f"format {FORMAT}\n".encode())
    digest.update(_sections(config, paths=False).encode())  # files may be moved
    if config.data.drop_duplicates and len({corpus.held_out for corpus in corpora}) > 1:
        digest.update(b"\nduplicates 2")  # earlier versions kept a different one of equal pairs
    if config.data.placeholders != "none":
        digest.update(b"\nnames 2")  # earlier versions treated rare names like others
    for path in inherited.files(config) if inherited else []:
        digest.update(f"\n{path.name} {checksum(path)}".encode())
    files = [
        (split, path)
        for corpus in corpora
        for split, paths in sorted(corpus.files.items())
        for path in paths
    ]
    size = sum(path.stat().st_size for _, path in files)
    with Bar(desc="checking corpus", total=size, unit="B", unit_scale=True) as bar:
        for split, path in files:
            digest.update(f"\n{split} ".encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
                    bar.update(len(block))
    return digest.hexdigest()


def _write(
    config: Config,
    corpora: list[Corpus],
    inherited: ParentRunData | None,
    folder: Path,
    fingerprint: str,
) -> Tokenizers:
    texts = (folder / "train.source.txt", folder / "train.target.txt")
    raw = (folder / "raw.source.txt", folder / "raw.target.txt")
    if config.tokenizer.kind == "spacy":  # refuse an unknown language before reading the corpus
        for language in config.data.languages:
            word_splitter("spacy", language)
    cased = folder / "train.cased.txt" if config.data.restore_case else None
    given = read_given(config.data, corpora)
    held_out_before = inherited.held_out() if inherited else []
    plan = plan_splits(config.data, corpora, given, held_out_before, texts, raw, cased)
    for text in filter(None, (*texts, cased)):
        keep_lines(text, plan.in_train)
    pairs = write_splits(config.data, given, corpora, plan, raw, folder)
    for text in raw:
        text.unlink(missing_ok=True)
    if cased:
        _learn_casing(cased, folder)
    with ThreadPoolExecutor(1) as pool:  # SentencePiece releases the GIL while it trains
        statistics = pool.submit(write_statistics, texts, plan.target_keys[plan.in_train], folder)
        replaced = 0
        if config.data.placeholders != "none":
            statistics.result()  # of the text without placeholders
            numbers = None
            if inherited:
                former = load_tokenizers(inherited.data, config.tokenizer, inherited.folder)
                numbers = former.source.knows(NUMBERS[0])
            replaced = _insert_placeholders(config.data, texts, folder, numbers)
        if inherited:
            statistics.result()  # it writes files that are merged with those of the run
            inherited.copy_to(config, folder)
        else:
            train_tokenizers(config.data, config.tokenizer, texts, folder)
        statistics.result()
    tokenizers = encode_train(config, texts, folder)
    coverage = {split: encode_examples(config.data, tokenizers, split, folder) for split in PARTS}
    _check_coverage(config, coverage)
    lengths = {
        side: length_summary(Sequences.open(folder / f"train.{side}").lengths) for side in SIDES
    }
    report: dict[str, Any] = {
        "read": len(plan.parts),
        "dropped": dict(plan.dropped),
        "pairs": {split: pairs[split] for split in ("train", *PARTS)},
        "with_placeholders": replaced,
        "lengths": lengths,
        "several_sentences": round(plan.several, 4),
        "lacks_mark": round(plan.lacks_mark, 4),
        "vocabulary_size": {side: getattr(tokenizers, side).size for side in SIDES},
        "coverage": coverage,
        "source_in_train": {split: pairs[f"{split} in train"] for split in PARTS},
        "corpora": _corpus_reports(corpora, plan),
    }
    if inherited:
        report["inherited"] = _fit(config, tokenizers, inherited, folder)
    for text in texts:
        text.unlink()
    (folder / "report.json").write_text(
        json.dumps(report, indent=2, ensure_ascii=False), encoding="utf-8"
    )
    from_run = inherited.checksum if inherited else None
    write_manifest(folder, config.data, config.tokenizer, fingerprint, from_run)
    return tokenizers


def _corpus_reports(corpora: list[Corpus], plan: SplitPlan) -> list[CorpusReport]:
    in_train = np.split(plan.in_train, np.cumsum(plan.sizes)[:-1])
    return [
        {"name": c.name, "licence": c.licence, "read": size, "train": int(kept.sum())}
        for c, size, kept in zip(corpora, plan.sizes, in_train, strict=True)
    ]


def _learn_casing(cased: Path, folder: Path) -> None:
    """Learn and write the capitalization of the training targets."""

    def lines() -> Iterator[str]:
        return chain.from_iterable(with_progress(read_chunks(cased), "learning capitals"))

    Casing.learn(lines).save(folder / CASING)
    cased.unlink()


def _insert_placeholders(
    data: DataConfig, texts: tuple[Path, Path], folder: Path, numbers: bool | None
) -> int:
    """Replace names in the training text with placeholders; write the list of known words.

    Returns the number of pairs with placeholders. numbers: see `TrainingPlaceholders`
    """
    only_names = data.placeholders == "names"
    pairs = with_progress(read_line_pairs(texts), "finding names")
    languages = data.languages if data.number_placeholders else None
    inserter = TrainingPlaceholders(pairs, only_names, data.seed, languages, numbers)
    known: set[str] = set()
    count = 0
    rewritten = (texts[0].with_suffix(".replaced"), texts[1].with_suffix(".replaced"))
    with text_writer(rewritten[0]) as source_file, text_writer(rewritten[1]) as target_file:
        for pair in with_progress(read_line_pairs(texts), "replacing names"):
            source, target = inserter.insert(*pair)
            source_file.write(source + "\n")
            target_file.write(target + "\n")
            known.update(list_words(source))
            count += (source, target) != pair
    for text, new in zip(texts, rewritten, strict=True):
        new.replace(text)
    inserter.known(known).save(folder)
    return count


def _fit(
    config: Config, tokenizers: Tokenizers, inherited: ParentRunData, folder: Path
) -> InheritedReport:
    """Compare how well a run's vocabularies fit the new validation text and the run's own."""
    new, own = (
        {
            side: _pieces_per_word(getattr(tokenizers, side), lines)
            for side, lines in read_as_model(config.data, tokenizers, path).items()
        }
        for path in (folder / "validation.jsonl", inherited.folder / "validation.jsonl")
    )
    cleaner, seen = Cleaner(config.data), inherited.seen
    known: dict[str, int] = {
        split: sum(
            seen.is_target(cleaner.target(example.reference))
            for example in read_examples(folder / f"{split}.jsonl")
        )
        for split in PARTS
    }
    return {
        "run": str(config.tokenizer.run),
        "pieces_per_word": new,
        "pieces_per_word_before": own,
        "target_seen_before": known,
        "corpora_before": inherited.corpora(),
    }


def _pieces_per_word(tokenizer: Tokenizer, lines: list[str]) -> float:
    words = sum(len(line.split()) for line in lines)
    return round(len(tokenizer.encode_flat(lines)[0]) / max(1, words), 3)


def _check_coverage(config: Config, coverage: dict[Split, dict[str, float]]) -> None:
    floor = config.data.min_coverage
    low = [
        f"{split} {side} {share:.1%}"
        for split, shares in coverage.items()
        for side, share in shares.items()
        if share < floor
    ]
    if low:
        run = config.tokenizer.run
        remedy = (
            f"the vocabulary of {run} does not fit this text: train a new model without --from"
            if run
            else "check that the splits contain the same kind of text, or raise "
            "tokenizer.vocabulary_size" + ("" if config.tokenizer.subword else ", or use subwords")
        )
        raise UserError(
            f"the vocabulary covers too few tokens: {', '.join(low)}, below data.min_coverage "
            f"{floor:.0%}; {remedy}"
        )
