"""State that the endpoints share: runs, queue, keys and limits."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio.to_thread

from nmt.config.choices import Address
from nmt.config.data import DataConfig
from nmt.reports.summaries import RunSummary
from nmt.serve.batching import Batcher
from nmt.serve.detection import Detector
from nmt.serve.downloads import Downloads
from nmt.serve.errors import ApiError, refusing
from nmt.serve.glossaries import Glossaries
from nmt.serve.limits import Limits, RateLimiter
from nmt.serve.served_run import ServedRun
from nmt.serve.translating import TextTranslator

if TYPE_CHECKING:
    from nmt.decoding.translator import Translation

P = ParamSpec("P")
T = TypeVar("T")
_CUSTOMIZED = 16  # runs with a glossary or address that are kept


@dataclass(frozen=True)
class Access:
    """Who may use the server."""

    keys: Sequence[str] = ()
    """API keys, empty if none is required."""
    hosts: Sequence[str] = ("localhost", "127.0.0.1", "[::1]")
    """Accepted Host headers without ports, empty if any is accepted."""
    origins: Sequence[str] = ()
    """Other sites whose pages may send requests, as in Origin headers, "*" for all."""


class Service:
    """The server's state. Create it within an event loop, or before one starts.

    runs_folder: folder of further runs for the page to list; None: list the served runs only;
    glossaries: those that clients have stored earlier
    """

    def __init__(
        self,
        runs: Sequence[ServedRun],
        limits: Limits | None = None,
        access: Access | None = None,
        runs_folder: Path | None = None,
        glossaries: Glossaries | None = None,
    ):
        self.runs = {run.name: run for run in runs}
        self.limits = limits or Limits()
        self.access = access or Access()
        self.runs_folder = runs_folder
        self.batcher: Batcher[Translation] = Batcher(
            self.limits.waiting, max(run.translator.engine.workers for run in runs)
        )
        self.translator = TextTranslator(self.batcher, self.limits)
        self.rates = RateLimiter(self.limits.per_minute)
        self.downloads = Downloads()
        self.glossaries = glossaries or Glossaries()
        self.characters = 0  # translated for clients of DeepL's API
        self.summaries: dict[Path, tuple[RunSummary, DataConfig]] = {}  # see `list_runs`
        self._keys = [_digest(key) for key in self.access.keys]
        self._detector: Detector | None = None
        # Requests with the same glossary and address share a run, and thus batches.
        self._customized = lru_cache(_CUSTOMIZED)(ServedRun.customized)

    async def detector(self) -> Detector:
        """Return the language detector, which reads the runs' sentences on first use."""
        if self._detector is None:
            self._detector = await self.in_thread(Detector, list(self.runs.values()))
        return self._detector

    @property
    def key_required(self) -> bool:
        """Whether clients need a key."""
        return bool(self._keys)

    def check_key(self, key: str | None) -> None:
        """Raise `ApiError` 403 unless this is one of the keys.

        Compares digests of all keys, so that the response time reveals nothing about a key.
        """
        if not self._keys:
            return
        if not key:
            raise ApiError(403, "Please contact the server operator to get an API key")
        given = _digest(key)
        if not sum(hmac.compare_digest(given, known) for known in self._keys):
            raise ApiError(403, "Invalid API key")

    async def customized(
        self, run: ServedRun, glossary: str | None, address: Address | None
    ) -> ServedRun:
        """Return a run that follows a glossary, a text with tabs, and addresses readers like this.

        Raises `ApiError` 400.
        """
        if glossary is None and address is None:
            return run
        with refusing():
            return await self.in_thread(self._customized, run, glossary, address)

    async def in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function outside the event loop: it reads files, or computes without the model."""
        return await anyio.to_thread.run_sync(partial(work, *args, **kwargs))

    def run_named(self, name: str) -> ServedRun:
        """Return a run by its name; raises `ApiError` 400."""
        if name not in self.runs:
            raise ApiError(
                400, f"{name[:100]} is not a run here; choose from {', '.join(self.runs)}"
            )
        return self.runs[name]

    def run_between(self, source: str | None, target: str | None) -> ServedRun:
        """Return the first run that translates between two languages; raises `ApiError` 400.

        None: any language
        """
        known = {code for run in self.runs.values() for code in (run.source, run.target)}
        for code in (source, target):
            if code is not None and code not in known:
                raise ApiError(
                    400,
                    f"{code[:100] or 'an empty language'} is not supported; choose from "
                    f"{', '.join(sorted(known))}",
                )
        for run in self.runs.values():
            if source in (None, run.source) and target in (None, run.target):
                return run
        if target is None:
            raise ApiError(400, f"{source} is not available as a source language")
        origin = "" if source is None else f" from {source}"
        raise ApiError(400, f"{target} is not available as a target language{origin}")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
