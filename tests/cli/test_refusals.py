"""Arguments that a command refuses: one line names them, the exit code is 2, nothing is written."""

import shlex
from pathlib import Path

import pytest

from nmt.runs.folder import RunFolder

from .command_line import assert_refused

pytestmark = pytest.mark.usefixtures("in_empty_folder")
FILES = {"one.txt": "a\n", "two.txt": "a\nb\n", "pairs.tsv": "a\tb\n"}
# {run} is a trained run.
REFUSED = [
    ("trian", "Did you mean 'train'? See nmt --help"),
    ("train --no-such-option", " train --help"),
    ("train --bars", "No such option: --bars; see nmt train --help"),
    ("show --run x", "give the run folder without --run; see nmt show --help"),
    ("plot training --run x", "give the run folder without --run; see nmt plot training --help"),
    ("train --weights x", "'--weights': 'x' is not one of 'best', "),
    ("translate --beam-size 0 x", "--beam-size"),
    ("translate --run nowhere -- --debug", "nowhere: not a run folder"),
    ("translate '- Where is the hat?'", "put -- before it"),
    ("prepare --config nothing.yaml", "nothing.yaml"),
    # Training
    ("train --resume", "no run"),
    ("train --device warp", "--device warp"),
    ("train --mix 0.3", "--from"),
    ("train --weights last", "--from"),
    ("train --from nowhere", "nowhere: not a run folder"),
    ("train --from {run} --weights ema", "ema.safetensors"),
    ("train --from {run} --weights last --resume", "omit one"),
    ("train --dry-run --resume", "--resume"),
    ("train --dry-run --run mine", "--run"),
    # Translating
    ("translate x", "--run FOLDER"),
    ("translate --run nowhere x", "nowhere: not a run folder"),
    ("translate --run {run} --run nowhere x", "nowhere: not a run folder"),
    ("translate --run {run} --input missing.txt", "missing.txt"),
    ("translate --run {run} --input one.txt --prefix none.txt", "none.txt"),
    ("translate --run {run} two.txt", "--input"),
    ("translate --run {run} two.txt two.txt", "one at a time"),
    ("translate --run {run} x --config none.yaml", "none.yaml"),
    ("translate --run {run} x --set model.heads=2", "decoding"),
    ("translate --run {run} x --set decoding.beam=2", "beam_size"),
    ("translate --run {run} x --set decoding.top_p=1e-300", "decoding.top_p"),
    ("translate --run {run} x --weights ema", "ema.safetensors"),
    ("translate --run {run} x --weights checkpoint_average", "nmt average"),
    ("translate --run {run} x --output no/such/folder/out.txt", "no/such/folder"),
    ("translate --run {run} x --output out.de.gz", "out.de.gz"),
    ("translate --run {run} x --memory none.tmx", "none.tmx: no such file; give a TMX, "),
    ("translate --run {run} x --device cuda:99", "--device cuda:99"),
    ("translate --run {run} x --engine pytorch --compute-type int8", "--compute-type"),
    ("translate --run {run} --run {run} x --engine ctranslate2", "one run"),
    ("translate --run {run} x --alignment --n-best 2", "--n-best"),
    ("translate --run {run} x --alignment --engine ctranslate2", "--engine"),
    # Evaluating
    ("evaluate --run {run} --config none.yaml", "none.yaml"),
    ("evaluate --run {run} --source two.txt --reference one.txt", "2 and 1"),
    ("evaluate --run {run} --source one.txt", "together"),
    ("evaluate --run {run} --split validation --source one.txt --reference one.txt", "--split"),
    ("evaluate --run {run} --split validation --test-set wmt20", "--split"),
    ("evaluate --run {run} --test-set ' ,'", "--test-set"),
    ("evaluate --run {run} --test-set wmt20 --analyse", "--test-set"),
    ("evaluate --run {run} --output no/where.txt", "no folder no"),
    ("evaluate --run {run} --output .", ".: is a folder"),
    ("evaluate --run {run} --output out.de.gz", "out.de.gz"),
    ("score --run {run} --reverse {run} pairs.tsv", "--reverse"),
    ("score --run {run} none.tsv", "none.tsv: no such file; give a TMX, XLIFF or PO file, or"),
    ("score --run {run} pairs.tsv -o pairs.tsv", "pairs.tsv: is the input"),
    ("score --run {run} one.txt", "one.txt: line 1 has no tab"),
    # Corpora
    ("config new --corpus none.tsv", "none.tsv: no such file; give the path of a corpus"),
    ("config new --corpus none.tmx", "none.tmx: no such file; give the path of a corpus"),
    ("datastore {run} --from .", ".: is a folder"),
    ("datastore {run} --from one.txt", "one.txt: line 1 has no tab"),
    ("import nowhere --run new", "nowhere: no such folder"),
    ("import {run} --run new", "is not a Marian model"),
    # Runs
    ("runs", "no runs in runs"),
    ("show", "nmt show FOLDER"),
    ("show nowhere", "nowhere: not a run"),
    ("export {run} --output no/where", "no folder no"),
    # Pictures
    ("plot attentoin", " plot --help"),
    ("plot attention '' --run {run}", "empty"),
    ("plot attention x --run nowhere", "nowhere: not a run folder"),
    ("plot attention x --run {run} --run {run}", "--run"),
    (f"plot attention '{'Anna sings today. ' * 20}' --run {{run}}", "one sentence"),
    ("plot attention x --run {run} -o a.jpg", ".png or .svg"),
    ("plot attention x --run {run} -o no/a.png", "no folder no"),
    ("plot attention x --run {run} -o a.png --json", "--output"),
    ("plot training", "nmt plot training FOLDER"),
    ("plot training nowhere", "nowhere: not a run folder"),
    ("plot positions --set model.positions=learned", "trained run"),
    ("plot positions --run {run} --config base.yaml", "not both"),
    ("plot positions --weights last", "--weights"),
    *(
        (f"plot positions --columns {columns}", "column")
        for columns in ("4-", "7-4", "3,7-4", "x", "1,,2", "0-99", "300")
    ),
    ("plot lengths --config nothing.yaml", "nothing.yaml"),
]


@pytest.mark.parametrize(("command", "named"), REFUSED)
def test_arguments_are_refused_in_one_line(
    trained_run: RunFolder, command: str, named: str
) -> None:
    for name, content in FILES.items():
        Path(name).write_text(content)
    assert_refused(*shlex.split(command.format(run=trained_run.path)), message=named)
    assert {path.name for path in Path().iterdir()} == FILES.keys()
