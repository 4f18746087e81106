"""Uploads runs to the Hugging Face Hub, for `nmt push`.

Only weights as safetensors, YAML, JSON, SentencePiece models and hashes are uploaded: nothing
that could run. A checkpoint, which PyTorch would unpickle, is not uploaded.
"""

import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from nmt.config.choices import Weights
from nmt.config.config import Config, Origin
from nmt.config.yaml_files import read_value, written
from nmt.corpus.preparing.manifest import MANIFEST, require_manifest, run_files
from nmt.corpus.tokenizers.registry import load_tokenizers
from nmt.errors import UserError, no_such_weights, one_line
from nmt.files.output_files import temporary_folder
from nmt.files.private_paths import without_folders
from nmt.runs.folder import RunFolder
from nmt.runs.hub import RUN_FILES, import_hub
from nmt.runs.lifecycle import copy_card

_USAGE = """```
nmt translate --run hf:{name} "A sentence to translate."
```"""


def push_run(run: RunFolder, name: str, weights: Weights, public: bool) -> str:
    """Upload a run with one kind of weights, also in `transformers`' format if possible.

    Adds a model card. Absolute paths in the configuration are reduced to file names. Files of an
    earlier push are deleted, others stay. `decoding.knn_k` is set to 0, since the datastore is
    not uploaded. A new repository is private unless `public`. It is created after the files have
    been collected, but before the test set is translated, so that a wrong name or login is reported
    early. Returns its address.
    """
    from nmt.export.transformers import FILES

    library = import_hub()
    if not run.weights(weights).is_file():
        raise no_such_weights(run.weights(weights))
    _require_undamaged(run, weights)
    with temporary_folder() as scratch:
        copy = RunFolder(scratch / "run")
        exported = _assemble(run, copy, weights)
        with _uploading(name):
            repository = library.create_repo(name, private=not public, exist_ok=True)
        full_name = repository.repo_id  # with the user's name, which may be omitted
        _add_card(copy, full_name, weights, exported)
        with _uploading(name):
            library.upload_folder(
                repo_id=full_name,
                folder_path=copy.path,
                commit_message="Upload with nmt push",
                delete_patterns=[*RUN_FILES, *FILES],
            )
    return str(repository)


def _require_undamaged(run: RunFolder, weights: Weights) -> None:
    """Read every file that the model card needs; raises `UserError` if one is damaged."""
    import torch

    from nmt.runs.weights import load_weights

    require_manifest(run.data)
    run.examples("test")
    load_tokenizers(run.config.data, run.config.tokenizer, run.data)
    sizes = run.report["vocabulary_size"]
    path, cpu = run.weights(weights), torch.device("cpu")
    load_weights(path, run.config.model, sizes["source"], sizes["target"], cpu)


@contextmanager
def _uploading(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # see above
        raise UserError(
            f"{name}: cannot be uploaded: {one_line(error)[:300]}; log in with hf auth login, "
            "and check the name and your network"
        ) from None


def _assemble(run: RunFolder, copy: RunFolder, weights: Weights) -> bool:
    """Write the files to upload, except the card, to a new folder.

    Returns whether they include the run in the format of `transformers`.
    """
    from nmt.export.transformers import unsupported, write_transformers

    copy.data.mkdir(parents=True)
    # Once only: training that is in progress may replace them.
    shutil.copyfile(run.weights(weights), copy.weights(weights))
    exported = not unsupported(run.config)
    if exported:
        write_transformers(run, copy.weights(weights), copy.path)
    for file in run_files(run.data):
        shutil.copyfile(file, copy.data / file.name)
    if run.metrics.exists():
        shutil.copyfile(run.metrics, copy.metrics)
    copy_card(run.path, copy.path)  # of an imported model: part of the new one
    if run.glossary:
        shutil.copyfile(run.glossary, copy.path / run.glossary.name)
    fields = without_folders(run.config.model_dump(mode="json"))
    fields["decoding"]["knn_k"] = 0
    config = Config.model_validate(fields)
    origin = run.origin
    overrides = tuple(map(_override_without_folders, origin.overrides))
    fine_tuning = shlex.join(without_folders(shlex.split(origin.fine_tuning)))
    public = Origin(without_folders(origin.file), overrides, fine_tuning)
    copy.write_config(config.with_origin(public))
    # Both contain the paths of the corpora.
    for file in (copy.data / "report.json", copy.data / MANIFEST):
        content = without_folders(json.loads(file.read_bytes()))
        file.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
    return exported


def _add_card(copy: RunFolder, name: str, weights: Weights, exported: bool) -> None:
    """Score the weights, and write the model card."""
    from nmt.export.model_card import model_card
    from nmt.export.transformers import USAGE

    usage, metadata = _USAGE.replace("{name}", name), {}
    if exported:
        usage += "\n\n" + USAGE.replace("FOLDER", name)
        metadata["library_name"] = "transformers"
    card = model_card(copy, weights, usage, **metadata)
    (copy.path / "README.md").write_text(card, encoding="utf-8")
    copy.weights(weights).replace(copy.weights("best"))  # which other commands use by default
    shutil.rmtree(copy.converted, ignore_errors=True)  # made by the translator that was scored


def _override_without_folders(override: str) -> str:
    """Return an override with paths reduced to file names.

    The value is read as YAML, since a path may be in a list or in quotes.
    """
    field, _, text = override.partition("=")
    value = read_value(text)
    private = without_folders(value)
    return override if private == value else f"{field}={written(private)}"
