"""JoeyNMT's small Transformer recipe, trained and scored on the corpus of everyday.yaml.

The recipe is JoeyNMT 2.3's configs/iwslt14_deen_bpe.yaml: 6 + 6 layers, d_model 256, AdamW, a
learning rate that is reduced on plateaus. Its input is the tokens of nmt's tokenizers, which
JoeyNMT treats as words: its own tokenizers fail with current versions of sentencepiece. nmt's
placeholders and BPE-dropout are off. JoeyNMT runs in the peers' environment. The checkpoint with
the best validation is scored; if there was none, the last weights.

    python scripts/bench/joeynmt_everyday.py --updates 1000 --folder data/bench/joeynmt-everyday
"""

import argparse
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from peers import python

from nmt.config.yaml_files import load_config
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.evaluation.metrics import evaluate_texts

# JoeyNMT passes an argument that PyTorch has since removed.
JOEYNMT = """
import runpy
from torch.optim import lr_scheduler

class Plateau(lr_scheduler.ReduceLROnPlateau):
    def __init__(self, *arguments, verbose=False, **named):
        super().__init__(*arguments, **named)

lr_scheduler.ReduceLROnPlateau = Plateau
runpy.run_module("joeynmt", run_name="__main__", alter_sys=True)
"""
OFF = ["data.placeholders=none", "tokenizer.subword_regularization=0"]


def write_text(prepared: PreparedData, folder: Path) -> None:
    """Write train, dev and test as tokens separated by spaces, and the joint vocabulary."""
    pair = (("en", prepared.tokenizers.source), ("de", prepared.tokenizers.target))
    for split, name in (("train", "train"), ("validation", "dev")):
        for (language, tokenizer), rows in zip(pair, prepared.sequences(split), strict=True):
            ids = rows.rows(np.arange(len(rows)))
            write_lines(folder / f"{name}.{language}", tokenizer, ids)
    used = {
        token for name, _ in pair for token in (folder / f"train.{name}").read_text("utf-8").split()
    }
    (folder / "joint.txt").write_text("".join(f"{token}\n" for token in sorted(used)), "utf-8")
    cleaner, test = Cleaner(prepared.data), prepared.examples("test")
    sources = cleaner.sources([example.source for example in test])
    targets = cleaner.targets([example.reference for example in test])
    for (language, tokenizer), lines in zip(pair, (sources, targets), strict=True):
        write_lines(folder / f"test.{language}", tokenizer, tokenizer.encode_lines(lines))


def write_lines(path: Path, tokenizer: Tokenizer, rows: list[list[int]]) -> None:
    path.write_text("".join(" ".join(tokenizer.tokens(row)) + "\n" for row in rows), "utf-8")


def recipe(folder: Path, updates: int, validate: int) -> dict[str, Any]:
    """Return JoeyNMT's recipe; only data, number of updates and validation interval are ours."""
    side = {
        "type": "transformer",
        "num_layers": 6,
        "num_heads": 4,
        "embeddings": {"embedding_dim": 256, "scale": True, "dropout": 0.0},
        "hidden_size": 256,
        "ff_size": 1024,
        "dropout": 0.3,
        "layer_norm": "pre",
        "activation": "relu",
    }
    vocabulary = str(folder / "joint.txt")
    words = {"level": "word", "max_length": 62, "voc_min_freq": 1, "voc_file": vocabulary}
    return {
        "name": "everyday",
        "joeynmt_version": "2.3.0",
        "model_dir": str(folder / "model"),
        "use_cuda": False,
        "random_seed": 42,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "dev"),
            "test": str(folder / "test"),
            "dataset_type": "plain",
            "src": {"lang": "en", **words},
            "trg": {"lang": "de", **words},
        },
        "testing": {
            "beam_size": 5,
            "beam_alpha": 1.0,
            "batch_size": 1024,
            "batch_type": "token",
            "max_output_length": 100,
            "eval_metrics": ["bleu"],
            "sacrebleu_cfg": {"tokenize": "none"},
        },
        "training": {
            "optimizer": "adamw",
            "normalization": "tokens",
            "adam_betas": [0.9, 0.999],
            "scheduling": "plateau",
            "patience": 5,
            "decrease_factor": 0.7,
            "loss": "crossentropy",
            "learning_rate": 3e-4,
            "learning_rate_min": 1e-8,
            "weight_decay": 0.0,
            "label_smoothing": 0.1,
            "batch_size": 4096,
            "batch_type": "token",
            "early_stopping_metric": "bleu",
            "epochs": 1000,
            "updates": updates,
            "validation_freq": validate,
            "logging_freq": math.gcd(validate, 50),  # must divide validation_freq
            "overwrite": True,
            "shuffle": True,
            "print_valid_sents": [0, 1],
            "keep_best_ckpts": 1,
        },
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "embed_init_gain": 1.0,
            "init_gain": 1.0,
            "bias_initializer": "zeros",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": side,
            "decoder": side,
        },
    }


def processor_seconds() -> float:
    """Return the processor time of finished child processes, of all their threads together."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=1000, help="number of updates")
    parser.add_argument(
        "--validate",
        type=int,
        default=None,
        help="updates between validations; more than --updates means none",
    )
    parser.add_argument("--folder", type=Path, default=Path("data/bench/joeynmt-everyday"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    prepared = prepare(load_config("everyday.yaml", [*OFF, *arguments.set]), folder / "prepared")
    write_text(prepared, folder)
    # The recipe validates every 1,000 updates: too rarely for a short run.
    validate = arguments.validate or max(50, arguments.updates // 500 * 50)
    settings = folder / "joeynmt.yaml"
    settings.write_text(yaml.safe_dump(recipe(folder, arguments.updates, validate)), "utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
    run: list[str | Path] = [python(), "-c", JOEYNMT]
    before = processor_seconds()  # of the installation of the peers
    subprocess.run([*run, "train", settings, "--skip-test"], env=environment, check=True)
    minutes = (processor_seconds() - before) / 60
    print(f"training: {minutes:.1f} minutes of processor time, including validations")
    subprocess.run([*run, "test", settings, "-o", folder / "output"], env=environment, check=True)
    for split, name in (("validation", "dev"), ("test", "test")):
        lines = (folder / f"output.{name}").read_text("utf-8").splitlines()
        texts = [prepared.tokenizers.target.join(line.split(" ")) for line in lines]
        references = [example.reference for example in prepared.examples(split)]
        print(f"{split}\n{evaluate_texts(texts, references)}")


if __name__ == "__main__":
    main()
