"""Searching translations: greedy, beam, and the text-in text-out translator."""
