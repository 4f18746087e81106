"""nmt: train, use and understand an English–German Transformer from scratch."""

import os

__version__ = "0.1.0"

# Threads that wait for the others by spinning, as OpenMP's do by default, take the core that the
# others need when another program runs. OpenMP reads this when PyTorch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
