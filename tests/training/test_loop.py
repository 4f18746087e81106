import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest
import torch
from torch import Tensor

from nmt.config.config import Config
from nmt.config.yaml_files import dump_config, load_config
from nmt.errors import UserError
from nmt.files.checksums import identity
from nmt.model.transformer import Transformer
from nmt.runs.folder import RunFolder
from nmt.runs.weights import load_weights
from nmt.training import backward
from nmt.training.batches import Batch
from nmt.training.console import ProgressBar
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer
from nmt.training.step import TrainingState
from nmt.training.train import train
from nmt.training.validation import Validator
from tests.trainers import make_trainer, resumed

pytestmark = pytest.mark.usefixtures("in_empty_folder")
RUN = Path("run")


def saved(folder: str) -> dict[str, Tensor]:
    """Return all tensors of a checkpoint, including those of the optimizer and the generators."""
    state = torch.load(Path(folder) / "checkpoint.pt", weights_only=True)
    tensors = dict(state["model"])
    for number, moments in state["optimizer"]["state"].items():
        tensors |= {f"{number}.{name}": value for name, value in moments.items()}
    tensors |= {f"average.{i}": value for i, value in enumerate(state["average"] or [])}
    scaler = state["loss scale"]["scaler"]
    tensors |= {f"loss scale.{name}": torch.tensor(value) for name, value in scaler.items()}
    [(_, generators)] = state["of each process"]
    return tensors | generators


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    different = [name for name in one if not torch.equal(one[name], other[name])]
    assert different == []


@contextmanager
def stopping(
    kind: type, method: str, when: Callable[[Any], bool], how: type[BaseException]
) -> Iterator[None]:
    """Stop training when an object's method is called in a certain state.

    how: KeyboardInterrupt for Ctrl-C before the method is called, or what is raised instead of it
    """
    original = getattr(kind, method)

    def stop(self: Any, *arguments: Any) -> Any:
        if when(self):
            if how is not KeyboardInterrupt:
                raise how
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, *arguments)

    with patch.object(kind, method, stop), pytest.raises(how):
        yield


def in_update(number: int) -> Callable[[Any], bool]:
    """Return whether an object has completed all updates before this one."""
    return lambda each: each.progress.updates == number - 1


def updates_of(folder: str) -> list[int]:
    """Return the updates after which a run was validated."""
    return [line["update"] for line in RunFolder(Path(folder)).read_metrics()]


def assert_same_training(one: str, other: str) -> None:
    """Check that two runs have the same checkpoint and the same metrics, apart from times."""
    assert_same(saved(one), saved(other))
    metrics = [
        [{**line, "minutes": 0} for line in RunFolder(Path(folder)).read_metrics()]
        for folder in (one, other)
    ]
    assert metrics[0] == metrics[1]


def ran(config: Config) -> Trainer:
    """Return a trainer that has run."""
    trainer = make_trainer(config)
    trainer.run()
    return trainer


def weights_of(trainer: Trainer, which: str) -> Transformer:
    trained = trainer.state.model
    sizes = len(trained.source_embedding.tokens.weight), trained.output.out_features
    file = trainer.folder.weights(which)
    return load_weights(file, trainer.config.model, *sizes, torch.device("cpu"))


def test_training_learns_the_toy_corpus(trained_run):
    first, *_, last = trained_run.read_metrics()
    assert last["bleu"] > 60
    assert last["loss"] < first["loss"]
    measures = {"train_loss", "train_accuracy", "learning_rate"}
    measures |= {"loss", "perplexity", "accuracy", "bleu"}
    assert {"update", "epoch", "minutes"} | measures <= first.keys()
    assert first["perplexity"] == pytest.approx(2.718281828 ** first["loss"])
    assert first["samples"][0].keys() == {"source", "reference", "translation"}


def test_samples_are_translations_of_different_sentences(toy_config, monkeypatch):
    trainer = make_trainer(toy_config(training={"max_updates": 1}))
    first, *others = trainer.validator.examples
    monkeypatch.setattr(trainer.validator, "examples", [first, first, first, *others[2:]])
    samples = trainer.validator._samples(["one", "two", "three", *(e.source for e in others[2:])])
    sources = [first.source, *(e.source for e in others[2:4])]
    assert [sample["source"] for sample in samples] == sources
    assert samples[0]["translation"] == "one"


def test_training_loss_is_the_mean_over_all_tokens_since_the_last_validation(
    toy_config, monkeypatch
):
    """Without smoothing, it is the mean of the losses of the updates, weighted by their tokens."""
    settings = {"label_smoothing": 0.0, "max_updates": 5, "validate_updates": 2, "accumulate": 2}
    trainer = make_trainer(toy_config(training=settings))
    steps: list[tuple[float, int]] = []
    update = TrainingState.update

    def watched(self: TrainingState, batches: list[Batch]) -> Tensor:
        loss = update(self, batches)
        steps.append((loss.item(), sum(batch.tokens for batch in batches)))
        return loss

    monkeypatch.setattr(TrainingState, "update", watched)
    trainer.run()
    lines = trainer.folder.read_metrics()
    assert [line["update"] for line in lines] == [2, 4, 5]
    for line, part in zip(lines, (steps[:2], steps[2:4], steps[4:]), strict=True):
        mean = sum(loss * tokens for loss, tokens in part) / sum(tokens for _, tokens in part)
        assert line["train_loss"] == pytest.approx(mean, rel=1e-5)
        assert 0 < line["train_accuracy"] < 1


def test_the_recorded_learning_rate_is_that_of_the_optimizer(toy_config):
    trainer = ran(toy_config(training={"max_updates": 3}))
    [group] = trainer.state.optimizer.param_groups
    assert trainer.folder.read_metrics()[-1]["learning_rate"] == group["lr"] > 0


def test_the_cosine_schedule_ends_at_zero_with_the_final_update(toy_config):
    settings = {"schedule": "cosine", "warmup_updates": 1, "max_updates": 3, "validate_updates": 1}
    trainer = ran(toy_config(training=settings))
    rates = [line["learning_rate"] for line in trainer.folder.read_metrics()]
    peak = trainer.settings.learning_rate
    assert rates == pytest.approx([peak, peak / 2, 0])


def test_the_cosine_schedule_follows_the_length_of_the_epochs(toy_config, monkeypatch):
    settings = {"schedule": "cosine", "warmup_updates": 1, "epochs": 3, "validate_updates": 1}
    trainer = make_trainer(toy_config(training=settings))
    epoch = trainer.plan.epoch
    batches = {1: 2, 2: 4, 3: 3}
    monkeypatch.setattr(
        trainer.plan, "epoch", lambda n: replace(epoch(n), order=epoch(n).order[: batches[n]])
    )
    trainer.run()
    rates = [line["learning_rate"] for line in trainer.folder.read_metrics()]
    assert len(rates) == 9
    assert all(after < before for before, after in pairwise(rates))
    assert rates[-1] == 0


def test_weights_depend_only_on_the_seed(toy_config):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(toy_config(training={"seed": seed, "max_updates": 3}), Path(folder))
    assert_same(saved("a"), saved("b"))
    assert not torch.equal(saved("a")["output.weight"], saved("c")["output.weight"])


def test_r_drop_affects_training(toy_config):
    """Two runs, with R-Drop weighted nearly zero and fully, learn different weights."""
    for folder, r_drop in (("a", 1e-9), ("b", 1.0)):
        settings = {"max_updates": 3, "r_drop": r_drop, "precision": "float32"}
        train(toy_config(model={"dropout": 0.3}, training=settings), Path(folder))
    one, other = saved("a")["output.weight"], saved("b")["output.weight"]
    assert not torch.allclose(one, other, atol=1e-4)


RESUMABLE = {
    "plain": {},
    "average": {"training": {"average_decay": 0.9, "accumulate": 2}},
    "r-drop": {"model": {"dropout": 0.3}, "training": {"r_drop": 1.0, "accumulate": 2}},
    "sampling": {"tokenizer": {"subword_regularization": 0.2}},
    "cosine": {"training": {"schedule": "cosine", "optimizer": "adamw", "weight_decay": 0.01}},
    "float16": {"training": {"precision": "float16"}},
    "nadam": {"training": {"optimizer": "nadam", "batch_tokens": None, "batch_sentences": 25}},
}


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in RESUMABLE if name != "plain"]


@pytest.mark.parametrize("name", ["plain", *OTHERS])
def test_resuming_is_exact(toy_config, name):
    sections = {section: dict(fields) for section, fields in RESUMABLE[name].items()}
    sections.setdefault("training", {}).update(epochs=3)
    config = toy_config(**sections)
    train(config, Path("whole"))
    middle = updates_of("whole")[-1] // 2
    assert_resuming_is_exact(config, TrainingState, "update", in_update(middle))


def assert_resuming_is_exact(config: Config, *moment: Any) -> None:
    """Check that a run that was interrupted at a moment continues like the run `whole`."""
    with stopping(*moment, KeyboardInterrupt):
        train(config, Path("halves"))
    train(config, Path("halves"), resume=True)
    assert_same_training("whole", "halves")


def test_resuming_after_an_interruption_in_the_last_validation_is_exact(toy_config):
    config = toy_config(training={"max_updates": 7, "validate_updates": 5})
    train(config, Path("whole"))
    assert_resuming_is_exact(config, Trainer, "_measure", in_update(8))


@pytest.mark.usefixtures("two_threads")
def test_resuming_is_exact_with_several_threads(toy_config, monkeypatch):
    monkeypatch.setattr(backward, "_LEAST_TOKENS", 1)
    test_resuming_is_exact(toy_config, "average")


def test_prefetched_batches_on_a_gpu_equal_those_on_a_cpu(toy_config):
    sampled = toy_config(
        tokenizer={"subword_regularization": 0.3}, training={"epochs": 3, "accumulate": 2}
    )
    trainer = make_trainer(sampled)
    progress = trainer.progress

    def updates(device: str, epoch: int, batch: int) -> list[object]:
        trainer.worker = Worker(torch.device(device))
        progress.epoch, progress.batch = epoch, batch
        return [
            (progress.epoch, progress.batch, each.source.tolist(), each.target_in.tolist())
            for batches in trainer._updates()
            for each in batches
        ]

    whole = updates("cpu", 1, 0)
    assert updates("cuda", 1, 0) == whole
    done = len(trainer.plan.epoch(1).order) + 2
    assert updates("cuda", 2, 2) == updates("cpu", 2, 2) == whole[done:]


@pytest.mark.slow
def test_resuming_after_kill_9_is_exact(toy_config):
    config = toy_config(training={"epochs": 8, "checkpoint_updates": 5, "average_decay": 0.9})
    train(config, Path("whole"))
    Path("config.yaml").write_text(dump_config(config))
    command = [sys.executable, "-m", "nmt", "train", "--config", "./config.yaml", "--run", "killed"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 600  # on a busy machine, a process may start late
    while not Path("killed/metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    assert process.wait() in (-signal.SIGKILL, 0)  # 0: it was faster
    train(config, Path("killed"), resume=True)
    assert_same_training("whole", "killed")


def test_ctrl_c_during_the_first_checkpoint_stops_after_the_first_update(toy_config, capsys):
    with stopping(Trainer, "_save", in_update(1), KeyboardInterrupt):
        train(toy_config(training={"max_updates": 3}), RUN)
    printed = capsys.readouterr().out
    assert "after update 1;" in printed
    assert [point["update"] for point in RunFolder(RUN).read_updates()] == [1]
    assert "\n  nmt train --resume --run run\n" in printed


def test_ctrl_c_during_the_last_checkpoint_stops_before_the_model_is_converted(toy_config):
    config = toy_config(training={"max_updates": 2})
    with stopping(Trainer, "_save", lambda each: each.progress.finished, KeyboardInterrupt):
        train(config, RUN)
    assert not Path("run/ctranslate2").exists()
    train(config, RUN, resume=True)
    assert list(Path("run/ctranslate2").glob("*/model.bin"))


def test_what_is_trained_is_announced(toy_config, capsys):
    trainer = make_trainer(toy_config(training={"epochs": 1, "accumulate": 4}))
    parameters = sum(each.numel() for each in trainer.state.model.parameters())
    trainer.run()
    updates = trainer.progress.updates
    announced = f"run: {parameters:,} parameters, 168 pairs, up to {updates} updates on cpu\n"
    assert len(trainer.plan.epoch(1).order) % 4  # the last update has fewer batches
    assert capsys.readouterr().out.startswith(announced)


def test_a_validation_is_logged_with_the_minutes_of_training(toy_config):
    begin = time.monotonic()
    trainer = make_trainer(toy_config(training={"max_updates": 1}))
    trainer._started -= 60 * 1.2345
    trainer.run()
    elapsed = (time.monotonic() - begin) / 60
    [line] = trainer.folder.read_metrics()
    assert 1.234 <= line["minutes"] <= 1.235 + elapsed
    assert line["minutes"] == round(line["minutes"], 3)


def test_a_finished_run_is_unchanged(toy_config, capsys):
    trainer = make_trainer(toy_config(training={"max_updates": 2}))
    assert trainer.run()
    assert not resumed(trainer).run()
    files = [RUN / name for name in ("checkpoint.pt", "config.yaml", "run.json")]
    before = [file.read_bytes() for file in files]
    train(toy_config(training={"max_updates": 2, "learning_rate": 9}), RUN, resume=True)
    assert [file.read_bytes() for file in files] == before
    assert "training.max_updates 2" in capsys.readouterr().out


def test_training_continues_with_a_raised_limit(toy_config):
    train(toy_config(training={"max_updates": 2}), RUN)
    train(toy_config(training={"max_updates": 4}), RUN, resume=True)
    assert updates_of("run")[-1] == RunFolder(RUN).config.training.max_updates == 4


def test_an_existing_run_or_one_in_training_is_refused(toy_config):
    config, run = toy_config(training={"max_updates": 2}), RunFolder(RUN)
    # Another process has locked the folder, but not written to it yet.
    with run.held(), pytest.raises(UserError, match="another process"):
        train(config, run.path)
    assert [path.name for path in run.path.iterdir()] == [".lock"]
    train(config, run.path)
    with pytest.raises(UserError, match="already exists"):
        train(config, run.path)
    with run.held(), pytest.raises(UserError, match="another process"):
        train(config, run.path, resume=True)


def test_resuming_with_a_changed_corpus_is_refused_and_keeps_the_prepared_data(
    toy_config, toy_corpus
):
    corpus = Path(shutil.copy(toy_corpus, "corpus.tsv"))
    settings = {"data": {"path": str(corpus)}, "training": {"max_updates": 2}}
    train(toy_config(**settings), RUN)
    [manifest] = Path("data/prepared").glob("*/prepared.json")
    before = manifest.read_bytes()
    corpus.write_text("\n".join(corpus.read_text().splitlines()[:-1]) + "\n")
    settings["training"] = {"max_updates": 3}
    with pytest.raises(UserError, match="corpus has changed"):
        train(toy_config(**settings), RUN, resume=True)
    assert manifest.read_bytes() == before


FIXED: list[tuple[str, dict[str, object]]] = [
    ("data", {"validation_size": 20}),
    ("tokenizer", {"kind": "unigram"}),
    ("model", {"d_ff": 32}),
    ("training", {"seed": 2}),
    ("training", {"best": "loss"}),
    ("training", {"accumulate": 2}),
    ("training", {"validate_pairs": 3}),
    ("training", {"freeze": ["encoder"]}),
    ("training", {"batch_tokens": 300}),
    ("training", {"batch_tokens": None, "batch_sentences": 9}),
    ("training", {"optimizer": "adamw"}),
    ("training", {"betas": [0.9, 0.9]}),
    ("training", {"epsilon": 1e-7}),
    ("training", {"weight_decay": 0.1}),
    ("training", {"join_pairs": 0.5}),
    ("training", {"average_decay": 0.9}),
]


def test_fields_that_affect_data_or_saved_state_cannot_be_changed_on_resume(toy_config):
    train(toy_config(training={"max_updates": 2}), RUN)
    prepared = sorted(Path("data/prepared").iterdir())
    for section, change in FIXED:
        changed = {"training": {"max_updates": 4}}
        changed.setdefault(section, {}).update(change)
        with pytest.raises(UserError, match=rf"^{section}\.{list(change)[-1]}: .*new run"):
            train(toy_config(**changed), RUN, resume=True)
    assert sorted(Path("data/prepared").iterdir()) == prepared


@pytest.mark.parametrize(("field", "old", "new"), [("batch_tokens", 300, 200), ("heads", 2, 4)])
def test_they_may_not_be_edited_in_the_run_either(toy_config, field, old, new):
    train(toy_config(training={"batch_tokens": 300, "max_updates": 1}), RUN)
    file = Path("run/config.yaml")
    text = file.read_text(encoding="utf-8")
    assert text.count(f"  {field}: {old}\n") == 1
    file.write_text(text.replace(f"  {field}: {old}\n", f"  {field}: {new}\n"), encoding="utf-8")
    with pytest.raises(UserError, match=rf"{field}: .*, not {new};"):
        train(load_config(file, ["training.max_updates=2"]), RUN, resume=True)


@pytest.mark.parametrize("several", [False, True])
def test_of_corpora_only_the_paths_may_change(toy_config, toy_corpus, several):
    def config(updates: int, **fields: object) -> Config:
        tree = toy_config(training={"max_updates": updates}).model_dump(mode="json")
        part = {"source": "tsv", "path": str(toy_corpus), **fields}
        if several:
            del tree["data"]["path"], tree["data"]["source"]
            part = {"corpora": [{"name": "toy", **part}]}
        tree["data"] |= part
        return Config.model_validate(tree)

    train(config(2), RUN)
    if several:
        with pytest.raises(UserError, match=r"^data\.corpora: only the paths may change"):
            train(config(4, weight=2), RUN, resume=True)
    shutil.copy(toy_corpus, "moved.tsv")
    run = train(config(4, path="moved.tsv"), RUN, resume=True)
    assert updates_of("run")[-1] == 4
    data = run.config.data
    assert (data.corpora[0] if several else data).path == Path("moved.tsv")


def test_resuming_without_a_checkpoint_is_refused(toy_config):
    config = toy_config(training={"max_updates": 2})
    train(config, RUN)
    for checkpoint in RUN.glob("checkpoint*"):
        checkpoint.unlink()
    with pytest.raises(UserError, match=r"no checkpoint .* weights"):
        train(config, RUN, resume=True)


@pytest.mark.parametrize("moment", ["training.train.prepare", "runs.lifecycle.run_files", None])
@pytest.mark.parametrize("resume", [False, True])
def test_a_run_killed_at_its_beginning_can_restart(toy_config, moment, resume):
    config = toy_config(training={"max_updates": 3})
    train(config, Path("whole"))
    if moment:
        with exiting_in(moment):
            train(config, RUN)
    else:
        resume = True  # there is a checkpoint
        with stopping(TrainingState, "update", in_update(1), InterruptedError):
            train(config, RUN)
    train(config, RUN, resume=resume)
    assert_same(saved("whole"), saved("run"))


@contextmanager
def exiting_in(function: str) -> Iterator[None]:
    """Stop training when a function of nmt is called."""
    with patch(f"nmt.{function}", Mock(side_effect=SystemExit)), pytest.raises(SystemExit):
        yield


def test_a_run_killed_while_converting_its_model_converts_it_when_resumed(toy_config):
    config = toy_config(training={"max_updates": 2})
    with exiting_in("training.train.convert"):
        train(config, RUN)
    train(config, RUN, resume=True)
    assert list(RUN.glob("ctranslate2/*/model.bin"))


def test_an_interruption_while_preparing_shows_how_to_restart(toy_config, monkeypatch, capsys):
    monkeypatch.setattr("nmt.training.train.prepare", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        train(toy_config(), Path("a run"))
    assert "\n  nmt train --resume --run 'a run'" in capsys.readouterr().out


def test_a_failure_before_the_first_checkpoint_deletes_a_new_run_but_not_a_resumed_one(
    toy_config, toy_corpus
):
    config = toy_config(data={"path": "own.tsv"}, training={"max_updates": 2})
    with pytest.raises(UserError, match=r"own\.tsv"):
        train(config, RUN)
    assert not RUN.exists()
    RUN.mkdir()
    RunFolder(RUN).write_config(config)
    with pytest.raises(UserError, match=r"own\.tsv"):
        train(config, RUN, resume=True)
    shutil.copy(toy_corpus, "own.tsv")
    train(config, RUN, resume=True)


def test_training_stops_when_validations_stop_improving(toy_config):
    frozen = {"learning_rate": 1e-12, "validate_updates": 1, "patience": 3, "epochs": 9}
    train(toy_config(training=frozen), RUN)
    assert updates_of("run") == [1, 2, 3, 4]


def measuring(trainer: Trainer, *each: dict[str, float]) -> Iterator[dict[str, float]]:
    """Let validations report these values, one after the other."""
    measures, honest = iter(each), trainer.validator.measure
    trainer.validator.measure = lambda model: {**honest(model), **next(measures)}
    return measures


def test_target_bleu_is_refused_in_languages_without_spaces(toy_config):
    config = toy_config(data={"target_language": "zh"}, training={"target_bleu": 20})
    with pytest.raises(UserError, match=r"training\.target_bleu"):
        train(config, RUN)


def test_training_stops_after_max_minutes(toy_config):
    train(toy_config(training={"epochs": 1000, "max_minutes": 0.01}), RUN)
    assert RunFolder(RUN).read_metrics()[-1]["epoch"] < 1000


@pytest.mark.parametrize(("best", "number", "value"), [("loss", 3, 0.0), ("bleu", 4, 90.0)])
def test_best_weights_are_those_of_the_best_validation(
    toy_config, monkeypatch, capsys, best, number, value
):
    """Of five validations, the third has the lowest loss and the fourth the highest BLEU."""
    config = toy_config(training={"best": best, "validate_updates": 1, "max_updates": 5})
    trainer = make_trainer(config)
    seen = []

    def measure(self: Validator, model: Transformer) -> dict[str, object]:
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        count = len(seen)
        return honest(self, model) | {"loss": abs(count - 3.0), "bleu": 90.0 - 10 * abs(count - 4)}

    honest = Validator.measure
    monkeypatch.setattr(Validator, "measure", measure)
    trainer.run()
    assert (trainer.progress.best, trainer.progress.best_update) == (value, number)
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("update ")]
    assert [line.endswith("(best)") for line in shown] == [n <= number for n in range(1, 6)]
    kept = seen[number - 1]
    assert_same(weights_of(trainer, "best").state_dict(), kept)
    assert not torch.equal(kept["output.weight"], seen[number]["output.weight"])


@pytest.mark.parametrize(
    ("best", "bleus", "losses", "best_update", "end"),
    [
        # In the third validation, the loss falls, so that only the last two are worse in a row.
        ("loss", [0] * 6, [2.0, 3.0, 1.0, 2.0, 2.0, 0.0], 3, 5),
        # BLEU is highest in the first validation, and the loss lowest in the fifth.
        ("bleu", [0.22, 0, 0, 0.2, 0, 0, 0], [5.5, 5.2, 4.9, 4.5, 4.0, 4.0, 4.1], 5, 7),
        # BLEU is 0 if no sentence has four words; the loss decides between equal ones.
        ("bleu", [0.0] * 7, [3.0, 4.0, 2.0, 1.0, 1.5, 1.5, 0.5], 4, 6),
    ],
)
def test_patience_and_the_best_validation(toy_config, best, bleus, losses, best_update, end):
    settings = {"best": best, "validate_updates": 1, "patience": 2, "max_updates": 9}
    trainer = make_trainer(toy_config(training=settings))
    measuring(trainer, *({"bleu": b, "loss": x} for b, x in zip(bleus, losses, strict=True)))
    trainer.run()
    assert (trainer.progress.best_update, trainer.progress.updates) == (best_update, end)
    assert trainer.folder.best_validation(trainer.folder.read_metrics())["update"] == best_update


def test_a_loss_that_is_not_a_number_stops_training_with_an_error(toy_config, monkeypatch):
    monkeypatch.setattr("nmt.training.console._REPORT_MINUTES", 0.0)
    trainer = make_trainer(toy_config())
    with torch.no_grad():
        trainer.state.model.output.weight.fill_(float("nan"))
    with pytest.raises(UserError, match=r"lower training\.learning_rate"):
        trainer.run()
    assert not trainer.folder.checkpoint.exists()


def test_only_the_weights_of_the_last_validations_are_kept(toy_config):
    settings = {"validate_updates": 1, "max_updates": 3}
    run = train(toy_config(training={**settings, "keep_validated": 2}), RUN)
    second, third = run.validated()
    assert (second.stem, third.stem) == ("2", "3")
    assert second.read_bytes() != third.read_bytes()
    assert third.read_bytes() == run.weights("last").read_bytes()
    # By default, none are kept.
    train(toy_config(training={**settings, "max_updates": 4}), RUN, resume=True)
    assert not run.validated()


def test_averaged_weights_are_saved_and_differ_from_the_last(toy_config):
    train(toy_config(training={"average_decay": 0.9}), RUN)
    last, averaged = (Path(f"run/{name}.safetensors").read_bytes() for name in ("last", "ema"))
    assert last != averaged


def test_validation_measures_the_averaged_weights(toy_config):
    settings = {"average_decay": 0.9, "max_updates": 8, "validate_updates": 8}
    trainer = ran(toy_config(training=settings))
    [line] = trainer.folder.read_metrics()
    ema, last, best = (
        trainer.validator.measure(weights_of(trainer, which).eval())["loss"]
        for which in ("ema", "last", "best")
    )
    assert ema == best == line["loss"] != last


def test_a_run_interrupted_at_its_limit_does_not_continue(toy_config):
    config = toy_config(training={"max_updates": 4, "validate_updates": 4})
    with stopping(TrainingState, "update", in_update(4), KeyboardInterrupt):
        train(config, RUN)
    train(config, RUN, resume=True)
    assert updates_of("run") == [4]


def test_a_complete_run_saves_changes_other_than_those_of_training(toy_config):
    train(toy_config(training={"max_updates": 2}), RUN)
    changes = ["training.learning_rate=9", "decoding.beam_size=7"]
    run = train(load_config(RUN / "config.yaml", changes), RUN, resume=True)
    assert run.config.training.learning_rate != 9
    assert run.config.decoding.beam_size == 7
    assert run.origin.overrides == ("decoding.beam_size=7",)


def test_a_max_length_too_short_for_the_data_leaves_no_run(toy_config):
    with pytest.raises(UserError, match=r"model\.max_length"):
        train(toy_config(model={"max_length": 4}), RUN)
    assert not RUN.exists()


def test_a_resumed_run_keeps_its_minutes(toy_config):
    trainer = make_trainer(toy_config())
    trainer.state.update([trainer.plan.largest()])
    trainer.progress.minutes = 30.0
    trainer._save()
    again = resumed(trainer)
    again._tick()
    assert 30 <= again.progress.minutes < 30.4


def test_the_curve_shows_the_loss_of_all_workers(toy_config, monkeypatch):
    trainer = make_trainer(toy_config())
    points: list[dict[str, float]] = []
    trainer._log = SimpleNamespace(write_point=points.append)
    monkeypatch.setattr(trainer.worker, "sum", lambda *numbers: tuple(2 * x for x in numbers))
    trainer.progress.updates = 10
    with ProgressBar(trainer.settings, trainer.progress, trainer.final_update) as bar:
        trainer._report(torch.tensor(1.5), bar)
    assert [point["loss"] for point in points] == [3.0]


def test_diverged_weights_are_never_saved(toy_config):
    trainer = make_trainer(toy_config(training={"checkpoint_updates": 1}))
    with torch.no_grad():
        trainer.state.model.encoder_norm.weight.fill_(float("inf"))
    before = sorted(trainer.folder.path.iterdir())
    for write in (trainer._save, trainer._validate):
        with pytest.raises(UserError, match="diverged"):
            write()
    assert sorted(trainer.folder.path.iterdir()) == before


def test_skipped_pairs_and_updates_are_reported(toy_config, capsys):
    trainer = make_trainer(toy_config(model={"max_length": 12}))
    trainer._announce()
    trainer.state.update([trainer.plan.largest()])
    trainer._validate()
    printed = capsys.readouterr().out
    pairs = f"skipped: {trainer.plan.too_long} training pairs longer than model.max_length 12\n"
    assert pairs in printed
    assert f"{trainer.validator.too_long} validation pairs are longer" in printed
    assert 0 < trainer.validator.too_long < len(trainer.validator.examples)
    assert "updates skipped" not in printed
    trainer.state.update([trainer.plan.largest()])
    trainer.state.loss_scaler._skipped += 3
    trainer._validate()
    assert "3 updates skipped" in capsys.readouterr().out


@pytest.mark.parametrize(("updates", "reached"), [(3, "0.003"), (4, "0.004"), (5, None)])
def test_a_warm_up_as_long_as_training_is_reported(toy_config, capsys, updates, reached):
    settings = {"warmup_updates": 4, "max_updates": updates, "learning_rate": 4e-3}
    make_trainer(toy_config(training=settings))._announce()
    message = f"warm-up (4 updates) takes up all of training: the learning rate reaches {reached} "
    printed = capsys.readouterr().out
    assert message in printed if reached else "warm-up" not in printed


def test_training_stops_when_validation_reaches_the_target(toy_config):
    settings = {"validate_updates": 1, "max_updates": 4, "target_bleu": 40}
    trainer = make_trainer(toy_config(training=settings))
    measuring(trainer, *({"bleu": bleu} for bleu in (0.0, 50.0, 49.0, 60.0)))
    trainer.run()
    assert updates_of("run") == [1, 2]


@pytest.mark.parametrize(("seconds", "times"), [(0.0, 2), (600.0, 1)])
def test_the_remaining_time_is_printed_at_the_start_and_after_each_validation_except_the_last(
    toy_config, monkeypatch, capsys, seconds, times
):
    monkeypatch.setattr("nmt.training.console._FIRST_ESTIMATE_MINUTES", seconds / 60)
    ran(toy_config(training={"max_updates": 4, "validate_updates": 2}))
    assert capsys.readouterr().out.count("at this speed, training will finish in") == times


def test_curve_points_are_not_duplicated_on_resume(toy_config, monkeypatch):
    for module in ("loop", "log"):
        monkeypatch.setattr(f"nmt.training.{module}.POINT_UPDATES", 2)
    config = toy_config(training={"checkpoint_updates": 3, "max_updates": 8})
    points = train(config, Path("whole")).read_updates()
    with stopping(TrainingState, "update", in_update(6), InterruptedError):
        train(config, Path("killed"))
    checkpoint = torch.load("killed/checkpoint.pt", weights_only=True)
    assert checkpoint["progress"]["updates"] == 3
    with Path("killed/updates.jsonl").open("a") as file:
        file.write('{"update": 6, "lo')  # as after a power failure
    assert train(config, Path("killed"), resume=True).read_updates() == points
    assert [point["update"] for point in points] == [2, 4, 6, 8]
    assert points[-1]["loss"] < points[0]["loss"]
    assert points[1]["learning_rate"] == pytest.approx(2 * points[0]["learning_rate"])


@pytest.mark.parametrize("lost", ["_save", "_save_best"])
def test_the_best_weights_are_those_of_the_checkpoint_after_a_kill(toy_config, lost):
    settings = {"validate_updates": 2, "max_updates": 2, "best": "loss", "average_decay": 0.9}
    config = toy_config(training=settings)
    longer = toy_config(training=settings | {"max_updates": 4})
    best = {"_save": train(config, Path("short")), "_save_best": train(longer, Path("long"))}
    found = [run.best_validation(run.read_metrics()) for run in best.values()]
    assert [line["update"] for line in found] == [2, 4]
    train(config, Path("killed"))
    with stopping(Trainer, lost, in_update(5), InterruptedError):
        train(longer, Path("killed"), resume=True)
    if lost == "_save_best":
        train(longer, Path("killed"), resume=True)
    weights = identity(RunFolder(Path("killed")).weights("best"))
    assert weights == identity(best[lost].weights("best"))


def test_a_validation_loss_that_is_not_finite_ends_training(toy_config):
    trainer = make_trainer(toy_config())
    trainer.state.update([trainer.plan.largest()])
    measuring(trainer, {"loss": float("nan")})
    with pytest.raises(UserError, match="diverged"):
        trainer._validate()
    assert not trainer.folder.weights("best").exists()
