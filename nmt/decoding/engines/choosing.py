"""Chooses the engine: the configured one, or the fastest that supports the options."""

from dataclasses import dataclass

from nmt.choices import Engine
from nmt.config import Config
from nmt.decoding.engines import ctranslate2
from nmt.errors import UserError


@dataclass(frozen=True)
class Choice:
    """An engine and the reason for choosing it."""

    engine: Engine
    why: str

    def __str__(self) -> str:
        return f"{self.engine} ({self.why})"


def choose_engine(config: Config, runs: int = 1, device: str | None = None) -> Choice:
    """Follow `decoding.engine`; `auto` is CTranslate2 if it supports this, otherwise PyTorch.

    runs: size of the ensemble; device: the requested one. Raises `UserError` if CTranslate2 is
    requested but does not support this.
    """
    asked = config.decoding.engine
    if asked == "pytorch":
        return Choice("pytorch", "decoding.engine")
    reasons = ctranslate2.supports(config, runs, device)
    if not reasons:
        return Choice("ctranslate2", "the fastest" if asked == "auto" else "decoding.engine")
    if asked == "ctranslate2":
        raise UserError(
            f"decoding.engine: CTranslate2 does not support this: {'; '.join(reasons)}; omit "
            "--engine"
        )
    return Choice("pytorch", f"CTranslate2 does not support this: {'; '.join(reasons)}")
