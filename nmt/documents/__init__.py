"""Documents: their text is translated, and everything else is preserved."""
