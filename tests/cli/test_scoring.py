"""`nmt score`: probabilities of given translations."""

import math
from pathlib import Path

import pytest

from nmt.runs.folder import RunFolder

from .command_line import PAIR, nmt, printed, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")
WRONG = (PAIR[0], "Ben schwimmt oft.")


@pytest.fixture
def pairs() -> Path:
    path = Path("pairs.tsv")
    path.write_text("".join(f"{s}\t{t}\n" for s, t in (PAIR, WRONG, ("x", ""))), encoding="utf-8")
    return path


def test_each_pair_gets_a_line_with_its_probabilities(trained_run: RunFolder, pairs: Path) -> None:
    done = nmt("score", "--run", trained_run.path, pairs)
    rows = [line.split("\t") for line in text(done.stdout).splitlines()]
    assert [tuple(row[2:]) for row in rows] == [PAIR, WRONG, ("x", "")]
    right, wrong, empty = (float(row[0]) for row in rows)
    assert 0 > right > wrong > empty == -math.inf
    assert float(rows[0][1]) > float(rows[1][1]) > float(rows[2][1]) == 0


def test_the_score_of_a_translation_is_that_of_its_search(trained_run: RunFolder) -> None:
    Path("pair.tsv").write_text("\t".join(PAIR) + "\n", encoding="utf-8")
    done = nmt("translate", "--run", trained_run.path, "--scores", "--engine", "pytorch", PAIR[0])
    searched = text(done.stdout).split("\t")
    assert searched[2].strip() == PAIR[1]
    scored = printed("score", "--run", trained_run.path, "pair.tsv").split("\t")
    assert float(scored[0]) == pytest.approx(float(searched[0]), abs=2e-3)
    assert float(scored[1]) == pytest.approx(float(searched[1]), abs=2e-3)


UNTRANSLATED = "<trans-unit id='3'><source>Clara sings.</source><target/></trans-unit>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.xlf",
            "<xliff version='1.2'><file source-language='en' target-language='de'><body>"
            "<trans-unit id='1'><source>{0}</source><target>{1}</target></trans-unit>"
            "<trans-unit id='2'><source>{2}</source><target state='needs-review-translation' "
            f"state-qualifier='leveraged-mt'>{{3}}</target></trans-unit>{UNTRANSLATED}"
            "</body></file></xliff>",
        ),
        (
            "a.po",
            'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "{0}"\nmsgstr "{1}"\n\n'
            '#, fuzzy\nmsgid "{2}"\nmsgstr "{3}"\n\nmsgid "Clara sings."\nmsgstr ""\n',
        ),
    ],
)
def test_drafts_in_files_of_translation_tools_are_scored(
    trained_run: RunFolder, name: str, content: str
) -> None:
    Path(name).write_text(content.format(*PAIR, *WRONG), encoding="utf-8")
    rows = printed("score", "--run", trained_run.path, name).splitlines()
    assert [tuple(row.split("\t")[2:]) for row in rows] == [PAIR, WRONG]


def test_the_least_probable_pairs_may_come_first(trained_run: RunFolder, pairs: Path) -> None:
    nmt("score", "--run", trained_run.path, "--sort", pairs, "--output", "out.tsv")
    lines = Path("out.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[3] for line in lines] == ["", WRONG[1], PAIR[1]]
