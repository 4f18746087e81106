"""With a folder exported for it, `transformers` gives the same translations as nmt."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.config.config import Config
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.export.export import export_run
from nmt.runs.folder import RunFolder
from nmt.training.train import train
from tests.conftest import toy_pairs

MakeConfig = Callable[..., Config]
SOURCES = [source for source, _ in toy_pairs()]
POST = {"norm_position": "post", "final_norm": False}
PRE = {"norm_position": "pre", "final_norm": True}
PIECES = 12  # maximum length of a translation, in both libraries
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def make_run(toy_config: MakeConfig, model: dict[str, object]) -> RunFolder:
    training = {"max_updates": 60, "epochs": 20, "learning_rate": 5e-3, "validate_updates": 60}
    return train(toy_config(model=POST | model, training=training), "run")


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"tie": "none", "output_bias": True, "attention_bias": False, "activation": "gelu"},
        pytest.param(
            {"tie": "target", "scale_embeddings": False, "decoder_layers": 2, "activation": "silu"},
            marks=pytest.mark.slow,
        ),
        pytest.param({"tie": "inputs", "heads": 4}, marks=pytest.mark.slow),
        pytest.param(PRE, marks=pytest.mark.slow),
        PRE | {"output_bias": True, "attention_bias": False, "decoder_layers": 2},
    ],
)
def test_logits_and_greedy_translations_are_equal(
    toy_config: MakeConfig, model: dict[str, object]
) -> None:
    assert_export_equals_run(make_run(toy_config, model), SOURCES, PIECES, different=10)


@pytest.mark.slow
@pytest.mark.parametrize("model", [POST, PRE])
def test_translations_of_a_thousand_real_sentences_are_equal(
    toy_config: MakeConfig, corpora: Path, model: dict[str, object]
) -> None:
    config = toy_config(
        data={"path": str(corpora / "tatoeba-deu.txt"), "test_size": 1000},
        tokenizer={"vocabulary_size": 2000, "byte_fallback": True},
        model=model | {"d_model": 128, "heads": 4, "d_ff": 256},
        training={"max_updates": 300, "batch_tokens": 2048, "learning_rate": 2e-3},
    )
    run = train(config, "run")
    sources = [example.source for example in run.examples("test")]
    assert len(sources) >= 1000
    assert_export_equals_run(run, sources, tokens=40, different=300)


def assert_export_equals_run(
    run: RunFolder, sources: list[str], tokens: int, different: int
) -> None:
    """Compare ids, logits and greedy translations of the export with those of the run.

    tokens: maximum length of a translation; different: minimum number of distinct translations
    """
    transformers = pytest.importorskip("transformers")
    export_run(run, Path("exported"), format_="transformers")
    theirs, loading = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        "exported", output_loading_info=True
    )
    assert not any(loading.values())
    theirs.eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained("exported")
    ours = load_translator(run, engine="pytorch", device="cpu", overrides=["decoding.beam_size=1"])
    assert isinstance(ours.engine, PyTorchEngine)
    [network] = ours.engine.models
    size = ours.tokenizers.target.size

    batch = tokenizer(sources, return_tensors="pt", padding=True)
    ids = [[*ours.tokenizers.source.encode(source), 3] for source in sources]
    kept = [row[mask.bool()].tolist() for row, mask in zip(*batch.values(), strict=True)]
    assert kept == ids

    target = torch.randint(4, size, (len(sources), 9))
    target[:, 0] = 2
    with torch.no_grad():
        logits = theirs(**batch, decoder_input_ids=target).logits
        expected = network(batch["input_ids"], target)
    assert (logits[..., size:] == -torch.inf).all()  # tokens that occur only in the source
    torch.testing.assert_close(logits[..., :size], expected, atol=1e-4, rtol=0)

    options: dict[str, Any] = {"num_beams": 1, "max_length": None, "max_new_tokens": tokens}
    with torch.no_grad():
        found = theirs.generate(**batch, **options)
    hypotheses = [best for [best] in ours.engine(ids, [tokens] * len(ids), ours.decoding)]
    for row, hypothesis in zip(found.tolist(), hypotheses, strict=True):
        written = row[1:]  # after <sos>
        end = written.index(3) if 3 in written else len(written)
        assert written[:end] == hypothesis.ids
        text = tokenizer.decode(row, skip_special_tokens=True)
        assert text == ours.tokenizers.target.decode(hypothesis.ids)
    assert len({tuple(hypothesis.ids) for hypothesis in hypotheses}) > different


def test_generation_settings_are_exported(toy_config: MakeConfig) -> None:
    transformers = pytest.importorskip("transformers")
    export_run(make_run(toy_config, {}), Path("exported"), format_="transformers")
    settings = transformers.GenerationConfig.from_pretrained("exported")
    assert (settings.num_beams, settings.max_length) == (2, 64)
    assert (settings.decoder_start_token_id, settings.eos_token_id) == (2, 3)
    assert settings.suppress_tokens == [0, 2]
    card = Path("exported/README.md").read_text(encoding="utf-8")
    assert "- tsv: 168 pairs in training; licence not known to nmt" in card
    assert "nmt train --config" in card
    assert "nrefs:1|" in card  # sacrebleu's signature
    assert "library_name: transformers" in card.split("---")[1]


def test_a_full_disk_is_reported(
    toy_config: MakeConfig, full_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    run = train(toy_config(training={"max_updates": 1}, model=POST), "run")
    with full_disk(20_000), pytest.raises(UserError, match="free some space"):
        export_run(run, Path("exported"), format_="transformers")
    assert not Path("exported").exists()


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"model": {"norm_position": "pre"}}, "model.final_norm is false, not true"),
        ({"model": {"final_norm": True}}, "model.final_norm is true, not false"),
        ({"model": PRE | {"tie": "inputs"}}, "model.tie is inputs, not all"),
        ({"model": {"positions": "rotary"}}, "model.positions is rotary, not sinusoidal"),
        ({"model": {"d_key": 8}}, "model.d_key and d_value are not d_model / heads"),
        ({"data": {"lowercase": "both"}}, "data.lowercase is both, not none"),
        ({"data": {"unicode": "NFKC"}}, "data.unicode is NFKC, not NFC or none"),
        (
            {"data": {"lowercase": "both", "restore_case": True}},
            "data.restore_case is true, not false",
        ),
        ({"model": {"score_scale": "d_model"}}, "model.score_scale is d_model, not d_key"),
        ({"model": {"first_position": 1}}, "model.first_position is 1, not 0"),
        ({"model": {"position_exponent": "column"}}, "model.position_exponent is column, not pair"),
        ({"model": {"norm_epsilon": 1e-3}}, "model.norm_epsilon is 0.001, not 1.0e-05"),
        (
            {"tokenizer": {"whitespace_as_suffix": True}},
            "tokenizer.whitespace_as_suffix is true, not false",
        ),
        ({"data": {"placeholders": "all"}}, "data.placeholders is all, not none"),
        ({"tokenizer": {"kind": "whitespace"}}, "tokenizer.kind is whitespace, not bpe or unigram"),
    ],
)
def test_unsupported_runs_are_refused_with_the_field(
    toy_config: MakeConfig, sections: dict[str, dict[str, object]], reason: str
) -> None:
    sections["model"] = POST | sections.get("model", {})
    run = train(toy_config(**sections, training={"max_updates": 1}), "run")
    with pytest.raises(UserError, match=reason):
        export_run(run, Path("exported"), format_="transformers")
    assert not Path("exported").exists()


def test_runs_with_tags_are_refused(toy_config: MakeConfig) -> None:
    corpus = toy_config().data.path
    corpora = [{"source": "tsv", "path": str(corpus), "tag": "news"}]
    run = train(
        toy_config(
            data={"source": "pickle", "path": None, "corpora": corpora},
            model=POST,
            training={"max_updates": 1},
        ),
        "run",
    )
    with pytest.raises(UserError, match=r"data\.corpora has tags"):
        export_run(run, Path("exported"), format_="transformers")
