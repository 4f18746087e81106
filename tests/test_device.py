"""The best device that is here is chosen, and a device that is not here is refused."""

from contextlib import nullcontext

import pytest
import torch

from nmt.device import autocast, choose_device
from nmt.errors import UserError


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, False, "cuda"), (True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_best_device_is_chosen(cuda, mps, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    precisions: list[str] = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", precisions.append)

    assert choose_device() == torch.device(expected)

    assert precisions == (["high"] if cuda else [])  # TF32 is CUDA's


def test_a_named_device_is_taken():
    assert choose_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["", "gpu", "cuda:99", "cuda:-1", "cuda:x", "vulkan", "xla"])
def test_a_device_that_is_not_here_is_refused_in_one_line(name):
    with pytest.raises(UserError) as caught:
        choose_device(name)

    assert str(caught.value) == f"--device {name}: not available here; leave it out or use cpu"


def product(precision: str) -> torch.dtype:
    with autocast(torch.device("cpu"), precision):
        return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


@pytest.mark.parametrize(
    ("precision", "capabilities", "expected"),
    [
        ("float32", {"avx512_bf16": True}, torch.float32),
        ("bfloat16", {}, torch.bfloat16),
        ("auto", {}, torch.float32),
        ("auto", {"avx512_bf16": False, "amx_bf16": False}, torch.float32),
        ("auto", {"avx512_bf16": True}, torch.bfloat16),
        ("auto", {"amx_bf16": True}, torch.bfloat16),
    ],
)
def test_precision_of_matrix_products_on_the_cpu(precision, capabilities, expected, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)

    assert product(precision) == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("precision", "native", "kind"),
    [
        ("auto", True, torch.autocast),
        ("auto", False, nullcontext),
        ("float32", True, nullcontext),
        ("bfloat16", False, torch.autocast),
    ],
)
def test_auto_is_bfloat16_where_the_gpu_has_it(precision, native, kind, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: native)

    assert isinstance(autocast(torch.device("cuda"), precision), kind)
