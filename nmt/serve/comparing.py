"""Two runs side by side on a held-out set: where do they differ most?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from nmt.corpus.text.tags import retagged, show_tag
from nmt.errors import UserError
from nmt.serve.errors import ApiError

if TYPE_CHECKING:
    from nmt.corpus.prepared import Example
    from nmt.serve.served_run import ServedRun
    from nmt.serve.service import Service


class ComparedSentence(TypedDict):
    """A sentence, with the translation and chrF of each run."""

    source: str
    reference: str
    translations: tuple[str, str]
    chrf: tuple[float, float]


class Comparison(TypedDict):
    """Two runs on a held-out set.

    bleu: of each run; sentences: those with different translations, by difference in chrF
    """

    runs: tuple[str, str]
    split: str
    count: int
    bleu: tuple[float, float]
    sentences: list[ComparedSentence]


async def compare(
    service: "Service", first: "ServedRun", second: "ServedRun", split: str, count: int
) -> Comparison:
    """Translate the first run's set with both runs; raises `ApiError` if their languages differ."""
    if (first.source, first.target) != (second.source, second.target):
        raise ApiError(400, f"{first.name} and {second.name} translate different languages")
    try:
        examples = (await service.in_thread(first.folder.examples, split))[:count]
    except UserError:
        raise ApiError(404, f"{first.name} has no {split} set that can be read") from None
    if not examples:
        raise ApiError(404, f"{first.name} has an empty {split} set")
    sources = [example.source for example in examples]
    one = [o[0].text for o in await service.batcher.translate(first, sources, 1)]
    data, other = first.folder.config.data, second.folder.config.data
    sources = [retagged(data, other, source) for source in sources]
    two = [o[0].text for o in await service.batcher.translate(second, sources, 1)]
    shown = [replace(e, source=show_tag(data, e.source)) for e in examples]
    sentences, bleu = await service.in_thread(_score, shown, one, two, first.target)
    return {
        "runs": (first.name, second.name),
        "split": split,
        "count": len(examples),
        "bleu": bleu,
        "sentences": sentences,
    }


def _score(
    examples: "Sequence[Example]", one: Sequence[str], two: Sequence[str], language: str
) -> tuple[list[ComparedSentence], tuple[float, float]]:
    from sacrebleu.metrics.chrf import CHRF

    from nmt.evaluation.metrics import corpus_bleu

    references = [example.reference for example in examples]
    metric = CHRF()
    rows: list[ComparedSentence] = []
    for example, *pair in zip(examples, one, two, strict=True):
        if pair[0] == pair[1]:
            continue
        scores = [metric.sentence_score(text, [example.reference]).score for text in pair]
        rows.append(
            {
                "source": example.source,
                "reference": example.reference,
                "translations": (pair[0], pair[1]),
                "chrf": (round(scores[0], 1), round(scores[1], 1)),
            }
        )
    rows.sort(key=lambda row: -abs(row["chrf"][0] - row["chrf"][1]))
    bleu = [round(corpus_bleu(texts, references, language=language), 2) for texts in (one, two)]
    return rows, (bleu[0], bleu[1])
