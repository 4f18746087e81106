"""The command line: one thin command per stage.

Every command parses, calls one or two functions and prints. Torch and spaCy take seconds to
import, so commands import their stage when they run and `nmt --help` answers at once.
"""

from nmt.cli.app import main

__all__ = ["main"]
