"""Subtitles: cues are texts; times, names, settings and formatting stay."""

import pytest

from nmt.documents.subtitles import Subtitles

TIME = "00:00:01,000 --> 00:00:02,500\n"


def upper(lines: str, vtt: bool = False) -> str:
    """Translate by converting to capitals."""
    subtitles = Subtitles(lines, vtt)
    return subtitles.replace(
        [[(piece.upper(), i) for i, piece in enumerate(text.pieces)] for text in subtitles.texts]
    )


def texts(lines: str) -> list[str]:
    return [text.text for text in Subtitles(lines).texts]


@pytest.mark.parametrize(
    ("lines", "expected"),
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
    lines: str, expected: list[str]
) -> None:
    assert texts(f"1\n{TIME}{lines}\n\n2\n{TIME}Bye.\n") == [*expected, "Bye."]


def test_a_translation_has_as_many_lines_of_similar_lengths() -> None:
    subtitles = Subtitles(f"1\r\n{TIME}<i>Anna\r\nlikes the sea</i>\r\n\r\n")
    assert subtitles.replace([[("Anna mag das Meer an langen Tagen", 0)]]) == (
        f"1\r\n{TIME}<i>Anna mag das Meer\r\nan langen Tagen</i>\r\n\r\n"
    )


@pytest.mark.parametrize("translation", ["Ja", ""])
def test_a_translation_of_fewer_words_leaves_lines_out(translation: str) -> None:
    subtitles = Subtitles(f"1\n{TIME}of\ncourse\n\n2\n")
    assert subtitles.replace([[(translation, 0)]]) == f"1\n{TIME}{translation}\n\n2\n"


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
    assert texts(text) == ["Hello", "Goodbye"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Ida <i>cooks</i> now", "NOW <i>COOKS</i> IDA"),
        ("<i>Ida</i> cooks", "COOKS <i>IDA</i>"),
        ('<font color="red">Ida</font> <b>cooks</b>', '<b>COOKS</b> <font color="red">IDA</font>'),
        (r"{\an8}{\i1}Ida{\i0} cooks", r"{\an8}COOKS {\i1}IDA{\i0}"),
        ("<v Ann>Ida <c.x>cooks</c></v>", "<v Ann><c.x>COOKS</c> IDA</v>"),
        ("Ida <00:01.000>cooks now", "COOKS NOW IDA"),
        ("<ruby>Ida<rt>cook</rt></ruby> <i>now</i>", "<i>NOW</i> IDA COOK"),
        ('We <font color="red">two cook\nall the</font> time',
         'TIME <font color="red">TWO COOK\nALL THE</font> WE'),
    ],
)  # fmt: skip
def test_tags_stay_with_words_that_move(lines: str, expected: str) -> None:
    subtitles = Subtitles(TIME + lines)
    [text] = subtitles.texts
    pieces = [(piece.strip().upper(), i) for i, piece in enumerate(text.pieces) if piece.strip()]
    parts = [part for piece in reversed(pieces) for part in (piece, (" ", 0))][:-1]
    assert subtitles.replace([parts]) == TIME + expected


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("<v a <v b><v c", "<V A <V C"),
        ("<v {\\an8}<v {\\", "<V <V {\\"),
        ("<v a <i>b</i> c d", "<V A <i>B</i> C D"),
        ("a <<b>i x> c</b> d e\nf g h", "A <<b>I X> C</b>\nD E F G H"),
    ],
)
def test_no_text_is_lost_beside_tags_that_are_not_closed(cue: str, expected: str) -> None:
    assert upper(f"1\n{TIME}{cue}\n") == f"1\n{TIME}{expected}\n"
