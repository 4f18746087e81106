"""The interface of engines: a search for the best translations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nmt.config.choices import Engine
from nmt.config.decoding import DecodingConfig
from nmt.config.section import Section
from nmt.decoding.search.hypothesis import Hypothesis


@dataclass(frozen=True)
class Required:
    """Phrases that each translation must contain before it may end.

    phrases: for each sentence, the phrases that its translation must contain, each a list of pieces
    that must be adjacent, of which the first is not repeated; not_after: pieces that may not follow
    a phrase directly
    """

    phrases: Sequence[list[list[int]]]
    not_after: Sequence[int] = ()

    def of(self, sentences: Sequence[int]) -> "Required":
        """Return the phrases of these sentences."""
        return Required([self.phrases[i] for i in sentences], self.not_after)


class Search(Protocol):
    """An engine with a loaded model.

    engine: its name; max_length: number of positions, for a source with <eos>, and an output with
    <sos>; workers: number of threads that may usefully call it at once
    """

    @property
    def engine(self) -> Engine:
        """See the class."""

    @property
    def max_length(self) -> int:
        """See the class."""

    @property
    def workers(self) -> int:
        """See the class."""

    def __call__(
        self,
        sources: Sequence[list[int]],
        limits: Sequence[int],
        decoding: DecodingConfig,
        n_best: int = 1,
        required: Required | None = None,
    ) -> list[list[Hypothesis]]:
        """Return each sentence's `n_best` hypotheses, best first; accepts any number of sentences.

        sources: ids, each with <eos>; limits: maximum length of each output, including <eos>;
        required: phrases that each output must contain, which not every engine supports
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
