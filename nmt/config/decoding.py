"""The section `decoding`."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field
from typing_extensions import override

from nmt.config.choices import EngineChoice
from nmt.config.section import MOST, BrokenRule, Section


class DecodingConfig(Section):
    """How translations are searched for."""

    engine: EngineChoice = Field(
        "auto",
        description="inference engine. ctranslate2: faster; pytorch: supports everything; auto: "
        "ctranslate2 if it supports the model and the options",
    )
    beam_size: int = Field(
        4, ge=1, le=500, description="hypotheses kept at each step; 1: greedy search"
    )
    length_penalty: float = Field(
        0.6,
        ge=0,
        le=10,
        description="α in ((k + length) / (k + 1))^α, by which log-probabilities are divided (Wu "
        "et al. 2016, eq. 14); higher values favour longer translations; 0: no penalty",
    )
    length_offset: float = Field(
        5,
        ge=0,
        le=1000,
        description="k of the length penalty; 0: length^α, as in Marian and transformers",
    )
    max_length_factor: float = Field(
        1.5,
        ge=0,
        le=100,
        description="longest output in tokens, including <eos>: factor × source tokens + extra",
    )
    max_length_extra: int = Field(20, ge=1, le=10_000, description="see max_length_factor")
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        description="sample each token from the probabilities raised to the power 1 / temperature; "
        "0: search for the most probable translation instead",
    )
    top_k: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="sample only from this many of the most probable tokens; 0: from all",
    )
    top_p: float = Field(
        1.0,
        ge=1e-6,
        le=1,
        description="sample from the smallest set of tokens with at least this total probability",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="seed for sampling")
    batch_tokens: int = Field(
        8192, ge=1, le=MOST, description="maximum source tokens × beam size per batch"
    )
    new_words_margin: float = Field(
        3.0,
        ge=0,
        le=1000,
        description="prefer a hypothesis of the beam without words that the training text lacks "
        "(a compound counts by its parts) if its score is at most this much lower; 0: off",
    )
    split_sentences: bool = Field(
        True,
        description="translate the sentences of a line separately, if training had one sentence "
        "per line",
    )
    replace_unknown: bool = Field(
        True,
        description="replace <unk> with the source word that the decoder attends to most, among "
        "the unknown ones if there are any (word level only)",
    )
    glossary: Path | None = Field(
        None,
        description="file of terms with prescribed translations, which is copied into the run; "
        "--glossary replaces it",
    )
    knn_k: int = Field(
        0,
        ge=0,
        le=10_000,
        description="k in nearest-neighbour translation (Khandelwal et al. 2021): at each "
        "step, retrieve this many similar positions of the training text and interpolate the "
        "model's probabilities with those of the tokens that followed; helps with small corpora; "
        "0: off",
    )
    knn_weight: float = Field(
        0.3, gt=0, lt=1, description="λ: the neighbours' share of the probability"
    )
    knn_temperature: float = Field(
        20,
        ge=1e-6,
        le=1e6,
        description="T: the squared distance at which a neighbour's weight falls to 1/e",
    )

    @override
    def broken_rules(self) -> Iterator[BrokenRule]:
        restrictions = {"top_k": self.top_k > 0, "top_p": self.top_p < 1}
        limits = [field for field, is_set in restrictions.items() if is_set]
        if limits and not self.temperature:
            message = f"`{limits[0]}` restricts sampling; set `temperature` too, for example to 1"
            yield (*limits, "temperature"), message

    def hypotheses(self, n_best: int) -> int:
        """Return how many hypotheses per sentence to keep in order to find the `n_best`."""
        return n_best if self.temperature else max(n_best, self.beam_size)
