"""The notebook runs from start to end; here without a GPU and with a tiny model."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "notebooks" / "nmt_in_colab.ipynb"
SMALL = [
    "model.d_model=16",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "training.max_updates=2",
    "training.validate_pairs=8",
    "decoding.max_length_factor=0",
    "decoding.max_length_extra=8",
]


def test_the_notebook_keeps_colabs_pytorch_and_numpy() -> None:
    [pattern] = re.findall(r'grep -v -E "(.+?)" ', NOTEBOOK.read_text().replace('\\"', '"'))
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    left_out = {pin.partition("=")[0] for pin in pins if re.search(pattern, pin)}
    assert left_out == {"torch", "numpy"}


@pytest.mark.slow
def test_the_notebook_trains_draws_and_translates(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    [parameters] = [
        cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])
    ]
    parameters.source = f"SETTINGS = {SMALL}"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    for source, shown in (
        ("draw_training([sample]", "image/png"),
        ("read_attention(", "image/png"),
    ):
        [found] = [outputs[each] for each in outputs if source in each]
        assert shown in found[-1].data
    [skipped] = [
        output.text for output in outputs[next(s for s in outputs if "multi30k.yaml" in s)]
    ]
    assert skipped.startswith("skipped: there is no GPU here")
    assert (tmp_path / "runs" / "sample" / "best.safetensors").exists()
