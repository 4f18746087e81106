"""CTranslate2 gives the same translations as our own search, for all supported models."""

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from unittest.mock import Mock, patch

import ctranslate2 as library
import pytest
import torch

from nmt.config.choices import ComputeType
from nmt.config.config import Config
from nmt.config.decoding import DecodingConfig
from nmt.config.model import ModelConfig
from nmt.decoding.engines import conversion, ctranslate2
from nmt.decoding.engines.conversion import write_model
from nmt.decoding.engines.ctranslate2 import CTranslate2Engine
from nmt.decoding.engines.interface import Constraints
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.loading import load_translator
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.search.length_penalty import length_penalty
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.runs.weights import save_weights
from nmt.special_tokens import BOS, EOS, PAD

ALPHA = 1.0  # not the default
BEGINNINGS = [[first, second] for first in range(4, 10) for second in (5, 8)]
VARIANTS: list[dict[str, object]] = [
    {},
    {"norm_position": "post"},
    {"norm_position": "post", "final_norm": False},
    {"final_norm": False},
    {"norm_epsilon": 0.5},
    {"activation": "gelu"},
    {"activation": "silu"},
    {"score_scale": "d_model"},
    {"d_key": 12, "d_value": 12},
    {"d_key": 3, "d_value": 3, "heads": 3},
    {"attention_bias": False},
    {"positions": "learned"},
    {"positions": "rotary"},
    {"positions": "rotary", "d_key": 12, "d_value": 12, "norm_position": "post"},
    {"position_exponent": "column"},
    {"first_position": 1},
    {"scale_embeddings": False},
    {"tie": "all"},
    {"tie": "inputs"},
    {"tie": "target"},
    {"encoder_layers": 2, "decoder_layers": 3},
]


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., CTranslate2Engine]:
    """Return a function that converts a model and returns the library's search with it."""

    def make(
        model: Transformer,
        compute_type: ComputeType = "float32",
        seed: int | None = None,
        device: str | None = "cpu",
    ) -> CTranslate2Engine:
        save_weights(model, tmp_path / "weights.safetensors")
        sizes = model.source_embedding.tokens.num_embeddings, model.output.out_features
        source, target = ([str(i) for i in range(size)] for size in sizes)
        folder = Path(mkdtemp(dir=tmp_path))
        write_model(tmp_path / "weights.safetensors", model.config, (source, target), folder)
        return CTranslate2Engine(folder, model.config.max_length, device, compute_type, seed)

    return make


def decoding(beam_size: int = 1) -> DecodingConfig:
    return DecodingConfig(beam_size=beam_size, length_penalty=ALPHA)


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that replaces the library's translator, on a machine with two GPUs.

    It returns a folder that the replacement can open.
    """

    def replace(translator: Callable[..., object]) -> Path:
        types = {"cpu": {"float32", "int8"}, "cuda": {"float32", "float16"}}
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        monkeypatch.setattr(library, "get_cuda_device_count", lambda: 2)
        monkeypatch.setattr(library, "get_supported_compute_types", types.get)
        monkeypatch.setattr(library, "Translator", translator)
        (tmp_path / "shared_vocabulary.json").write_text("[]")
        return tmp_path

    return replace


@pytest.fixture
def model(random_model: Callable[..., Transformer]) -> Callable[..., Transformer]:
    """Return a function that creates a random model with biases on some tokens.

    <pad> and <sos> are improbable, as in a trained model: the library ignores their probability.
    """

    def make(biases: dict[int, float] | None = None, **changes: object) -> Transformer:
        made = random_model(3, **changes)
        with torch.no_grad():
            for token, bias in ({PAD: -100.0, BOS: -100.0} | (biases or {})).items():
                made.output.bias[token] = bias
        return made

    return make


def log_probability(
    model: Transformer, source: list[int], ids: list[int], ends: bool = True
) -> float:
    """Return the log-probability of the ids and <eos>, from one pass with teacher forcing.

    ends: whether <eos> counts
    """
    with torch.inference_mode():
        logits = model(torch.tensor([source]), torch.tensor([[BOS, *ids]]))
    steps = logits[0].log_softmax(-1)
    each = steps[torch.arange(len(ids) + 1), torch.tensor([*ids, EOS])]
    return float(each[: len(ids) + ends].sum())


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_greedy_search_finds_the_same_tokens_and_scores(changes, model, engine, random_sources):
    sources, ready = random_sources(100, 5), model(**changes)
    limits = [4 + len(ids) for ids in sources]
    found = engine(ready)(sources, limits, decoding())
    expected = PyTorchEngine([ready])(sources, limits, decoding())
    assert [h.ids for [h] in found] == [h.ids for [h] in expected]
    assert [h.complete for [h] in found] == [h.complete for [h] in expected]
    for [h], [ours] in zip(found, expected, strict=True):
        if h.complete:
            assert h.score == pytest.approx(ours.score, abs=1e-3)


def test_hypotheses_are_ranked_by_our_length_penalty(model, engine, random_sources):
    sources, ready = random_sources(40, 7), model()
    found = engine(ready)(sources, [20] * 40, decoding(4), 3)
    complete = [(i, h) for i, hypotheses in enumerate(found) for h in hypotheses if h.complete]
    assert len({len(h.ids) for _, h in complete}) > 3  # or the test would prove little
    for i, h in complete:
        expected = log_probability(ready, sources[i], h.ids)
        assert h.log_probability == pytest.approx(expected, abs=1e-3)
        assert h.score == h.log_probability / length_penalty(len(h.ids) + 1, ALPHA)
    for hypotheses in found:
        assert len(hypotheses) == 3
        assert hypotheses == sorted(hypotheses, key=lambda h: -h.score)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_most_probable_beginnings_are_continued(beam_size, model, engine, random_sources):
    sources, ready = random_sources(10, 11), model()
    found = engine(ready).continue_from(sources, [BEGINNINGS] * 10, [20] * 10, decoding(beam_size))
    assert any(h.complete for hypotheses in found for h in hypotheses)
    for source, hypotheses in zip(sources, found, strict=True):
        assert hypotheses == sorted(hypotheses, key=lambda h: -h.score)
        for h in filter(lambda h: h.complete, hypotheses):
            expected = log_probability(ready, source, h.ids)
            assert h.log_probability == pytest.approx(expected, abs=1e-3)
        probable = sorted(BEGINNINGS, key=lambda ids: -log_probability(ready, source, ids, False))
        assert {tuple(h.ids[:2]) for h in hypotheses} == {tuple(ids) for ids in probable[:3]}


@pytest.mark.parametrize("beam_size", [1, 3])
def test_every_output_respects_its_own_limit(beam_size, model, engine, random_sources):
    sources, endless = random_sources(12, 8), model({EOS: -100.0})
    limits = [2 + i % 3 for i in range(12)]
    found = engine(endless)(sources, limits, decoding(beam_size))
    assert [len(h.ids) for [h] in found] == limits
    assert not any(h.complete for [h] in found)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_pad_and_sos_are_never_written(beam_size, model, engine, random_sources):
    tempted = model({PAD: 50.0, BOS: 50.0})
    found = engine(tempted)(random_sources(20, 9), [8] * 20, decoding(beam_size), beam_size)
    assert not {PAD, BOS} & {i for hypotheses in found for h in hypotheses for i in h.ids}


def test_a_translation_may_be_empty_and_a_beam_wider_than_the_vocabulary(model, engine):
    [[found]] = engine(model({EOS: 50.0}))([[4, 5, EOS]], [8], decoding())
    assert found == Hypothesis([], pytest.approx(0, abs=1e-3), pytest.approx(0, abs=1e-3), True)
    [wide] = engine(model(), "int8")([[4, 5, EOS]], [8], decoding(), 30)
    assert len(wide) == 30


def test_length_limits_do_not_depend_on_the_batch(model, engine, random_sources):
    """The library has one limit per call."""
    sources, ready = random_sources(300, 8), engine(model())
    limits = [1 + i * 7 % 12 for i in range(300)]
    together = ready(sources, limits, decoding(3), 3)
    assert sum(not h.complete for [h, *_] in together) > 5  # or the test would prove little
    assert sum(h.complete for [h, *_] in together) > 5
    for source, limit, found in zip(sources, limits, together, strict=True):
        [alone] = ready([source], [limit], decoding(3), 3)
        assert [h.ids for h in found] == [h.ids for h in alone]
        assert [h.complete for h in found] == [h.complete for h in alone]


def test_unsupported_compute_types_are_refused_with_those_of_this_processor(
    model, engine, monkeypatch
):
    supported = {"float32", "int8", "int8_float32", "int16"}
    monkeypatch.setattr("ctranslate2.get_supported_compute_types", lambda device: supported)
    with pytest.raises(UserError, match=r"--compute-type float16: .* float32, int16, int8$"):
        engine(model(), "float16")


def test_required_phrases_are_refused(model, engine):
    with pytest.raises(ValueError, match="constraints"):
        engine(model())([[4, EOS]], [8], decoding(), constraints=Constraints([[[4]]]))


# --------------------------------------------------------------------------------------- sampling


def test_samples_follow_the_models_probabilities(model, engine):
    ready, source = model(), [4, 5, EOS]
    with torch.inference_mode():
        first = ready(torch.tensor([source]), torch.tensor([[BOS]]))[0, 0]
    settings = DecodingConfig(temperature=2.0, length_penalty=0.0)
    [found] = engine(ready, seed=1)([source], [1], settings, 500)
    tokens = [h.ids[0] if h.ids else EOS for h in found]
    for token, expected in enumerate((first / 2).softmax(0).tolist()[3:], 3):
        assert tokens.count(token) / len(tokens) == pytest.approx(expected, abs=0.08)


def test_sampling_respects_top_k_and_top_p(model, engine):
    ready, source = model(), [4, 5, EOS]
    for changes in ({"top_k": 1}, {"top_p": 1e-6}):
        settings = DecodingConfig(temperature=5.0, **changes)
        [found] = engine(ready, seed=1)([source], [8], settings, 5)
        [[best]] = engine(ready)([source], [8], decoding())
        assert {tuple(h.ids) for h in found} == {tuple(best.ids)}


def test_a_top_k_above_the_vocabularys_size_is_ignored(model, engine, random_sources):
    ready, sources = model(), random_sources(5, 5)
    found = [
        engine(ready, seed=1)(sources, [8] * 5, DecodingConfig(temperature=1.0, top_k=top_k))
        for top_k in (0, ready.output.out_features, 1_000_000)
    ]
    assert found[0] == found[1] == found[2]


def test_samples_depend_on_the_seed(model, engine, random_sources):
    ready, sources, settings = model(), random_sources(10, 5), DecodingConfig(temperature=1.0)
    first, second, other = (
        engine(ready, seed=seed)(sources, [8] * 10, settings, 2) for seed in (1, 1, 2)
    )
    assert first == second != other
    assert any(one.ids != another.ids for one, another in first)


def test_samples_have_plain_log_probabilities_and_are_ranked_by_our_length_penalty(model, engine):
    ready, source = model(), [4, 5, EOS]
    settings = DecodingConfig(temperature=1.0, length_penalty=ALPHA)
    [found] = engine(ready, seed=1)([source], [20], settings, 30)
    complete = [h for h in found if h.complete]
    assert len({len(h.ids) for h in complete}) > 3  # or the test would prove little
    for h in complete:
        expected = log_probability(ready, source, h.ids)
        assert h.log_probability == pytest.approx(expected, abs=1e-3)
    assert found == sorted(found, key=lambda h: -h.score)


def test_a_run_is_opened_with_the_seed_and_precision_of_the_call(trained_run):
    sources, sampled = [[4 + i, EOS] for i in range(10)], DecodingConfig(temperature=1.0, seed=7)

    def samples(decoding: DecodingConfig) -> list[list[Hypothesis]]:
        opened = ctranslate2.open_run(trained_run, "best", decoding, "cpu", "int8")
        assert opened._library.compute_type.startswith("int8")
        return opened(sources, [20] * 10, decoding)

    assert samples(sampled) == samples(sampled)
    assert samples(sampled) != samples(sampled.model_copy(update={"seed": 8}))


# ----------------------------------------------------------------------------- supported features


def test_all_tested_variants_are_supported():
    for changes in VARIANTS:
        assert ctranslate2.supports(Config(model=ModelConfig.model_validate(changes))) == []


def test_what_is_not_supported_is_reported():
    class NewModel(ModelConfig):
        kv_heads: int | None = None

    class NewDecoding(DecodingConfig):
        diverse: bool = False

    def changed(**sections):
        return Config().model_copy(update=sections)

    swish = ModelConfig().model_copy(update={"activation": "swish"})
    unequal = ModelConfig(d_key=5, d_value=6)
    for config, options, *named in (
        (changed(model=unequal), {}, "model.d_key 5"),
        (changed(decoding=DecodingConfig(knn_k=4)), {}, "decoding.knn_k"),
        (changed(), {"runs": 2}, "one run"),
        (changed(), {"device": "mps"}, "mps"),
        (changed(), {"device": "cuda:1"}),
        (changed(model=NewModel(), decoding=NewDecoding()), {}, "kv_heads", "diverse"),
        (changed(model=swish), {}, "model.activation swish"),
    ):
        reasons = ctranslate2.supports(config, **options)
        assert len(reasons) == len(named)
        assert all(name in reason for name, reason in zip(named, reasons, strict=True))


def test_every_field_of_the_model_and_of_decoding_is_handled():
    """A new field must either be converted and listed, or be reported by `supports`."""
    assert set(ModelConfig.model_fields) == conversion.MODEL_FIELDS
    assert set(DecodingConfig.model_fields) == ctranslate2.DECODING_FIELDS


def test_both_engines_give_the_same_text(trained_run):
    lines = ["Anna sings today.", "", "Ben swims often. " * 20, "Zorbax\u2028dances  at night."]
    ours = load_translator(trained_run, engine="pytorch", device="cpu").translate(lines)
    exact = load_translator(trained_run, device="cpu", compute_type="float32")
    theirs = exact.translate(lines)
    assert [t.text for t in theirs] == [t.text for t in ours]
    assert [t.parts for t in theirs] == [t.parts for t in ours] == [1, 0, 20, 1]


@pytest.mark.parametrize(
    ("expected", "features"),
    [
        ("float32", {"AVX2": True, "AVX512VNNI": False}),
        ("int8", {"AVX512VNNI": True}),
        ("int8", {"ASIMDDP": True}),
    ],
)
def test_int8_is_the_default_if_the_processor_accumulates_it_exactly(
    features, expected, monkeypatch
):
    umath = pytest.importorskip("numpy._core._multiarray_umath", reason="NumPy 1")
    monkeypatch.setattr(umath, "__cpu_features__", features)
    assert ctranslate2.default_compute_type("cpu") == expected
    assert ctranslate2.default_compute_type("cuda") == "float32"


def test_the_environment_sets_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", {0: set(range(5))}.get, raising=False)
    for asked, threads in {"3": 3, "0": 5, "": 5, "many": 5}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert ctranslate2.threads() == threads


@pytest.mark.parametrize(
    ("device", "limits", "batches"),
    [
        ("cuda", [9, 9], 1),
        ("cpu", [9, 9], 4),
        ("cuda", [2, 9], 1 + 1),  # a call has a single limit
        ("cpu", [2, 9], 2 + 2),
    ],
)
def test_a_gpu_uses_one_worker_and_the_configured_batch_size(device, limits, batches, pretending):
    class Pretended:
        def __init__(self, folder, *, device, inter_threads, **_):
            self.device, self.num_translators, self.calls = device, inter_threads, 0

        def translate_batch(self, batch, *, max_decoding_length, **_):
            self.calls += 1
            longest = ["5"] * max_decoding_length
            result = SimpleNamespace(hypotheses=[longest], scores=[-1.0])
            return [SimpleNamespace(result=lambda: result)] * len(batch)

    search = CTranslate2Engine(pretending(Pretended), 64, device, "float32")
    search._library.calls = 0
    decoding = DecodingConfig(beam_size=1, batch_tokens=8192)
    found = search([[5, 6, 7, EOS]] * 1000, limits * 500, decoding)
    assert all(len(h.ids) <= limit for [h], limit in zip(found, limits * 500, strict=True))
    assert search._library.num_translators == (1 if device == "cuda" else 2)
    assert search._library.calls == batches


@pytest.mark.parametrize(
    ("device", "compute_type", "seed", "opened", "threads"),
    [
        ("cpu", None, None, ("cpu", 0, "default of cpu"), 2),
        ("cpu", "int8", 3, ("cpu", 0, "int8"), 1),  # one thread, for reproducible samples
        ("cuda:1", None, None, ("cuda", 1, "default of cuda"), 1),
        (None, "float16", None, ("cuda", 0, "float16"), 1),
    ],
)
def test_the_library_gets_device_precision_and_threads(
    device, compute_type, seed, opened, threads, monkeypatch, pretending
):
    opening = Mock(return_value=Mock(num_translators=threads))
    monkeypatch.setattr(ctranslate2, "default_compute_type", "default of {}".format)
    search = CTranslate2Engine(pretending(opening), 64, device, compute_type, seed)
    names = ("device", "device_index", "compute_type", "inter_threads", "intra_threads")
    [call] = opening.call_args_list
    assert call.kwargs == dict(zip(names, (*opened, threads, 1), strict=True))
    assert search.workers == threads + 1


@pytest.mark.parametrize(
    ("asked", "batches", "sharing"), [("1", 1, 1), ("2", 1, 2), ("3", 1, 3), ("9", 2, 4)]
)
def test_threads_share_the_batches_of_a_large_model(
    asked, batches, sharing, model, engine, monkeypatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    monkeypatch.setattr(ctranslate2, "_LARGE", 1)
    with patch.object(library, "Translator", wraps=library.Translator) as opening:
        engine(model())
    [call] = opening.call_args_list
    assert (call.kwargs["inter_threads"], call.kwargs["intra_threads"]) == (batches, sharing)


def test_many_lines_get_a_thread_for_each_batch_of_a_large_model(model, engine, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(ctranslate2, "_LARGE", 1)
    monkeypatch.setattr(ctranslate2, "_CPU_BATCH", 40)
    decoding, lines = DecodingConfig(beam_size=2), [[5, 6, 7, EOS]] * 40
    search = engine(model())
    with patch.object(library, "Translator", wraps=library.Translator) as opening:
        few = search(lines[:10], [9] * 10, decoding)
        assert not opening.call_args_list
        many = search(lines, [9] * 40, decoding)
        search(lines, [9] * 40, decoding)
    [call] = opening.call_args_list
    assert (call.kwargs["inter_threads"], call.kwargs["intra_threads"]) == (2, 1)
    for [found], [alone] in zip(many, few * 4, strict=True):
        assert found.ids == alone.ids
        # Batches of other sizes are rounded differently.
        assert found.log_probability == pytest.approx(alone.log_probability, abs=1e-4)


def test_a_model_that_cannot_be_opened_again_translates_many_lines_too(
    model, engine, monkeypatch, pretending
):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(ctranslate2, "_LARGE", 1)
    monkeypatch.setattr(ctranslate2, "_CPU_BATCH", 1)
    search = engine(model())
    pretending(Mock(side_effect=RuntimeError("no such folder")))
    assert len(search([[5, EOS]] * 40, [9] * 40, DecodingConfig())) == 40


@pytest.mark.parametrize("asked", ["1", "2"])
def test_pytorch_keeps_its_threads(asked, model, engine, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        engine(model())
        assert torch.get_num_threads() == 3
        with pytest.raises(UserError, match="cannot open"):
            CTranslate2Engine(tmp_path / "nothing", 64)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_without_sampling_all_threads_are_used(trained_run, monkeypatch):
    monkeypatch.setattr(ctranslate2, "CTranslate2Engine", lambda *given: given)
    for temperature, seed in ((0.0, None), (1.0, 7)):
        decoding = DecodingConfig(temperature=temperature, seed=7)
        assert ctranslate2.open_run(trained_run, "best", decoding, "cpu", None)[-1] == seed


@pytest.mark.parametrize("device", [None, "cuda"])
def test_without_cublas_the_cpu_is_used_unless_cuda_was_requested(
    device, model, engine, pretending, caplog
):
    on_cpu = library.Translator
    reason = "Library libcublas.so.12 is not found or cannot be loaded"
    without_cublas = SimpleNamespace(translate_batch=Mock(side_effect=RuntimeError(reason)))

    def opened(folder, *, device, **options):
        return on_cpu(folder, device=device, **options) if device == "cpu" else without_cublas

    pretending(opened)
    if device:
        with pytest.raises(UserError, match=r"on cuda: Library libcublas\.so\.12 is not found"):
            engine(model(), device=device)
    else:
        assert engine(model(), device=device)._library.device == "cpu"
        assert "cannot use the GPU and runs on the CPU: Library libcublas.so.12" in caplog.text
