"""The best available device is chosen, and an unavailable one is refused."""

import os

import pytest
import torch

from nmt.device import autocast, be_deterministic, choose_device, product_dtype, to_device
from nmt.errors import UserError


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, False, "cuda"), (True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_best_device_is_chosen(cuda, mps, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    cudnn: list[bool] = []
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", cudnn.append)
    precisions: list[str] = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", precisions.append)
    assert choose_device() == torch.device(expected)
    assert precisions == (["high"] if cuda else [])  # TF32 exists only on CUDA
    assert cudnn == ([False] if cuda else [])


def test_a_named_device_is_used():
    assert choose_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["", "gpu", "cuda:99", "cuda:-1", "cuda:x", "vulkan", "xla"])
def test_an_unavailable_device_is_refused_in_one_line(name):
    with pytest.raises(UserError) as caught:
        choose_device(name)
    assert str(caught.value) == f"--device {name}: not available here; omit it or use cpu"


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
def test_matrix_products_on_the_cpu_use_the_configured_or_best_precision(
    precision, capabilities, expected, monkeypatch
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert product(precision) == expected


@pytest.mark.parametrize(
    ("precision", "capability", "expected"),
    [
        ("auto", (6, 1), torch.float32),
        ("auto", (7, 0), torch.float16),
        ("auto", (7, 5), torch.float16),
        ("auto", (8, 0), torch.bfloat16),
        ("auto", (12, 0), torch.bfloat16),
        ("float32", (9, 0), torch.float32),
        ("float16", (9, 0), torch.float16),
        ("bfloat16", (7, 0), torch.bfloat16),
    ],
)
def test_auto_chooses_the_precision_of_the_tensor_cores(
    precision, capability, expected, monkeypatch
):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert product_dtype(torch.device("cuda"), precision) == expected


def test_float16_is_supported_on_the_cpu():
    assert product("float16") == torch.float16


def test_be_deterministic_allows_only_deterministic_kernels(monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")  # so that it is restored
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    try:
        be_deterministic()
        assert torch.are_deterministic_algorithms_enabled()
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("kind", ["cpu", "cuda", "mps"])
def test_copies_are_asynchronous_only_to_cuda(kind, monkeypatch):
    """Asynchronous copies to MPS may read memory that has been freed."""
    modes: list[bool] = []
    monkeypatch.setattr(
        torch.Tensor, "to", lambda tensor, device, non_blocking: modes.append(non_blocking)
    )
    to_device(torch.zeros(1), torch.device(kind))
    assert modes == [kind == "cuda"]
