"""The configuration: five sections, whose fields have types, bounds and descriptions.

`nmt/config/yaml_files.py` reads it from YAML.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import PrivateAttr

from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.config.model import ModelConfig
from nmt.config.section import BrokenRule, Section
from nmt.config.tokenizer import TokenizerConfig
from nmt.config.training import TrainingConfig


@dataclass(frozen=True)
class Origin:
    """Where a configuration came from: a file, and the fields that were overridden.

    All origins compare equal, so that configurations are equal if their values are.
    """

    file: str = field(default="", compare=False)
    overrides: tuple[str, ...] = field(default=(), compare=False)
    fine_tuning: str = field(default="", compare=False)
    """The options of nmt train that selected a run to start from, such as --from."""


class Config(Section):
    """The settings of a run."""

    _origin: Origin = PrivateAttr(Origin())

    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @property
    def origin(self) -> Origin:
        """The file and the overrides it was loaded from; empty if created in Python."""
        return self._origin

    def with_origin(self, origin: Origin) -> "Config":
        """Return a copy with this origin."""
        copy = self.model_copy()
        copy._origin = origin
        return copy

    def broken_rules(self) -> Iterator[BrokenRule]:
        """Yield the violated rules of all sections, and those across sections."""
        for section in type(self).model_fields:
            for fields, message in getattr(self, section).broken_rules():
                yield tuple(f"{section}.{field}" for field in fields), f"{section}: {message}"
        if self.model.tie in ("inputs", "all") and not self.tokenizer.joint:
            message = f"`model.tie: {self.model.tie}` needs `tokenizer.joint: true`"
            yield ("model.tie", "tokenizer.joint"), message
        if self.training.r_drop and not self.model.has_dropout:
            message = (
                "`training.r_drop` compares two passes with different dropout; set "
                "`model.dropout` too"
            )
            yield ("training.r_drop", "model.dropout"), message
        if self.data.placeholders == "names" and self.data.lowercase != "none":
            message = (
                "`data.placeholders: names` recognizes names by capitals; set it to `all`, or "
            )
            yield ("data.placeholders", "data.lowercase"), message + "`data.lowercase` to none"
        if self.data.placeholders == "names" and self.data.source_language == "de":
            message = (
                "`data.placeholders: names` recognizes names by capitals, but all German nouns "
            )
            fields = ("data.placeholders", "data.source_language")
            yield fields, message + "are capitalized; set it to none or all"
        if self.training.initial_weights and not self.tokenizer.run:
            message = (
                "`training.initial_weights` needs `tokenizer.run`, the run that they come from"
            )
            yield ("training.initial_weights", "tokenizer.run"), message
        if self.data.tags and not self.tokenizer.subword:
            field = "address" if self.data.address else "corpora"
            tags = "`data.address` needs" if self.data.address else "tags of `data.corpora` need"
            message = f"{tags} `tokenizer.kind: bpe`, `unigram` or `char`"
            yield (f"data.{field}", "tokenizer.kind"), message
        if self.data.placeholders != "none" and not self.tokenizer.subword:
            yield (
                ("data.placeholders", "tokenizer.kind"),
                "`data.placeholders` needs `tokenizer.kind: bpe`, `unigram` or `char`; with whole "
                "words, use `decoding.replace_unknown` instead",
            )
