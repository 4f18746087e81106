"""The model card of a run: training data, training command, and scores."""

import shlex
from typing import Any

import yaml

from nmt import __version__
from nmt.choices import Weights
from nmt.decoding.loading import load_translator
from nmt.evaluation import evaluate
from nmt.run_folder import RunFolder


def model_card(run: RunFolder, weights: Weights, usage: str, **metadata: str) -> str:
    """Return a run's model card as Markdown; translates the test set to score it.

    usage: instructions for the files next to the card; metadata: further front matter
    """
    config, report = run.config, run.report
    source, target = config.data.source_language, config.data.target_language
    scores = evaluate(load_translator(run, weights=weights), run.examples("test"), config.data)
    front: dict[str, Any] = {
        "language": [source, target],
        "pipeline_tag": "translation",
        "tags": ["translation", "nmt"],
        **metadata,
    }
    corpora = [
        f"- {corpus['name']}: {corpus['train']:,} pairs in training"
        + (f"; licence: {corpus['licence']}" if corpus["licence"] else "; licence not known to nmt")
        for corpus in report.get("corpora", [])
    ]
    origin = run.origin
    changes = " ".join(f"--set {shlex.quote(change)}" for change in origin.overrides)
    parts = ("nmt train", origin.fine_tuning, f"--config {shlex.quote(origin.file)}", changes)
    command = " ".join(filter(None, parts))
    trained = "trained from scratch" if config.training.initial_weights is None else "fine-tuned"
    pairs = report["pairs"]
    return f"""---
{yaml.safe_dump(front, allow_unicode=True, sort_keys=False).strip()}
---

# Translation, {source} → {target}

A Transformer, {trained} with nmt {__version__}.

{usage}

## Data

{chr(10).join(corpora)}

Sentence pairs: {pairs["train"]:,} for training, {pairs["validation"]:,} for validation,
{pairs["test"]:,} for testing. Check the licences of the corpora before you publish the model.

## Training

```
{command}
```

## Scores

Scores of the {weights} weights on the {pairs["test"]:,} test pairs, computed by `nmt evaluate`:

```
{scores}
```
"""
