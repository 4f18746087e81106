"""A run's datastore contains every position of its training text."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from nmt.corpus.preparing.prepare import prepare
from nmt.decoding.loading import load_translator
from nmt.decoding.search.datastore import Datastore
from nmt.errors import UserError
from nmt.runs.folder import RunFolder
from nmt.training import fill_datastore as module
from nmt.training.batches import Batch
from nmt.training.fill_datastore import fill_datastore, fill_from_memory
from nmt.training.train import train

CPU = torch.device("cpu")
NEIGHBOURS = {"knn_k": 4, "beam_size": 2}
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_training_builds_the_datastore_if_configured(toy_config):
    config = toy_config(decoding=NEIGHBOURS)
    run = train(config, Path("run"))
    prepared = prepare(config)
    source, target = prepared.sequences("train")
    model = load_translator(run, device=CPU).pytorch.models[0]
    store = Datastore.load(run.datastore, run.weights("best"), model)
    assert len(store) == len(target.ids) + len(target)  # one position per token and per <eos>
    pairs = np.arange(5)
    batch = Batch.from_ids(source.rows(pairs), target.rows(pairs))
    with torch.inference_mode():
        hidden = model.decoder_output(batch.source, batch.target_in).flatten(0, 1)[
            batch.label_indices
        ]
        distances, tokens = store.nearest(hidden, 1)
    assert distances.max() < 1e-2
    same = tokens[:, 0] == batch.target_out.flatten()[batch.label_indices]
    assert same.float().mean() > 0.95  # except where two positions are equal


def test_without_neighbours_no_datastore_is_built(toy_config):
    assert not train(toy_config(), Path("run")).datastore.exists()


def test_a_memory_fills_the_datastore_and_decides_between_translations(toy_config):
    run = train(toy_config(training={"epochs": 1}), Path("run"))
    unit = "<tuv lang='en'><seg>{}</seg></tuv><tuv lang='de'><seg>{}</seg></tuv>"
    target = "Ida tanzt oft."
    body = unit.format("Anna sings today.", target)
    Path("memory.tmx").write_text(f"<tmx><body><tu>{body}</tu></body></tmx>")
    filled = fill_from_memory(run, Path("memory.tmx"), "best", CPU)
    neighbours = ["decoding.knn_k=4", "decoding.knn_weight=0.99", "decoding.knn_temperature=0.1"]
    translator = load_translator(run, device=CPU, overrides=neighbours)
    assert [each.text for each in translator.translate(["Anna sings today."])] == [target]
    assert len(filled) == len(translator.tokenizers.target.encode(target)) + 1
    with pytest.raises(UserError, match=r"no\.tmx"):
        fill_from_memory(run, Path("no.tmx"), "best", CPU)


def test_a_memory_is_not_compared_with_itself_as_held_out_text(toy_config):
    config = toy_config(data={"disjoint_splits": True}, training={"max_updates": 1})
    run = train(config, Path("run"))
    Path("memory.tsv").write_text("Anna sings today.\tIda tanzt oft.\n")
    assert len(fill_from_memory(run, Path("memory.tsv"), "best", CPU)) > 1


def test_a_datastore_for_other_weights_replaces_it(toy_config):
    config = toy_config(decoding=NEIGHBOURS, training={"average_decay": 0.5})
    run = train(config, Path("run"))
    load_translator(run, device=CPU)
    with pytest.raises(UserError, match="other than last"):
        load_translator(run, weights="last", device=CPU)
    fill_datastore(run, prepare(config), "last", CPU)
    load_translator(run, weights="last", device=CPU)
    with pytest.raises(UserError, match="other than best"):
        load_translator(run, device=CPU)


def test_resuming_a_finished_run_keeps_the_datastore_of_other_weights(toy_config):
    config = toy_config(decoding=NEIGHBOURS, training={"average_decay": 0.5, "max_updates": 2})
    run = train(config, Path("run"))
    fill_datastore(run, prepare(config), "last", CPU)
    train(config, Path("run"), resume=True)
    load_translator(run, weights="last", device=CPU)
    run.datastore.unlink()
    train(config, Path("run"), resume=True)
    load_translator(run, device=CPU)


def test_resuming_rebuilds_a_datastore_left_stale_by_a_kill(toy_config, monkeypatch):
    before, config = (
        toy_config(decoding=NEIGHBOURS, training={"best": "loss", "max_updates": updates})
        for updates in (2, 4)
    )
    train(before, Path("run"))
    with monkeypatch.context() as patch:
        patch.setattr("nmt.training.train.fill_datastore", lambda *_: sys.exit(143))
        with pytest.raises(SystemExit):
            train(config, Path("run"), resume=True)
    run = train(config, Path("run"), resume=True)
    load_translator(run, device=CPU)


def test_a_corpus_that_changed_after_training_is_refused(toy_config, toy_corpus):
    corpus = Path(shutil.copy(toy_corpus, "corpus.tsv"))
    config = toy_config(data={"path": str(corpus)}, training={"max_updates": 1})
    run = train(config, Path("run"))
    prepared = prepare(config)
    corpus.write_text("\n".join(corpus.read_text().splitlines()[:-1]) + "\n")
    prepare(config)
    with pytest.raises(UserError, match="corpus has changed"):
        fill_datastore(run, prepared, "best", CPU)
    assert not run.datastore.exists()


def test_a_corpus_too_large_is_refused_before_training_and_for_a_finished_run(
    toy_config, monkeypatch
):
    config = toy_config(training={"max_updates": 1})
    run = train(config, Path("run"))
    monkeypatch.setattr(module, "_LARGEST", 1000)
    with pytest.raises(UserError, match=r"decoding\.knn_k: "):
        train(toy_config(decoding=NEIGHBOURS), Path("other"))
    assert not Path("other").exists()
    with pytest.raises(UserError, match=r"decoding\.knn_k: "):
        fill_datastore(run, prepare(config), "best", CPU)


def test_the_room_for_all_positions_is_checked(toy_config, monkeypatch):
    run = train(toy_config(decoding=NEIGHBOURS, training={"max_updates": 1}), Path("run"))
    size = load_file(run.datastore)["tokens"].numel() * run.config.model.d_model * 4
    prepared = prepare(run.config)
    monkeypatch.setattr(module, "_LARGEST", size)
    module.require_room(prepared, run.config.model.d_model)
    monkeypatch.setattr(module, "_LARGEST", size - 1)
    with pytest.raises(UserError, match=rf"{size // (4 * run.config.model.d_model):,} training"):
        module.require_room(prepared, run.config.model.d_model)


def test_missing_weights_leave_the_datastore_unchanged(toy_config):
    config = toy_config(decoding=NEIGHBOURS)
    run: RunFolder = train(config, Path("run"))
    before = run.datastore.read_bytes()
    with pytest.raises(UserError, match=r"ema\.safetensors"):
        fill_datastore(run, prepare(config), "ema", CPU)
    assert run.datastore.read_bytes() == before
