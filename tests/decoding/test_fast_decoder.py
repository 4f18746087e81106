"""`FastDecoder` computes what `Transformer.step` does."""

import pytest
import torch

from nmt.decoding.fast_decoder import FastDecoder
from nmt.model.padding import pad

SOURCES = pad([[5, 6, 7, 3], [8, 3], [9, 4, 3]])
# Of the rows before, which go on: one a source; two, then swapped and a source less; one again.
MOVES = [
    [[0], [1], [2]],
    [[0, 0], [1, 1], [2, 2]],
    [[5, 4], [0, 0]],
    [[3]],
]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "post", "activation": "gelu", "final_norm": False},
        {"positions": "learned", "scale_embeddings": False, "d_key": 3, "d_value": 5},
        {"positions": "rotary"},
        {"positions": "rotary", "d_model": 6, "heads": 3, "d_key": 4, "d_value": 5},
        {"attention_bias": False, "output_bias": True, "tie": "none", "score_scale": "d_model"},
    ],
)
def test_steps_are_those_of_the_plain_model(changes, random_model):
    plain = random_model(**changes)
    fast = FastDecoder(plain)
    states = plain.start(SOURCES), fast.start(SOURCES)
    generator = torch.Generator().manual_seed(1)

    for rows in map(torch.tensor, MOVES):
        for state in states:
            state.select(rows)
        tokens = torch.randint(4, 11, (rows.numel(),), generator=generator)
        expected, found = plain.step(tokens, states[0]), fast.step(tokens, states[1])
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_a_step_drops_nothing(random_model):
    model = random_model(dropout=0.5)
    fast, tokens = FastDecoder(model), torch.tensor([2, 2, 2])
    states = [fast.start(SOURCES) for _ in range(2)]
    expected = fast.step(tokens, states[0])

    model.train()

    assert torch.equal(fast.step(tokens, states[1]), expected)


def test_weights_that_change_in_place_are_followed(random_model):
    model = random_model()
    fast, tokens = FastDecoder(model), torch.tensor([2, 2, 2])
    before = fast.step(tokens, fast.start(SOURCES))

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)

    after = fast.step(tokens, fast.start(SOURCES))
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after, model.step(tokens, model.start(SOURCES)))
