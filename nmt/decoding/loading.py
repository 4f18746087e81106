"""From a run folder to a translator."""

from collections.abc import Sequence

import torch

from nmt.config_files import load_config
from nmt.corpus.tokenizers import load_tokenizers
from nmt.decoding.translator import Translator
from nmt.device import choose_device
from nmt.errors import UserError
from nmt.model.weights import load_weights
from nmt.run_folder import RunFolder, Weights


def load_translator(
    run: RunFolder,
    *,
    weights: Weights = "best",
    overrides: Sequence[str] = (),
    device: torch.device | None = None,
) -> Translator:
    """Open a run for translation; `overrides` may change fields of its decoding section."""
    for override in overrides:
        if not override.startswith("decoding."):
            raise UserError(f"--set {override}: a trained run takes decoding.* only")
    config = load_config(run.path / "config.yaml", overrides)
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    model = load_weights(
        run.weights(weights),
        config.model,
        tokenizers.source.size,
        tokenizers.target.size,
        device or choose_device(),
    )
    longest = run.report["lengths"]["source"]["longest"]
    return Translator(model, tokenizers, config.data, config.decoding, longest)
