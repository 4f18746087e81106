"""Signs of life; that they are shown is tested where they are: preparing, learning subwords."""

import io

from nmt.progress import elapsed


def test_what_is_quick_shows_nothing() -> None:
    shown = io.StringIO()
    with elapsed("thinking", shown):
        pass
    assert shown.getvalue() == ""
