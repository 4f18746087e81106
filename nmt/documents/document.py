"""What all documents have in common, whatever their format."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

from nmt.documents.formatting import Formatted
from nmt.documents.texts import FoundText

Languages = tuple[str, str]  # codes of source and target


class Document(ABC):
    """A document; texts: those to translate."""

    texts: Sequence[Formatted]

    def unusable(self, found: Sequence[FoundText]) -> Mapping[int, Formatted]:
        """Return another form of each text whose translation cannot be used, by its number."""
        return {}

    def translated(
        self, translate: Callable[[Sequence[Formatted]], Iterable[FoundText]]
    ) -> list[FoundText]:
        """Return a translation of each text."""
        found = [*translate(self.texts)]
        unusable = self.unusable(found)
        for number, each in zip(unusable, translate([*unusable.values()]), strict=True):
            found[number] = each
        return found

    @abstractmethod
    def written(self, found: Sequence[FoundText]) -> bytes:
        """Return the document with a translation of each text."""
