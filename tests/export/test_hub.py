"""Runs on the Hugging Face Hub: the uploaded files, and translating with a downloaded run.

Calls of the library that need the network are replaced by a folder; its own filter selects the
files.
"""

import errno
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from nmt.config.yaml_files import override_config
from nmt.files.private_paths import without_folders
from nmt.runs.finding import open_run
from nmt.runs.folder import RunFolder
from nmt.serve.served_run import name_runs
from nmt.training.fine_tuning import config_from
from tests.cli.command_line import PAIR, assert_refused, nmt, text
from tests.marian_models import make_model
from tests.pretend_hub import cut_off, forbid, nmt_with_hub, pretend_hub

hub = pytest.importorskip("huggingface_hub")


@pytest.fixture(autouse=True)
def _empty_cache(in_empty_folder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.runs.hub.cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def revisions() -> list[str]:
    """The names and revisions that were downloaded."""
    return []


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revisions: list[str]) -> Path:
    """A folder that replaces the Hub."""
    place = tmp_path / "remote"

    def create_repo(name: str, *, private: bool, exist_ok: bool) -> hub.RepoUrl:
        assert exist_ok
        name = name if "/" in name else f"anna/{name}"
        (place / name).mkdir(parents=True, exist_ok=True)
        (place / name / ".private").write_text(str(private))
        return hub.RepoUrl(f"https://hub.invalid/{name}", endpoint="https://hub.invalid")

    def upload_folder(
        *, repo_id: str, folder_path: Path, commit_message: str, delete_patterns: list[str]
    ) -> None:
        assert commit_message
        there = place / repo_id
        files = [p.relative_to(there).as_posix() for p in there.rglob("*.*") if p.is_file()]
        for file in hub.utils.filter_repo_objects(files, allow_patterns=delete_patterns):
            (there / file).unlink()
        shutil.copytree(folder_path, place / repo_id, dirs_exist_ok=True)

    def files_of(name: str) -> list[str]:
        if not (place / name).is_dir():
            raise hub.errors.RevisionNotFoundError("404\nnot found", response=Any)
        found = filter(Path.is_file, (place / name).rglob("*"))
        return [path.relative_to(place / name).as_posix() for path in found]

    def model_info(name: str, *, revision: str | None, files_metadata: bool) -> Any:
        assert files_metadata
        siblings = [
            SimpleNamespace(rfilename=file, size=(place / name / file).stat().st_size)
            for file in files_of(name)
        ]
        return SimpleNamespace(siblings=siblings)

    def snapshot_download(
        name: str,
        *,
        revision: str | None,
        cache_dir: Path,
        allow_patterns: list[str],
        tqdm_class: type,
        local_files_only: bool = False,
    ) -> str:
        files = files_of(name)
        revisions.append(f"{name} {revision}")
        folder = cache_dir / f"models--{name.replace('/', '--')}/snapshots/0123"
        for file in hub.utils.filter_repo_objects(files, allow_patterns=allow_patterns):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place / name / file, folder / file)
        return str(folder)

    for call in (create_repo, upload_folder, model_info, snapshot_download):
        monkeypatch.setattr(hub, call.__name__, call)
    return place


@pytest.fixture
def pushed(trained_run: RunFolder, remote: Path) -> Path:
    """The uploaded files of the trained run, hf:anna/toy."""
    assert nmt("push", trained_run.path, "anna/toy").returncode == 0
    return remote / "anna/toy"


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def copy_of(run: RunFolder) -> RunFolder:
    return RunFolder(Path(shutil.copytree(run.path, "run")))


def change_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), encoding="utf-8")


def test_the_name_of_the_user_may_be_omitted(trained_run, remote):
    done = nmt("push", trained_run.path, "toy")
    assert text(done.stdout) == "uploaded         https://hub.invalid/anna/toy\n"
    assert "nmt translate --run hf:anna/toy" in card_of(remote / "anna/toy")
    assert [path.name for path in remote.iterdir()] == ["anna"]


def test_a_pushed_run_can_be_used_for_translation(trained_run, remote):
    done = nmt("push", trained_run.path, "anna/toy")
    assert text(done.stdout) == "uploaded         https://hub.invalid/anna/toy\n"
    for evil in ("checkpoint.pt", "evil.pkl", "data/evil.py"):
        (remote / "anna/toy" / evil).write_text("evil")
    there, here = (
        nmt("translate", "--run", run, PAIR[0]) for run in ("hf:anna/toy", trained_run.path)
    )
    assert (there.returncode, there.stdout) == (0, here.stdout)
    names = {path.name for path in Path("cache/runs").rglob("*") if path.is_file()}
    assert names >= {"best.safetensors", "config.yaml", "joint.model", "report.json"}
    assert not names & {"checkpoint.pt", "evil.pkl", "evil.py"}
    assert nmt("evaluate", "--run", "hf:anna/toy").returncode == 0


def test_a_fine_tuned_run_names_the_run_on_the_hub_that_it_started_from(trained_run, remote):
    assert nmt("push", trained_run.path, "me/toy").returncode == 0
    config = config_from(open_run("hf:me/toy"), "best", None, [])
    assert config.origin.fine_tuning == "--from hf:me/toy"
    assert without_folders(config.origin.fine_tuning) == config.origin.fine_tuning
    corpus = f"data.path={trained_run.config.data.path}"  # not uploaded, and neither is its folder
    limit = "training.max_updates=1"
    done = nmt("train", "--from", "hf:me/toy", "--set", corpus, "--set", limit, "--run", "tuned")
    assert done.returncode == 0, done.stderr
    assert RunFolder(Path("tuned")).origin.fine_tuning == "--from hf:me/toy"


@pytest.mark.slow
def test_the_unmodified_library_uploads_and_downloads_a_run(trained_run, tmp_path):
    files = tmp_path / "hub/models/anna/toy"
    (files / "data").mkdir(parents=True)
    for name in ("data/stale.model", "LICENSE.txt", ".gitattributes"):
        (files / name).touch()
    with pretend_hub(tmp_path / "hub") as address:
        done = nmt_with_hub(address, tmp_path, "push", trained_run.path, "anna/toy")
        assert done.stdout.endswith("/anna/toy\n"), done.stderr
        there = nmt_with_hub(address, tmp_path, "translate", "--run", "hf:anna/toy", PAIR[0])
    assert there.stdout == text(nmt("translate", "--run", trained_run.path, PAIR[0]).stdout), there
    assert not there.stderr  # no progress bar for a quick download
    assert (files / "best.safetensors").read_bytes() == trained_run.weights("best").read_bytes()
    assert {"LICENSE.txt", ".gitattributes", "README.md"} < {path.name for path in files.iterdir()}
    assert not (files / "data/stale.model").exists()


def test_the_upload_has_a_model_card_and_no_local_paths(trained_run, pushed):
    corpus = Path(str(trained_run.config.data.path))
    assert corpus.is_absolute()
    assert "nmt translate --run hf:anna/toy" in card_of(pushed)
    assert "nrefs:1|" in card_of(pushed)
    texts = [path for path in pushed.rglob("*") if path.suffix in (".yaml", ".json", ".md")]
    assert len(texts) > 5
    for path in texts:
        assert str(corpus.parent) not in path.read_text(encoding="utf-8"), path
    assert not (pushed / "ctranslate2").exists()


def test_no_form_of_an_absolute_path_is_published(trained_run, remote):
    run = copy_of(trained_run)
    change_json(
        run.path / "run.json",
        config="/home/Max Private/mine.yaml",
        fine_tuning="--from '/home/Max Private/former' --mix 0.5",
        overrides=[
            "data.train_path=[/home/private/a.en,/home/private/a.de]",
            'data.corpora=[{source: tsv, path: "/home/Max, Private/b.tsv", weight: 5e-1}]',
            "data.test_path=~/private/c.tsv",
            "training.learning_rate=5e-4",
        ],
    )
    corpus = run.report["corpora"][0] | {"name": "tsv /home/Max Private/d.tsv"}
    change_json(run.data / "report.json", corpora=[corpus])
    assert nmt("push", run.path, "anna/toy").returncode == 0
    card = card_of(remote / "anna/toy")
    for published in (
        "nmt train --from former --mix 0.5 --config mine.yaml",
        "[a.en, a.de]",
        "{path: b.tsv, source: tsv, weight: 0.5}",
        "data.test_path=c.tsv",
        "training.learning_rate=5e-4",
        "- tsv d.tsv: ",
    ):
        assert published in card
    assert "rivate" not in card + (remote / "anna/toy/run.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("public", [False, True])
def test_a_new_repository_is_private_by_default(trained_run, remote, public):
    nmt("push", trained_run.path, "anna/toy", *(["--public"] if public else []))
    assert (remote / "anna/toy/.private").read_text() == str(not public)


def test_a_post_norm_model_is_also_uploaded_in_the_transformers_format(
    toy_config, remote, monkeypatch
):
    from nmt.export import transformers as transformers_export
    from nmt.training.train import train

    model = {"norm_position": "post", "final_norm": False}
    run = train(toy_config(model=model, training={"max_updates": 1}), "post")
    export = transformers_export.write_transformers

    def replacing_the_weights(*arguments: Any) -> None:
        """Pretend that the run is being trained."""
        export(*arguments)
        run.weights("best").write_bytes(run.weights("best").read_bytes() + b" ")

    before = run.weights("best").read_bytes()
    monkeypatch.setattr(transformers_export, "write_transformers", replacing_the_weights)
    assert nmt("push", "post", "anna/post").returncode == 0
    assert (remote / "anna/post/best.safetensors").read_bytes() == before
    names = {path.name for path in (remote / "anna/post").iterdir()}
    assert names >= {"config.json", "model.safetensors", "source.spm", "best.safetensors"}
    assert "library_name: transformers" in (remote / "anna/post/README.md").read_text("utf-8")


def test_a_second_push_deletes_the_files_of_the_first_and_no_others(
    trained_run, toy_config, remote
):
    from nmt.training.train import train

    def pushed(run: RunFolder, name: str) -> set[str]:
        assert nmt("push", run.path, name).returncode == 0
        there = remote / name
        return {path.relative_to(there).as_posix() for path in there.rglob("*")}

    rotary = toy_config(model={"positions": "rotary"}, training={"max_updates": 1})
    other = train(rotary, "rotary")  # which transformers does not support
    assert pushed(trained_run, "anna/toy") - pushed(other, "anna/other") > {"model.safetensors"}
    (remote / "anna/toy/onnx").mkdir()
    own = {"LICENSE.txt", "adapter_config.json", "onnx/config.json", "onnx/vocab.json", "my.spm"}
    for name in own:
        (remote / "anna/toy" / name).touch()
    assert pushed(other, "anna/toy") == pushed(other, "anna/other") | own | {"onnx"}


def test_a_downloaded_run_has_its_card_and_licence(pushed):
    (pushed / "LICENSE").write_text("Name the authors.")
    run = open_run("hf:anna/toy")
    assert card_of(run.path) == card_of(pushed)
    assert (run.path / "LICENSE").read_text() == "Name the authors."
    assert nmt("push", "hf:anna/toy", "anna/other").returncode == 0
    again = card_of(pushed.with_name("other"))
    assert again == card_of(pushed).replace("anna/toy", "anna/other")


def test_the_card_names_the_uploaded_weights(trained_run, remote):
    nmt("push", trained_run.path, "anna/toy", "--weights", "last")
    there = remote / "anna/toy"
    assert "Scores of the last weights" in card_of(there)
    assert (there / "best.safetensors").read_bytes() == trained_run.weights("last").read_bytes()
    assert not (there / "last.safetensors").exists()


def test_a_run_with_neighbours_is_uploaded_without_them(trained_run, remote):
    run = copy_of(trained_run)
    run.write_config(override_config(run.config, ["decoding.knn_k=4"], "run"))
    done = nmt("push", run.path, "anna/toy")
    assert "uploaded with decoding.knn_k=0, because" in text(done.stderr)
    assert nmt("translate", "--run", "hf:anna/toy", PAIR[0]).returncode == 0
    assert "Scores of the best weights" in card_of(remote / "anna/toy")


DATA = [f"data/{name}" for name in ("joint.model", "prepared.json", "report.json", "test.jsonl")]


@pytest.mark.parametrize("name", ["best.safetensors", *DATA])
def test_damaged_files_are_reported_before_a_repository_is_created(trained_run, remote, name):
    folder = copy_of(trained_run).path
    (folder / name).write_bytes(b"damaged")
    assert_refused("push", folder, "anna/toy", "--public", message=f"{folder / name}: ")
    assert not remote.exists()


def test_a_downloaded_run_has_its_name_on_the_hub(pushed):
    run = open_run("hf:anna/toy")
    assert run.path.name != "toy"
    assert name_runs([run]) == [run.name] == ["toy"]
    assert RunFolder(run.path, "hf:anna/toy@refs/pr/1").name == "toy@refs-pr-1"


def test_only_local_runs_are_deleted(trained_run, pushed):
    copy = copy_of(trained_run).path
    assert_refused("rm", "--yes", copy, "hf:anna/toy", message="only local runs can be deleted")
    assert copy.exists()
    assert not Path("cache").exists()


@pytest.mark.slow
def test_an_interrupted_update_never_mixes_two_versions(trained_run, tmp_path):
    files = tmp_path / "hub/models/anna/toy"
    with pretend_hub(tmp_path / "hub") as address:
        assert nmt_with_hub(address, tmp_path, "push", trained_run.path, "anna/toy").returncode == 0
        translate = ("translate", "--run", "hf:anna/toy", PAIR[0])
        assert nmt_with_hub(address, tmp_path, *translate).returncode == 0
        (files / "data/joint.model").write_bytes((files / "data/joint.model").read_bytes() + b" ")
        (files / "best.safetensors").write_bytes(b"new")
        forbid(files / "best.safetensors")
        assert "cannot be downloaded" in nmt_with_hub(address, tmp_path, *translate).stderr
    offline = nmt_with_hub(address, tmp_path, *translate)
    assert offline.returncode == 2
    assert "hf:anna/toy: cannot be downloaded" in offline.stderr


def test_a_wrong_login_is_reported_before_the_test_set_is_translated(
    trained_run, remote, monkeypatch
):
    monkeypatch.setattr("nmt.export.model_card.evaluate", lambda *_: pytest.fail("translated"))
    monkeypatch.setattr(hub, "create_repo", lambda *_, **__: 1 / 0)
    assert_refused("push", trained_run.path, "anna/toy", message="log in with hf auth login")


def test_a_full_disk_is_not_mistaken_for_a_network_error(remote, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(hub, "model_info", lambda *_, **__: SimpleNamespace(siblings=[]))
    monkeypatch.setattr(hub, "snapshot_download", Mock(side_effect=full))
    message = "cache/runs: cannot be written (No space left on device; "
    assert_refused("translate", "--run", "hf:anna/toy", PAIR[0], message=message)


def test_a_full_disk_is_reported_before_the_upload(trained_run, remote, full_disk):
    with full_disk(10_000):
        assert_refused("push", trained_run.path, "anna/toy", message=" free on its disk")
    assert not remote.exists()


def test_errors_are_reported_in_one_line(trained_run, remote, monkeypatch):
    wrong = ("translate", "--run", "hf:nobody/nothing", PAIR[0])
    assert_refused(*wrong, message="hf:nobody/nothing: cannot be downloaded")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert_refused("push", trained_run.path, "anna/toy", message="[hub]")


def test_a_revision_selects_a_version_of_the_run(pushed, revisions):
    for address in ("hf:anna/toy", "hf:anna/toy@v1"):
        assert nmt("translate", "--run", address, PAIR[0]).returncode == 0
    assert revisions == ["anna/toy None", "anna/toy v1"]


def test_what_is_too_large_is_refused_before_the_download(pushed, revisions, monkeypatch):
    (pushed / "unneeded.bin").write_bytes(bytes(10**7))
    monkeypatch.setattr("nmt.runs.hub._LARGEST", 10**7)
    assert nmt("show", "hf:anna/toy").returncode == 0
    monkeypatch.setattr("nmt.runs.hub._LARGEST", 10**3)
    revisions.clear()
    assert_refused("show", "hf:anna/toy", message="hf:anna/toy")
    assert not revisions


# ---------------------------------------------------------------- Marian models of other people


@pytest.fixture
def marian(tmp_path: Path) -> Path:
    """A model of others on the pretended Hub, besides files that are not needed."""
    pytest.importorskip("transformers")
    (tmp_path / "hub/models/opus").mkdir(parents=True)
    folder = make_model(folder=tmp_path / "hub/models/opus/en-de")
    for name in ("tf_model.h5", "evil.py"):
        (folder / name).write_text("evil")
    return folder


@pytest.mark.slow
def test_a_marian_model_is_imported_once_and_used_like_a_run(marian, tmp_path):
    run = ("--run", "hf:opus/en-de")
    with pretend_hub(tmp_path / "hub") as address:
        first = nmt_with_hub(address, tmp_path, "translate", *run, PAIR[0])
        assert first.returncode == 0, first.stderr
        [weights] = (tmp_path / "nmt/imported").rglob("best.safetensors")
        written = weights.stat().st_mtime_ns
        shown = nmt_with_hub(address, tmp_path, "show", "hf:opus/en-de")
        assert "cc-by-4.0" in shown.stdout
        assert "hf:opus/en-de" in shown.stdout
        lines = "".join(f"{PAIR[0]} {i}\t{PAIR[1]} {i}\n" for i in range(200))
        (tmp_path / "pairs.tsv").write_text(lines)
        (tmp_path / "mine.yaml").write_text(
            f"data: {{source: tsv, path: '{tmp_path / 'pairs.tsv'}', validation_size: 9, "
            "test_size: 9, min_coverage: 0}\ntraining: {max_updates: 1}\n"
        )
        options = ("--from", "hf:opus/en-de", "--config", tmp_path / "mine.yaml", "--run", "tuned")
        tuned = nmt_with_hub(address, tmp_path, "train", *options)
        assert tuned.returncode == 0, tuned.stderr
    # Without a network, the copy in the cache is used.
    again = nmt_with_hub("http://127.0.0.1:9", tmp_path, "translate", *run, PAIR[0])
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    assert weights.stat().st_mtime_ns == written
    names = {path.name for path in (tmp_path / "nmt").rglob("*") if path.is_file()}
    assert "model.safetensors" in names
    assert not names & {"tf_model.h5", "evil.py"}


@pytest.mark.slow
def test_an_imported_run_is_uploaded_with_the_card_of_the_original(marian, tmp_path):
    with pretend_hub(tmp_path / "hub") as address:
        shown = nmt_with_hub(address, tmp_path, "show", "hf:opus/en-de", "--json")
        path = json.loads(shown.stdout)["path"]
        done = nmt_with_hub(address, tmp_path, "push", path, "anna/mine")
        assert done.returncode == 0, done.stderr
        texts = [
            nmt_with_hub(address, tmp_path, "translate", "--run", run, PAIR[0]).stdout
            for run in ("hf:opus/en-de", "hf:anna/mine")
        ]
    assert texts[0] == texts[1] != ""
    _, front, body = card_of(tmp_path / "hub/models/anna/mine").split("---", 2)
    for line in ("base_model: opus/en-de", "license: cc-by-4.0", "library_name: transformers"):
        assert line in front
    assert "# A model" in body


@pytest.mark.slow
def test_repositories_without_a_usable_model_are_refused(marian, tmp_path):
    def refusal(folder: Path) -> str:
        done = nmt_with_hub(address, tmp_path, "show", f"hf:opus/{folder.name}")
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        line = done.stderr.splitlines()[-1]  # after the bars of the library
        assert f"hf:opus/{folder.name}" in line
        return line

    def copy(name: str, **settings: object) -> Path:
        folder = Path(shutil.copytree(marian, marian.parent / name))
        change_json(folder / "config.json", **settings)
        return folder

    with pretend_hub(tmp_path / "hub") as address:
        assert "M2M100 or NLLB" in refusal(copy("nllb", model_type="m2m_100"))
        assert "mBART" in refusal(copy("mbart", model_type="mbart"))
        assert not [*(tmp_path / "nmt").rglob("*.safetensors")]  # refused before the download
        (copy("without") / "model.safetensors").unlink()
        assert "model.safetensors" in refusal(marian.parent / "without")
        for path in (empty := copy("empty")).glob("*.*"):
            path.unlink()
        (empty / "README.md").touch()
        assert "neither" in refusal(empty)
        damaged = copy("damaged") / "model.safetensors"
        damaged.write_bytes(damaged.read_bytes()[:2000])
        assert "model.safetensors" in refusal(damaged.parent)
        forbid(copy("private") / "model.safetensors")
        assert "cannot be downloaded" in refusal(marian.parent / "private")
    assert not [*(tmp_path / "nmt/imported").rglob("*.safetensors")]


@pytest.mark.slow
def test_a_damaged_file_in_the_cache_is_downloaded_again_when_deleted(marian, tmp_path):
    command = ("show", "hf:opus/en-de")
    with pretend_hub(tmp_path / "hub") as address:
        assert nmt_with_hub(address, tmp_path, *command).returncode == 0
        shutil.rmtree(tmp_path / "nmt/imported")
        [weights] = (tmp_path / "nmt/runs").rglob("model.safetensors")
        weights.resolve().write_bytes(weights.read_bytes()[:2000])
        refused = nmt_with_hub(address, tmp_path, *command)
        assert refused.returncode == 2
        [folder] = re.findall("; delete (.+) and download the model again", refused.stderr)
        shutil.rmtree(folder)
        done = nmt_with_hub(address, tmp_path, *command)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_download_that_was_cut_off_is_completed_or_refused(marian, tmp_path):
    command = ("translate", "--run", "hf:opus/en-de", PAIR[0])
    with pretend_hub(tmp_path / "hub") as address:
        for file in ("vocab.json", "model.safetensors"):
            with cut_off(marian / file):
                done = nmt_with_hub(address, tmp_path, *command)
            for refused in (done, nmt_with_hub("http://127.0.0.1:9", tmp_path, *command)):
                assert (refused.returncode, refused.stdout) == (2, "")
                assert "hf:opus/en-de: " in refused.stderr.splitlines()[-1]
            assert not [*(tmp_path / "nmt/imported").rglob("*.safetensors")]
        done = nmt_with_hub(address, tmp_path, *command)
        assert done.returncode == 0, done.stderr
