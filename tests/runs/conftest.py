"""The fixture `make_run`, for fake runs."""

from tests.fake_runs import make_run

__all__ = ["make_run"]
