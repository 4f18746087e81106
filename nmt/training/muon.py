"""Muon: steps along the momentum, made orthogonal (Jordan et al. 2024).

https://kellerjordan.github.io/posts/muon/ — for the matrices of a model's layers; what is left,
vectors and the embeddings, learns by AdamW. PyTorch's own Muon takes one matrix at a time, in
bfloat16, which is far slower on processors without such products.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# A quintic that takes singular values from (0, 1] to about 1 in five steps (Jordan et al.).
_COEFFICIENTS = 3.4445, -4.7750, 2.0315
_STEPS = 5


class Muon(torch.optim.Optimizer):
    """Muon for matrices and AdamW for other parameters, at one learning rate.

    An orthogonal step is scaled to the size that Adam's have, 0.2 · √(longer side) (Liu et al.
    2025, https://arxiv.org/abs/2502.16982, equation 4), so that a rate which suits Adam suits it.
    A matrix made of square ones, such as Wᵠ, Wᴷ and Wⱽ in one, is taken apart into them.
    """

    def __init__(
        self,
        matrices: Iterable[Tensor],
        others: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        **adam: Any,
    ):
        self._adam = torch.optim.AdamW(others, lr=lr, weight_decay=weight_decay, **adam)
        group = {"params": list(matrices), "momentum": momentum, "weight_decay": weight_decay}
        super().__init__([group, *self._adam.param_groups], {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take one step along the gradients."""
        group, others = self.param_groups
        blocks, directions = defaultdict(list), defaultdict(list)  # by shape, to go together
        for matrix in group["params"]:
            if matrix.grad is not None:
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                for block in _blocks(matrix):
                    blocks[block.shape].append(block)
                for direction in _blocks(self._direction(matrix, group["momentum"])):
                    directions[direction.shape].append(direction)
        for shape, parts in blocks.items():
            steps = orthogonalised(torch.stack(directions[shape])).unbind()
            torch._foreach_add_(parts, steps, alpha=-group["lr"] * 0.2 * max(shape) ** 0.5)
        self._adam.state, self._adam.param_groups = self.state, [others]
        self._adam.step()

    def _direction(self, matrix: Tensor, momentum: float) -> Tensor:
        """Take the gradient into the momentum, and look ahead as Nesterov does."""
        assert matrix.grad is not None
        state = self.state[matrix]
        if not state:
            state["momentum"] = torch.zeros_like(matrix)
        state["momentum"].lerp_(matrix.grad, 1 - momentum)
        return matrix.grad.lerp(state["momentum"], momentum)


def orthogonalised(matrices: Tensor) -> Tensor:
    """Return roughly U Vᵀ of each matrix's singular value decomposition U S Vᵀ.

    By Newton–Schulz iteration, which takes singular values to between 0.7 and 1.2; the smallest,
    below a hundredth of the matrix's norm, stay smaller. matrices: (n, rows, columns) → the same
    """
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)
    for _ in range(_STEPS):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def _blocks(matrix: Tensor) -> list[Tensor]:
    """Return views of the square matrices that a matrix is made of, or the whole."""
    rows, columns = matrix.shape
    short, long = sorted((rows, columns))
    return [matrix] if long % short else list(torch.split(matrix, short, int(columns > rows)))
