"""The key–value datastore for nearest-neighbour translation.

Khandelwal et al. 2021, "Nearest Neighbor Machine Translation": for each target position of the
training text, the key is a state of the decoder and the value is the next token. The state is what
the output layer receives (in the paper, what the last feed-forward network receives).
Similar keys are clustered, and a search visits only the nearest clusters (an inverted file, Sivic
and Zisserman 2003).
"""

import shlex
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn import functional

from nmt.errors import UserError, one_line
from nmt.files.checksums import DAMAGED, identity, is_damaged, recorded
from nmt.model.transformer import Transformer
from nmt.runs.weights import write_tensors

_CLUSTER = 400  # keys, approximately
_PROBED = 8  # clusters
_ITERATIONS = 8  # of k-means
_SAMPLE = 50  # keys per centroid that k-means samples
_ROWS = 4096  # compared with all centroids at once
_DISTANCES = 2**28  # in memory at a time when comparing all keys: 1 GiB


class Datastore:
    """Keys and values of all training positions.

    keys: (positions, d_model), sorted by cluster; tokens: (positions,), the values; sizes:
    (clusters,), number of keys, at least one; centroids: (clusters, d_model)
    """

    def __init__(self, keys: Tensor, tokens: Tensor, sizes: Tensor, centroids: Tensor):
        self._sizes, lengths = sizes, sizes.tolist()
        self._keys, self._tokens = keys.float(), tokens.long()
        self._squares = self._keys.square().sum(1)
        # Views of the same memory, by cluster.
        self._keys_of = [cluster.T for cluster in torch.split(self._keys, lengths)]
        self._squares_of = torch.split(self._squares, lengths)
        self._tokens_of = torch.split(self._tokens, lengths)
        self._centroids, self._centroid_squares = centroids.T, centroids.square().sum(1)

    def __len__(self) -> int:
        return len(self._tokens)

    @classmethod
    def of(cls, keys: Tensor, tokens: Tensor) -> "Datastore":
        """Cluster keys by k-means (Lloyd 1982): (positions, d_model), (positions,)."""
        generator = torch.Generator().manual_seed(0)
        shuffled = torch.randperm(len(keys), generator=generator).to(keys.device)
        clusters = max(1, len(keys) // _CLUSTER)
        sample = keys[shuffled[: clusters * _SAMPLE]]
        centroids = sample[:clusters]
        for _ in range(_ITERATIONS):
            centroids = _means(sample, _nearest_centroids(sample, centroids))
        cluster = _nearest_centroids(keys, centroids)
        order = cluster.argsort(stable=True)
        sizes = cluster.bincount()
        means = _means(keys, cluster)
        keys = keys[order]  # replace the unsorted keys, to save memory
        return cls(keys, tokens[order], sizes[sizes > 0], means)

    def nearest(self, queries: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Find the nearest keys, approximately: a few may be missed.

        queries: (rows, d_model) → squared distances and tokens, (rows, count) each, nearest first,
        padded with infinite distances
        """
        if queries.device.type == "cuda":
            return self._nearest_of_all(queries, count)
        return self._nearest_in_clusters(queries, count)

    def _nearest_of_all(self, queries: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Compare with all keys in one product, which is faster than clusters on a GPU."""
        most, missing = min(count, len(self)), max(0, count - len(self))
        distances, tokens = [], []
        for some in torch.split(queries, max(1, _DISTANCES // len(self))):
            found = torch.addmm(self._squares, some, self._keys.T, alpha=-2)
            best = found.topk(most, dim=1, largest=False)
            nearest = best.values + some.square().sum(1, keepdim=True)
            distances.append(functional.pad(nearest, (0, missing), value=float("inf")))
            tokens.append(functional.pad(self._tokens[best.indices], (0, missing)))
        return torch.cat(distances), torch.cat(tokens)

    def _nearest_in_clusters(self, queries: Tensor, count: int) -> tuple[Tensor, Tensor]:
        rows, probed = len(queries), min(_PROBED, len(self._keys_of))
        closeness = 2 * queries @ self._centroids - self._centroid_squares
        clusters = closeness.topk(probed, dim=1).indices.flatten()
        # Cluster by cluster, so that each is read once for all queries.
        order = clusters.argsort(stable=True)
        seeking = queries[order // probed]
        distances = queries.new_full((rows * probed, count), float("inf"))
        tokens = order.new_zeros((rows * probed, count))
        wanted, counts = torch.unique_consecutive(clusters[order], return_counts=True)
        end = 0
        for cluster, several in zip(wanted.tolist(), counts.tolist(), strict=True):
            start, end = end, end + several
            squares, keys = self._squares_of[cluster], self._keys_of[cluster]
            found = torch.addmm(squares, seeking[start:end], keys, alpha=-2)
            best = found.topk(min(count, len(squares)), dim=1, largest=False)
            distances[start:end, : best.values.shape[1]] = best.values
            tokens[start:end, : best.values.shape[1]] = self._tokens_of[cluster][best.indices]
        back = order.argsort()
        distances, nearest = distances[back].view(rows, -1).topk(count, dim=1, largest=False)
        distances = distances + queries.square().sum(1, keepdim=True)
        return distances, tokens[back].view(rows, -1).gather(1, nearest)

    # ------------------------------------------------------------------------------- on disk

    def save(self, path: Path, made_from: str) -> None:
        """Write the datastore; made_from: the `identity` of the model's weights."""
        # float16 halves the size; its error is negligible for distances between neighbours.
        stored = {
            "keys": self._keys.half(),
            "tokens": self._tokens.int(),
            "sizes": self._sizes,
            "centroids": self._centroids.T.contiguous(),
        }
        tensors = {name: tensor.cpu() for name, tensor in stored.items()}
        write_tensors(tensors, path, weights=made_from)

    @classmethod
    def load(cls, path: Path, weights: Path, model: Transformer) -> "Datastore":
        """Read the datastore of a model with these weights onto the model's device.

        Raises `UserError` if it is missing, damaged, or belongs to other weights.
        """
        remedy = (
            f"build it with nmt datastore {shlex.quote(str(path.parent))} --weights "
            f"{weights.stem}, or translate without: --set decoding.knn_k=0"
        )
        if not path.exists():
            raise UserError(f"{path}: decoding.knn_k needs a datastore; {remedy}")
        try:
            with safe_open(path, "pt") as file:
                names = list(file.keys())
                # Before any tensor is read: the keys may take gigabytes.
                _require_fitting({name: file.get_slice(name) for name in names}, model)
                if weights_of(path) != identity(weights):
                    raise UserError(
                        f"{path}: was built from weights other than {weights.name}; {remedy}"
                    )
                if is_damaged(path):
                    raise ValueError(DAMAGED)
                stored = {name: file.get_tensor(name) for name in names}
            _require_sound(stored, model)
        except (OSError, SafetensorError, RuntimeError, ValueError) as error:
            reason = one_line(error)[:200]
            raise UserError(f"{path}: cannot be read: {reason}; {remedy}") from None
        device = model.output.weight.device
        return cls(**{name: tensor.to(device) for name, tensor in stored.items()})


def weights_of(datastore: Path) -> str | None:
    """Return the `identity` of the weights that a datastore was built from; None if damaged."""
    return recorded(datastore, "weights")


def _nearest_centroids(keys: Tensor, centroids: Tensor) -> Tensor:
    """Return the nearest centroid of each key: (keys, d_model), (clusters, d_model) → (keys,)."""
    squares = centroids.square().sum(1)
    parts = torch.split(keys, _ROWS)
    return torch.cat([torch.addmm(squares, x, centroids.T, alpha=-2).argmin(1) for x in parts])


def _means(keys: Tensor, cluster: Tensor) -> Tensor:
    """Return the mean key of each non-empty cluster: (keys, d_model), (keys,)."""
    sizes = cluster.bincount()
    sums = keys.new_zeros(len(sizes), keys.shape[1]).index_add_(0, cluster, keys)
    return sums[sizes > 0] / sizes[sizes > 0, None]


def _require_fitting(slices: dict[str, Any], model: Transformer) -> None:
    """Raise `ValueError` for arrays unlike those that `Datastore.save` writes for this model."""
    kinds = {"keys": ("F16", 2), "tokens": ("I32", 1), "sizes": ("I64", 1), "centroids": ("F32", 2)}
    shapes = {name: part.get_shape() for name, part in slices.items()}
    if {name: (part.get_dtype(), len(shapes[name])) for name, part in slices.items()} != kinds:
        raise ValueError("not a datastore")
    (positions, width), (clusters, also_width) = shapes["keys"], shapes["centroids"]
    if not width == also_width == model.config.d_model:
        raise ValueError(f"its keys do not have the model's width, {model.config.d_model}")
    if [positions] != shapes["tokens"] or [clusters] != shapes["sizes"]:
        raise ValueError("its arrays differ in length")


def _require_sound(stored: dict[str, Tensor], model: Transformer) -> None:
    """Raise `ValueError` for numbers that `Datastore.save` would not write for this model."""
    keys, tokens, sizes = stored["keys"], stored["tokens"], stored["sizes"]
    if not len(tokens) or tokens.min() < 0 or tokens.max() >= model.output.out_features:
        raise ValueError("its tokens are not in the model's vocabulary")
    if sizes.min() < 1 or sizes.max() > len(keys) or int(sizes.sum()) != len(keys):
        raise ValueError("its clusters do not add up")
    if not (stored["centroids"].isfinite().all() and keys.isfinite().all()):
        raise ValueError("it contains numbers that are not finite")
