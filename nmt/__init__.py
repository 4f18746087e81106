"""nmt: train, use and understand an English–German Transformer from scratch."""

import os
import sys

__version__ = "0.1.0"

# Threads that wait for the others by spinning, as OpenMP's do by default, take the core that the
# others need when another program runs. OpenMP reads this when PyTorch is loaded; where that has
# already happened, as in a notebook, `nmt.ops.threads.small_operations` helps.
THREADS_MAY_SPIN = "torch" in sys.modules and "OMP_WAIT_POLICY" not in os.environ
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
