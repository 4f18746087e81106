"""Decoding on the simulated device: equal to the CPU, with few synchronizations."""

from collections import Counter

import pytest
import scenarios
import torch

from nmt.runs.folder import RunFolder

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _beside_the_run(trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained_run.path.parents[1])


@pytest.mark.parametrize(
    ("beam_size", "way"),
    [
        *((1, ""), (4, "")),
        *((1, "sampling"), (4, "constraints"), (4, "ensemble"), (4, "neighbours")),
    ],
)
def test_searches_equal_those_on_the_cpu_and_synchronize_once_per_step(
    trained_run, pretending, beam_size, way
):
    expected = scenarios.decoding(CPU, trained_run.path, beam_size, way)
    found = pretending(scenarios.decoding, trained_run.path, beam_size, way)
    assert found.ids == expected.ids
    assert found.scores == pytest.approx(expected.scores, abs=1e-4)
    assert found.steps == expected.steps
    assert found.waits.total() <= found.steps, found.waits


def test_alignment_and_inspection_equal_those_on_the_cpu(trained_run, pretending):
    *expected, expected_numbers = scenarios.looks_inside(CPU, trained_run.path)
    *found, numbers = pretending(scenarios.looks_inside, trained_run.path)
    assert found == expected
    assert numbers == pytest.approx(expected_numbers, abs=1e-5)


@pytest.mark.parametrize("count", [2000, 5])
def test_the_datastore_finds_the_same_neighbours_as_on_the_cpu(pretending, count):
    generator = torch.Generator().manual_seed(1)
    keys, queries = (torch.randn(n, 8, generator=generator) for n in (count, 20))
    tokens = torch.arange(len(keys))
    expected = scenarios.nearest(CPU, keys, tokens, queries)
    found = pretending(scenarios.nearest, keys, tokens, queries)
    torch.testing.assert_close(found[0], expected[0])
    near = expected[0].isfinite()
    assert torch.equal(found[1][near], expected[1][near])


def test_looking_up_neighbours_does_not_synchronize(pretending):
    assert pretending(scenarios.waits_of_nearest) == Counter()
