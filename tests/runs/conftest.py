"""Fake runs, and tiny models with random weights."""

from tests.fake_runs import make_run
from tests.model.conftest import config, random_model

__all__ = ["config", "make_run", "random_model"]
