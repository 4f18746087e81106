"""Progress display; the tests of preparation and tokenizers check that it appears."""

import io

from nmt.progress import elapsed


def test_no_progress_is_shown_for_quick_work() -> None:
    shown = io.StringIO()
    with elapsed("thinking", shown):
        pass
    assert shown.getvalue() == ""
