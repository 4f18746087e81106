"""Tags: a piece before a source that tells the model which corpus it is like (domain control).

A sentence carries its tag as one private-use character and a space before the text. Cleaning
removes such characters, so no text can forge one.
"""

from nmt.config import DataConfig
from nmt.errors import UserError
from nmt.special_tokens import TAGS


def tag_prefix(data: DataConfig, tag: str | None) -> str:
    """Return what a tag puts before a sentence; raises `UserError` for one that is not known."""
    if tag is None:
        return ""
    if tag not in data.tags:
        known = f"known are {', '.join(data.tags)}" if data.tags else "this model knows none"
        raise UserError(f"tag {tag}: unknown; {known}")
    return TAGS[data.tags.index(tag)] + " "


def split_prefix(text: str) -> tuple[str, str]:
    """Return what `tag_prefix` has put before a text, if anything, and the text."""
    tagged = text[:1] in TAGS and text[1:2] == " " if text else False
    return (text[:2], text[2:]) if tagged else ("", text)
