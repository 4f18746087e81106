"""Imported runs are served like others: languages are detected, and two runs swap directions."""

import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from nmt.decoding.loading import load_translator
from nmt.runs.importing import import_run
from nmt.serve.served_run import ServedRun
from tests.cli.command_line import nmt
from tests.marian_models import LANGUAGE_TOKENS, PAIRS, make_model

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[ServedRun]:
    """A run for each direction, with whole words in its vocabulary."""
    folder = tmp_path_factory.mktemp("imported")
    served = []
    for languages in (("en", "de"), ("de", "en")):
        name = "-".join(languages)
        model = make_model("bpe", folder=folder / name, pieces=120, languages=languages)
        run = import_run(model, folder / f"run-{name}")
        translator = load_translator(run, overrides=["decoding.max_length_extra=8"])
        served.append(ServedRun(name, run, translator, "ctranslate2"))
    return served


def test_two_runs_swap_directions(
    make_client: Callable[..., TestClient], both: list[ServedRun]
) -> None:
    client = make_client(*both)
    for (source, target), text in zip((("en", "de"), ("de", "en")), PAIRS[0], strict=True):
        body = {"text": text, "source": source, "target": target, "attention": True}
        answer = client.post("/v1/translate", json=body).json()
        assert answer["run"] == f"{source}-{target}"
        [sentence] = answer["texts"][0]["sentences"]
        assert sentence["attention"]["source_tokens"][-1] == "<eos>"
    for run in client.get("/v1/runs").json():
        assert client.get(f"/v1/runs/{run['name']}").status_code == 200


def test_languages_are_detected_by_the_words_in_the_vocabularies(
    make_client: Callable[..., TestClient], both: list[ServedRun]
) -> None:
    client = make_client(*both)
    for language, text in (("en", "Sings today, reads often"), ("de", "Singt heute, liest oft")):
        found = client.post("/detect", json={"q": text}).json()
        assert found[0]["language"] == language
        assert found[0]["confidence"] > 50


def test_a_model_with_several_target_languages_gives_a_warning(
    both: list[ServedRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(sockets: list[socket.socket]) -> None:
        for each in sockets:
            each.close()

    monkeypatch.setattr("nmt.serve.server.make_server", lambda *_: SimpleNamespace(run=closed))
    folder = make_model(tokens=LANGUAGE_TOKENS, folder=tmp_path / "model")
    run = import_run(folder, tmp_path / "several")
    command = ("serve", "--port", 0, "--run", run.path, "--run", both[0].folder.path)
    lines = nmt(*command).stderr.decode().splitlines()
    [warning] = [line for line in lines if "target languages" in line]
    assert "several: may write any" in warning
    assert "cmn_Hans, deu" in warning
