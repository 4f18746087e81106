"""The OpenAPI document, held against what the server answers to generated requests."""

from collections.abc import Callable

import pytest

pytest.importorskip("schemathesis", reason="it needs Python 3.11")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Service

pytestmark = pytest.mark.slow
# Not that all that is well formed is accepted: a language may not be served, a text too long.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
]


def test_generated_requests_are_answered_as_documented(
    start_server: Callable[[Service], str], served: ServedRun
) -> None:
    address = start_server(Service([served], Limits(characters=200, sentences=5, seconds=20)))
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) >= 10
    schemathesis.checks.load_all_checks()
    checks = schemathesis.checks.CHECKS.get_by_names(CHECKS)
    for operation in operations:

        @settings(
            max_examples=10,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def answers(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=checks)

        answers()
