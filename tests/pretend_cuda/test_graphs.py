"""Updates replayed as graphs on the simulated device: bit for bit equal to those that are not."""

import pytest
import scenarios
import torch

pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        pytest.param({"precision": "float32"}, 40, marks=pytest.mark.slow),
        ({"precision": "bfloat16", "r_drop": 5.0, "average_decay": 0.99}, 9),
        ({"precision": "float16", "accumulate": 2}, 9),
        ({"precision": "bfloat16", "optimizer": "nadam", "clip_norm": None}, 9),
    ],
    ids=str,
)
def test_replayed_updates_equal_those_without_graphs_bit_for_bit(
    toy_config, pretending, fields, count
):
    model = {"dropout": 0.2, "attention_dropout": 0.1, "positions": "rotary"}
    config = toy_config(model=model, training=fields)
    run = pretending(scenarios.repeated_updates, config, count, 0)
    replayed = pretending(scenarios.repeated_updates, config, count)
    passes = count * config.training.accumulate
    assert (run.replays, replayed.replays) == (0, passes - 3)
    assert replayed.losses == run.losses
    assert len(set(run.losses)) == count
    torch.testing.assert_close(replayed.gradients, run.gradients, rtol=0, atol=0)
    torch.testing.assert_close(replayed.weights, run.weights, rtol=0, atol=0)


@pytest.mark.slow
def test_a_run_that_is_resumed_while_replaying_ends_with_the_same_weights(toy_config, pretending):
    # The cosine schedule would depend on the limit.
    training = {"schedule": "inverse_sqrt", "precision": "float32"}
    config = toy_config(model={"dropout": 0.2}, training=training)
    whole, [replays] = pretending(scenarios.weights_after_training, config, 16)
    resumed, parts = pretending(scenarios.weights_after_training, config, 8, 16)
    assert resumed == whole
    assert replays > sum(parts) > min(parts) > 0  # the second part captures its own graphs


@pytest.mark.parametrize("r_drop", [0.0, 5.0])
def test_updates_with_masked_padding_equal_those_without_padding(toy_config, pretending, r_drop):
    found = []
    for graphs in ("auto", "never"):
        training = {"precision": "float32", "r_drop": r_drop, "graphs": graphs}
        config = toy_config(model={"dropout": 0.2, "output_bias": True}, training=training)
        found.append(pretending(scenarios.repeated_updates, config, 4))
    masked, compact = found
    assert masked.losses == pytest.approx(compact.losses, rel=1e-4)
    for one, other in zip(masked.gradients[0], compact.gradients[0], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_dropout_differs_between_replays(toy_config, pretending):
    training = {"learning_rate": 1e-30, "precision": "float32", "batch_tokens": 4096}
    config = toy_config(model={"dropout": 0.5}, training=training)
    losses = pretending(scenarios.same_batch, config, 6)
    assert len(set(losses)) == 6


def test_at_most_so_many_graphs_are_captured(toy_config, pretending):
    found = pretending(scenarios.repeated_updates, toy_config(), 9, 2)
    assert found.replays == 2 * (9 / 3 - 1)


def test_a_replayed_update_launches_few_operations(toy_config, pretending):
    found = pretending(scenarios.repeated_updates, toy_config(), 8)
    assert max(found.launches[6:]) < 0.1 * min(found.launches[:3])


def test_what_a_graph_cannot_repeat(pretending):
    counting, waiting = pretending(scenarios.faults_of_graphs)
    assert counting == [1, 4, 6]  # not 9: the number 2 was captured
    assert waiting == [1, 2, 3]


def test_graphs_are_released_if_their_memory_is_needed(pretending):
    assert pretending(scenarios.out_of_memory) == [2, 2, 2, 3, 0]
