"""nmt: train, use and understand an English–German Transformer from scratch."""

__version__ = "0.1.0"
