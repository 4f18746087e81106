"""The interface of engines: a search for the best translations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from nmt.config.choices import EngineName
from nmt.config.decoding import DecodingConfig
from nmt.config.section import Section
from nmt.decoding.search.hypothesis import Hypothesis


@dataclass(frozen=True)
class Constraints:
    """Constraints that each translation must satisfy before it may end."""

    phrases: Sequence[list[list[list[int]]]]
    """For each sentence, each a list of phrases, one of which the translation must contain; the
    tokens of a phrase must be adjacent, and the first is not repeated.
    """
    continuing: Sequence[int] = ()
    """Tokens that continue a word, so that a phrase before one of them is only part of a word."""
    closing: Sequence[Sequence[int]] = ()
    """For each sentence, the tokens, such as a full stop, that like <eos> may not be written
    before.
    """
    beginnings: Sequence[bytes] = ()
    """For each sentence, the text in UTF-8 with which its translation begins."""
    spellings: Sequence[bytes] = ()
    """What each token writes, empty for special tokens."""
    forbidden: Sequence[list[list[int]]] = ()
    """For each sentence, phrases that its translation must not contain."""

    def of(self, sentences: Sequence[int]) -> "Constraints":
        """Return the constraints of these sentences."""
        phrases = [self.phrases[i] for i in sentences]
        closing = [self.closing[i] for i in sentences] if self.closing else ()
        beginnings = [self.beginnings[i] for i in sentences] if self.beginnings else ()
        forbidden = [self.forbidden[i] for i in sentences] if self.forbidden else ()
        return replace(
            self, phrases=phrases, closing=closing, beginnings=beginnings, forbidden=forbidden
        )


class Engine(Protocol):
    """An engine with a loaded model."""

    @property
    def name(self) -> EngineName:
        """Its name."""

    @property
    def max_length(self) -> int:
        """Number of positions, for a source with <eos>, and an output with <sos>."""

    @property
    def workers(self) -> int:
        """Number of threads that may usefully call it at once."""

    def __call__(
        self,
        sources: Sequence[list[int]],
        limits: Sequence[int],
        decoding: DecodingConfig,
        n_best: int = 1,
        constraints: Constraints | None = None,
    ) -> list[list[Hypothesis]]:
        """Return each sentence's `n_best` hypotheses, best first; accepts any number of sentences.

        sources: ids, each with <eos>; limits: maximum length of each output, including <eos>;
        constraints: which not every engine supports
        """


@runtime_checkable
class ContinuingEngine(Engine, Protocol):
    """An engine that can also complete translations whose beginnings are given."""

    def continue_from(
        self,
        sources: Sequence[list[int]],
        beginnings: Sequence[list[list[int]]],
        limits: Sequence[int],
        decoding: DecodingConfig,
    ) -> list[list[Hypothesis]]:
        """Return hypotheses that start with the most probable beginnings, best first.

        beginnings: for each sentence, ids of which one starts its translation; for the others, see
        `Engine`
        """


def unknown_fields(name: str, section: Section, known: Collection[str]) -> list[str]:
    """List a reason to reject an engine for each field of a section that it does not support.

    The values do not matter: an unsupported field must not be ignored silently.
    """
    fields = type(section).model_fields
    return [f"it does not support {name}.{field}" for field in fields if field not in known]


def unknown_values(
    name: str, section: Section, known: Mapping[str, Collection[object]]
) -> list[str]:
    """List a reason to reject an engine for each field with an unsupported value."""
    values = {field: getattr(section, field) for field in known}
    return [
        f"it does not support {name}.{field} {value}"
        for field, value in values.items()
        if value not in known[field]
    ]
