"""What `train` prints before training begins."""

from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.training.dry_run import dry_run
from nmt.training.train import train


@pytest.mark.parametrize("start", [lambda config: train(config, Path("run")), dry_run])
def test_an_engine_that_cannot_decode_the_model_is_refused_before_any_work(
    toy_config, start, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    config = toy_config(decoding={"engine": "ctranslate2", "knn_k": 4})
    with pytest.raises(UserError, match=r"decoding\.engine: CTranslate2 cannot be used"):
        start(config)
    assert not Path("run").exists()
    assert not Path("data").exists()


def test_a_new_run_names_its_corpora_and_their_licences_once(
    toy_config, toy_corpus, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    small = tmp_path / "b.tsv"
    small.write_text("I sing.\tIch singe.\nI dance.\tIch tanze.\n", encoding="utf-8")
    corpora = [
        {"source": "tatoeba", "path": str(toy_corpus), "name": "a", "weight": 3},
        {"source": "tsv", "path": str(small), "name": "b", "weight": 1, "held_out": False},
    ]
    unset = {"source": "pickle", "path": None}  # the defaults
    changes = {**unset, "corpora": corpora, "min_coverage": 0}
    config = toy_config(data=changes, training={"max_updates": 1})
    train(config, Path("run"))
    before, _, _ = capsys.readouterr().out.partition("parameters")
    assert before.splitlines()[:3] == [
        "corpus           a: read 200, train 168, 75.0% of each epoch",
        "licence          CC BY 2.0 FR, https://tatoeba.org, pairs chosen by "
        "https://www.manythings.org",
        "corpus           b: read 2, train 2, 25.0% of each epoch",
    ]
    train(config, Path("run"), resume=True)
    assert "licence" not in capsys.readouterr().out
