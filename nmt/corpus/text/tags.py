"""Tags: a token in front of a source sentence that selects the style of a corpus (domain control).

A form of address (`data.address`) is a tag, too.

A tag is one private-use character, followed by a space. Text may contain such characters by chance:
cleaning removes them, except for a tag of the model in front of a sentence.
"""

from nmt.config.choices import Address
from nmt.config.data import DataConfig
from nmt.errors import UserError
from nmt.special_tokens import TAGS


def tag_of(data: DataConfig, name: str | None) -> str:
    """Return the tag of a name, "" for None; raises `UserError` if the name is unknown."""
    if name is None:
        return ""
    if name not in data.tags:
        known = (
            f"expected one of {', '.join(data.tags)}"
            if data.tags
            else "this model has no tags, so omit it"
        )
        raise UserError(f"tag {name}: unknown; {known}")
    return TAGS[data.tags.index(name)] + " "


def address_tag(data: DataConfig, address: Address | None) -> str:
    """Return the tag of a form of address; raises `UserError` if the model has none."""
    if address and not data.address:
        raise UserError(
            f"address {address}: this model did not learn forms of address; omit it, or use a run "
            "that was trained with data.address: true"
        )
    return tag_of(data, address)


def tag_name_and_text(data: DataConfig, text: str) -> tuple[str | None, str]:
    """Return the name of the tag before a text, if there is one, and the text without it."""
    tag, rest = split_tag(data, text)
    return (data.tags[TAGS.index(tag[0])] if tag else None), rest


def retagged(data: DataConfig, other: DataConfig, text: str) -> str:
    """Return a text for another model: with its tag if that model has it, otherwise without."""
    name, rest = tag_name_and_text(data, text)
    return tag_of(other, name if name in other.tags else None) + rest


def show_tag(data: DataConfig, text: str) -> str:
    """Return a text with its tag, if there is one, as a readable word: `[news] Good morning.`"""
    name, rest = tag_name_and_text(data, text)
    return f"[{name}] {rest}" if name else rest


def split_tag(data: DataConfig, text: str) -> tuple[str, str]:
    """Split a text into its tag, "" if it has none, and the rest."""
    tagged = text[:1] in [*TAGS[: len(data.tags)]] and text[1:2] in ("", " ")  # "": an empty text
    return (text[:2], text[2:]) if tagged else ("", text)
