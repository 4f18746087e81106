"""The front matter of Markdown files: YAML between two lines of dashes at the start."""

from pathlib import Path

from nmt.files.small_files import read_small


def read_front_matter(path: Path) -> tuple[str, str]:
    """Return the front matter of a file, and the rest; empty if it cannot be read."""
    try:
        text = read_small(path).decode(errors="replace")
    except OSError:
        return "", ""
    if not text.startswith("---") or text.count("---") < 2:
        return "", text
    _, front, rest = text.split("---", 2)
    return front, rest
