"""What prepared data inherits from a run, if `tokenizer.run` is set.

The vocabularies of the run are used unchanged, so that its weights fit. Its known words and
capitalization rules are merged with those of the new corpus. Its held-out pairs, and those of the
runs that it started from, stay out of training, so that their test sets remain valid.
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from nmt.config.config import Config
from nmt.config.data import DataConfig
from nmt.config.yaml_files import load_config, written
from nmt.corpus.prepared import Example, read_examples, read_report, write_examples
from nmt.corpus.preparing.manifest import read_manifest, require_undamaged
from nmt.corpus.preparing.report import CorpusReport, corpora_before
from nmt.corpus.preparing.statistics import (
    TrainingStatistics,
    read_statistics,
    read_target_words,
    write_target_words,
)
from nmt.corpus.sources.readers import Pair
from nmt.corpus.text.capitals import CASING, Casing
from nmt.corpus.text.tags import split_tag
from nmt.corpus.text.training_placeholders import KNOWN_WORDS, RARE_NAMES, KnownWords
from nmt.corpus.tokenizers.registry import vocabulary_files
from nmt.errors import UserError
from nmt.files.json_files import unreadable

# The fields that, together with the vocabulary files, determine how text is converted to ids.
TEXT_FIELDS: dict[str, tuple[str, ...]] = {
    "data": (
        *("source_language", "target_language", "unicode", "lowercase"),
        *("plain_punctuation", "strip_punctuation", "placeholders", "number_placeholders"),
        "imported_tags",
    ),
    "tokenizer": ("kind", "joint", "whitespace_as_suffix"),
}
_KEPT_OUT = "kept_out.jsonl"


@dataclass(frozen=True)
class ParentRunData:
    """The prepared data in a run folder, as a basis for fine-tuning."""

    folder: Path
    """The folder `data` of the run."""
    data: DataConfig
    """The run's `data` section."""

    @classmethod
    def open(cls, config: Config) -> "ParentRunData | None":
        """Open the data of `tokenizer.run`; None if it is unset.

        Raises `UserError` if there is no such run, or if its settings for processing text differ.
        """
        if config.tokenizer.run is None:
            return None
        run = config.tokenizer.run
        if not (run / "config.yaml").is_file():
            raise UserError(
                f"tokenizer.run: {run} is not a run folder; if it has moved, give its new path: "
                "--set tokenizer.run=FOLDER; if it was deleted, this run can translate, but not "
                "train further"
            )
        former = load_config(run / "config.yaml", of_run=True)
        for section, names in TEXT_FIELDS.items():
            for name in names:
                new, old = (getattr(getattr(c, section), name) for c in (config, former))
                require_equal(f"{section}.{name}", new, old, run)
        if missing := [tag for tag in config.data.tags if tag not in former.data.tags]:
            raise UserError(
                f"data.corpora: the vocabulary of {run} has no tokens for the tags "
                f"{', '.join(missing)}; omit `tag`"
            )
        tags, old_tags = config.data.tags, former.data.tags
        if tags != old_tags[: len(tags)]:  # the n-th tag in alphabetical order is the n-th token
            raise UserError(
                f"data.corpora: only some of the tags of {run} ({', '.join(old_tags)}) are used, "
                f"and tags are numbered, so {tags[-1]} would be read as another one; add corpora "
                "with the missing tags, or omit `tag`"
            )
        inherited = cls(run / "data", former.data)
        for path in inherited.files(config):
            if not path.is_file():
                raise unreadable(path, "missing")
        words = [inherited.folder / name for name in (KNOWN_WORDS, RARE_NAMES, CASING)]
        require_undamaged([*inherited.files(config), *words])
        return inherited

    def files(self, config: Config) -> list[Path]:
        """Return the run's files that the fingerprint covers: vocabularies and held-out pairs."""
        return [*self._vocabularies(config), *self._held_out_files()]

    @property
    def checksum(self) -> str | None:
        """Checksum of all files that a run folder has, except the report, which contains paths."""
        manifest = read_manifest(self.folder)
        if manifest is None:
            return None
        files = sorted(each for each in manifest.checksums.items() if each[0] != "report.json")
        return hashlib.sha256(repr(files).encode()).hexdigest()

    def copy_to(self, config: Config, folder: Path) -> None:
        """Copy what a folder of prepared data inherits from the run, and merge the word lists."""
        paths = self._vocabularies(config)
        require_undamaged(paths)
        for path in paths:
            shutil.copyfile(path, folder / path.name)
        if config.data.placeholders != "none":
            only_names = config.data.placeholders == "names"
            new, old = (KnownWords.load(f, only_names) for f in (folder, self.folder))
            new.extended_by(old).save(folder)
        new_targets, old_targets = map(read_target_words, (folder, self.folder))
        both = new_targets.words | old_targets.words if new_targets and old_targets else ()
        write_target_words(both, folder)
        if config.data.restore_case and self.data.restore_case:
            new_casing, old_casing = (Casing.load(f / CASING) for f in (folder, self.folder))
            new_casing.extended_by(old_casing).save(folder / CASING)
        kept_out = (Example(*pair, source_in_train=False) for pair in self.held_out())
        write_examples(folder / _KEPT_OUT, kept_out)

    def held_out(self) -> list[Pair]:
        """Return the distinct pairs that the run and its predecessors held out."""
        pairs = (
            (split_tag(self.data, example.source)[1], example.reference)
            for path in self._held_out_files()
            for example in read_examples(path)
        )
        return list(dict.fromkeys(pairs))

    def _vocabularies(self, config: Config) -> list[Path]:
        return [self.folder / name for name in vocabulary_files(config.tokenizer)]

    def _held_out_files(self) -> list[Path]:
        paths = [self.folder / f"{split}.jsonl" for split in ("validation", "test")]
        kept_out = self.folder / _KEPT_OUT  # only if the run itself was fine-tuned
        manifest = read_manifest(self.folder)
        listed = manifest is not None and _KEPT_OUT in manifest.checksums
        return [*paths, kept_out] if listed or kept_out.exists() else paths

    def corpora(self) -> list[CorpusReport]:
        """Return the corpora that the run and its predecessors were trained on, once each."""
        report = read_report(self.folder)
        different: dict[tuple[str, str, int], CorpusReport] = {}
        for corpus in (*report.get("corpora", []), *corpora_before(report)):
            # Different files share a name, such as `tsv`, but rarely the number of pairs.
            different.setdefault((corpus["name"], corpus["licence"], corpus["read"]), corpus)
        return list(different.values())

    @property
    def seen(self) -> TrainingStatistics:
        """Facts about the run's training text."""
        return read_statistics(self.folder, self.data.seed)


def require_equal(field: str, new: object, old: object, run: Path) -> None:
    """Raise `UserError` if a field differs from the run's."""
    if new != old:
        raise UserError(
            f"{field}: {written(new)} differs from {written(old)} in {run}; omit this field"
        )
