"""Search by CTranslate2 (https://opennmt.net/CTranslate2), in place of the searches here."""

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch

from nmt.corpus.tokenizers import Tokenizers
from nmt.decoding.hypothesis import Hypothesis, finish
from nmt.decoding.next_pieces import NEVER_WRITTEN
from nmt.errors import UserError, one_line
from nmt.export import require_ctranslate2, write_ctranslate2
from nmt.model.transformer import Transformer
from nmt.special_tokens import SPECIALS

ComputeType = Literal[
    "float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16"
]


class CTranslate2Search:
    """Searches with a copy of a model that CTranslate2 has taken over; see `Search`.

    The library knows no `length_penalty` like ours. It is asked for all hypotheses of its beam with
    their bare log-probabilities, and they are ranked here. What else differs from `beam_search`:
    its beam stays full until `beam_size` hypotheses have ended; probabilities are shares of what is
    left without <pad> and <sos>; that of an <eos> which the limit forces is not counted.

    alpha: the length penalty; compute_type: the numbers that it multiplies
    Raises `UserError` where the library is missing or cannot multiply such numbers here, and as
    `write_ctranslate2` does.
    """

    def __init__(
        self, model: Transformer, tokenizers: Tokenizers, alpha: float, compute_type: ComputeType
    ):
        require_ctranslate2()
        with TemporaryDirectory() as folder:
            write_ctranslate2(model, tokenizers, Path(folder))
            self._engine = _load(folder, next(model.parameters()).device, compute_type)
        self._source = tokenizers.source
        pieces = tokenizers.target.pieces(range(tokenizers.target.size))
        self._target_ids = {piece: i for i, piece in enumerate(pieces)}
        self._alpha = alpha

    def __call__(
        self, sources: list[list[int]], limits: list[int], beam_size: int, n_best: int
    ) -> list[list[Hypothesis]]:
        """See `Search`."""
        found: list[list[Hypothesis]] = []
        # One call has one limit; neighbours share theirs, since batches are sorted by length.
        for limit, group in groupby(zip(sources, limits, strict=True), key=itemgetter(1)):
            results = self._engine.translate_batch(
                [self._source.pieces(ids[:-1]) for ids, _ in group],  # it adds <eos> itself
                beam_size=beam_size,
                num_hypotheses=beam_size,
                length_penalty=0.0,
                min_decoding_length=0,
                max_decoding_length=limit,
                max_input_length=0,  # no limit but the model's, which `Translator` keeps
                suppress_sequences=[[SPECIALS[i]] for i in NEVER_WRITTEN],
                return_scores=True,
            )
            found += [self._rank(result, limit)[:n_best] for result in results]
        return found

    def _rank(self, result: Any, limit: int) -> list[Hypothesis]:
        hypotheses = [
            finish(
                [self._target_ids[piece] for piece in pieces],
                sum_,
                self._alpha,
                len(pieces) < limit,
            )
            for pieces, sum_ in zip(result.hypotheses, result.scores, strict=True)
        ]
        return sorted(hypotheses, key=lambda h: -h.score)


def _load(folder: str, device: torch.device, compute_type: ComputeType) -> Any:
    """Open a model in the library, on the same CUDA device as `device`, or else on the CPU."""
    import ctranslate2

    name = "cuda" if device.type == "cuda" else "cpu"
    threads = torch.get_num_threads()
    try:
        return ctranslate2.Translator(
            folder,
            device=name,
            device_index=device.index or 0,
            compute_type=compute_type,
            inter_threads=threads,  # so many batches at once, as `side_by_side` brings them
            intra_threads=1,
        )
    except (RuntimeError, ValueError) as error:
        known = ", ".join(sorted(ctranslate2.get_supported_compute_types(name)))
        raise UserError(
            f"--engine ctranslate2: {one_line(error)[:200]}; on this {name} it can "
            f"--compute-type {known}"
        ) from None
    finally:
        torch.set_num_threads(threads)  # the library has set it to its own
