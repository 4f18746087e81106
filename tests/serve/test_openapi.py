"""The OpenAPI document, held against what the server answers to generated requests."""

import pytest

pytest.importorskip("schemathesis", reason="it needs Python 3.11")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nmt.run_folder import RunFolder
from nmt.serve.app import make_app
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Service

pytestmark = pytest.mark.slow


def test_generated_requests_are_answered_as_documented(
    served: ServedRun, trained_run: RunFolder
) -> None:
    from starlette.testclient import TestClient

    app = make_app(Service([served], Limits(characters=200, sentences=5, seconds=20)))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"Host": "localhost"})
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) >= 10
    with TestClient(app, base_url="http://localhost") as client:
        for operation in operations:

            @settings(
                max_examples=25,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(data=st.data())
            def answers(data: st.DataObject, operation: object = operation) -> None:
                case = data.draw(operation.as_strategy())  # type: ignore[attr-defined]
                case.headers = {**(case.headers or {}), "Host": "localhost"}
                case.call_and_validate(
                    session=client,
                    base_url="http://localhost",
                    excluded_checks=[
                        schemathesis.checks.CHECKS.get_one("positive_data_acceptance")
                    ],
                )

            answers()
