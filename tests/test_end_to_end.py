"""Complete training runs with the shipped configs (minutes each) reach the documented quality."""

from pathlib import Path

import pytest
import torch

from nmt.config.yaml_files import load_config
from nmt.decoding.loading import load_translator
from nmt.evaluation.evaluate import EvaluationReport, evaluate
from nmt.evaluation.metrics import corpus_bleu
from nmt.runs.folder import RunFolder
from nmt.training.train import train

pytestmark = pytest.mark.slow
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _all_cores(in_empty_folder: None, two_threads: None) -> None:
    """Train as users do."""


def translate(run: RunFolder, *lines: str) -> list[str]:
    return [translation.text for translation in load_translator(run).translate(lines)]


def evaluate_run(run: RunFolder) -> EvaluationReport:
    return evaluate(load_translator(run), run.examples("test"), run.config.data)


def test_the_sample_is_learned() -> None:
    run = train(load_config("sample.yaml"), Path("run"))
    [oscar] = translate(run, "oscar likes to code")
    assert oscar.rstrip(".") == "Oscar programmiert gern"
    assert evaluate_run(run).all.scores["bleu"] >= 90


def test_ctranslate2_gives_the_same_tokens_as_pytorch() -> None:
    run = train(load_config("sample.yaml", ["training.max_updates=400"]), Path("run"))
    lines = [example.source for example in run.examples("test")]
    greedy = ["decoding.beam_size=1"]
    ours = load_translator(run, overrides=greedy, device="cpu", engine="pytorch")
    exact = load_translator(run, overrides=greedy, device="cpu", compute_type="float32")
    assert len(lines) == 1000
    for line in lines:
        for trace, other in zip(ours.trace(line), exact.trace(line), strict=True):
            assert trace.hypothesis.ids == other.hypothesis.ids


def test_the_tutorials_corpus_reaches_28_bleu(corpora: Path) -> None:
    files = [
        f"data.train_path={corpora / 'english-german-train.pkl'}",
        f"data.test_path={corpora / 'english-german-test.pkl'}",
    ]
    run = train(load_config("base.yaml", files), Path("run"))
    report = evaluate_run(run)
    assert report.all.scores["bleu"] >= 28
    assert report.all.scores["chrf"] >= 48
    assert report.source_not_in_train is not None
    assert report.source_not_in_train.sentences == 678
    [oscar] = translate(run, "oscar likes to code")
    assert oscar.startswith("oscar ")
    assert "<unk>" not in oscar


def test_a_short_run_of_multi30k_reaches_39_bleu(corpora: Path) -> None:
    corpus = f"data.path={corpora / 'multi30k'}"
    short = ["training.r_drop=0", "tokenizer.subword_regularization=0", "training.max_updates=1700"]
    run = train(load_config("multi30k.yaml", [corpus, *short]), Path("run"))
    examples = run.examples("validation")
    hypotheses = translate(run, *(example.source for example in examples))
    references = [example.reference.lower() for example in examples]
    assert corpus_bleu([text.lower() for text in hypotheses], references) >= 39
