"""Trained runs over HTTP: for programs, and as a page in a browser."""
