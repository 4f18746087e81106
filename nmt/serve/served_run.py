"""A run as the server uses it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nmt.config.choices import Address
from nmt.corpus.text.placeholders import fill_placeholders
from nmt.errors import UserError
from nmt.files.private_paths import public_name
from nmt.runs.folder import RunFolder

if TYPE_CHECKING:
    from nmt.decoding.translator import Translation, Translator
    from nmt.reports.inspection import Inspection, Step


@dataclass(eq=False)
class ServedRun:
    """A run with its translator; `source` and `target` are its language codes."""

    name: str
    """Its name for clients, never a path."""
    folder: RunFolder
    translator: "Translator"
    engine: str
    """Name of the engine."""

    def __post_init__(self) -> None:
        data = self.folder.config.data
        self.source, self.target = data.languages

    def customized(self, glossary: str | None, address: Address | None) -> "ServedRun":
        """Return the run with a glossary, a text with tabs, and a form of address.

        Raises `UserError` if the glossary is faulty, or the model did not learn forms of address.
        """
        from nmt.decoding.glossary import parse_glossary

        languages = (self.source, self.target)
        terms = None if glossary is None else parse_glossary(glossary, languages)
        return replace(self, translator=self.translator.customized(terms, address))

    def translate(self, lines: Sequence[str], n: int) -> "list[list[Translation]]":
        """Return up to `n` translations of each line, best first, without duplicates."""
        from nmt.decoding.translator import distinct  # samples may repeat a text

        return [distinct(options) for options in self.translator.n_best(lines, n)]

    def continued(self, sentences: Sequence[str], n: int, prefix: str) -> "list[list[Translation]]":
        """Return translations of the sentences of a text that, together, begin with a prefix."""
        begun = self.translator.begin(sentences, prefix)
        return self.translator.n_best(sentences, n, begun)

    def next_words(self, sentence: str, prefix: str, n: int) -> dict[str, str]:
        """Return words that may follow the beginning of a translation; raises `UserError`."""
        return self.translator.next_words(sentence, prefix, n)

    def inspect(self, sentence: str, translation: "Translation") -> "Inspection":
        """Inspect a translation of one sentence; raises `UserError` if that is impossible."""
        if translation.from_memory:
            raise UserError("this translation is from the memory, not from the model")
        self.translator.pytorch  # noqa: B018  # first: raises an error if PyTorch is missing
        from nmt.reports.inspection import inspect

        return inspect(self.translator, sentence, translation)

    def record_beam(self, translation: "Translation", n: int = 1) -> "list[list[Step]]":
        """Return the hypotheses at each step of a beam search for the `n` best translations.

        Raises `UserError` if this search does not find the translation, for example because that
        was sampled; and for several sentences.
        """
        model = self.translator.pytorch.models[0]  # first, as above
        from nmt.ops.threads import TORCH_LOCK
        from nmt.reports.inspection import record_beam

        traces = self.translator.traces(translation)
        if len(traces) != 1:
            raise UserError("the beam can be shown for one sentence only")
        decoding = self.translator.decoding
        [(segment, _)] = translation.found

        def tokens_of(ids: Sequence[int]) -> list[str]:
            tokens = self.translator.tokenizers.target.tokens(ids)
            return [fill_placeholders(token, segment.part.written) for token in tokens]

        def text_of(ids: Sequence[int]) -> str:
            return fill_placeholders(
                self.translator.tokenizers.target.decode(ids), segment.part.written
            )

        [limit] = self.translator.segment_search.limits([segment])
        with TORCH_LOCK:
            steps, found = record_beam(
                model, traces[0].source_ids, limit, decoding, tokens_of, text_of, n
            )
        if traces[0].hypothesis.ids not in [hypothesis.ids for hypothesis in found]:
            raise UserError(
                "the beam cannot be shown: beam search in PyTorch does not find this translation"
            )
        return steps


def name_runs(runs: Sequence[RunFolder], taken: Collection[str] = ()) -> list[str]:
    """Return a unique name for each run, with a number if its own name is taken."""
    stems = [public_name(run.name) or "run" for run in runs]
    names: dict[str, None] = {}
    for stem in stems:
        name, number = stem, 1
        while name in names or name in taken or (number > 1 and name in stems):
            number += 1
            name = f"{stem}-{number}"
        names[name] = None
    return list(names)
