"""Validation: loss, accuracy and BLEU of the model on the validation split."""

import math
from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import NotRequired, TypedDict

from nmt.config.config import Config
from nmt.config.languages import writes_no_spaces
from nmt.corpus.prepared import PreparedData
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.segments import TrainingLines
from nmt.decoding.translator import Translator
from nmt.device import autocast
from nmt.errors import UserError
from nmt.evaluation.metrics import corpus_bleu, corpus_chrf
from nmt.model.transformer import Transformer
from nmt.ops.memory import return_memory
from nmt.progress import in_bursts
from nmt.runs.folder import Sample
from nmt.training.batches import batches_of
from nmt.training.distributed import Worker
from nmt.training.loss import score_batch

_SAMPLES = 3  # sentences shown at each validation


class Measures(TypedDict):
    """Metrics of a validation; see `nmt.runs.folder.Validation`."""

    loss: float
    perplexity: float
    accuracy: float
    bleu: float
    chrf: NotRequired[float]
    pairs: int
    samples: list[Sample]


def spread(count: int, wanted: int | None) -> Sequence[int]:
    """Return `wanted` of the numbers 0 … count - 1, evenly spaced.

    Returns all of them if `wanted` is None or too large.
    """
    if wanted is None or wanted >= count:
        return range(count)
    return [number * count // wanted for number in range(wanted)]


class Validator:
    """Validates a model on the validation split, divided among all workers."""

    def __init__(self, config: Config, prepared: PreparedData, worker: Worker):
        self._config, self._prepared, self._worker = config, prepared, worker
        examples = prepared.examples("validation")
        chosen = spread(len(examples), config.training.validate_pairs)
        self.examples = [examples[number] for number in chosen]
        length = config.model.max_length
        self._batches = batches_of("validation", prepared, config.training, length, chosen)
        if not self._batches:
            raise UserError("model.max_length: every validation pair is longer; raise it")
        #: Number of pairs that are too long for loss and accuracy.
        self.too_long = len(self.examples) - sum(map(len, self._batches))

    def measure(self, model: Transformer) -> Measures:
        """Return loss and accuracy under teacher forcing, and BLEU of greedy translations.

        chrF is added in languages that BLEU's tokenizer cannot divide into words.
        """
        self._return_memory()
        loss, correct, tokens = self._score(model)
        translations = self._translate(model)
        self._return_memory()
        references = [example.reference for example in self.examples]
        measures: Measures = {
            "loss": loss / tokens,
            "perplexity": math.exp(min(loss / tokens, 100)),
            "accuracy": correct / tokens,
            "bleu": corpus_bleu(translations, references),
            "pairs": len(self.examples),
            "samples": self._samples(translations),
        }
        if writes_no_spaces(self._config.data.target_language):
            measures["chrf"] = corpus_chrf(translations, references)
        return measures

    def _return_memory(self) -> None:
        """Return unused memory, so that updates and validations do not add up to the peak."""
        if self._worker.device.type == "cpu":
            return_memory()

    def _score(self, model: Transformer) -> tuple[float, ...]:
        """Return loss, correct predictions and tokens, summed over all validation batches."""
        model.eval()
        device = self._worker.device
        share = self._batches[self._worker.rank :: self._worker.size]
        with autocast(device, self._config.training.precision):
            scores = [score_batch(model, batch.to(device)) for batch in share]
        return self._worker.sum(
            sum(score.loss for score in scores),
            sum(score.correct for score in scores),
            sum(score.tokens for score in scores),
        )

    def _translate(self, model: Transformer) -> list[str]:
        """Translate the validation sources greedily."""
        greedy = self._config.decoding.model_copy(update={"beam_size": 1, "temperature": 0.0})
        # An untrained model's translations have any length: do not divide and repeat them.
        seen = replace(TrainingLines.of(self._prepared.report, greedy), growth=0.0)
        tokenizers = self._prepared.tokenizers
        engine = PyTorchEngine([model])
        translator = Translator(engine, tokenizers, self._config.data, greedy, seen)
        size = self._worker.size
        share = self.examples[self._worker.rank :: size]
        found = translator.stream([example.source for example in share])
        bar = in_bursts(found, "validating", len(share), leave=False)
        own = [best.text for best, *_ in bar]
        translations = [""] * len(self.examples)
        for rank, part in enumerate(self._worker.gather(own)):
            translations[rank::size] = part
        return translations

    def _samples(self, translations: list[str]) -> list[Sample]:
        """Return the translations of the first few distinct sources."""
        samples: dict[str, Sample] = {}
        for e, text in zip(self.examples, translations, strict=True):
            samples.setdefault(
                e.source, {"source": e.source, "reference": e.reference, "translation": text}
            )
        return list(samples.values())[:_SAMPLES]
