"""Grammar-based generator of the built-in English-German sample corpus."""
