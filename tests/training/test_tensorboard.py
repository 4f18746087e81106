"""TensorBoard shows the values of metrics.jsonl."""

import threading
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.text.tags import tag_of
from nmt.errors import UserError
from nmt.runs.folder import RunFolder
from nmt.training.loop import Trainer
from nmt.training.tensorboard import TAGS, TensorBoard
from nmt.training.train import train

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def scalars(run: RunFolder, tag: str) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.path / "tensorboard")).Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def test_validations_are_written_across_a_resume(toy_config):
    """Also those from before it was enabled."""
    for last, tensorboard in ((2, False), (4, True), (6, True)):
        settings = {"validate_updates": 2, "max_updates": last}
        settings |= {"tensorboard": True} if tensorboard else {}  # off by default
        run = train(toy_config(training=settings), Path("run"), resume=last > 2)
        assert Path("run/tensorboard").exists() == tensorboard
    lines = run.read_metrics()
    assert [line["update"] for line in lines] == [2, 4, 6]
    for name, tag in (
        ("train_loss", "loss/training"),
        ("loss", "loss/validation"),
        ("bleu", "validation/bleu"),
        ("learning_rate", "learning_rate"),
    ):
        expected = [(line["update"], pytest.approx(line[name])) for line in lines]
        assert scalars(run, tag) == expected


def test_values_after_the_last_checkpoint_are_not_duplicated_on_resume(toy_config, monkeypatch):
    config = toy_config(training={"tensorboard": True, "validate_updates": 2, "max_updates": 6})
    save = Trainer._save

    def killed(self: Trainer) -> None:
        if self.progress.updates == 4:
            raise KeyboardInterrupt
        save(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_save", killed)
        with pytest.raises(KeyboardInterrupt):
            train(config, Path("run"))
    run = RunFolder(Path("run"))
    assert [step for step, _ in scalars(run, "validation/bleu")] == [2, 4]
    run = train(config, run.path, resume=True)
    expected = [(line["update"], pytest.approx(line["loss"])) for line in run.read_metrics()]
    assert [update for update, _ in expected] == [2, 4, 6]
    assert scalars(run, "loss/validation") == expected


@pytest.mark.filterwarnings("ignore:html5lib:DeprecationWarning")
def test_samples_are_shown_literally(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugin_util import markdown_to_safe_html

    data = DataConfig.model_validate(
        {"corpora": [{"source": "tsv", "path": "a.tsv", "tag": "news"}]}
    )
    texts = ["<b>2*3*4</b> <unk> & _a_", "# 1"]
    samples = [{"source": text, "reference": text, "translation": text} for text in texts]
    samples[1]["source"] = f"{tag_of(data, 'news')}# 1"
    texts[1] = "[news] # 1"
    board = TensorBoard(tmp_path / "new", data, 0, [])
    board.write({"update": 1, "samples": samples} | dict.fromkeys(TAGS, 0.0))
    board.close()
    events = EventAccumulator(str(tmp_path / "new")).Reload()
    [event] = events.Tensors("samples/text_summary")
    shown = unescape(markdown_to_safe_html(event.tensor_proto.string_val[0]))
    for text, sample in zip(texts, samples, strict=True):
        assert f"{text}  →  {sample['translation']}\n" in shown


def test_a_full_disk_is_reported_with_the_folder(tmp_path, monkeypatch, full_disk, capfd):
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)  # not pytest's
    folder = tmp_path / "new"
    line = {"update": 1, "samples": []} | dict.fromkeys(TAGS, 0.0)
    board = TensorBoard(folder, DataConfig(), 0, [])
    actions: list[Callable[[], object]] = [
        lambda: board.write(line),
        board.close,
        lambda: TensorBoard(folder, DataConfig(), 0, []),
    ]
    for action in actions:
        with full_disk(10), pytest.raises(UserError, match=r"new: cannot be written \(.* free on"):
            action()
    assert threading.excepthook is threading.__excepthook__
    assert capfd.readouterr().err == ""


def test_the_hook_for_errors_in_threads_is_restored(tmp_path, monkeypatch):
    reported: list[threading.ExceptHookArgs] = []
    own = reported.append
    monkeypatch.setattr(threading, "excepthook", own)
    board = TensorBoard(tmp_path / "new", DataConfig(), 0, [])
    failing = threading.Thread(target=lambda: 1 / 0)
    failing.start()
    failing.join()
    board.close()
    assert threading.excepthook is own
    assert [error.exc_type for error in reported] == [ZeroDivisionError]


def test_a_missing_library_is_reported_before_any_work(toy_config, monkeypatch):
    monkeypatch.setattr("nmt.training.tensorboard.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install .nmt-trainer\[tensorboard\]"):
        train(toy_config(training={"tensorboard": True}), Path("run"))
    assert list(Path().iterdir()) == []
