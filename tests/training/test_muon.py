from copy import deepcopy

import pytest
import torch
from torch import Tensor

from nmt.training.muon import Muon, orthogonalised


def matrix(*shape: int, seed: int = 1) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)))


def gradients(parameter: Tensor, steps: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(parameter.shape, generator=generator) for _ in range(steps)]


def learn(optimizer: torch.optim.Optimizer, parameter: Tensor, steps: int = 4) -> Tensor:
    """Take steps along the same gradients for everyone; return where they lead."""
    for gradient in gradients(parameter, steps):
        parameter.grad = gradient
        optimizer.step()
    return parameter.detach()


@pytest.mark.parametrize("shape", [(6, 6), (6, 10), (10, 6)])
def test_singular_values_become_about_one_and_singular_vectors_stay(shape):
    # Known vectors, and values of which the least is a tenth of the greatest.
    left, _, right = torch.linalg.svd(matrix(*shape).detach(), full_matrices=False)
    many = torch.stack([left * torch.linspace(1, 0.1, 6) * size @ right for size in (1e-3, 50.0)])

    for found in orthogonalised(many):
        values = left.T @ found @ right.T
        assert ((values.diagonal() > 0.6) & (values.diagonal() < 1.3)).all()
        torch.testing.assert_close(values, values.diagonal().diag(), atol=1e-4, rtol=0)


def test_steps_are_those_of_pytorchs_muon():
    ours, theirs = matrix(16, 16), matrix(16, 16)
    twin = torch.optim.Muon(
        [theirs], lr=0.1, weight_decay=0.1, momentum=0.9, adjust_lr_fn="match_rms_adamw"
    )
    found = learn(Muon([ours], [matrix(1)], lr=0.1, momentum=0.9, weight_decay=0.1), ours)

    # The twin's products are in bfloat16, which has 8 bits.
    torch.testing.assert_close(found, learn(twin, theirs), atol=0.02, rtol=0)
    assert not torch.allclose(found, matrix(16, 16), atol=0.2)


@pytest.mark.parametrize("dim", [0, 1])
def test_a_matrix_of_three_in_one_learns_as_three(dim):
    whole = torch.nn.Parameter(torch.cat([matrix(4, 4, seed=seed) for seed in range(3)], dim))
    parts = [torch.nn.Parameter(part.clone()) for part in whole.detach().chunk(3, dim)]
    optimizers = Muon([whole], [matrix(1)], lr=0.1), Muon(parts, [matrix(1)], lr=0.1)

    for gradient in gradients(whole, 3):
        whole.grad = gradient
        for part, its_gradient in zip(parts, gradient.chunk(3, dim), strict=True):
            part.grad = its_gradient
        for optimizer in optimizers:
            optimizer.step()

    torch.testing.assert_close(whole.detach(), torch.cat([p.detach() for p in parts], dim))


def test_other_parameters_learn_by_adamw():
    ours, theirs = matrix(5), matrix(5)
    options = {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
    found = learn(Muon([matrix(2, 2)], [ours], **options), ours)

    assert torch.equal(found, learn(torch.optim.AdamW([theirs], **options), theirs))


def test_a_rate_changed_between_steps_holds_for_all():
    square, vector = matrix(3, 3), matrix(3)
    optimizer = Muon([square], [vector], lr=0.1)
    before = square.clone(), vector.clone()
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    square.grad, vector.grad = torch.ones(3, 3), torch.ones(3)
    optimizer.step()

    assert torch.equal(square, before[0])
    assert torch.equal(vector, before[1])


def test_a_loaded_state_goes_on_as_the_saved_one():
    square, vector = matrix(3, 3), matrix(3)
    first = Muon([square], [vector], lr=0.1)
    square.grad, vector.grad = torch.randn(3, 3), torch.randn(3)
    first.step()
    copies = square.detach().clone(), vector.detach().clone()
    second = Muon([copies[0]], [copies[1]], lr=0.1)
    second.load_state_dict(deepcopy(first.state_dict()))
    copies[0].grad, copies[1].grad = square.grad, vector.grad
    for optimizer in (first, second):
        optimizer.step()

    assert torch.equal(square, copies[0])
    assert torch.equal(vector, copies[1])
