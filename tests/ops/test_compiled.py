"""Compiled layers give the same results as uncompiled ones."""

import logging
from functools import partial
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from nmt.decoding.search.beam import beam_search
from nmt.model.transformer import Transformer
from nmt.ops import compiled as module
from nmt.ops.compiled import compile_training, compiled
from nmt.ops.cross_entropy import _differentiate_block
from nmt.training.batches import Batch
from nmt.training.loss import batch_loss


@pytest.fixture
def compiler(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> CompileCounterWithBackend:
    """Enable compilation, by default without code generation, and count the compilations."""
    counter = CompileCounterWithBackend(getattr(request, "param", "eager"))
    monkeypatch.setattr(module, "find_spec", lambda name: "there")
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=counter))
    return counter


def compile_layers(model: Transformer) -> None:
    for layer in (*model.encoder, *model.decoder):
        compile_training(layer)


def batch_of(pairs: int, source: int, target: int) -> Batch:
    return Batch.from_ids([[5] * source] * pairs, [[6] * target] * pairs)


@pytest.mark.parametrize(
    "compiler", ["eager", pytest.param("inductor", marks=pytest.mark.slow)], indirect=True
)
def test_losses_and_gradients_equal_those_of_uncompiled_layers(toy_config, compiler):
    config = toy_config(model={"dropout": 0.0}).model
    batches = [batch_of(4, 7, 5), batch_of(3, 6, 9), batch_of(1, 5, 5)]
    found: list[list[torch.Tensor]] = []
    for compiling in (False, True):
        torch.manual_seed(1)
        model = Transformer(config, 20, 20)
        if compiling:
            compile_layers(model)
        losses = [batch_loss(model, batch, 0.1)[0] for batch in batches]
        torch.stack(losses).sum().backward()
        found.append([*losses, *(p.grad for p in model.parameters() if p.grad is not None)])
    torch.testing.assert_close(found[1], found[0], rtol=1e-5, atol=1e-5)
    assert compiler.frame_count


@pytest.mark.parametrize(
    "compiler", ["eager", pytest.param("inductor", marks=pytest.mark.slow)], indirect=True
)
@pytest.mark.parametrize("r_drop", [0.0, 5.0])
def test_the_gradient_of_the_loss_equals_that_of_the_uncompiled_function(compiler, r_drop):
    fast = compiled(_differentiate_block)
    generator = torch.Generator().manual_seed(1)
    for rows in (12, 30, 64):
        found = []
        padded = torch.randn(rows, 24, generator=generator)
        labels = torch.randint(21, (rows, 1), generator=generator)
        for function in (_differentiate_block, fast):
            logits, d_bias = padded.clone(), torch.zeros(21)
            sums = function(logits[:, :21], torch.ones(21), labels, 0.1, r_drop, 0, d_bias)
            found.append([sums, logits, d_bias])
        torch.testing.assert_close(found[1], found[0], rtol=1e-5, atol=1e-5)
    assert 1 <= compiler.frame_count <= 2  # for any number of rows


@pytest.mark.slow
def test_compiled_code_is_shared_across_layers_and_shapes(toy_config, compiler):
    model = {"encoder_layers": 2, "decoder_layers": 2, "positions": "rotary", "dropout": 0.1}
    config = toy_config(model=model).model
    made = Transformer(config, 20, 20).to("meta")  # a device without the CPU's own code paths
    compile_layers(made)
    # In the first batch, no size equals a size of the model: torch.compile would treat both as the
    # same symbol, and recompile for other sizes.
    for pairs, source, target in ((6, 10, 12), (3, 6, 20), (1, 5, 5), (5, 20, 18)):
        batch = batch_of(pairs, source, target)
        made.decoder_output(batch.source.to("meta"), batch.target_in.to("meta"))
    assert compiler.frame_count == 2  # a layer of the encoder and one of the decoder


def test_decoding_is_not_compiled(toy_config, compiler):
    model = Transformer(toy_config().model, 20, 20)
    compile_layers(model)
    limits = torch.full((2,), 3)
    beam_search(model.eval(), batch_of(2, 4, 4).source, limits, beam_size=2, alpha=1.0)
    assert not compiler.frame_count


@pytest.mark.parametrize("missing", ["triton", "compiler"])
def test_without_a_compiler_the_function_runs_uncompiled_with_a_warning(
    missing, monkeypatch, caplog
):
    def no_compiler(graph: Any, inputs: Any) -> Any:
        raise RuntimeError("Failed to find C compiler.\nPlease specify it")

    there = None if missing == "triton" else "there"
    monkeypatch.setattr(module, "find_spec", lambda name: there)
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=no_compiler))
    monkeypatch.setattr(module, "_REASONS", [])
    function = compiled(torch.sin)
    other = compiled(torch.cos)
    with caplog.at_level(logging.WARNING, "nmt"):
        assert function(torch.zeros(3)).tolist() == [0, 0, 0]
    assert other(torch.zeros(3)).tolist() == [1, 1, 1]
    [line] = [r.getMessage() for r in caplog.records if r.name == module.__name__]
    assert "\n" not in line
    assert "Triton is not installed" in line or "Failed to find C compiler" in line
