"""Measure how much quality int8 costs in CTranslate2, by validation scores.

    python scripts/bench/compute_types.py --run runs/sample --run runs/base --run runs/multi30k

Four rows per run and search: float32 and int8 in CTranslate2 on this processor, and both in the
PyTorch engine, which emulates int8 with exact sums. On processors without int8 dot products (VNNI),
CTranslate2's 16-bit sums saturate.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.evaluation.evaluate import evaluate
from nmt.runs.finding import open_run


def emulate_int8(model: nn.Module) -> None:
    """Round weights once, and the input of every product, to 8 bits per row."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.copy_(rounded(parameter))
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.register_forward_pre_hook(lambda _, given: (rounded(given[0]), *given[1:]))


def rounded(x: Tensor) -> Tensor:
    """Return x with each row rounded to 255 levels around zero, scaled to its largest value."""
    scale = 127 / x.abs().amax(-1, keepdim=True).clamp(min=1e-9)
    return (x * scale).round() / scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="append", type=Path, required=True)
    arguments = parser.parse_args()
    print("| run | beam | engine | BLEU | chrF |\n" + "| --- " * 5 + "|")
    for path in arguments.run:
        for beam in (1, 5):
            changes = [f"decoding.beam_size={beam}", "decoding.knn_k=0"]
            translators = {
                "CTranslate2 float32": load_translator(
                    path, overrides=changes, engine="ctranslate2", compute_type="float32"
                ),
                "CTranslate2 int8": load_translator(
                    path, overrides=changes, engine="ctranslate2", compute_type="int8"
                ),
                "PyTorch float32": load_translator(path, overrides=changes, engine="pytorch"),
                "PyTorch int8": load_translator(path, overrides=changes, engine="pytorch"),
            }
            emulate_int8(translators["PyTorch int8"].pytorch.models[0])
            for engine, translator in translators.items():
                bleu, chrf = scores(path, translator)
                print(f"| {path.name} | {beam} | {engine} | {bleu:.2f} | {chrf:.2f} |", flush=True)


def scores(path: Path, translator: Translator) -> tuple[float, float]:
    run = open_run(path)
    report = evaluate(translator, run.examples("validation"), run.config.data)
    return report.all.scores["bleu"], report.all.scores["chrf"]


if __name__ == "__main__":
    main()
