"""Synthetic pairs from monolingual text: back-translation and forward translation.

Back-translation uses a run of the reverse direction to translate target-language text, so that the
target side of each pair is genuine (Sennrich et al. 2016, https://aclanthology.org/P16-1009). The
result is a tab-separated corpus for `data.corpora`.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from pydantic import NonNegativeInt, TypeAdapter, ValidationError
from sacrebleu.metrics.chrf import CHRF

from nmt.config.data import DataConfig
from nmt.corpus.sources.readers import MAX_LINE_BYTES, read_lines
from nmt.corpus.text.cleaning import Cleaner
from nmt.decoding.translator import FIRST_LINES, LINES_AT_A_TIME, Translation, Translator
from nmt.echo import echo
from nmt.errors import UserError, writing
from nmt.files.checksums import checksum
from nmt.files.locks import locked
from nmt.files.output_files import replacing
from nmt.progress import bursts

_CHRF = CHRF()


@dataclass(frozen=True)
class Augmentation:
    """How pairs are made, and which of them are kept."""

    translation_first: bool
    """Whether the first column has the translation, not the line."""
    n_best: int = 1
    """Number of translations of a line."""
    min_probability: float = 0.0
    """Least mean probability of a translation's tokens."""
    back: Translator | None = None
    """Translator for the round trip: a translation is kept if the chrF of its back-translation
    against the line is at least min_chrf.
    """
    min_chrf: float = 0.0

    def pairs(
        self, translator: Translator, lines: Sequence[str], counts: Counter[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield the pairs of some lines; count what is kept and what is not, and why."""
        found = [
            (line, each)
            for line, options in zip(lines, translator.n_best(lines, self.n_best), strict=True)
            for each in options
        ]
        texts = [each.text for _, each in found]
        if self.back:
            texts = [each.text for each in self.back.translate(texts)]
        for (line, each), back in zip(found, texts, strict=True):
            reason = self._reason_to_drop(line, each, back)
            counts[reason or "kept"] += 1
            if not reason:
                yield (each.text, line) if self.translation_first else (line, each.text)

    def _reason_to_drop(self, line: str, translation: Translation, back: str) -> str:
        if not translation.text:
            return "empty"
        if not translation.complete:
            return "truncated at the length limit"
        if translation.mean_probability < self.min_probability:
            return "below --min-probability"
        if len(f"{line}\t{translation.text}".encode()) > MAX_LINE_BYTES:
            return "too long to be read again"
        if self.back and self._chrf(self.back.data, back, line) < self.min_chrf:
            return "below --min-chrf"
        return ""

    @staticmethod
    def _chrf(data: DataConfig, back: str, line: str) -> float:
        """Compare with the line as the model of the way back writes it."""
        cleaner = Cleaner(data)
        written = cleaner.tidy(line) if data.restore_case else cleaner.target(line)
        return float(_CHRF.sentence_score(back, [written]).score)


@dataclass
class _Progress:
    """How far an augmentation has come: input lines, bytes written, what was kept and dropped."""

    settings: str
    lines: NonNegativeInt
    bytes: NonNegativeInt
    counts: dict[str, NonNegativeInt]


def augment(
    translator: Translator, how: Augmentation, source: Path, output: Path, settings: str
) -> Counter[str]:
    """Translate the lines of a file, and write the pairs, if any, as a tab-separated corpus.

    If interrupted, another call continues. Samples are drawn by PyTorch.

    settings: what the pairs depend on besides the input;
    raises `UserError` if an unfinished output was started with other settings

    Returns the numbers of translations that were kept, and dropped by reason.
    """
    if translator.decoding.temperature:
        # CTranslate2's samples depend on all earlier ones: another call would continue differently.
        translator.segment_search.engine = translator.pytorch
    digest = hashlib.sha256(f"{settings} {checksum(source)}".encode()).hexdigest()
    partial = output.with_name(f"{output.name}.partial")
    record = output.with_name(f"{output.name}.progress.json")
    busy = f"{output}: another nmt augment is writing it; wait, or choose another --output"
    lock = output.with_name(f".{output.name}.lock")
    with locked(lock, busy, wait=False, delete=True), writing(output):
        if output.exists():  # another process has just finished it
            raise UserError(f"{output}: already exists; delete it, or choose another --output")
        progress = _read_progress(record, partial, digest)
        counts = Counter(progress.counts)
        lines = (" ".join(line.split()) for line in read_lines(source))
        total = sum(1 for _ in read_lines(source))
        if not any(line.strip() for line in read_lines(source)):
            raise UserError(f"{source}: has no text; write one sentence per line")
        _write_progress(record, progress)  # so that the partial file is known to be ours
        partial.touch()
        with (
            partial.open("r+b") as file,
            bursts("translating", total, progress.lines) as bar,
        ):
            file.seek(progress.bytes)
            file.truncate()
            rest = islice(lines, progress.lines, None)
            try:
                while chunk := list(
                    islice(rest, LINES_AT_A_TIME if progress.lines else FIRST_LINES)
                ):
                    for pair in how.pairs(translator, [line for line in chunk if line], counts):
                        file.write("\t".join(pair).encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())  # or a power failure may keep only the record
                    progress.lines += len(chunk)
                    progress.bytes, progress.counts = file.tell(), dict(counts)
                    _write_progress(record, progress)
                    bar.n = progress.lines
            except (KeyboardInterrupt, SystemExit):  # SIGTERM
                echo(
                    f"interrupted after {progress.lines:,} lines; run the same command again to "
                    "continue"
                )
                raise
        if counts["kept"]:
            partial.replace(output)
        else:  # an empty corpus would only be in the way of another try
            partial.unlink()
        record.unlink(missing_ok=True)
    return counts


def _write_progress(record: Path, progress: _Progress) -> None:
    with replacing(record) as path:
        path.write_text(json.dumps(asdict(progress)), encoding="utf-8")


def _read_progress(record: Path, partial: Path, digest: str) -> _Progress:
    """Return how far `partial` has come; from the start if its content is not there any more."""
    progress = _Progress(digest, 0, 0, {})
    if partial.exists() and not record.exists():
        raise UserError(
            f"{partial}: already exists; delete or rename it, or choose another --output"
        )
    if record.exists():
        with suppress(ValidationError):  # damaged: start again
            progress = TypeAdapter(_Progress).validate_json(record.read_bytes(), strict=True)
    if progress.settings != digest and partial.exists():
        raise UserError(
            f"{partial}: belongs to an unfinished nmt augment command with different options, "
            "weights or input; run that command again to finish it, or delete this file to start "
            "again"
        )
    size = partial.stat().st_size if partial.exists() else 0
    if progress.settings != digest or size < progress.bytes:
        return _Progress(digest, 0, 0, {})
    return progress
