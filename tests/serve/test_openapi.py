"""The OpenAPI document, compared with the server's responses to generated requests."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("schemathesis", reason="needs Python 3.11")

from nmt.serve.limits import Limits

pytestmark = pytest.mark.slow


def test_responses_to_generated_requests_match_the_document(
    start_server: Callable[..., str], tmp_path: Path
) -> None:
    address = start_server(limits=Limits(characters=200, sentences=5, seconds=20))
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
    )
    assert done.returncode == 0, done.stdout
    assert "Tested: 24" in done.stdout
