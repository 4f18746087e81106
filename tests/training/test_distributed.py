"""Two processes give the same result as one: equal weights, one output, one checkpoint."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import distributed

from nmt.config.config import Config
from nmt.config.yaml_files import dump_config
from nmt.errors import UserError
from nmt.runs.folder import RunFolder
from nmt.training.distributed import (
    DistributedWorker,
    _is_lost_connection,
    _make_own_gpu_current,
    _own,
    joined,
)
from nmt.training.train import train

pytestmark = pytest.mark.slow  # two processes train for half a minute
MakeConfig = Callable[..., Config]
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
PATIENCE = 600  # seconds: on a busy machine, two processes may take many times as long as usual
EXACT: dict[str, object] = {
    "max_updates": 20,
    "validate_updates": 10,
    "epochs": 50,
    "precision": "float32",  # no autocast
}
AVERAGED: dict[str, object] = {"average_decay": 0.9, "r_drop": 1.0}
SHARDED: dict[str, object] = {
    **EXACT,
    "shard": True,
    "accumulate": 2,
    "average_decay": 0.9,
    "freeze": ["encoder"],
    "batch_tokens": None,
    "batch_sentences": 167,
}
# Configurations with their update limits; training stops at each limit and resumes to the next.
JOBS: dict[str, tuple[dict[str, dict[str, object]], list[int]]] = {
    "accumulated": ({"model": {"dropout": 0}, "training": {**EXACT, "accumulate": 2}}, [20]),
    # The second batch of an epoch is a single pair, so one process gets nothing.
    "uneven": (
        {
            "model": {"dropout": 0},
            "training": {**EXACT, "batch_tokens": None, "batch_sentences": 167},
        },
        [20],
    ),
    "whole": ({"tokenizer": {"subword_regularization": 0.2}, "training": AVERAGED}, [8]),
    "halves": ({"tokenizer": {"subword_regularization": 0.2}, "training": AVERAGED}, [4, 8]),
    "sharded": ({"model": {"dropout": 0}, "training": SHARDED}, [20]),
    "sharded whole": ({"training": {**AVERAGED, "shard": True}}, [4]),
    "sharded halves": ({"training": {**AVERAGED, "shard": True}}, [2, 4]),
    # Must not be the last job: the other process asks the main one which of them failed first.
    "mistaken": ({"model": {"max_length": 4}}, [1000]),
    "signalled": ({}, [1000]),
    "signalled late": ({}, [2]),
}
WORKER = """
import json, os, signal, sys
from pathlib import Path
import torch
from nmt.config.yaml_files import load_config
from nmt.errors import UserError
from nmt.runs.folder import RunFolder
from nmt.training import checkpoint, loop, sharding, step, train
from nmt.training.distributed import joined

def refuse(*_): raise AssertionError("the second process wrote")

update = step.TrainingState.update

def signalled(self, batches):
    if self.settings.shard and self.progress.updates == 1:
        moments = [x for s in self.optimizer.state.values() for x in s.values() if x.dim()]
        tensors = [*self.model.parameters(), *self.average.average, *moments]
        here = sum(x.to_local().numel() for x in tensors)
        share = here / sum(x.numel() for x in tensors)
        Path(f"{name}.{self.worker.rank}.share").write_text(str(share))
    if name == "signalled" and self.worker.rank and self.progress.updates == 3:
        os.kill(os.getpid(), signal.SIGTERM)
    return update(self, batches)

step.TrainingState.update = signalled

build = sharding.Transformer

def recorded(*arguments):
    model = build(*arguments)
    with Path(f"{name}.{worker.rank}.copies").open("a") as file:
        file.write(f"{model.output.weight.device}\\n")
    return model

sharding.Transformer = recorded

save = loop.Trainer._save

def signalled_late(self):
    save(self)
    if name == "signalled late" and self.worker.rank and self.progress.finished:
        os.kill(os.getpid(), signal.SIGTERM)

loop.Trainer._save = signalled_late
if os.environ["RANK"] == "1":
    train.create_run = loop.replacing = checkpoint.replacing = refuse
    RunFolder.write_config = RunFolder.write_metrics = refuse
torch.set_default_dtype(torch.float64)
for port, name, updates, resume in json.loads(sys.argv[1]):
    os.environ["MASTER_PORT"] = str(port)
    try:
        with joined("cpu") as worker:
            config = load_config(f"./{name}.yaml", [f"training.max_updates={updates}"])
            train.train(config, Path(name), resume, worker)
    except (KeyboardInterrupt, UserError, SystemExit) as error:
        print(name, "ended by", repr(error))
        torch.distributed.destroy_process_group()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as in a new process
"""


def free_port() -> int:
    """Return a port below the ephemeral range, so that no other connection takes it first."""
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


@contextmanager
def start_two(command: list[str], folder: Path) -> Iterator[list["subprocess.Popen[str]"]]:
    """Start a command twice, with the variables that torchrun would set; kill both at the end."""
    shared = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    shared |= {"MASTER_PORT": str(free_port()), "GLOO_SOCKET_IFNAME": LOOPBACK}
    started = [
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **shared, "RANK": rank, "LOCAL_RANK": rank},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in "01"
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, toy_config: MakeConfig) -> Path:
    """A folder in which two processes have done all jobs, with their output."""
    folder = tmp_path_factory.mktemp("two")
    steps = []
    for name, (sections, parts) in JOBS.items():
        (folder / f"{name}.yaml").write_text(dump_config(toy_config(**sections)))
        steps += [(free_port(), name, updates, bool(n)) for n, updates in enumerate(parts)]
    with start_two([sys.executable, "-c", WORKER, json.dumps(steps)], folder) as started:
        for rank, process in enumerate(started):
            out, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, err
            (folder / f"{rank}.out").write_text(out)
            (folder / f"{rank}.err").write_text(err)
    return folder


def checkpoint(folder: Path) -> dict[str, Any]:
    return torch.load(folder / "checkpoint.pt", weights_only=True)


@pytest.fixture
def _double_precision() -> Any:
    """Use float64, because Adam amplifies rounding errors of gradients near zero."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_double_precision")
@pytest.mark.parametrize("name", ["accumulated", "uneven", "sharded"])
def test_after_20_updates_two_processes_have_the_same_weights_as_one(
    two, toy_config, name, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    train(toy_config(**JOBS[name][0]), Path(name))
    one, both = checkpoint(Path(name)), checkpoint(two / name)
    for kind in ("model", "average"):
        torch.testing.assert_close(both[kind], one[kind], rtol=0, atol=1e-6)
    for weights in ("best", "last"):
        found = [
            load_file(folder / f"{weights}.safetensors") for folder in (two / name, Path(name))
        ]
        torch.testing.assert_close(*found, rtol=0, atol=1e-6)
    fields = ("updates", "tokens", "epoch", "batch")
    assert [both["progress"][f] for f in fields] == [one["progress"][f] for f in fields]
    lines = [RunFolder(folder).read_metrics() for folder in (Path(name), two / name)]
    assert [line["update"] for line in lines[1]] == [10, 20]
    for alone, shared in zip(*lines, strict=True):
        assert shared["bleu"] == alone["bleu"]
        assert shared["samples"] == alone["samples"]
        for measure in ("loss", "accuracy", "train_loss", "train_accuracy"):
            assert shared[measure] == pytest.approx(alone[measure], abs=1e-6)


def test_each_of_two_processes_stores_about_half_of_a_sharded_model(two):
    first, second = (float((two / f"sharded.{rank}.share").read_text()) for rank in "01")
    assert first + second == pytest.approx(1)
    assert 0.45 < first < 0.55


def test_a_sharded_model_is_copied_only_for_each_validation_and_without_initial_weights(two):
    for rank in "01":  # two validations
        assert (two / f"sharded.{rank}.copies").read_text().split() == ["meta", "meta"]


@pytest.mark.parametrize("kind", ["", "sharded "])
def test_resuming_is_exact(two, kind):
    whole, halves = (checkpoint(two / f"{kind}{name}") for name in ("whole", "halves"))
    for name, weight in whole["model"].items():
        assert torch.equal(halves["model"][name], weight)
    for one, other in zip(whole["average"], halves["average"], strict=True):
        assert torch.equal(one, other)
    states = [[own["cpu"] for _, own in state["of each process"]] for state in (whole, halves)]
    for one, other in zip(*states, strict=True):
        assert torch.equal(one, other)
    main, second = states[0]
    assert not torch.equal(main, second)


def test_a_signal_to_one_process_stops_all_after_the_same_update(two):
    assert checkpoint(two / "signalled")["progress"]["updates"] == 4
    for rank in "01":
        assert "signalled ended by KeyboardInterrupt()" in (two / f"{rank}.out").read_text()


def test_a_signal_to_one_process_during_the_last_checkpoint_stops_all(two):
    assert checkpoint(two / "signalled late")["progress"]["finished"]
    for rank in "01":
        assert "signalled late ended by KeyboardInterrupt()" in (two / f"{rank}.out").read_text()


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        ("4", "torchrun --nproc-per-node=4 -m nmt --"),
        ("2", "torchrun --nnodes=2 … --nproc-per-node=2 -m nmt --"),
    ],
)
def test_the_command_to_resume_has_the_same_number_of_processes(here, expected, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", here)
    assert DistributedWorker(distributed.HashStore(), 0, 4).command == expected


def test_each_process_uses_the_gpu_of_its_local_rank(monkeypatch):
    current: list[object] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    _make_own_gpu_current()
    assert _own(torch.device("cuda")) == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "1")
    _make_own_gpu_current()
    assert _own(torch.device("cuda")) == torch.device("cuda", 1)
    monkeypatch.setenv("LOCAL_RANK", "2")
    _make_own_gpu_current()
    with pytest.raises(UserError, match="too few GPUs"):
        _own(torch.device("cuda"))
    assert current == [0, torch.device("cuda", 0), 1, torch.device("cuda", 1)]


def test_only_the_main_process_prints(two):
    assert "torchrun --nproc-per-node=2 -m nmt -- train --resume" in (two / "0.out").read_text()
    assert "updates on cpu with 2 processes\n" in (two / "0.out").read_text()
    lines = (two / "1.out").read_text().splitlines()
    assert all("ended by" in line for line in lines), "process 1 prints only the test's own lines"
    assert (two / "1.err").read_text() == ""
    assert "Warning" not in (two / "0.err").read_text()


def test_resuming_with_a_different_number_of_processes_is_refused(two, monkeypatch):
    monkeypatch.chdir(two)
    with pytest.raises(UserError, match="this run used 2, not 1") as raised:
        train(RunFolder(Path("whole")).config, Path("whole"), resume=True)
    assert "\n" not in str(raised.value)


def test_if_a_process_is_killed_the_others_exit_with_one_line_and_a_checkpoint_remains(
    tmp_path, toy_config
):
    (tmp_path / "toy.yaml").write_text(dump_config(toy_config(training={"epochs": 10_000})))
    command = [sys.executable, "-m", "nmt", "train", "--config", "./toy.yaml", "--device", "cpu"]
    with start_two(command, tmp_path) as (main, other):
        wait_for(tmp_path / "runs" / "toy" / "metrics.jsonl")
        other.kill()
        out, err = main.communicate(timeout=PATIENCE)
    assert main.returncode == 2, err
    assert [line for line in err.splitlines() if line.startswith("nmt: ")] == [
        "nmt: process 1 of 2 (counted from 0) was lost; continue from the last checkpoint with "
        "torchrun --nproc-per-node=2 -m nmt -- train --resume --run runs/toy"
    ]
    assert "Traceback" not in out + err
    assert len(checkpoint(tmp_path / "runs" / "toy")["of each process"]) == 2


def test_a_process_exits_only_after_gloo_has_released_its_messages(monkeypatch):
    # gloo's threads keep a reference to a message for a while after it arrives.
    held: list[torch.Tensor] = []
    monkeypatch.setattr(distributed, "all_reduce", lambda message, _: held.append(message))
    worker = DistributedWorker(distributed.HashStore(), rank=0, size=2)
    with worker.draining_messages():
        assert worker.sum(3) == (3,)
        threading.Timer(0.2, held.clear).start()
    assert held == []


def test_an_error_that_mentions_gloo_is_not_taken_for_a_lost_process():
    assert _is_lost_connection(RuntimeError("[gloo] Connection closed by peer"))
    assert not _is_lost_connection(UserError("runs/igloo: already exists"))


def test_an_error_of_all_processes_is_reported_once(two):
    endings = "".join((two / f"{rank}.out").read_text() for rank in "01")
    assert endings.count("mistaken ended by UserError('model.max_length") == 1
    assert endings.count("mistaken ended by SystemExit(2)") == 1
    assert not (two / "mistaken").exists()


def test_wrong_torchrun_variables_are_reported_in_one_line(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(UserError, match="start them with torchrun"), joined("cpu"):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_training_by_torchrun_can_be_killed_and_resumed(tmp_path, toy_config):
    (tmp_path / "toy.yaml").write_text(dump_config(toy_config(training={"epochs": 10_000})))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*torchrun, "--nproc-per-node=2", "-m", "nmt", "--", "train"]
    command += ["--device", "cpu"]
    started = subprocess.Popen(
        [*command, "--config", "./toy.yaml", "--run", "runs/toy"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(tmp_path / "runs" / "toy" / "metrics.jsonl")
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        os.kill(int(children[-1]), signal.SIGKILL)
        assert started.stderr
        err = started.stderr.read()
        assert started.wait() == 1
    finally:
        started.terminate()
    assert sum(line.startswith("nmt: ") for line in err.splitlines()) == 1
    updates = checkpoint(tmp_path / "runs" / "toy")["progress"]["updates"]
    further = ["--resume", "--set", f"training.max_updates={updates + 5}"]
    subprocess.run([*command, *further], cwd=tmp_path, check=True, capture_output=True)
    assert checkpoint(tmp_path / "runs" / "toy")["progress"]["updates"] == updates + 5


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
