"""Tags: a token in front of a source sentence that selects the style of a corpus (domain control).

A form of address (`data.address`) is a tag, too.

A tag is one private-use character, followed by a space. Text may contain such characters by chance:
cleaning removes them, except for a tag of the model in front of a sentence.
"""

from nmt.config.choices import Address
from nmt.config.data import DataConfig
from nmt.errors import UserError
from nmt.special_tokens import TAGS


def tag_prefix(data: DataConfig, tag: str | None) -> str:
    """Return the prefix for a tag; raises `UserError` if the tag is unknown."""
    if tag is None:
        return ""
    if tag not in data.tags:
        known = (
            f"expected one of {', '.join(data.tags)}"
            if data.tags
            else "this model has no tags, so omit it"
        )
        raise UserError(f"tag {tag}: unknown; {known}")
    return TAGS[data.tags.index(tag)] + " "


def address_prefix(data: DataConfig, address: Address | None) -> str:
    """Return the prefix for a form of address; raises `UserError` if the model has none."""
    if address and not data.address:
        raise UserError(
            f"--address {address}: this model did not learn forms of address; omit it, or train "
            "one with data.address: true"
        )
    return tag_prefix(data, address)


def tag_and_text(data: DataConfig, text: str) -> tuple[str | None, str]:
    """Return the name of the tag before a text, if there is one, and the text without it."""
    prefix, rest = split_prefix(data, text)
    return (data.tags[TAGS.index(prefix[0])] if prefix else None), rest


def retagged(data: DataConfig, other: DataConfig, text: str) -> str:
    """Return a text for another model: with its tag if that model has it, otherwise without."""
    tag, rest = tag_and_text(data, text)
    return tag_prefix(other, tag if tag in other.tags else None) + rest


def show_tag(data: DataConfig, text: str) -> str:
    """Return a text with its tag, if there is one, as a readable word: `[news] Good morning.`"""
    tag, rest = tag_and_text(data, text)
    return f"[{tag}] {rest}" if tag else rest


def split_prefix(data: DataConfig, text: str) -> tuple[str, str]:
    """Split a text into the prefix from `tag_prefix`, which may be empty, and the rest."""
    tagged = text[:1] in [*TAGS[: len(data.tags)]] and text[1:2] in ("", " ")  # "": an empty text
    return (text[:2], text[2:]) if tagged else ("", text)
