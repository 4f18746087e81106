"""From sentence pairs outside to prepared data on disk."""
