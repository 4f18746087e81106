"""What every engine offers: a search for the best translations."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from nmt.choices import Engine
from nmt.config import DecodingConfig, Section
from nmt.decoding.hypothesis import Hypothesis


class Search(Protocol):
    """An engine with a model loaded.

    engine: its name; max_length: the model's positions, of a source with <eos>, and of an output
    with <sos>; workers: how many threads may call it at once, and gain by it
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
        required: Sequence[list[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Return each sentence's `n_best` hypotheses, best first; with any number of sentences.

        sources: ids, each with <eos>; limits: most pieces of each output; required: pieces that
        each output must hold before it may end by itself, which not every engine can do
        """


def unknown_fields(name: str, section: Section, known: Collection[str]) -> list[str]:
    """Return a reason against an engine for each field of a section that it does not know.

    Whatever the field's value: a field that an engine has never heard of must not be ignored.
    """
    fields = type(section).model_fields
    return [f"it does not know {name}.{field}" for field in fields if field not in known]


def unknown_values(
    name: str, section: Section, known: Mapping[str, Collection[object]]
) -> list[str]:
    """Return a reason against an engine for each field whose value it does not know."""
    values = {field: getattr(section, field) for field in known}
    return [
        f"it does not know {name}.{field} {value}"
        for field, value in values.items()
        if value not in known[field]
    ]
