"""A trained model as other programs read it: `nmt export` writes CTranslate2's format.

What `nmt.decoding.engines.conversion` writes, with the vocabularies' pieces in place of their ids,
and the run's own tokenizers beside it, which CTranslate2 leaves to others.
"""

import glob
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.choices import Weights
from nmt.corpus.tokenizers import Tokenizer, load_tokenizers, vocabulary_files
from nmt.decoding.engines.conversion import unsupported, write_model
from nmt.errors import UserError, writing
from nmt.run_folder import RunFolder
from nmt.special_tokens import SPECIALS


def export_run(run: RunFolder, folder: Path, weights: Weights = "best") -> None:
    """Write a run to a new folder, whole or not at all, with its tokenizers beside the model.

    Raises `UserError` where there is something already, for damaged weights, and for a model or a
    vocabulary that the format cannot hold.
    """
    if folder.exists():
        raise UserError(f"{folder}: exists already; delete it, or name another --output")
    config = run.config
    if reasons := unsupported(config.model):
        raise UserError(f"CTranslate2 cannot hold this model: {'; '.join(reasons)}")
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    vocabularies = _pieces(tokenizers.source), _pieces(tokenizers.target)
    prefix = f".{folder.name}.partial."
    for remains in folder.parent.glob(f"{glob.escape(prefix)}*"):  # of exports that were killed
        shutil.rmtree(remains, ignore_errors=True)
    with writing(folder), TemporaryDirectory(prefix=prefix, dir=folder.parent) as scratch:
        partial = Path(scratch, folder.name)
        partial.mkdir()
        write_model(run.weights(weights), config.model, vocabularies, partial)
        for name in vocabulary_files(config.tokenizer):
            shutil.copyfile(run.data / name, partial / name)
        partial.rename(folder)


def _pieces(tokenizer: Tokenizer) -> list[str]:
    pieces = tokenizer.pieces(range(tokenizer.size))
    for piece in SPECIALS:
        if pieces.count(piece) > 1:
            raise UserError(
                f"tokenizer.kind: the corpus has the word {piece}, which CTranslate2 cannot tell "
                "from the special token; take it out of the corpus, or use subwords"
            )
    return pieces
