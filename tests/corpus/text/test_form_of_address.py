import pytest

from nmt.config.choices import Address
from nmt.corpus.text.form_of_address import address, words_of_other_forms

TEXTS = {
    "du": [
        "Hast du Zeit?", "Ich sehe dich.", "Wo ist dein Hund?", "Komm mit!", "Gut. Nimm den Bus.",
        "Bitte vergiss es nicht.", "Kannst mir glauben.", "Lass uns gehen.",
    ],
    "ihr": [
        "Habt ihr Zeit?", "Ich sehe euch.", "Wo ist euer Hund?", "Nehmt den Bus!", "Seid leise.",
        "Ich weiß, was ihr meint.", "Wo wohnt ihr jetzt?", "Kinder, esst das nicht.",
        "Ihr kennt ihn.", "Was sucht ihr?", "Mögt ihr Musik?", "Wart ihr da?", "Wo wart ihr?",
    ],
    "sie": [
        "Haben Sie Zeit?", "Ich danke Ihnen.", "Wo ist Ihr Hund?", "Setzen Sie sich!",
        "Wenn Sie kommen, ist das Essen fertig.",
    ],
    None: [
        "Sie haben Zeit.",  # or: they
        "Ihr Hund bellt.",  # or: her dog
        "Kommt ihr das bekannt vor?", "Er gibt ihr das Buch.",  # to her
        "Kennt ihr Vater ihn?", "Wo wohnt ihr neuer Freund?",
        "Ein Freund von ihr heiratet.", "Er hilft ihr.", "Die Fahrt war lang.",
        "Kennt sie ihr Ziel?",
        "Fahre jetzt los.",  # I, in a message
        "Er kam. Sie gingen.", "„Sie sind da“, sagte er.", "Hilfe!", "Der Zug kommt.", "",
        "Du gehst, und dann kommen Sie.",  # two forms
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "form"), [(text, form) for form, texts in TEXTS.items() for text in texts]
)
def test_the_form_of_address_is_told_only_if_it_is_sure(text: str, form: str | None) -> None:
    assert address(text) == form


@pytest.mark.parametrize(
    ("text", "demanded", "words"),
    [
        ("Hast du Zeit?", "ihr", ["hast", "Hast", "du", "Du"]),
        ("Hast du Zeit?", "du", []),
        ("Bitte komm zu euch.", "sie", ["komm", "Komm", "euch", "Euch"]),
        ("Was ihr meint, wo ihr wohnt.", "du", ["ihr", "Ihr"]),
        ("Ich danke Ihnen und dir.", "du", ["Ihnen"]),  # "ihnen" would be: them
    ],
)
def test_words_of_other_forms(text: str, demanded: Address, words: list[str]) -> None:
    assert words_of_other_forms(text, demanded) == words
