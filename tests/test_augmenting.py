"""Synthetic pairs: which are made, which are kept, and how an unfinished output goes on."""

from collections import Counter
from pathlib import Path

import pytest

from nmt import augmenting
from nmt.augmenting import Augmentation, augment
from nmt.config import DataConfig
from nmt.corpus.sources import open_corpora
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translation, Translator
from nmt.errors import UserError
from nmt.run_folder import RunFolder
from tests.conftest import toy_pairs
from tests.test_cli import assert_refused, nmt, text

TRANSLATIONS = dict(toy_pairs())
LINES = list(TRANSLATIONS)[:50]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mono.en").write_text("\n".join([*LINES, ""]), encoding="utf-8")


@pytest.fixture(scope="module")
def translator(trained_run: RunFolder) -> Translator:
    return load_translator(trained_run)


def read_pairs(**languages: str) -> list[tuple[str, str]]:
    data = DataConfig(source="tsv", path=Path("pairs.tsv"), **languages)  # type: ignore[arg-type]
    [corpus] = open_corpora(data)
    return list(corpus.pairs("train"))


@pytest.mark.parametrize("forward", [False, True])
def test_pairs_are_a_corpus_of_the_reverse_direction_or_of_the_runs(
    trained_run: RunFolder, translator: Translator, forward: bool
) -> None:
    done = nmt(
        *("augment", trained_run.path, "-i", "mono.en", "-o", "pairs.tsv"),
        *(["--forward"] if forward else []),
    )
    assert done.returncode == 0
    assert f"kept             {len(LINES)}" in text(done.stdout)
    expected = [
        (line, found.text) for line, found in zip(LINES, translator.translate(LINES), strict=True)
    ]
    if forward:
        assert read_pairs(source_language="en", target_language="de") == expected
    else:
        reverse = [(translation, line) for line, translation in expected]
        assert read_pairs(source_language="de", target_language="en") == reverse
    assert sorted(path.name for path in Path().iterdir()) == ["mono.en", "pairs.tsv"]


def test_what_was_killed_continues_where_it_stopped(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(augmenting, "_LINES_AT_A_TIME", 20)
    how = Augmentation(translation_first=False, n_best=2)
    arguments = (translator, how, Path("mono.en"))
    counts = augment(*arguments, Path("whole.tsv"), "")
    calls = []
    n_best = Translator.n_best

    def killed(self: Translator, lines: list[str], n: int) -> list[list[Translation]]:
        calls.append(lines)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return n_best(self, lines, n)

    monkeypatch.setattr(Translator, "n_best", killed)
    with pytest.raises(KeyboardInterrupt):
        augment(*arguments, Path("pairs.tsv"), "")
    assert not Path("pairs.tsv").exists()
    with Path("pairs.tsv.partial").open("a") as file:
        file.write("half a li")
    with pytest.raises(UserError, match="unfinished output with other settings"):
        augment(*arguments, Path("pairs.tsv"), "others")
    assert augment(*arguments, Path("pairs.tsv"), "") == counts
    assert Path("pairs.tsv").read_bytes() == Path("whole.tsv").read_bytes()
    assert [line for call in calls[2:] for line in call] == LINES[40:] * 2


class Fixed:
    """Translates a line as a table says."""

    def __init__(self, table: dict[str, Translation]):
        self.table = table

    def n_best(self, lines: list[str], n: int) -> list[list[Translation]]:
        return [[self.table[line]] for line in lines]

    def translate(self, lines: list[str]) -> list[Translation]:
        return [self.table[line] for line in lines]


def test_translations_that_are_likely_wrong_are_dropped_and_counted() -> None:
    forth = {
        "good": Translation("gut", 0.0, log_probability=-0.1, pieces=1),
        "nothing": Translation("", 0.0),
        "endless": Translation("ohne Ende", 0.0, complete=False),
        "guessed": Translation("geraten", 0.0, log_probability=-1.0, pieces=1),
        "bank": Translation("Ufer", 0.0, log_probability=-0.1, pieces=1),
    }
    back = Fixed({"gut": Translation("good", 0.0), "Ufer": Translation("shore", 0.0)})
    back.table |= {"": Translation("", 0.0), "ohne Ende": Translation("", 0.0)}
    back.table["geraten"] = Translation("guessed", 0.0)
    how = Augmentation(True, min_probability=0.5, back=back, min_chrf=50)  # type: ignore[arg-type]
    counts: Counter[str] = Counter()
    assert list(how.pairs(Fixed(forth), list(forth), counts)) == [("gut", "good")]  # type: ignore[arg-type]
    assert counts == {
        "kept": 1,
        "empty": 1,
        "cut off": 1,
        "improbable": 1,
        "lost on the way back": 1,
    }


def test_bad_arguments_are_refused(trained_run: RunFolder) -> None:
    command = ("augment", trained_run.path, "-o", "pairs.tsv", "-i")
    assert_refused(*command, "nowhere", message="no such file")
    wrong = (*command, "mono.en", "--round-trip", trained_run.path)
    assert_refused(*wrong, message="needs a run that translates de → en")
    Path("pairs.tsv").touch()
    assert_refused(*command, "mono.en", message="already exists")
