"""Progress display; the tests of preparation and tokenizers check that it appears."""

import io

from nmt.progress import elapsed


def test_quick_work_shows_nothing() -> None:
    shown = io.StringIO()
    with elapsed("thinking", shown):
        pass
    assert shown.getvalue() == ""
