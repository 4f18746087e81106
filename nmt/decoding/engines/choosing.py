"""Which engine translates: the one that the configuration names, or the fastest that can."""

from dataclasses import dataclass

from nmt.choices import Engine
from nmt.config import Config
from nmt.decoding.engines import ctranslate2
from nmt.errors import UserError


@dataclass(frozen=True)
class Choice:
    """An engine, and why it was chosen."""

    engine: Engine
    why: str

    def __str__(self) -> str:
        return f"{self.engine} ({self.why})"


def choose_engine(config: Config, runs: int = 1, device: str | None = None) -> Choice:
    """Choose as `decoding.engine` says; `auto` is CTranslate2 where it can translate, else PyTorch.

    runs: how many translate together; device: the one asked for. Raises `UserError` where
    CTranslate2 is asked for and cannot.
    """
    asked = config.decoding.engine
    if asked == "pytorch":
        return Choice("pytorch", "decoding.engine")
    reasons = ctranslate2.supports(config, runs, device)
    if not reasons:
        return Choice("ctranslate2", "the fastest" if asked == "auto" else "decoding.engine")
    if asked == "ctranslate2":
        raise UserError(
            f"decoding.engine: CTranslate2 cannot translate this: {'; '.join(reasons)}; leave "
            "--engine out"
        )
    return Choice("pytorch", f"CTranslate2 cannot: {'; '.join(reasons)}")
