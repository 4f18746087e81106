"""The model card of a run: training data, training command, and scores."""

import re
import shlex
from typing import Any

import yaml

from nmt.config.choices import Weights
from nmt.corpus.preparing.report import CorpusReport, corpora_before
from nmt.decoding.loading import load_translator
from nmt.evaluation.evaluate import evaluate
from nmt.files.front_matter import read_front_matter
from nmt.runs.folder import CARD, HUB, RunFolder

# Those of https://huggingface.co/docs/hub/repositories-licenses that a corpus may have.
_HUB_LICENCES = """
apache-2.0 c-uda cc cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0
cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0
cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0
etalab-2.0 gfdl gpl-2.0 gpl-3.0 lgpl-2.1 lgpl-3.0 lgpl-lr mit odbl odc-by pddl unlicense
"""
_ORIGINAL = "## Card of the original model"


def model_card(run: RunFolder, weights: Weights, usage: str, **metadata: str) -> str:
    """Return a run's model card as Markdown; translates the test set to score it.

    usage: instructions for the files next to the card; metadata: further front matter
    """
    config, report = run.config, run.report
    source, target = config.data.languages
    imported = not report["pairs"]["train"]
    front: dict[str, Any] = {
        "language": [source, target],
        **_licence(run),
        **(_base(run) if imported else {}),
        "pipeline_tag": "translation",
        "tags": ["translation", "nmt"],
        **metadata,
    }
    return f"""---
{yaml.safe_dump(front, allow_unicode=True, sort_keys=False).strip()}
---

# Translation, {source} → {target}

{_imported(run, usage) if imported else _described(run, weights, usage)}"""


def _imported(run: RunFolder, usage: str) -> str:
    """Return the card of a run of `nmt import`, of which neither text nor scores are known."""
    return f"""A Transformer, trained by others and imported into nmt from {run.origin.file}.

{usage}

Check the licence of the original model before you publish this one.

{_original_card(run)}"""


def _original_card(run: RunFolder) -> str:
    """Return the card of an imported model: its licence may demand that its authors are named.

    The run of somebody else has a card of this module, which contains the other one.
    """
    original = read_front_matter(run.path / CARD)[1].rpartition(_ORIGINAL)[2].strip()
    return f"{_ORIGINAL}\n\n{original}\n" if original else ""


def _base(run: RunFolder) -> dict[str, str]:
    """Return the field by which the Hub links a model to the one that it was made from."""
    name = run.origin.file.removeprefix(HUB).partition("@")[0]
    return {"base_model": name} if run.origin.file.startswith(HUB) else {}


def _described(run: RunFolder, weights: Weights, usage: str) -> str:
    """Return what a card says of data, training and scores."""
    config, report = run.config, run.report
    # Neither an export nor an upload contains the datastore.
    translator = load_translator(run, weights=weights, overrides=["decoding.knn_k=0"])
    scores = evaluate(translator, run.examples("test"), config.data)
    corpora = _listed(report.get("corpora", []))
    fine_tuned = config.training.initial_weights is not None
    if fine_tuned and (before := corpora_before(report)):
        corpora += f"\n\nBefore fine-tuning, the model was trained on:\n\n{_listed(before)}"
    origin = run.origin
    changes = " ".join(f"--set {shlex.quote(change)}" for change in origin.overrides)
    file = origin.file or "config.yaml"  # the run's own: Python callers need no file
    parts = ("nmt train", origin.fine_tuning, f"--config {shlex.quote(file)}", changes)
    command = " ".join(filter(None, parts))
    trained = "fine-tuned" if fine_tuned else "trained from scratch"
    pairs = report["pairs"]
    return f"""A Transformer, {trained} with nmt.

{usage}

## Data

{corpora}

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

{_original_card(run) if fine_tuned else ""}"""


def _listed(corpora: list[CorpusReport]) -> str:
    return "\n".join(
        f"- {corpus['name']}: {corpus['train']:,} pairs in training; "
        + (f"licence: {corpus['licence']}" if corpus["licence"] else "licence not known to nmt")
        for corpus in corpora
    )


def _licence(run: RunFolder) -> dict[str, str]:
    """Return the field `license` if the Hub has a name for the one licence of all training text.

    The Hub's `other` would need the text of the licence, so other licences are named only in the
    body of the card.
    """
    if run.config.training.initial_weights is not None:
        return {}  # the user must also consider what the model was trained on before
    licences = [corpus["licence"] for corpus in run.report.get("corpora", [])]
    names = {re.split("[,;]", licence)[0].lower().replace(" ", "-") for licence in licences}
    names = {name.removesuffix("-fr") for name in names}  # CC BY 2.0 FR is the French port
    name = names.pop() if len(names) == 1 else ""
    return {"license": name} if name in _HUB_LICENCES.split() else {}
