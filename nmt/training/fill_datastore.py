"""Builds the datastore of a run from its training text, or from a translation memory."""

from pathlib import Path

import torch
from torch import Tensor

from nmt.config.choices import Weights
from nmt.config.data import CorpusConfig, translation_format
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.manifest import read_manifest, require_same_data
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.sources.paths import require_pairs
from nmt.decoding.search.datastore import Datastore
from nmt.errors import UserError
from nmt.files.checksums import identity
from nmt.files.output_files import replacing, temporary_folder
from nmt.progress import Bar, elapsed
from nmt.runs.folder import RunFolder
from nmt.runs.weights import load_weights
from nmt.training.batches import batches_of
from nmt.training.fine_tuning import config_from
from nmt.training.loss import at_labels

_LARGEST = 4 * 2**30  # bytes of keys; filling takes twice as many


def fill_datastore(
    run: RunFolder, prepared: PreparedData, weights: Weights, device: torch.device
) -> Datastore:
    """Run the model on its training pairs, and store keys and values in the run folder.

    Raises `UserError` if the datastore would be too large, or if the data has been prepared again
    from another corpus. Those of an imported run are new to it.
    """
    if run.config.data.source != "imported":  # of which the corpus is not known
        now = read_manifest(prepared.folder)
        require_same_data(run.data, now.fingerprint if now else "")
    return _fill(run, prepared, weights, device)


def fill_from_memory(
    run: RunFolder, memory: Path, weights: Weights, device: torch.device
) -> Datastore:
    """Run the model on the units of a memory instead, which may be any file that trains a run.

    Raises `UserError` if the memory is faulty, or the datastore would be too large.
    """
    require_pairs(memory)
    if run.config.data.imported_tags:
        imported = run.config.data.source == "imported"
        remedy = "name it with its tag in a file for --config" if imported else "omit --from"
        raise UserError(
            f"{run.path}: pairs need a tag, their target language, which a memory lacks; {remedy}"
        )
    path = memory.resolve()
    config = config_from(run, weights, None, [])
    fields = {name: field.default for name, field in CorpusConfig.model_fields.items()}
    fields |= {"source": translation_format(path.name) or "tsv", "corpora": ()}
    # Nothing is held out: validation and test are not used, and must not drop the same pairs.
    fields |= {f"{part}_path": path for part in ("train", "validation", "test")}
    fields |= {"disjoint_splits": False}
    config = config.model_copy(update={"data": config.data.model_copy(update=fields)})
    with temporary_folder() as folder:
        return _fill(run, prepare(config, folder / "prepared"), weights, device)


def _fill(
    run: RunFolder, prepared: PreparedData, weights: Weights, device: torch.device
) -> Datastore:
    config, tokenizers = run.config, prepared.tokenizers
    sizes = tokenizers.source.size, tokenizers.target.size
    require_room(prepared, config.model.d_model)
    path = run.weights(weights)
    # Identify the weights before loading them, so that we notice if they are replaced meanwhile.
    made_from = identity(path) if path.exists() else ""
    model = load_weights(path, config.model, *sizes, device)
    batches = batches_of("train", prepared, config.training, config.model.max_length)
    keys, tokens = [], []
    with torch.inference_mode():
        for batch in Bar(batches, "filling the datastore", unit=" batches"):
            hidden, labels = at_labels(model, batch.to(device))
            keys.append(hidden)
            tokens.append(labels)
        with elapsed("clustering"), replacing(run.datastore) as partial:
            datastore = Datastore.of(_joined(keys), _joined(tokens))
            datastore.save(partial, made_from)
    return datastore


def _joined(parts: list[Tensor]) -> Tensor:
    """Concatenate the parts, then free them: they take as much memory as the result."""
    whole = torch.cat(parts)
    parts.clear()
    return whole


def require_room(prepared: PreparedData, d_model: int) -> None:
    """Raise `UserError` if a corpus has too many target positions to store."""
    targets = prepared.sequences("train")[1]
    positions = len(targets.ids) + len(targets)  # with an <eos> each
    size = positions * d_model * 4
    if size > _LARGEST:
        raise UserError(
            f"decoding.knn_k: this corpus is too large: the keys of {positions:,} training "
            f"positions would take {size / 2**30:.1f} GiB, more than the limit of "
            f"{_LARGEST // 2**30} GiB; translate without neighbours (0)"
        )
