"""Subtitles: cues are texts; times, names, settings and formatting stay."""

import pytest

from nmt.documents.subtitles import Subtitles

TIME = "00:00:01,000 --> 00:00:02,500\n"


def upper(lines: str, vtt: bool = False) -> str:
    """Translate by converting to capitals."""
    subtitles = Subtitles(lines, vtt)
    return subtitles.replace([text.upper() for text in subtitles.texts])


@pytest.mark.parametrize(
    ("lines", "texts"),
    [
        ("We took the early train\nbecause the roads were icy.",
         ["We took the early train because the roads were icy."]),
        ("Stop!\nWe have to talk.", ["Stop!", "We have to talk."]),
        ("- Did you see\nthe film?\n- No.", ["- Did you see the film?", "- No."]),
        ("ANNA: Good morning\nBEN: Hello", ["ANNA: Good morning", "BEN: Hello"]),
        ("one<br>two<br/> three", ["one two three"]),
        (r"one\Ntwo \N three", ["one two three"]),
        ("<ruby>Berlin<rt>city</rt></ruby> now", ["Berlin city now"]),
        ("<i>It was late\nand dark</i>", ["It was late and dark"]),
        ("<i>It was late</i>\n<i>and dark</i>", ["It was late and dark"]),
    ],
)  # fmt: skip
def test_the_lines_of_a_cue_are_one_text_unless_a_sentence_or_a_speaker_ends(
    lines: str, texts: list[str]
) -> None:
    assert Subtitles(f"1\n{TIME}{lines}\n\n2\n{TIME}Bye.\n").texts == [*texts, "Bye."]


def test_a_translation_has_as_many_lines_of_similar_lengths() -> None:
    subtitles = Subtitles(f"1\r\n{TIME}<i>Anna\r\nlikes the sea</i>\r\n\r\n")
    assert subtitles.replace(["Anna mag das Meer an langen Tagen"]) == (
        f"1\r\n{TIME}<i>Anna mag das Meer\r\nan langen Tagen</i>\r\n\r\n"
    )


@pytest.mark.parametrize("translation", ["Ja", ""])
def test_a_translation_of_fewer_words_leaves_lines_out(translation: str) -> None:
    subtitles = Subtitles(f"1\n{TIME}of\ncourse\n\n2\n")
    assert subtitles.replace([translation]) == f"1\n{TIME}{translation}\n\n2\n"


def test_formatting_of_each_line_stays_with_its_line() -> None:
    lines = f"{TIME}<i>It was late</i>\n<i>and dark</i>"
    assert upper(lines) == f"{TIME}<i>IT WAS LATE</i>\n<i>AND DARK</i>"


def test_webvtt_keeps_header_notes_styles_names_and_settings() -> None:
    head = "WEBVTT - Title of the film\nKind: captions\n\nSTYLE\n::cue { color: red }\n\n"
    cue = "intro\n00:01.000 --> 00:02.000 position:10% align:start\n"
    note = "\nNOTE\nthis is\nfor the editor\n\n"
    source = f"{head}{cue}<v Anna>the sea & I</v>\n{note}{cue}salt &amp; pepper\n"
    assert upper(source, vtt=True) == (
        f"{head}{cue}<v Anna>THE SEA &amp; I</v>\n{note}{cue}SALT &amp; PEPPER\n"
    )


def test_a_name_in_front_of_a_time_is_text_in_subrip_only_if_it_is_no_number() -> None:
    text = f"1\n{TIME}Hello\n2\n{TIME}Goodbye\n"
    assert Subtitles(text).texts == ["Hello", "Goodbye"]
