"""The section `data`: where the sentence pairs come from, how they are cleaned and split."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from nmt.config.choices import ADDRESSES
from nmt.config.languages import base_language
from nmt.config.section import MOST, BrokenRule, Section
from nmt.special_tokens import TAGS


def _path_or_pair(value: object) -> object:
    paths = value if isinstance(value, (list, tuple)) else [value]
    sound = all(isinstance(path, (str, Path)) for path in paths)
    if value is not None and not (sound and len(paths) == (2 if paths is value else 1)):
        # One message; pydantic would report one for each member of the union.
        raise PydanticCustomError("path", "Input should be a path, or [source, target] paths")
    return tuple(paths) if paths is value else value


MOST_TAGS = len(TAGS)
TAG_NAME = "^[A-Za-z0-9_@-]{1,30}$"
CORPUS_PATHS = ("path", "train_path", "validation_path", "test_path")  # of the data section
PathOrPair = Annotated[Path | tuple[Path, Path] | None, BeforeValidator(_path_or_pair)]
LanguageCode = Annotated[
    str,
    BeforeValidator(lambda value: base_language(value) if isinstance(value, str) else value),
    Field(pattern=r"^[a-z]{2,3}$"),
]


@dataclass(frozen=True)
class SourceRules:
    """How the section may name the corpus of a source."""

    path: Literal["needed", "optional", "refused"] = "needed"
    """Optional: without one, it is downloaded; refused: it is built in, or has no files."""
    splits: bool = True
    """Whether users may name the files of splits: `train_path` and others."""
    fields: tuple[str, ...] = ()
    """Further fields that it alone takes, with other sources that list them."""
    extensions: tuple[str, ...] = ()
    """How the names of its files end; the source follows from them."""


_XLIFF = (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff", ".xlf.gz", ".xliff.gz")
SOURCES: Mapping[str, SourceRules] = {
    "pickle": SourceRules("optional"),
    "tsv": SourceRules(),
    "parallel": SourceRules(),
    "table": SourceRules(fields=("columns",)),
    "tmx": SourceRules(extensions=(".tmx", ".tmx.gz")),
    "xliff": SourceRules(extensions=_XLIFF),
    "po": SourceRules(extensions=(".po",)),
    "everyday": SourceRules("refused"),
    "sample": SourceRules("refused"),
    "imported": SourceRules("refused"),  # the text of a model that others trained
    "multi30k": SourceRules("optional", splits=False),
    "tatoeba": SourceRules("optional", splits=False),
    "freedict": SourceRules("optional", splits=False),
    "opus": SourceRules(splits=False),
    "mtdata": SourceRules(splits=False),
    "hub": SourceRules(splits=False, fields=("subset", "revision", "columns")),
}
if TYPE_CHECKING:
    Source = str
else:
    Source = Literal[tuple(SOURCES)]


class CorpusConfig(Section):
    """Which corpus to use, by name or by files."""

    source: Source = Field(
        "pickle",
        description="type of the corpus files (pickle, tsv, parallel, table, tmx, xliff, po), or a "
        "named corpus; "
        "`everyday` and `sample` are built in; `imported` stands for the unknown text of a model "
        "of nmt import; `pickle` without a path is the corpus of "
        "O'Rahilly's tutorial, 10,000 short English–German pairs",
    )
    path: PathOrPair = Field(
        None,
        description="where the corpus is. pickle, tsv, tatoeba: a file with the source in the "
        "first column, or English in the first column if English is the target. multi30k: a "
        "folder. table: a file or folder of Parquet, JSON lines, CSV or Arrow. tmx, xliff, po: a "
        "file or a folder of such files; the source follows from their extensions. parallel: "
        "[source, target] files, or STEM for STEM.en and STEM.de. opus: NAME/VERSION or its zip "
        "file. mtdata: an identifier. hub: the dataset's name. freedict: a dictionary such as "
        "eng-deu.tei. Without a path, pickle, multi30k, tatoeba and freedict are downloaded",
    )
    train_path: PathOrPair = Field(
        None, description="training split, if you provide one; same form as `path`"
    )
    validation_path: PathOrPair = Field(None, description="validation split, if you provide one")
    test_path: PathOrPair = Field(None, description="test split, if you provide one")
    subset: str | None = Field(
        None, description="configuration of the dataset, such as de-en (hub)"
    )
    revision: str | None = Field(None, description="branch, tag or commit of the dataset (hub)")
    columns: tuple[str, str] | None = Field(
        None,
        description="names of the source and target columns; a dot selects a nested field, as in "
        "translation.en; unset: guessed from the names (table, hub)",
    )

    @model_validator(mode="before")
    @classmethod
    def _source_follows_from_extension(cls, values: object) -> object:
        if isinstance(values, dict) and "source" not in values:
            found = format_at(str(values.get("path") or values.get("train_path")))
            return {**values, "source": found} if found else values
        return values

    def broken_rules(self) -> Iterator[BrokenRule]:
        """Yield the violated rules; at most one about paths."""
        rules, splits = SOURCES[self.source], [f for f in CORPUS_PATHS[1:] if getattr(self, f)]
        paths = ["path", *splits] if self.path else splits
        corpus = self.path or self.train_path
        if rules.path == "refused" and paths:
            message = f"source `{self.source}` takes no paths; remove {', '.join(paths)}"
            yield ("source", *paths), message
        elif not rules.splits and splits:
            message = f"source `{self.source}` takes no files of splits; remove {', '.join(splits)}"
            yield ("source", *splits), message
        elif self.path and self.train_path:
            yield ("path", "train_path"), "`path` and `train_path` cannot both be set"
        elif rules.path == "needed" and not corpus:
            wanted = "`path` or `train_path`" if rules.splits else "`path`"
            message = f"source `{self.source}` needs {wanted}"
            yield ("source", "path", "train_path"), message
        elif splits and not corpus:
            message = (
                f"{' and '.join(splits)} set without `train_path` or `path`; set one of them too"
            )
            yield ("source", "path", "train_path", *splits), message
        for name in ("subset", "revision", "columns"):
            if getattr(self, name) and name not in rules.fields:
                sources = " or ".join(each for each, its in SOURCES.items() if name in its.fields)
                message = f"`{name}` applies to `source: {sources}`, not to `{self.source}`"
                yield (name, "source"), message


class CorpusPart(CorpusConfig):
    """One of several corpora that a model is trained on."""

    name: str | None = Field(None, description="name in reports; unset: source and path")
    weight: float | None = Field(
        None,
        gt=0,
        le=1e6,
        description="its share of each epoch, relative to the other weights; unset: shares "
        "follow the sizes of the corpora, as mixing_temperature says",
    )
    tag: str | None = Field(
        None,
        pattern=TAG_NAME,
        description="token put in front of its source sentences; use it with --tag",
    )
    held_out: bool = Field(
        True,
        description="use its validation and test splits; if none of the corpora has such a split, "
        "hold out pairs of this one",
    )

    @property
    def label(self) -> str:
        """Its name in reports."""
        found = self.path or self.train_path
        first = found[0] if isinstance(found, tuple) else found
        return self.name or (f"{self.source} {first}" if first else self.source)


def translation_format(name: str) -> str | None:
    """Return the source that reads a file of a translation tool, by its extension, or None."""
    name = name.lower()
    return next((each for each, rules in SOURCES.items() if name.endswith(rules.extensions)), None)


def format_at(path: str) -> str | None:
    """Return the source that reads a file, or all files of a folder; None if there is none."""
    with suppress(OSError, RuntimeError):  # unreadable, or in the home of an unknown user
        folder = Path(path).expanduser()
        if folder.is_dir():
            files = (file.name for file in folder.rglob("[!.]*") if file.is_file())
            found = map(translation_format, files)
            first = next(found, None)
            return first if first and all(each == first for each in found) else None
    return translation_format(path)


class DataConfig(CorpusConfig):
    """Where the sentence pairs come from, how they are cleaned, and how they are split."""

    corpora: tuple[CorpusPart, ...] = Field(
        (),
        max_length=100,
        description="train on several corpora, instead of source and path: a list of "
        "{source, path, …, weight, tag, held_out, name}",
    )
    mixing_temperature: float = Field(
        1.0,
        ge=1,
        le=1000,
        description="T: the share of each of `corpora` in an epoch is proportional to its number "
        "of training pairs to the power of 1 / T, so small corpora are repeated (Arivazhagan et "
        "al. 2019; 5 is usual); 1: every pair once",
    )
    imported_tags: tuple[Annotated[str, Field(pattern=TAG_NAME)], ...] = Field(
        (),
        max_length=MOST_TAGS,
        description="tags that an imported model knows, such as its target languages (nmt import "
        "sets it)",
    )
    source_language: LanguageCode = Field("en", description="language code of the source")
    target_language: LanguageCode = Field("de", description="language code of the target")
    validation_size: int = Field(
        500,
        ge=1,
        le=MOST,
        description="pairs to hold out for validation, unless the corpus has a validation split",
    )
    test_size: int = Field(
        1000,
        ge=1,
        le=MOST,
        description="pairs to hold out for testing, unless the corpus has a test split",
    )
    unicode: Literal["NFC", "NFKC", "none"] = Field(
        "NFC", description="Unicode normalization form, applied to both sides"
    )
    plain_punctuation: bool = Field(
        False,
        description="let the model read and write straight quotation marks, apostrophes and "
        "hyphens in place of typographic ones; translations get those of the target language",
    )
    strip_punctuation: bool = Field(
        False,
        description="remove ASCII punctuation from both sides, as Keras' TextVectorization does by "
        "default; the model then neither reads nor writes it, but references keep theirs",
    )
    lowercase: Literal["none", "source", "both"] = Field(
        "none", description="which sides to convert to lower case"
    )
    restore_case: bool = Field(
        False,
        description="restore capitals in translations, as learned from the training targets; the "
        "model itself writes lower case (needs lowercase: both)",
    )
    max_words: int = Field(
        100,
        ge=1,
        le=1_000_000,
        description="drop training pairs with a side longer than this many words separated by "
        "spaces, or 50 times as many characters",
    )
    max_ratio: float = Field(
        9.0,
        ge=1,
        le=1e6,
        description="drop training pairs whose lengths in words differ by more than this factor",
    )
    drop_duplicates: bool = Field(
        True,
        description="keep only one of several identical training pairs: the first, but if nmt "
        "chooses the held-out pairs, preferably one from a corpus with `held_out`",
    )
    decode_entities: bool = Field(
        False,
        description="decode HTML entities in the corpus, such as &quot; and &#39;, before cleaning",
    )
    drop_copies: bool = Field(
        False,
        description="drop training pairs whose target equals the source, ignoring case and "
        "punctuation",
    )
    min_letters: float = Field(
        0.0,
        ge=0,
        le=1,
        description="drop training pairs, such as lists of numbers, with a side in which letters "
        "make up less than this share of the characters other than spaces (0.5 is usual); 0: keep "
        "all",
    )
    max_character_ratio: float | None = Field(
        None,
        ge=1,
        le=1e6,
        description="drop training pairs whose lengths in characters differ by more than this "
        "factor",
    )
    drop_mojibake: bool = Field(
        False,
        description="drop training pairs that were decoded with the wrong encoding, such as Ã¼ "
        "(needs the extra `filters`)",
    )
    check_languages: bool = Field(
        False,
        description="drop training pairs with a side that is very likely in another language "
        "(needs the extra `filters`)",
    )
    disjoint_splits: bool = Field(
        False,
        description="ensure that no sentence, source or target, occurs in two splits, ignoring "
        "case and punctuation; training pairs that share one with a split you provide are dropped, "
        "but two splits you provide are not compared",
    )
    placeholders: Literal["none", "names", "all"] = Field(
        "none",
        description="source words to copy into the translation by placeholders if they did not "
        "occur in training (subwords only): none, names (capitalized words, also at the start of a "
        "sentence), or all; in training, placeholders replace names (words that both sides share) "
        "in half of the pairs with any; names that occur in fewer than 20 pairs are always "
        "replaced, in translation too",
    )
    number_placeholders: bool = Field(
        False,
        description="also replace numbers in digits, URLs, e-mail addresses, file names, codes, "
        "template fields and emoji with placeholders; in training, wherever both sides agree "
        "(needs placeholders)",
    )
    address: bool = Field(
        False,
        description="learn to address readers as --address requests: half of the training pairs "
        "whose German side shows how it addresses the reader, with du, ihr or Sie, get a tag that "
        "says so, unless their corpus has a tag (needs target_language: de)",
    )
    min_coverage: float = Field(
        0.7,
        ge=0,
        le=1,
        description="stop with an error if the vocabulary covers a smaller share of the validation "
        "or test tokens than this",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed for the split and the placeholders")

    @override
    def broken_rules(self) -> Iterator[BrokenRule]:
        if self.corpora:
            yield from self._broken_rules_of_corpora()
        else:
            yield from super().broken_rules()
            if self.mixing_temperature > 1:
                yield ("mixing_temperature", "corpora"), "`mixing_temperature` needs `corpora`"
        yield from self.broken_rule_of_languages(self.model_fields_set)
        if self.address and self.target_language != "de":
            message = f"`address` needs `target_language: de`, not `{self.target_language}`"
            yield ("address", "target_language"), message
        if self.address and (taken := [part.tag for part in self.corpora if part.tag in ADDRESSES]):
            message = f"corpora: tag `{taken[0]}` is one of `address`; rename it"
            yield ("corpora", "address"), message
        if self.restore_case and self.lowercase != "both":
            message = f"`restore_case` needs `lowercase: both`, not `{self.lowercase}`"
            yield ("restore_case", "lowercase"), message
        if self.number_placeholders and self.placeholders == "none":
            message = "`number_placeholders` needs `placeholders: names` or `all`"
            yield ("number_placeholders", "placeholders"), message

    def broken_rule_of_languages(self, given: set[str]) -> Iterator[BrokenRule]:
        """Refuse equal languages if only one of the two is among the fields `given`.

        Set both to train on pairs of one language, for example texts and simpler versions.
        """
        languages = ("source_language", "target_language")
        if self.source_language == self.target_language and len(given & {*languages}) == 1:
            language = self.source_language
            yield (
                languages,
                f"both languages are {language}; set both `source_language` and `target_language`",
            )

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of source and target language."""
        return self.source_language, self.target_language

    @property
    def label(self) -> str:
        """The name of the corpus, or the names of all."""
        return ", ".join(part.label for part in self.corpora) or self.source

    @property
    def tags(self) -> list[str]:
        """The tags, in the order in which they are numbered: of `address`, then all others."""
        address = ADDRESSES if self.address else ()
        others = {*self.imported_tags, *(part.tag for part in self.corpora if part.tag)}
        return [*address, *sorted(others)]

    def _broken_rules_of_corpora(self) -> Iterator[BrokenRule]:
        for name, info in CorpusConfig.model_fields.items():
            if getattr(self, name) != info.default:
                yield (
                    ("corpora", name),
                    f"move `{name}` into an entry of `corpora`; each entry has its own",
                )
        for part in self.corpora:
            for _, message in part.broken_rules():
                yield ("corpora",), f"corpora, {part.label}: {message}"
        if len({part.weight is None for part in self.corpora}) > 1:
            yield ("corpora",), "corpora: set `weight` for all of them, or for none"
        if self.mixing_temperature > 1 and any(part.weight for part in self.corpora):
            message = "corpora: set `weight` or `mixing_temperature`, not both"
            yield ("corpora", "mixing_temperature"), message
        if not any(part.held_out for part in self.corpora):
            yield (
                ("corpora",),
                "corpora: set `held_out: true` for at least one, to validate and test on",
            )
        if len(self.tags) > MOST_TAGS:
            yield ("corpora",), f"corpora: {len(self.tags)} different tags, at most {MOST_TAGS}"
