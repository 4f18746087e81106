"""Languages are detected by the words of held-out sentences."""

import unicodedata
from types import SimpleNamespace
from typing import Any

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.serve.detection import Detected, Detector


@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_letters_may_be_composed_or_not(form: Any, other: Any) -> None:
    reference = unicodedata.normalize(form, "Fünf Vögel")
    config = SimpleNamespace(data=DataConfig())
    examples = [Example("Five birds", reference, False)]
    folder = SimpleNamespace(config=config, examples=lambda _: examples)
    run: Any = SimpleNamespace(source="en", target="de", folder=folder)
    [best, _] = Detector([run]).detect(unicodedata.normalize(other, "fünf Vögel"))
    assert best == Detected("de", 100.0)
