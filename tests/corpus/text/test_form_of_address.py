import pytest

from nmt.corpus.text.form_of_address import address


@pytest.mark.parametrize(
    "text",
    [
        "Hast du Zeit?", "Ich sehe dich.", "Wo ist dein Hund?", "Komm mit!", "Gut. Nimm den Bus.",
        "Bitte vergiss es nicht.", "Kannst mir glauben.", "Lass uns gehen.",
    ],
)  # fmt: skip
def test_du(text: str) -> None:
    assert address(text) == "du"


@pytest.mark.parametrize(
    "text",
    ["Habt ihr Zeit?", "Ich sehe euch.", "Wo ist euer Hund?", "Nehmt den Bus!", "Seid leise."],
)
def test_ihr(text: str) -> None:
    assert address(text) == "ihr"


@pytest.mark.parametrize(
    "text",
    [
        "Haben Sie Zeit?",
        "Ich danke Ihnen.",
        "Wo ist Ihr Hund?",
        "Setzen Sie sich!",
        "Wenn Sie kommen, ist das Essen fertig.",
    ],
)
def test_sie(text: str) -> None:
    assert address(text) == "sie"


@pytest.mark.parametrize(
    "text",
    [
        "Sie haben Zeit.",  # or: they
        "Er kam. Sie gingen.",
        "„Sie sind da“, sagte er.",
        "Ihr Hund bellt.",  # or: her dog
        "Kommt ihr das bekannt vor?",  # to her
        "Er gibt ihr das Buch.",
        "Fahre jetzt los.",  # I, in a message
        "Hilfe!",
        "Der Zug kommt.",
        "",
    ],
)
def test_what_is_unsure_is_not_told(text: str) -> None:
    assert address(text) is None


def test_several_forms_are_unsure() -> None:
    assert address("Du gehst, und dann kommen Sie.") is None
