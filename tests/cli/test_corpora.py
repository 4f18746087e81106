"""Commands that take names: `nmt corpora`, and the options `--test-set` and `--tag`."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import Result
from sacrebleu.dataset import DATASETS
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.cli.options import TranslatorOptions
from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.corpus.sources.registry import list_corpora
from nmt.corpus.text.tags import tag_of
from nmt.decoding.translator import Translation
from nmt.errors import UserError
from nmt.evaluation.comet import CometScore
from nmt.evaluation.metrics import LEARNED, METRICS
from nmt.runs.folder import RunFolder
from nmt.special_tokens import TAGS

from .command_line import printed

runner = CliRunner()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two files: Tatoeba's for French, and one of OPUS for German."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "nmt"
    (folder / "tatoeba").mkdir(parents=True)
    (folder / "tatoeba" / "fra-eng.zip").write_bytes(b"\0" * 1_234_567)
    (folder / "opus").mkdir()
    write_zip(folder / "opus" / "News-Commentary-v16-de-en.zip", "CC BY-SA 4.0")
    return folder


def write_zip(path: Path, licence: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("LICENSE", licence)
        archive.writestr("corpus.de-en.de", "x" * 2_500_000)


@pytest.mark.usefixtures("cache")
def test_corpora_are_listed_by_language() -> None:
    german = printed("corpora")
    assert "source: sample" in german
    assert "OPUS-News-Commentary/v16/moses/de-en.txt.zip" in german
    french = printed("corpora", "-l", "fr-en")
    assert "sample" not in french
    [tatoeba] = [line for line in french.splitlines() if "source: tatoeba" in line]
    assert tatoeba.split()[2:5] == ["?", "1.2", "MB"]
    assert tatoeba.endswith("fra-eng.zip")
    [news] = [line for line in french.splitlines() if "News-Commentary" in line]
    assert news.split()[4] == "?"  # the numbers of pairs are those of German and English


def test_a_downloaded_corpus_has_a_size_and_its_own_licence(cache: Path) -> None:
    write_zip(cache / "opus" / "TED2020-v1-de-en.zip", "a long licence" * 10 + "\n\n")
    lines = printed("corpora").splitlines()
    shown = [re.sub(" +", " ", line) for line in lines if "source: opus" in line]
    assert "v16 294,498 2.5 MB CC BY-SA 4.0 http" in shown[0]
    assert "v1 296,354 2.5 MB a long licence" in shown[1]
    assert " … http" in shown[1]
    assert "v8 1,961,119 see LICENSE http" in shown[2]


@pytest.mark.usefixtures("cache")
def test_on_a_terminal_addresses_are_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed("corpora")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    found = list(list_corpora(("en", "de")))
    assert [line.strip() for line in lines[2::2]] == [corpus.address for corpus in found]
    for line, corpus in zip(lines[1::2], found, strict=True):
        assert line.startswith(corpus.fields)
        assert line.endswith(corpus.licence)
        assert len(line) <= 80


def test_test_sets_are_listed_by_direction() -> None:
    lines = printed("corpora", "--test-sets", "-l", "en-de").splitlines()
    assert {"wmt14/full", "multi30k/2018"} <= {line.split()[0] for line in lines}
    assert "https://statmt.org/wmt14/test-full.tgz" in {line.split()[-1] for line in lines}


def test_the_lines_of_downloaded_test_sets_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DATASETS["wmt20"], "_outdir", str(tmp_path))
    (tmp_path / "wmt20.en-de.src").write_text("Go.\n" * 1234)
    lines = printed("corpora", "--test-sets").splitlines()
    [wmt20] = [line for line in lines if line.startswith("wmt20 ")]
    assert wmt20.split()[1:3] == ["1,234", "Official"]


@pytest.mark.parametrize(
    "languages", ["en", "en-en", "-", "en_de", "e-de", "de-deu", "German-deutsch", "xx-äö"]
)
def test_invalid_language_pairs_are_refused(languages: str) -> None:
    result = runner.invoke(app, ["corpora", "-l", languages])
    assert isinstance(result.exception, UserError)


@pytest.fixture
def test_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two test sets, with sentences that the run has learned; the second has two references."""
    sets = {
        "first": (["Anna sings today."], [["Anna singt heute."]]),
        "second": (["Ben reads often."] * 2, [["Ben liest oft."] * 2, ["Oft liest Ben."] * 2]),
    }
    read = lambda name, languages: sets[name]  # noqa: E731
    monkeypatch.setattr("nmt.evaluation.test_sets.read_test_set", read)


@pytest.mark.usefixtures("test_sets")
def test_several_test_sets_are_reported_in_one_table(trained_run: RunFolder) -> None:
    command = ["evaluate", "--run", str(trained_run.path), "--test-set", "first, second"]
    result = runner.invoke(app, command)
    lines = result.stdout.splitlines()
    labels = [each.label for each in METRICS.values()]
    assert lines[0].split() == ["test", "set", "sentences", *labels]
    assert [line.split()[:2] for line in lines[1:3]] == [["first", "1"], ["second", "2"]]
    assert "|test:first|lang:en-de|" in result.stdout
    assert "nrefs:2|" in result.stdout
    assert "|test:second|lang:en-de|" in result.stdout
    command[-1:] = ["first", "--test-set", "second"]
    found = json.loads(printed(*command, "--json"))
    assert found["second"]["sentences"] == 2
    assert found["first"]["chrf"] > 50
    command[-2:] = ["--lowercase", "--tokenize", "moses", "--json"]
    [found] = json.loads(runner.invoke(app, command).stdout).values()
    assert "|case:lc|" in found["signatures"]["bleu"]
    assert "|tok:moses|" in found["signatures"]["bleu"]


@pytest.mark.parametrize("command", ["translate", "evaluate --test-set first"])
def test_an_unknown_tag_is_refused(trained_run: RunFolder, command: str) -> None:
    options = ["--run", str(trained_run.path), "--tag", "news"]
    result = runner.invoke(app, [*command.split(), *options])
    assert isinstance(result.exception, UserError)
    assert "this model has no tags" in str(result.exception)


class Echo:
    """A translator whose translations are the sources, and a metric that only looks at them."""

    engine = SimpleNamespace(name="pytorch")
    data: DataConfig

    def __init__(self) -> None:
        self.translated: list[str] = []
        self.scored: list[str] = []

    def stream(self, lines: Iterable[str]) -> Iterator[list[Translation]]:
        for line in lines:
            self.translated.append(line)
            yield [Translation(line, 0.0, True)]

    def score(self, sources: list[str], *_: list[str]) -> CometScore:
        self.scored += sources
        return CometScore(0.5, "model", "1")


def pretend_run(*tags: str, **fields: str) -> SimpleNamespace:
    """Return a run of corpora with these tags; the first tag is in front of its test sentence."""
    corpora = [{"source": "sample", "tag": tag} for tag in tags]
    data = DataConfig.model_validate({"corpora": corpora} | fields)
    test = [Example(tag_of(data, tags[0]) + "Anna sings.", "Anna singt.", False)]
    config = SimpleNamespace(data=data)
    return SimpleNamespace(config=config, data=Path("none"), examples=lambda split: test)


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Echo:
    """Translates for pretend runs with tags: NEWS, whose tags are chat and news, and others."""
    translator = Echo()
    runs = {
        "NEWS": pretend_run("news", "chat"),
        "CHAT": pretend_run("chat"),
        "WEB": pretend_run("news", "web"),
        "GERMAN": pretend_run("news", source_language="de", target_language="en"),
    }
    find = lambda paths, weights: [runs[str(path)] for path in paths]  # noqa: E731
    monkeypatch.setattr("nmt.cli.evaluating.find_runs", find)

    def opened(options: TranslatorOptions, run: SimpleNamespace) -> Echo:
        found = copy(translator)  # with the same lists
        found.data = run.config.data
        return found

    monkeypatch.setattr(TranslatorOptions, "open", opened)
    monkeypatch.setitem(LEARNED, "comet", lambda *_: translator)
    return translator


def evaluated(*options: str) -> Result:
    return runner.invoke(app, ["evaluate", "--run", "NEWS", "--metric", "comet", *options])


@pytest.mark.usefixtures("test_sets")
def test_sources_to_score_can_have_a_tag(echo: Echo, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("Anna sings.\n\n")
    files = ["--source", str(lines), "--reference", str(lines)]
    found = json.loads(evaluated("--tag", "news", "--json", *files).stdout)
    assert found["sentences"] == 2
    evaluated("--tag", "chat", "--test-set", "first")
    chat, news = TAGS[:2]
    assert echo.translated == [f"{news} Anna sings.", f"{news} ", f"{chat} Anna sings today."]
    assert echo.scored == ["Anna sings.", "", "Anna sings today."]


def test_sentences_to_translate_can_have_a_tag(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    run = pretend_run("news", "chat")
    monkeypatch.setattr("nmt.cli.translating.find_runs", lambda *_: [run])
    monkeypatch.setattr(echo, "stream", lambda lines, *_, **__: Echo.stream(echo, lines))
    runner.invoke(app, ["translate", "--tag", "news", "Anna sings.", "Ben reads."])
    assert echo.translated == [f"{TAGS[1]} Anna sings.", f"{TAGS[1]} Ben reads."]


def test_held_out_sentences_keep_their_own_tag(echo: Echo) -> None:
    evaluated()
    assert echo.translated == [f"{TAGS[1]} Anna sings."]
    assert echo.scored == ["Anna sings."]
    assert "needs --source or --test-set" in str(evaluated("--tag", "news").exception)


def test_the_other_run_gets_the_tag_of_the_same_name_if_it_has_one(echo: Echo) -> None:
    evaluated("--against", "WEB")
    evaluated("--against", "CHAT")
    tagged = f"{TAGS[1]} Anna sings."
    assert echo.translated == [tagged, f"{TAGS[0]} Anna sings.", tagged, "Anna sings."]


@pytest.mark.usefixtures("echo")
def test_a_run_of_other_languages_is_not_compared() -> None:
    message = str(evaluated("--against", "GERMAN").exception)
    assert message.startswith("--against GERMAN: translates de → en, not en → de; ")
