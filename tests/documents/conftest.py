"""Documents are translated by a run that was trained on the toy corpus."""

from collections.abc import Callable
from functools import partial

import pytest

pytest.importorskip("docx", reason="the extra `documents` is not installed")

import torch

from nmt.decoding.loading import load_translator
from nmt.documents.formats import read_document
from nmt.documents.texts import translate_texts
from nmt.runs.folder import RunFolder


@pytest.fixture(scope="session")
def translate(trained_run: RunFolder) -> Callable[[str, bytes], bytes]:
    """Return a function that translates a document; it takes its name and its content."""
    translator = load_translator(trained_run, device=torch.device("cpu"), engine="pytorch")

    def translated(name: str, content: bytes) -> bytes:
        document = read_document(name, content, ("en", "de"))
        return document.written(document.translated(partial(translate_texts, translator)))

    return translated
