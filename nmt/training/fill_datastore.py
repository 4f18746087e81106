"""The datastore of a run: what its model makes of each position of its training text."""

import torch
from torch import Tensor
from tqdm import tqdm

from nmt.checksums import identity
from nmt.choices import Weights
from nmt.corpus.prepared import PreparedData
from nmt.decoding.datastore import Datastore
from nmt.errors import UserError
from nmt.model.weights import load_weights
from nmt.progress import elapsed
from nmt.run_folder import RunFolder, replacing, require_same_data
from nmt.training.batches import batches_of
from nmt.training.loss import at_labels

_LARGEST = 4 * 2**30  # bytes of keys; filling takes twice as many


def fill_datastore(
    run: RunFolder, prepared: PreparedData, weights: Weights, device: torch.device
) -> Datastore:
    """Let a run's model read its training pairs, and keep what it makes of them in the run folder.

    Raises `UserError` where that would be too much to keep, or the data has been prepared anew from
    another corpus since.
    """
    require_same_data(run, prepared)
    config, tokenizers = run.config, prepared.tokenizers
    sizes = tokenizers.source.size, tokenizers.target.size
    require_room(prepared, config.model.d_model)
    path = run.weights(weights)
    # Before they are loaded: should a training replace them now, the datastore will be refused.
    made_from = identity(path) if path.exists() else ""
    model = load_weights(path, config.model, *sizes, device)
    batches = batches_of("train", prepared, config.training, config.model.max_length)
    keys, tokens = [], []
    with torch.inference_mode():
        for batch in tqdm(batches, "filling the datastore", unit=" batches", delay=2):
            hidden, labels = at_labels(model, batch.to(device))
            keys.append(hidden)
            tokens.append(labels)
        with elapsed("clustering"), replacing(run.datastore) as partial:
            datastore = Datastore.of(_joined(keys), _joined(tokens))
            datastore.save(partial, made_from)
    return datastore


def _joined(parts: list[Tensor]) -> Tensor:
    """Concatenate, and let go of the parts, which are as large again."""
    whole = torch.cat(parts)
    parts.clear()
    return whole


def require_room(prepared: PreparedData, d_model: int) -> None:
    """Raise `UserError` where a corpus has too many target positions to keep."""
    positions = len(prepared.sequences("train")[1].ids)
    size = positions * d_model * 4
    if size > _LARGEST:
        raise UserError(
            f"decoding.neighbours: the keys of {positions:,} training positions would take "
            f"{size / 2**30:.0f} GiB, of {_LARGEST // 2**30} at most; set it to 0"
        )
