"""The OpenAPI document, compared with the server's responses to generated requests."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("schemathesis", reason="needs Python 3.11")

from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun
from nmt.serve.service import Service

pytestmark = pytest.mark.slow


def test_responses_to_generated_requests_match_the_document(
    start_server: Callable[[Service], str], served: ServedRun, tmp_path: Path
) -> None:
    limits = Limits(characters=200, sentences=5, seconds=20)
    address = start_server(Service([served], limits))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json"),
            # Not every well-formed request is accepted: the language may be unknown. Others are
            # accepted as clients of the imitated interfaces send them: null, or a text instead of a
            # list. Schemathesis takes a glossary's name for its identifier.
            "--exclude-checks",
            "positive_data_acceptance,negative_data_rejection,ensure_resource_availability",
            *("--max-examples", "20", "--generation-database", "none", "--continue-on-failure"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Tested: 24" in done.stdout
