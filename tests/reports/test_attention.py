"""Attention weights equal those of the model, in every way of computing them."""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.config.choices import AttentionKind, AttentionPicture
from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.config.model import ModelConfig
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.errors import UserError
from nmt.model.attention import CrossAttention, SelfAttention, record_attention
from nmt.model.transformer import Transformer
from nmt.reports.attention import (
    CLEAREST,
    MOST_TOKENS,
    TITLES,
    Attention,
    AttentionMap,
    _draw,
    draw_attention,
    read_attention,
    readable,
)
from nmt.runs.folder import RunFolder
from nmt.special_tokens import BOS

from .conftest import texts

SENTENCE = "Anna sings today."


@pytest.fixture(scope="module")
def trained(trained_run: RunFolder) -> Translator:
    return load_translator(trained_run, device="cpu", engine="pytorch")


@pytest.fixture(scope="module")
def translator(trained: Translator) -> Translator:
    """Three encoder and two decoder layers with random weights, and the toy corpus' tokenizers."""
    torch.manual_seed(0)
    config = ModelConfig(d_model=24, heads=3, d_ff=16, encoder_layers=3, decoder_layers=2)
    tokenizers = trained.tokenizers
    model = Transformer(config, tokenizers.source.size, tokenizers.target.size).eval()
    decoding = DecodingConfig(max_length_factor=1, max_length_extra=3)
    return Translator(PyTorchEngine([model]), tokenizers, DataConfig(), decoding)


@pytest.fixture(scope="module")
def attention(translator: Translator) -> Attention:
    return read_attention(translator, SENTENCE)


def test_rows_and_columns_are_the_tokens_of_queries_and_keys(trained: Translator) -> None:
    attention = read_attention(trained, SENTENCE)
    tokenizers = trained.tokenizers
    source = [*tokenizers.source.split(SENTENCE), "<eos>"]
    target = tokenizers.target.split("Anna singt heute.")
    assert attention.translation == trained.translate([SENTENCE])[0].text == "Anna singt heute."
    assert attention["encoder"].queries == attention["encoder"].keys == source
    assert attention["cross"].keys == source
    assert attention["cross"].queries == attention["decoder"].queries == [*target, "<eos>"]
    assert attention["decoder"].keys == ["<sos>", *target]


def test_a_truncated_translation_has_no_eos(trained: Translator) -> None:
    decoding = DecodingConfig(max_length_factor=0, max_length_extra=2)
    short = Translator(trained.pytorch, trained.tokenizers, DataConfig(), decoding)
    attention = read_attention(short, SENTENCE)
    assert not attention.complete
    assert attention["cross"].queries == attention["decoder"].queries
    assert attention["cross"].queries[2:] == ["(cut)"]
    assert attention.as_json()["complete"] is False
    assert read_attention(trained, SENTENCE).complete


def test_weights_of_layers_and_heads_sum_to_one_and_do_not_attend_to_the_future(
    attention: Attention,
) -> None:
    source, target = len(attention["cross"].keys), len(attention["cross"].queries)
    shapes = {name: found.weights.shape for name, found in attention.maps.items()}
    encoder, decoder, cross = (3, 3, source, source), (2, 3, target, target), (2, 3, target, source)
    assert shapes == {"encoder": encoder, "decoder": decoder, "cross": cross}
    assert attention["cross"].average.shape == (target, source)
    for found in attention.maps.values():
        np.testing.assert_allclose(found.weights.sum(-1), 1, rtol=1e-5)
    assert np.triu(attention["decoder"].weights, k=1).max() == 0


@torch.inference_mode()
def test_weights_equal_those_of_cached_decoding(
    translator: Translator, attention: Attention
) -> None:
    """Each decoding step has one query, which is one row of the picture."""
    model, [trace] = translator.pytorch.models[0], translator.trace(SENTENCE)
    decoder = model.decoder_layers()
    state = model.init_state(torch.tensor([trace.source_ids]))
    log_probability = 0.0
    ids = [*trace.hypothesis.ids, 3]
    written_by_search = len(ids) - (not trace.hypothesis.complete)  # no <eos> at the limit
    for row, (read, written) in enumerate(zip([BOS, *ids], ids, strict=False)):
        layers = [(layer.self_attention, layer.cross_attention) for layer in decoder]
        with record_attention(*(part for pair in layers for part in pair)) as records:
            logits = model.step(torch.tensor([read]), state)
        if row < written_by_search:
            log_probability += float(logits.log_softmax(-1)[0, written])
        for layer in range(2):
            own, cross = (record[0][0, :, 0].numpy() for record in records[2 * layer :][:2])
            expected = attention["decoder"].weights[layer, :, row, : row + 1]
            np.testing.assert_allclose(own, expected, atol=1e-5)
            np.testing.assert_allclose(cross, attention["cross"].weights[layer, :, row], atol=1e-5)
    # <pad> and <sos> have a small probability, although a search never produces them.
    assert log_probability == pytest.approx(trace.hypothesis.log_probability, rel=1e-4)


@torch.inference_mode()
def test_weighted_values_equal_the_output_of_the_fused_kernel(
    translator: Translator, attention: Attention
) -> None:
    model, [trace] = translator.pytorch.models[0], translator.trace(SENTENCE)
    inputs: dict[torch.nn.Module, tuple[Tensor, ...]] = {}
    heads: dict[torch.nn.Module, Tensor] = {}
    layers: list[tuple[SelfAttention | CrossAttention, np.ndarray]] = [
        *zip((layer.attention for layer in model.encoder_layers()),
             attention["encoder"].weights, strict=True),
        *zip((layer.self_attention for layer in model.decoder_layers()),
             attention["decoder"].weights, strict=True),
        *zip((layer.cross_attention for layer in model.decoder_layers()),
             attention["cross"].weights, strict=True),
    ]  # fmt: skip
    handles = []
    for layer, _ in layers:
        handles.append(layer.register_forward_pre_hook(lambda m, x: inputs.update({m: x})))
        handles.append(layer.output.register_forward_pre_hook(lambda m, x: heads.update({m: x[0]})))
    model.decoder_output(
        torch.tensor([trace.source_ids]), torch.tensor([[BOS, *trace.hypothesis.ids]])
    )
    for handle in handles:
        handle.remove()
    for layer, weights in layers:
        if isinstance(layer, SelfAttention):
            value = layer.query_key_value(inputs[layer][0]).split(layer.widths, -1)[-1]
            value = value.unflatten(2, (layer.heads, -1)).transpose(1, 2)
        else:
            value = inputs[layer][1][1]
        mixed = torch.from_numpy(weights) @ value[0]  # (heads, queries, d_value)
        fused = heads[layer.output][0].unflatten(1, (layer.heads, -1)).transpose(0, 1)
        torch.testing.assert_close(mixed, fused, atol=1e-5, rtol=1e-4)


def test_reading_attention_does_not_disable_the_fast_path(
    translator: Translator, attention: Attention
) -> None:
    modules = translator.pytorch.models[0].modules()
    recorders = [m for m in modules if isinstance(m, SelfAttention | CrossAttention)]
    assert len(recorders) == 7
    assert all(module.recorded is None for module in recorders)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "empty") for text in ("", "  \t ", "\u200b")),
        ("Anna sings today. " * 20, "20 sentences"),
        ("Anna sings today " * 200, r"\d+ parts"),
    ],
)
def test_anything_but_one_sentence_is_refused(trained: Translator, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        read_attention(trained, text)
    # A second sentence without text does not count.
    assert read_attention(trained, "Anna sings today.\n\u200b").translation


@pytest.mark.parametrize(
    ("pairs", "drawn", "limit"), [(30, True, "40"), (500, True, "200"), (500, False, "200")]
)
def test_too_many_tokens_are_refused_before_the_search(
    trained: Translator, pairs: int, drawn: bool, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"d_model": 8, "heads": 1, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 1}
    config, tokenizers = ModelConfig(**small, max_length=5000), trained.tokenizers
    model = Transformer(config, tokenizers.source.size, tokenizers.target.size).eval()
    roomy = Translator(PyTorchEngine([model]), tokenizers, DataConfig(), DecodingConfig())
    monkeypatch.setattr(PyTorchEngine, "__call__", pytest.fail)
    with pytest.raises(UserError, match=rf"[\d,]+ tokens .*at most {limit}\)"):
        read_attention(roomy, "Anna sings " * pairs, drawn)


def test_an_ensemble_is_refused(trained_run: RunFolder) -> None:
    ensemble = load_translator(trained_run, trained_run, device=torch.device("cpu"))
    with pytest.raises(UserError, match="one model"):
        read_attention(ensemble, SENTENCE)


# --------------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("which", get_args(AttentionPicture))
def test_every_picture_shows_its_tokens_and_heads(
    attention: Attention, which: str, tmp_path: Path
) -> None:
    draw_attention(attention, which, tmp_path / "a.svg")  # type: ignore[arg-type]
    found = list(texts(tmp_path / "a.svg"))
    maps = {name: list(attention.maps.values()) for name in ("average", "lines")}
    maps |= {"clearest": [attention["cross"]]}
    for shown in maps.get(which) or [attention[which]]:  # type: ignore[index]
        assert {readable(token) for token in (*shown.queries, *shown.keys)} <= set(found)
    panels = [text for text in found if re.fullmatch(r"layer \d, head \d", text)]
    heads = {"clearest": 4, "lines": 3, "average": 0, "encoder": 9, "decoder": 6, "cross": 6}
    assert len(panels) == heads[which]
    assert any("Anna sings today.  →" in text for text in found)


def test_dollars_and_other_special_characters_are_drawn_literally(tmp_path: Path) -> None:
    tokens = ["▁$5", "&$", "<0xE2>", "_a^b", "漢", "\\frac"]
    weights = np.full((1, 1, 6, 6), 1 / 6, np.float32)
    found = AttentionMap("cross", tokens, tokens, weights)
    given = Attention("$5 & $6\x1b[1m", "$", {"cross": found})
    draw_attention(given, "average", tmp_path / "a.svg")
    draw_attention(given, "clearest", tmp_path / "b.svg")
    assert "$5 & $6\\x1b[1m  →  $" in texts(tmp_path / "b.svg")
    assert texts(tmp_path / "a.svg").count("·$5") == 2
    assert set(map(readable, tokens)) <= set(texts(tmp_path / "a.svg"))


def test_tokens_are_readable_as_labels() -> None:
    shown = {"▁likes": "·likes", "ar": "ar", ".": "“.”", "▁–": "“·–”", "<eos>": "<eos>"}
    assert {token: readable(token) for token in shown} == shown


@pytest.mark.filterwarnings("error")
def test_very_long_words_are_shortened(tmp_path: Path) -> None:
    word = "x" * 3000
    weights = np.ones((1, 1, 2, 1), np.float32)
    found = Attention(word, word, {"cross": AttentionMap("cross", ["a", word], [word], weights)})
    for which in ("clearest", "lines", "average", "cross"):
        draw_attention(found, which, tmp_path / "a.svg")  # type: ignore[arg-type]
        [size] = re.findall(r'width="([\d.]+)pt"', (tmp_path / "a.svg").read_text())
        assert float(size) < 1000
        assert "x" * 23 + "…" in texts(tmp_path / "a.svg")
        assert max(map(len, texts(tmp_path / "a.svg"))) < 300


def test_illegibly_large_pictures_are_refused(tmp_path: Path) -> None:
    def attention(tokens: int, heads: int) -> Attention:
        weights = np.zeros((1, heads, 1, tokens), np.float32)
        return Attention("x", "y", {"cross": AttentionMap("cross", ["a"], ["b"] * tokens, weights)})

    path = tmp_path / "a.png"
    for which, tokens, heads, named in (
        ("average", MOST_TOKENS + 1, 1, "41 tokens"),
        ("cross", MOST_TOKENS + 1, 1, "41 tokens"),
        ("cross", 3, 500, "500 heads"),
    ):
        with pytest.raises(UserError, match=named):
            draw_attention(attention(tokens, heads), which, path)  # type: ignore[arg-type]
    assert not path.exists()


def test_the_clearest_head_aligns_each_query_with_a_different_key() -> None:
    aligned, always_last, even = np.eye(4), np.eye(4)[[3, 3, 3, 3]], np.full((4, 4), 0.25)
    blurred = 0.7 * aligned + 0.3 * even
    weights = np.array([[always_last, blurred], [even, aligned]], np.float32)
    names = list("abcd")
    first, second, *_ = AttentionMap("cross", names, names, weights).clearest()
    assert (first, second) == ((1, 1), (0, 1))


def test_the_picture_shows_the_clearest_heads_with_keys_below_and_queries_at_the_left(
    attention: Attention, tmp_path: Path
) -> None:
    from matplotlib.figure import Figure

    panel = Figure().subplots()
    weights = np.ones((1, 1, 2, 3), np.float32)
    _draw(panel, AttentionMap("cross", ["x", "y"], ["a", "b", "c"], weights), weights[0, 0])
    assert [label.get_text() for label in panel.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["x", "y"]
    draw_attention(attention, "clearest", tmp_path / "a.svg")
    clearest = [f"layer {n + 1}, head {h + 1}" for n, h in attention["cross"].clearest()[:CLEAREST]]
    assert [text for text in texts(tmp_path / "a.svg") if text in clearest] == clearest


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_line_widths_are_proportional_to_the_weights_of_the_clearest_head_of_each_kind(
    attention: Attention, kind: AttentionKind, tmp_path: Path
) -> None:
    draw_attention(attention, "lines", tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text()
    found = attention[kind]
    layer, head = found.clearest()[0]
    widths = [float(width) for width in re.findall(r"stroke-width: ([0-9.]+)", svg)]
    for weight in filter(None, found.weights[layer, head].flatten()):  # hidden ones are 0
        assert any(width == pytest.approx(6 * weight, rel=1e-3, abs=1e-3) for width in widths)
    shown = list(texts(tmp_path / "a.svg"))
    assert shown[shown.index(TITLES[kind]) + 1] == f"layer {layer + 1}, head {head + 1}"


def test_a_notebook_shows_the_picture(attention: Attention) -> None:
    assert (attention._repr_png_() or b"").startswith(b"\x89PNG")
    long = AttentionMap("cross", ["a"], ["b"] * 41, np.zeros((1, 1, 1, 41), np.float32))
    assert Attention("x", "y", {"cross": long})._repr_png_() is None
