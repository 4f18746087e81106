"""Sentence pairs: reading, cleaning, tokenizing, and writing prepared data."""
