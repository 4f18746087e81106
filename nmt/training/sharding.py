"""Sharding: each process stores a shard of every weight, for models too large for one GPU.

`fully_shard` (FSDP; Zhao et al. 2023, https://arxiv.org/abs/2304.11277) gathers the weights of a
layer just before it runs, and frees them after it. Gradients, optimizer state and averaged weights
stay sharded. Files are never sharded: checkpoints and weights equal those of unsharded training.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.utils._pytree import tree_map_only

from nmt.model.transformer import Transformer
from nmt.training.loss import BatchLoss

if TYPE_CHECKING:  # importing it takes a second, and unsharded training does not need it
    from torch.distributed.tensor import DTensor


def shard(loss: BatchLoss, mesh: DeviceMesh) -> None:
    """Shard the weights among the processes; the loss is then called as before.

    mesh: the devices of all processes
    """
    from torch.distributed.fsdp import fully_shard

    # `key_value` returns a view; this is safe, because the model changes nothing in place.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)
    encoder, decoder = loss.model.encoder_layers(), loss.model.decoder_layers()
    # The model projects the source outside the layer's own forward pass.
    sources = [layer.cross_attention.key_value for layer in decoder]
    for module in (*sources, *encoder, *decoder, loss):
        fully_shard(module, mesh=mesh)


def unshard(tree: Any, keep: bool = True) -> Any:
    """Return the tree with sharded tensors gathered into CPU memory; all workers must call it.

    keep: whether this worker needs them
    """

    def gathered(tensor: Tensor) -> Tensor | None:
        if not _is_sharded(tensor):
            return tensor
        full = tensor.full_tensor()
        return full.cpu() if keep else None

    return tree_map_only(Tensor, gathered, tree)


def shard_like(tensor: Tensor, like: Tensor | None) -> Tensor:
    """Return this worker's shard of the tensor if `like` is sharded, otherwise the tensor.

    If `like` is sharded, all workers must call this function.
    """
    if not _is_sharded(like):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)


@contextmanager
def unsharded_model(model: Transformer) -> Iterator[Transformer]:
    """Yield the model, or an unsharded copy on its device; all workers must call it."""
    weight = model.output.weight
    if not _is_sharded(weight):
        yield model
        return
    with torch.device("meta"):  # without memory for weights, which are assigned next
        copy = Transformer(model.config, *model.sizes)
    whole = {part: nn.Parameter(part.detach().full_tensor()) for part in model.parameters()}  # type: ignore[attr-defined]
    every = model.named_parameters(remove_duplicate=False)  # tied ones under each of their names
    copy.load_state_dict({name: whole[part] for name, part in every}, assign=True)
    yield copy.to(weight.device)  # its position tables


def _is_sharded(tensor: Tensor | None) -> TypeGuard["DTensor"]:
    return hasattr(tensor, "full_tensor")
