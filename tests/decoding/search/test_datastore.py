"""A datastore finds the nearest keys; damaged or mismatched datastores are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from nmt.decoding.search import datastore
from nmt.decoding.search.datastore import Datastore
from nmt.errors import UserError
from nmt.files.checksums import identity
from nmt.model.transformer import Transformer
from nmt.runs.weights import save_weights


def keys_in_groups(count: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Return keys in 50 clusters, like hidden states, and the tokens 0 to 10 in turn."""
    generator = torch.Generator().manual_seed(seed)
    places = torch.randn(50, 16, generator=generator) * 3
    around = torch.randint(50, (count,), generator=generator)
    keys = places[around] + torch.randn(count, 16, generator=generator)
    return keys.half().float(), torch.arange(count) % 11


def by_definition(keys: Tensor, queries: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return squared distances and indices of the nearest keys, by brute force."""
    distances = torch.cdist(queries.double(), keys.double()).square()
    found = distances.topk(count, dim=1, largest=False)
    return found.values.float(), found.indices


@pytest.mark.parametrize("search", [Datastore.nearest, Datastore._nearest_of_all])
def test_with_few_keys_the_search_is_exact(search, monkeypatch):
    monkeypatch.setattr(datastore, "_DISTANCES", 7 * 2000)  # several queries at a time
    keys, tokens = keys_in_groups(2000)
    queries, _ = keys_in_groups(30, seed=2)
    distances, found = search(Datastore.of(keys, tokens), queries, 20)
    expected, numbers = by_definition(keys, queries, 20)
    torch.testing.assert_close(distances, expected, rtol=1e-4, atol=1e-3)
    assert torch.equal(found, tokens[numbers])


def test_with_many_keys_nearly_all_nearest_neighbours_are_found():
    keys, tokens = keys_in_groups(40_000)
    queries, _ = keys_in_groups(100, seed=1)
    distances, _ = Datastore.of(keys, tokens).nearest(queries, 20)
    expected, _ = by_definition(keys, queries, 20)
    assert (distances <= expected[:, -1:] * 1.0001).float().mean() > 0.95


def test_each_key_is_in_the_cluster_with_the_nearest_mean():
    keys = torch.randn(30, 16, generator=torch.Generator().manual_seed(1))
    centroids = torch.randn(8, 16, generator=torch.Generator().manual_seed(2))
    nearest = datastore._nearest_centroids(keys, centroids)
    assert torch.equal(nearest, by_definition(centroids, keys, 1)[1][:, 0])


def test_the_means_of_clusters_leave_out_empty_ones():
    keys = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 5.0]])
    assert datastore._means(keys, torch.tensor([0, 0, 2])).tolist() == [[2.0, 4.0], [5.0, 5.0]]


def test_the_clusters_with_the_nearest_means_are_searched(monkeypatch):
    monkeypatch.setattr(datastore, "_PROBED", 1)
    # 3 is nearer to 2 than to 5, although its product with 5 is greater.
    store = Datastore(
        torch.tensor([[2.0], [5.0]]),
        torch.tensor([7, 8]),
        torch.tensor([1, 1]),
        torch.tensor([[2.0], [5.0]]),
    )
    distances, tokens = store.nearest(torch.tensor([[3.0], [4.0]]), 1)
    assert distances.tolist() == [[1.0], [1.0]]
    assert tokens.tolist() == [[7], [8]]


def test_a_stored_key_finds_itself():
    keys, tokens = keys_in_groups(5000)
    distances, found = Datastore.of(keys, tokens).nearest(keys[::7], 1)
    assert distances.abs().max() < 1e-3
    assert torch.equal(found[:, 0], tokens[::7])


@pytest.mark.parametrize("search", [Datastore.nearest, Datastore._nearest_of_all])
def test_missing_neighbours_are_infinitely_far(search):
    store = Datastore.of(torch.eye(3, 16), torch.tensor([4, 5, 6]))
    distances, found = search(store, torch.eye(1, 16), 5)
    assert distances[0, :3].tolist() == [0, 2, 2]
    assert found[0, 0] == 4
    assert distances[0, 3:].isinf().all()


def test_equal_keys_give_identical_files(tmp_path):
    for name in ("one", "two"):
        Datastore.of(*keys_in_groups(3000)).save(tmp_path / name, "made from")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


# ------------------------------------------------------------------------------------------ on disk


@pytest.fixture
def model(random_model: Callable[..., Transformer]) -> Transformer:
    return random_model()


@pytest.fixture
def weights(model: Transformer, tmp_path: Path) -> Path:
    path = tmp_path / "best.safetensors"
    save_weights(model, path)
    return path


@pytest.fixture
def path(weights: Path) -> Path:
    """A datastore next to the weights."""
    path = weights.with_name("datastore.safetensors")
    Datastore.of(*keys_in_groups(3000)).save(path, identity(weights))
    return path


def test_loading_restores_the_saved_datastore(path, weights, model):
    queries, _ = keys_in_groups(30, seed=2)
    loaded = Datastore.load(path, weights, model)
    assert len(loaded) == 3000
    expected = Datastore.of(*keys_in_groups(3000)).nearest(queries, 8)
    for ours, theirs in zip(loaded.nearest(queries, 8), expected, strict=True):
        assert torch.equal(ours, theirs)


def test_a_datastore_with_a_single_key_can_be_saved_and_loaded(path, weights, model):
    Datastore.of(torch.ones(1, 16), torch.tensor([5])).save(path, identity(weights))
    distances, tokens = Datastore.load(path, weights, model).nearest(torch.zeros(1, 16), 1)
    assert (distances.item(), tokens.item()) == (16, 5)


def test_a_datastore_of_older_versions_has_no_checksum_and_can_be_read(path, weights, model):
    save_file(load_file(path), path, {"weights": identity(weights)})
    assert len(Datastore.load(path, weights, model)) == 3000


def test_any_changed_number_is_detected(path, weights, model):
    content = path.read_bytes()
    for place in range(3000, len(content), len(content) // 9):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert_refused(path, weights, model, "damaged (checksum mismatch)")


def assert_refused(path: Path, weights: Path, model: Transformer, reason: str) -> None:
    with pytest.raises(UserError) as caught:
        Datastore.load(path, weights, model)
    [line] = str(caught.value).splitlines()
    assert line.startswith(f"{path}: ")
    assert reason in line
    assert f"nmt datastore {path.parent} --weights {weights.stem}" in line


def test_a_missing_datastore_is_refused(weights, model, tmp_path):
    assert_refused(tmp_path / "none", weights, model, "decoding.knn_k")


def test_a_datastore_that_does_not_fit_is_refused_before_its_keys_are_read(
    path, weights, model, random_model
):
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))  # reading them would notice it
    assert_refused(path, weights, random_model(d_model=32), "width, 32")
    save_weights(random_model(2), weights)
    assert_refused(path, weights, model, "other than best.safetensors")


def changed(name: str, change: Callable[[Tensor], Tensor]) -> Callable[[Path], None]:
    """Return a function that rewrites a datastore with one tensor changed."""

    def write(path: Path) -> None:
        stored = load_file(path)
        stored[name] = change(stored[name]).contiguous()
        save_file(stored, path, {"weights": identity(path.with_name("best.safetensors"))})

    return write


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "cannot be read"),
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: save_file({"keys": torch.zeros(2, 2)}, path), "not a datastore"),
        (changed("keys", lambda x: x.float()), "not a datastore"),
        (changed("keys", lambda x: x[:, :-1]), "width, 16"),
        (changed("keys", lambda x: x[:-1]), "length"),
        (changed("keys", lambda x: x / 0), "not finite"),
        (changed("tokens", lambda x: x + 1), "vocabulary"),
        (changed("tokens", lambda x: x - 1), "vocabulary"),
        (changed("sizes", lambda x: x + 1), "add up"),
        (changed("sizes", lambda x: x * 0), "add up"),
        (
            changed("sizes", lambda x: torch.cat([x.new_tensor([-1]), x[:1] + x[1:2] + 1, x[2:]])),
            "add up",
        ),
        (changed("sizes", lambda x: x[:-1]), "length"),
        (changed("centroids", lambda x: x / 0), "not finite"),
    ],
)
def test_a_damaged_datastore_is_refused_in_one_line(damage, reason, path, weights, model):
    damage(path)
    assert_refused(path, weights, model, reason)


def test_empty_clusters_are_skipped(monkeypatch):
    monkeypatch.setattr(datastore, "_CLUSTER", 1)
    keys = torch.zeros(10, 16).index_fill_(0, torch.tensor([3, 4]), 1.0)
    store = Datastore.of(keys, torch.arange(10))
    distances, _ = store.nearest(torch.ones(1, 16), 10)
    assert distances[0].tolist() == [0] * 2 + [16] * 8
