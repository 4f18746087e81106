"""Decoding: greedy and beam search, engines, and the text-to-text translator."""
