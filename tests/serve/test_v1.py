"""nmt's own API: translations with details, and descriptions of runs."""

import json
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import yaml
from sacrebleu.metrics.chrf import CHRF
from starlette.testclient import TestClient

from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.corpus.text.tags import tag_of
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translation
from nmt.errors import UserError
from nmt.reports.inspection import Inspection
from nmt.reports.summaries import RunSummary, summarize
from nmt.runs.folder import RunFolder
from nmt.serve import v1
from nmt.serve.limits import Limits
from nmt.serve.runs import list_runs
from nmt.serve.served_run import ServedRun, name_runs
from nmt.serve.service import Service
from nmt.serve.v1 import OPERATIONS
from nmt.special_tokens import TAGS

MakeClient = Callable[..., TestClient]
SENTENCE, GERMAN = "Anna sings today.", "Anna singt heute."
SENTENCES = [SENTENCE, "Ben reads at home.", "Clara dances often.", "Ida cooks at night."]


def translate(client: TestClient, **body: Any) -> Any:
    """Return the texts of an answer."""
    answer = client.post("/v1/translate", json=body)
    assert answer.status_code == 200
    return answer.json()["texts"]


def test_n_best_translations_are_sorted_by_score(client: TestClient) -> None:
    answer = client.post("/v1/translate", json={"text": SENTENCE, "n_best": 3}).json()
    [text] = answer.pop("texts")
    assert answer == {"run": "toy", "engine": "pytorch", "source": "en", "target": "de"}
    [sentence] = text["sentences"]
    assert text["translation"] == sentence["translations"][0]["text"] == GERMAN
    scores = [option["score"] for option in sentence["translations"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert sentence["translations"][0]["parts"] == 1
    assert "attention" not in sentence


def test_translations_equal_the_translators(client: TestClient, served: ServedRun) -> None:
    lines = [example.source for example in served.folder.examples("test")]
    found = [text["translation"] for text in translate(client, text=lines)]
    assert found == [each.text for each in served.translator.translate(lines)]


def test_a_run_is_chosen_by_one_language_or_both(
    make_client: MakeClient, served: ServedRun
) -> None:
    back = ServedRun("back", served.folder, served.translator, "pytorch")
    back.source, back.target = "de", "en"
    client = make_client(served, back)

    def chosen(**body: str) -> str:
        answer = client.post("/v1/translate", json={"text": SENTENCE, **body}).json()
        return str(answer.get("run") or answer["error"])

    assert chosen() == chosen(source="en") == chosen(target="de") == "toy"
    assert chosen(source="", target="") == chosen(run="toy", source="") == "toy"
    assert chosen(source="ENG") == chosen(target="German") == "toy"
    assert chosen(source="de") == chosen(target="en") == chosen(source="de", target="en") == "back"
    assert chosen(run="back", target="en") == "back"
    assert chosen(run="back", target="de") == "back translates only from de to en"
    assert chosen(run="toy", source="fr") == "toy translates only from en to de"
    assert chosen(target="fr") == "fr is not supported; choose from de, en"


def test_attention_is_returned_on_request(client: TestClient) -> None:
    [text] = translate(client, text=f" {SENTENCE}\n\nBen reads.", attention=True)
    first, second = text["sentences"]
    assert (text["gap"], first["gap"], second["source"]) == (" ", "\n\n", "Ben reads.")
    attention = first["attention"]
    cross = np.array(attention["cross"])
    assert cross.shape[2:] == (len(attention["target_tokens"]), len(attention["source_tokens"]))
    np.testing.assert_allclose(cross.sum(-1), 1, atol=1e-2)
    np.testing.assert_allclose(cross.mean((0, 1)), attention["average"], atol=1e-3)
    assert all(value <= 0 for value in attention["log_probabilities"])
    spelled = [GERMAN[start:end] for start, end in attention["target_spans"]]
    assert "".join(spelled) == GERMAN.replace(" ", "")


def test_beam_shows_what_became_of_each_hypothesis(client: TestClient, served: ServedRun) -> None:
    [text] = translate(client, text=SENTENCE, beam=True)
    [sentence] = text["sentences"]
    [translation], steps = sentence["translations"], sentence["beam"]
    ends = [(n, each) for n, step in enumerate(steps) for each in step if each["fate"] == "ends"]
    number, best = max(ends, key=lambda end: end[1]["score"])
    assert best["score"] == pytest.approx(translation["score"], abs=1e-4)
    assert best["text"] == translation["text"]
    tokens = []
    hypothesis = best
    while number:
        number -= 1
        hypothesis = steps[number][hypothesis["parent"]]
        assert hypothesis["fate"] == "lives"
        tokens.insert(0, hypothesis["token"])
    assert tokens == served.translator.trace(SENTENCE)[0].target
    most = served.translator.decoding.beam_size + len(ends)
    assert all(len(step) <= most for step in steps[:-1])


def test_attention_is_limited_in_size(
    client: TestClient, served: ServedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    [[best]] = served.translate([SENTENCE], 1)
    weights = served.inspect(SENTENCE, best).cross.weights
    monkeypatch.setattr(v1, "_MOST_WEIGHTS", weights.size)
    texts = translate(client, text=SENTENCES[:2], attention=True, beam=True)
    first, second = (text["sentences"][0] for text in texts)
    assert all(len(str(weight)) <= 6 for weight in np.ravel(first["attention"]["cross"]))
    assert ("attention" in second, "beam" in second) == (False, True)
    assert "send fewer or shorter sentences" in second["problem"]


@pytest.fixture
def sampling(make_client: MakeClient, trained_run: RunFolder) -> TestClient:
    """A run that samples: its best of several translations differs from a single one."""
    hot = ["decoding.temperature=3"]
    translator = load_translator(trained_run, overrides=hot, engine="pytorch")
    return make_client(ServedRun("hot", trained_run, translator, "pytorch"))


def test_attention_belongs_to_the_translation_that_is_returned(sampling: TestClient) -> None:
    for text in translate(sampling, text=SENTENCES, n_best=5, attention=True):
        [sentence] = text["sentences"]
        best, attention = sentence["translations"][0], sentence["attention"]
        assert "".join(attention["target_tokens"][:-1]).replace("▁", " ").strip() == best["text"]
        assert sum(attention["log_probabilities"]) < best["score"]


def test_no_beam_is_shown_for_a_translation_that_beam_search_does_not_find(
    sampling: TestClient,
) -> None:
    texts = translate(sampling, text=SENTENCES, beam=True)
    problems = [sentence.get("problem", "") for text in texts for sentence in text["sentences"]]
    assert any("beam search in PyTorch does not find this" in problem for problem in problems)


def test_the_beam_is_as_wide_as_the_search(client: TestClient) -> None:
    [text] = translate(client, text=SENTENCE, beam=True, n_best=9)
    [sentence] = text["sentences"]
    scores = [each["score"] for step in sentence["beam"] for each in step if each["score"]]
    expected = [option["score"] for option in sentence["translations"]]
    assert all(np.isclose(score, scores, atol=1e-3).any() for score in expected)


def test_long_texts_are_streamed_one_line_per_sentence(client: TestClient) -> None:
    body = {"text": [f"{SENTENCE} Ben reads often.", "Ida cooks at night."], "stream": True}
    answer = client.post("/v1/translate", json=body)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["text"] for line in lines] == [0, 0, 1]
    found = [line["translations"][0]["text"] for line in lines]
    assert found == [GERMAN, "Ben liest oft.", "Ida kocht nachts."]


def test_a_stream_may_take_long_but_ends_with_an_error_if_one_line_does(
    make_client: MakeClient, served: ServedRun
) -> None:
    class Slow(ServedRun):
        def translate(self, lines: Sequence[str], n: int) -> list[list[Translation]]:
            return [[Translation(line, 0.0)] for line in lines]

        def inspect(self, sentence: str, translation: Translation) -> Inspection:
            stopped.wait(10 if sentence == SENTENCES[1] else 0.6)
            raise UserError("not inspected")

    stopped = threading.Event()
    slow = Slow("slow", served.folder, served.translator, "pytorch")
    client = make_client(slow, limits=Limits(seconds=1.5))
    body = {"text": [SENTENCES[0]] * 3 + [SENTENCES[1]], "attention": True, "stream": True}
    answer = client.post("/v1/translate", json=body)
    stopped.set()
    *lines, last = map(json.loads, answer.text.splitlines())
    expected = [(SENTENCES[0], "not inspected")] * 3
    assert [(line["source"], line["problem"]) for line in lines] == expected
    assert last == {"error": "The response takes longer than 1.5 seconds"}


def test_long_sentences_with_a_beam_are_translated(client: TestClient) -> None:
    long = "Anna sings and reads and dances and cooks and swims and sings at home."
    [text] = translate(client, text=long, beam=True)
    assert text["sentences"][0]["translations"][0]["text"]


def test_the_corpora_of_a_run_are_listed_by_name(
    make_client: MakeClient, served: ServedRun, tmp_path: Path
) -> None:
    folder = RunFolder(Path(shutil.copytree(served.folder.path, tmp_path / "mixed")))
    config = yaml.safe_load((folder.path / "config.yaml").read_text())
    parts = [{"source": "tsv", "path": "/private/a.tsv", "name": "talks"}, {"source": "sample"}]
    config["data"] = {"corpora": parts}
    (folder.path / "config.yaml").write_text(yaml.safe_dump(config))
    listed = make_client(runs_folder=tmp_path).get("/v1/runs").json()
    rows = {row["name"]: row["data"] for row in listed}
    assert rows["mixed"] == "talks, sample, 168 pairs"


def test_runs_are_listed_with_their_metrics_and_configuration(client: TestClient) -> None:
    [row] = client.get("/v1/runs").json()
    assert (row["name"], row["served"], row["data"]) == ("toy", True, "tsv, 168 pairs")
    details = client.get("/v1/runs/toy").json()
    assert details["metrics"][-1]["samples"]
    assert [point["update"] for point in details["updates"][:2]] == [10, 20]
    assert details["report"]["pairs"]["test"] == 16
    fields = {field["name"]: field for field in details["config"]}
    assert fields["model.d_model"]["value"] == "64"
    assert fields["data.subset"]["value"] == fields["data.subset"]["default"] == "null"
    assert fields["model.d_model"]["description"]
    assert fields["data.path"]["value"] == "toy.tsv"


def test_samples_show_their_tags_as_words(
    client: TestClient, served: ServedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = DataConfig.model_validate({"corpora": [{"source": "sample", "tag": "web"}]})
    config = served.folder.config.model_copy(update={"data": data})
    monkeypatch.setitem(vars(served.folder), "config", config)
    sample = {"source": f"{TAGS[0]} I see.", "reference": "Ja.", "translation": "Ja."}
    line = served.folder.read_metrics()[-1] | {"samples": [sample]}
    monkeypatch.setattr(RunFolder, "read_metrics", lambda run: [line])
    [shown] = client.get("/v1/runs/toy").json()["metrics"][0]["samples"]
    assert shown["source"] == "[web] I see."


def test_responses_contain_no_local_paths(
    client: TestClient, served: ServedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(served.folder.path.parent.parent)
    corpora = [{"name": f"tsv {place}/my corpus/mine.tsv", "licence": "", "read": 9, "train": 9}]
    monkeypatch.setitem(served.folder.report, "corpora", corpora)
    paths = ["/v1/runs", "/v1/runs/toy", "/openapi.json", "/frontend/settings", "/v1/runs/nothing"]
    assert not any(place in client.get(path).text for path in paths)
    [corpus] = client.get("/v1/runs/toy").json()["report"]["corpora"]
    assert corpus["name"] == "tsv mine.tsv"


def test_the_list_of_runs_follows_the_folder(
    make_client: MakeClient, served: ServedRun, tmp_path: Path
) -> None:
    client = make_client(runs_folder=tmp_path)
    assert [row["name"] for row in client.get("/v1/runs").json()] == ["toy"]
    for name in ("config.yaml", "metrics.jsonl", "data/report.json"):
        path = tmp_path / "other" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(served.folder.path / name, path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.yaml").write_text("data: 7")
    rows = {row["name"]: row["served"] for row in client.get("/v1/runs").json()}
    assert rows == {"toy": True, "other": False}
    assert client.get("/v1/runs/other").json()["metrics"]
    assert client.get("/v1/runs/broken").status_code == 404
    assert client.post("/v1/translate", json={"text": "x", "run": "other"}).status_code == 400


def test_a_served_run_stays_in_the_list_without_its_folder(
    make_client: MakeClient, served: ServedRun, tmp_path: Path
) -> None:
    folder = RunFolder(shutil.copytree(served.folder.path, tmp_path / "gone"))
    client = make_client(ServedRun("gone", folder, served.translator, "pytorch"), served)
    shutil.rmtree(folder.path)
    rows = {row["name"]: row for row in client.get("/v1/runs").json()}
    assert rows.keys() == {"gone", "toy"}
    assert (rows["gone"]["served"], rows["gone"]["source"]) == (True, "en")
    assert rows["gone"]["updates"] is rows["gone"]["seconds"] is None
    assert client.post("/v1/translate", json={"text": SENTENCE}).json()["run"] == "gone"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode")
def test_runs_whose_names_are_not_utf8_are_listed(
    make_client: MakeClient, served: ServedRun, tmp_path: Path
) -> None:
    folder = tmp_path / "caf\udce9"
    shutil.copytree(served.folder.path, folder)
    [name] = name_runs([RunFolder(folder)])
    run = ServedRun(name, RunFolder(folder), served.translator, "pytorch")
    for client in (make_client(runs_folder=tmp_path), make_client(run)):
        assert "caf?" in [row["name"] for row in client.get("/v1/runs").json()]
        assert client.get("/v1/runs/caf%3F").json()["name"] == "caf?"


def test_two_runs_are_compared_on_the_test_set(make_client: MakeClient, served: ServedRun) -> None:
    class Worse(ServedRun):
        def translate(self, lines, n):  # type: ignore[no-untyped-def]
            return served.translator.n_best([line.split()[0] for line in lines], n)

    worse = Worse("worse", served.folder, served.translator, "pytorch")
    client = make_client(served, worse)

    def compare(*runs: str, **more: object) -> Any:
        return client.post("/v1/compare", json={"runs": runs, **more}).json()

    found = compare("toy", "worse")
    assert found["count"] == 16
    assert found["bleu"][0] > found["bleu"][1]
    gaps = [abs(one - two) for one, two in (row["chrf"] for row in found["sentences"])]
    assert gaps == sorted(gaps, reverse=True)
    for row in found["sentences"]:
        right, wrong = row["translations"]
        assert right == served.translator.translate([row["source"]])[0].text != wrong
        score = CHRF().sentence_score(right, [row["reference"]]).score
        assert row["chrf"][0] == pytest.approx(score, abs=0.1)
    found = compare("toy", "worse", split="validation", sentences=3)
    assert (found["split"], found["count"]) == ("validation", 3)
    first = {example.source for example in served.folder.examples("validation")[:3]}
    assert {row["source"] for row in found["sentences"]} <= first
    assert compare("toy", "toy")["sentences"] == []


def test_a_compared_run_gets_the_tag_of_the_same_name(
    make_client: MakeClient, served: ServedRun
) -> None:
    read: list[str] = []

    class Tagged(ServedRun):
        def translate(self, lines, n):  # type: ignore[no-untyped-def]
            read.extend(lines)
            return [[SimpleNamespace(text=self.name)] for _ in lines]

    def run(*tags: str) -> ServedRun:
        corpora = [{"source": "sample", "tag": tag} for tag in tags]
        data = DataConfig.model_validate({"corpora": corpora})
        test = [Example(tag_of(data, tags[-1]) + "Anna sings.", "Anna singt.", False)]
        folder = SimpleNamespace(config=SimpleNamespace(data=data), examples=lambda split: test)
        return Tagged(tags[0], cast(RunFolder, folder), served.translator, "pytorch")

    client = make_client(run("chat", "news"), run("news"))
    found = client.post("/v1/compare", json={"runs": ["chat", "news"]}).json()
    assert [sentence["source"] for sentence in found["sentences"]] == ["[news] Anna sings."]
    assert found["count"] == 1
    assert read == [f"{TAGS[1]} Anna sings.", f"{TAGS[0]} Anna sings."]


def test_only_changed_runs_are_read_again(
    served: ServedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def recorded(run: RunFolder) -> RunSummary:
        read.append(run.name)
        return summarize(run)

    monkeypatch.setattr("nmt.serve.runs.summarize", recorded)
    for name in ("a", "b"):
        shutil.copytree(served.folder.path, tmp_path / name)
    service = Service([served], runs_folder=tmp_path)
    first, again = list_runs(service), list_runs(service)
    assert sorted(row["name"] for row in first) == sorted(row["name"] for row in again)
    assert sorted(read) == ["a", "b", "toy"]
    later = time.time() + 10
    os.utime(tmp_path / "b/metrics.jsonl", (later, later))
    list_runs(service)
    assert read[3:] == ["b"]


def test_runs_get_distinct_names_without_paths(tmp_path: Path) -> None:
    runs = [RunFolder(tmp_path / path) for path in ("a/run", "b/run", "c", "run-2")]
    assert name_runs(runs[:3]) == ["run", "run-2", "c"]
    assert name_runs(runs[:3], ["c"]) == ["run", "run-2", "c-2"]
    assert name_runs(runs) == ["run", "run-3", "c", "run-2"]


def test_browsers_check_the_page_for_changes_after_an_upgrade(client: TestClient) -> None:
    for path in ("/", "/docs", "/page/app.js"):
        assert client.get(path).headers["Cache-Control"] == "no-cache"


def test_every_endpoint_is_documented(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert {each.path for each in OPERATIONS} <= set(document["paths"])
    schemas = document["components"]["schemas"]
    for reference in set(json.dumps(document).split("#/components/schemas/")[1:]):
        assert reference.partition('"')[0] in schemas


def test_a_translation_begins_with_a_prefix(client: TestClient) -> None:
    [text] = translate(client, text=f"{SENTENCE} Anna.", prefix="Ben s")
    assert text["translation"].startswith("Ben s")


def test_alternatives_are_words_that_may_follow(client: TestClient) -> None:
    def ask(prefix: str, n: int = 5) -> list[dict[str, str]]:
        body = {"text": SENTENCE, "prefix": prefix, "n_best": n}
        answer = client.post("/v1/alternatives", json=body).json()
        assert answer["run"] == "toy"
        return cast("list[dict[str, str]]", answer["words"])

    found = ask("Anna ")
    assert found[0] == {"word": "singt", "prefix": "Anna singt "}
    assert len({each["word"] for each in found}) == len(found) <= 5
    assert ask("Anna ", 1) == found[:1]
    assert ask("")[0]["word"] == "Anna"
    assert ask("Anna singt heute")[0]["word"] == "."
    for each in ask("Anna singt "):
        [text] = translate(client, text=SENTENCE, prefix=each["prefix"])
        assert re.match(rf"Anna singt {re.escape(each['word'])}\b", text["translation"])


def test_a_glossary_prescribes_translations_of_terms(client: TestClient) -> None:
    [text] = translate(client, text=SENTENCE, glossary="Anna\tBen\nswim\tschwimmen\n")
    assert "Ben" in text["translation"]
    assert text["sentences"][0]["missing_terms"] == []
    assert translate(client, text=SENTENCE, glossary="x\ty")[0]["translation"] == GERMAN


def test_terms_of_the_servers_own_glossary_that_could_not_be_placed_are_reported(
    make_client: MakeClient, trained_run: RunFolder, tmp_path: Path
) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("Anna\tBen\n")
    # Samples are drawn without constraints.
    translator = load_translator(
        trained_run, overrides=["decoding.temperature=1e-3"], engine="pytorch", glossary=terms
    )
    client = make_client(ServedRun("toy", trained_run, translator, "pytorch"))
    [text] = translate(client, text=SENTENCE)
    assert text["sentences"][0]["missing_terms"] == ["Anna → Ben"]
