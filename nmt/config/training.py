"""The section `training`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from nmt.config.choices import Best
from nmt.config.section import MOST, BrokenRule, Section

ModelPart = Literal["encoder", "decoder", "embeddings"]


class TrainingConfig(Section):
    """How the model is trained."""

    epochs: int = Field(
        20, ge=1, le=MOST, description="maximum number of passes over the training data"
    )
    max_updates: int | None = Field(None, ge=1, le=MOST, description="stop after this many updates")
    max_minutes: float | None = Field(
        None,
        gt=0,
        le=MOST,
        description="stop after this many minutes of training in total, including resumed training",
    )
    target_bleu: float | None = Field(
        None, gt=0, le=100, description="stop as soon as validation BLEU reaches this"
    )
    batch_tokens: int | None = Field(
        4096,
        ge=1,
        le=MOST,
        description="maximum padded tokens per batch, on each side; unset: use batch_sentences",
    )
    batch_sentences: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="instead of batch_tokens: a fixed number of sentence pairs per batch",
    )
    drop_last: bool = Field(
        False,
        description="leave out the incomplete last batch of each epoch (batch_sentences only)",
    )
    join_pairs: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="probability that a training pair is appended to another one, drawn again for "
        "each epoch, so that a model trained on short sentences also learns longer ones (Nguyen "
        "et al. 2021); pairs with a tag stay separate; 0: off",
    )
    accumulate: int = Field(1, ge=1, le=1_000_000, description="batches per update")
    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="probability mass spread over the whole vocabulary"
    )
    r_drop: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="R-Drop's α (Liang et al. 2021): weight of the penalty for disagreement "
        "between two passes with different dropout; doubles the training time; 0: off",
    )
    initial_weights: Path | None = Field(
        None,
        description="weights of a run to start from, such as runs/everyday/best.safetensors (nmt "
        "train --from sets it); unset: random initialization",
    )
    freeze: tuple[ModelPart, ...] = Field(
        (), description="parts of the model not to train: encoder, decoder, embeddings"
    )
    optimizer: Literal["adam", "adamw", "nadam"] = Field("adam", description="optimizer")
    learning_rate: float = Field(1e-3, gt=0, le=10_000, description="peak learning rate")
    betas: tuple[float, float] = Field((0.9, 0.98), description="Adam's decay rates, β1 and β2")
    epsilon: float = Field(1e-9, gt=0, le=1, description="Adam's ε")
    weight_decay: float = Field(0.0, ge=0, le=100, description="weight decay (decoupled for adamw)")
    schedule: Literal["inverse_sqrt", "cosine", "constant"] = Field(
        "inverse_sqrt",
        description="learning rate after the warm-up; inverse_sqrt: Noam's; cosine: falls to zero "
        "at the last update that epochs and max_updates allow, so raising these limits when "
        "resuming raises the rate again",
    )
    warmup_updates: int = Field(
        400,
        ge=0,
        le=MOST,
        description="updates over which the learning rate rises linearly to its peak",
    )
    clip_norm: float | None = Field(
        1.0, gt=0, le=1e6, description="clip the gradient to this norm; unset: do not clip"
    )
    average_decay: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="decay of an exponential moving average of the weights, which is then "
        "validated and used instead of the weights themselves (0.999 is usual); 0: off",
    )
    validate_updates: int | None = Field(
        None, ge=1, le=MOST, description="updates between validations; unset: every epoch"
    )
    validate_pairs: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="validate on this many pairs, evenly spread over the validation split; unset: "
        "all",
    )
    keep_validated: int = Field(
        0,
        ge=0,
        le=1000,
        description="number of recent validations whose weights are kept, for nmt average",
    )
    best: Best = Field(
        "bleu",
        description="validation metric that selects the best weights; bleu: where BLEU is below 1 "
        "or differs by no more than its noise, the lower loss wins",
    )
    patience: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="stop after this many validations in a row that neither improve the best "
        "weights, reach the highest BLEU so far, nor lower the loss by at least 1% below its last "
        "clear minimum",
    )
    checkpoint_minutes: float = Field(
        5.0, gt=0, le=MOST, description="write a checkpoint at least this often, in minutes"
    )
    checkpoint_updates: int | None = Field(
        None, ge=1, le=MOST, description="write a checkpoint at least this often, in updates"
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="precision of matrix products; auto: bfloat16 if the GPU or CPU supports it, "
        "float16 with loss scaling on older GPUs with tensor cores (T4, V100), otherwise float32",
    )
    deterministic: bool = Field(
        False,
        description="on a GPU, use only kernels that are reproducible bit for bit; some are slower",
    )
    compile: bool = Field(
        False,
        description="on a GPU, compile the layers (torch.compile), which takes time at the start "
        "and can make small models faster; needs Triton and a C compiler",
    )
    graphs: Literal["auto", "always", "never"] = Field(
        "auto",
        description="on a CUDA GPU, replay the forward and backward pass of batches whose shape "
        "repeats as a CUDA graph, which saves Python's overhead but needs up to twice the memory "
        "for activations; auto: with a single process, unless `deterministic`",
    )
    shard: bool = Field(
        False,
        description="with several processes, shard the weights and the optimizer state (FSDP), "
        "for models too large for one GPU; otherwise each process holds a full copy",
    )
    seed: int = Field(
        1, ge=0, lt=2**31, description="seed for weights, order of the data and dropout"
    )
    tensorboard: bool = Field(
        False,
        description="also log to TensorBoard, into the run folder (needs the extra `tensorboard`)",
    )

    @field_validator("betas")
    @classmethod
    def _betas_are_decays(cls, betas: tuple[float, float]) -> tuple[float, float]:
        if not all(0 <= beta < 1 for beta in betas):
            raise PydanticCustomError(
                "decay", "Input should be two numbers from 0 up to, but not including, 1"
            )
        return betas

    @override
    def broken_rules(self) -> Iterator[BrokenRule]:
        tokens, sentences = self.batch_tokens, self.batch_sentences
        if (tokens is None) == (sentences is None):
            now = f"{tokens or 'null'} and {sentences or 'null'}"
            message = f"exactly one of batch_tokens and batch_sentences must be null, got {now}"
            yield ("batch_tokens", "batch_sentences"), message
        if self.drop_last and sentences is None:
            yield ("drop_last", "batch_sentences"), "`drop_last` needs `batch_sentences`"
