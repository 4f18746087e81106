"""The command line: one thin command per stage.

Every command parses, calls one or two functions and prints. Torch and spaCy take seconds to
import, so commands import their stage when they run and `nmt --help` answers at once.
"""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, from the first import on."""
    try:
        from nmt.cli import app

        app.main()
    except KeyboardInterrupt:
        sys.exit(130)
