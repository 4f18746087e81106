"""The code in docs/how-it-works.md prints the output shown there."""

import contextlib
import io
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from how_it_works import (
    DOCUMENT,
    FOLDER,
    PICTURES,
    blocks,
    outputs,
    with_outputs,
)


def outputs_of_script(document: str) -> list[str]:
    """Run the blocks as one program and return what each prints."""
    namespace: dict[str, object] = {}
    printed = []
    before = torch.get_default_dtype()
    try:
        for number, (code, _) in enumerate(blocks(document), 1):
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                exec(compile(code, f"how-it-works.md, block {number}", "exec"), namespace)
            printed.append(stream.getvalue())
    finally:
        torch.set_default_dtype(before)
    return printed


def texts(svg: Path) -> list[str]:
    elements = ElementTree.parse(svg).getroot().iter()
    return [element.text or "" for element in elements if element.tag.endswith("}text")]


@pytest.mark.slow
@pytest.mark.parametrize("run", [outputs, outputs_of_script])
def test_every_shown_value_is_printed_by_the_code(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = DOCUMENT.read_text(encoding="utf-8")
    claimed = blocks(document)
    assert len(claimed) > 10
    assert document.count("```") == 2 * sum(1 + bool(output) for _, output in claimed)
    for (code, output), printed in zip(claimed, run(document), strict=True):
        assert printed == output, f"python scripts/how_it_works.py updates it:\n{code}"
    # Line shapes differ between matplotlib versions; words and numbers do not.
    for picture in PICTURES:
        assert texts(Path(picture)) == texts(FOLDER / picture), picture
    assert with_outputs(document, [output for _, output in claimed]) == document


def test_a_changed_value_is_detected():
    document = "Text.\n\n```python\nx = 2\nprint(x)\n```\n\n```text\n3\n```\n\nMore.\n"
    assert blocks(document) == [("x = 2\nprint(x)\n", "3\n")]
    assert outputs(document) == outputs_of_script(document) == ["2\n"]
    assert with_outputs(document, ["2\n"]) == document.replace("3", "2")


def test_a_block_that_fails_at_the_prompt_is_detected():
    """A statement right after a loop is valid in a script, but a syntax error at the prompt."""
    document = "```python\nfor x in (1, 2):\n    y = x\nprint(y)\n```\n"
    assert outputs_of_script(document) == ["2\n"]
    with pytest.raises(RuntimeError, match="SyntaxError"):
        outputs(document)


def test_links_are_valid():
    document = DOCUMENT.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!http|#)([^)#]+)", document):
        assert (FOLDER / link).exists(), link
    for path in re.findall(r"`((?:nmt|configs|scripts)/\S+?\.\w+)`", document):
        assert (FOLDER.parent / path).exists(), path
    headings = re.findall(r"^## (.+)$", document, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", document)) == anchors
