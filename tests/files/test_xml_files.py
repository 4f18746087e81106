import gzip
import re
import time
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.files import xml_files
from nmt.files.xml_files import Shortcut, XmlDocument, _EventCollector, parse_xml, read_xml


def text_of(path: Path) -> str:
    return "".join(event.value for event in read_xml(path) if event.kind == "text")


def test_elements_and_text_come_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<a><b x="1">hi</b></a>')
    found = [(event.kind, event.value) for event in read_xml(path)]
    assert found == [("start", "a"), ("start", "b"), ("text", "hi"), ("end", "b"), ("end", "a")]


def test_a_handler_takes_the_same_as_the_events_tell(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<a><b x="1">h&eacute;</b><!-- c --></a>')
    taken: list[tuple[object, ...]] = []

    class Handler:
        def start(self, name: str, attributes: dict[str, str]) -> None:
            taken.append(("start", name, attributes))

        def end(self, name: str) -> None:
            taken.append(("end", name, {}))

        def text(self, text: str) -> None:
            taken.append(("text", text, {}))

    list(parse_xml(path, Handler()))
    assert taken == [event[:3] for event in read_xml(path)]
    assert ("text", "é", {}) in taken


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_encoding_is_recognized_by_the_first_bytes(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes("<a>Grüße</a>".encode(encoding))
    assert text_of(path) == "Grüße"


@pytest.mark.parametrize(
    ("declared", "encoding"), [("iso-8859-1", "latin-1"), ("windows-1252", "cp1252")]
)
def test_a_declared_encoding_is_used(tmp_path: Path, declared: str, encoding: str) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{declared}"?><a>Grüße</a>'.encode(encoding))
    assert text_of(path) == "Grüße"


def test_an_outdated_declaration_of_utf_16_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<?xml version="1.0" encoding="UTF-16"?><a>Grüße</a>', encoding="utf-8")
    assert text_of(path) == "Grüße"


@pytest.mark.parametrize("block", [1, 3, 2**18])
def test_control_characters_are_left_out(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xml_files, "_BLOCK", block)
    path = tmp_path / "a.xml"
    path.write_text("<a>o\x0bn&#x1F;e&#31;, &#8;two&#9;&#33;</a>")
    assert text_of(path) == "one, two\t!"


def test_a_document_type_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<!DOCTYPE a SYSTEM "file:///etc/hostname"><a>b</a>')
    assert text_of(path) == "b"


def test_entities_of_html_are_known_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a>b&nbsp;c&eacute;</a>")
    assert text_of(path) == "b\xa0cé"
    path.write_text('<!DOCTYPE a SYSTEM "b.dtd"><a>&b;</a>')
    with pytest.raises(UserError, match="entity b"):
        text_of(path)


@pytest.mark.parametrize("block", [1, 9, 2**18])
def test_a_shortcut_takes_elements_only(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xml_files, "_BLOCK", block)
    path = tmp_path / "a.xml"
    hidden = "<!--</u><u>1</u>--><u/><![CDATA[</u><u>2</u>]]><?p </u><u>3</u>?>"
    path.write_text(f"<a><u>4</u><u>5</u><u>6</u>{hidden}<u>7</u><u>8</u>\n<u>9</u></a>")
    taken: list[str] = []

    class Handler:
        def start(self, name: str, attributes: dict[str, str]) -> None:
            taken.append(name)

        def end(self, name: str) -> None:
            pass

        def text(self, text: str) -> None:
            taken.append(text.strip())

    def read(text: str, place: int) -> int:
        while unit := re.compile(r"\s*<u>(\d)</u>").match(text, place):
            taken.extend(["u", unit[1]])
            place = unit.end()
        return place

    list(parse_xml(path, Handler(), Shortcut("u", read)))
    assert "".join(taken) == "au4u5u6u</u><u>2</u>u7u8u9"


def test_a_shortcut_takes_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"<a><!--{'</u>' * 1_000_000}--></a>")
    shortcut = Shortcut("u", lambda _, place: place)
    start = time.process_time()
    list(parse_xml(path, _EventCollector(), shortcut))
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_errors_after_a_shortcut_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a><u/><u></u>\n<u>\n</u> <u></u></b>")
    with pytest.raises(UserError, match="line 3, column 14"):
        list(read_xml(path))
    shortcut = Shortcut("u", lambda text, place: max(place, text.find("</b>")))
    with pytest.raises(UserError, match="line 3, column 14"):
        list(parse_xml(path, _EventCollector(), shortcut))


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]><a>&c;</a>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>',
        '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://localhost/b">%b;]><a/>',
        "<a><b></a>",
        "<a>",
        "",
        '<?xml version="1.0" encoding="idna"?><a/>',
        "<a>" * 10_000,
        f'<a b="{"x" * 9_000_000}"/>',
    ],
)
def test_hostile_and_broken_documents_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"a\.xml") as caught:
        list(read_xml(path))
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match=r"a\.xml"):
        list(XmlDocument(path, path.read_bytes()).events())


def test_compressed_files_are_read_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(b"<a>" + b"x" * 2**20 + b"</a>"))
    assert len(text_of(path)) == 2**20
    monkeypatch.setattr(xml_files, "MOST_UNPACKED", 2**19)
    with pytest.raises(UserError, match="unpacks"):
        text_of(path)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(b"<a>x</a>")[:-9])
    with pytest.raises(UserError, match="cannot be read"):
        text_of(path)
    (tmp_path / "b.xml").write_bytes(b"<a>\xff</a>")
    with pytest.raises(UserError, match="utf-8"):
        text_of(tmp_path / "b.xml")


def test_a_document_is_changed_in_places_and_nowhere_else() -> None:
    content = "\ufeff<?xml version=\"1.0\"?>\r\n<a >ä\x07&#x1f;<b c='1>2'/><b>x</b></a >\n"
    document = XmlDocument(Path("a.xml"), content.encode("utf-16-le"))
    first, second = (element for element, _ in document.elements(["b"]))
    assert document.raw(first.start, first.end) == "<b c='1>2'/>"
    assert document.raw(second.inner, second.after) == second.text == "x"
    assert document.changed([]) == content.encode("utf-16-le")
    edits = [(second.inner, second.after, "ü"), (first.end, first.end, "<d/>")]
    expected = content.replace("2'/>", "2'/><d/>").replace(">x<", ">ü<")
    assert document.changed(edits) == expected.encode("utf-16-le")


def test_elements_know_what_is_around_them() -> None:
    document = XmlDocument(Path("a.xml"), b"<a><n:b><c/><n:c>x<c>y</c></n:c></n:b></a>")
    begun: list[tuple[str, bool]] = []
    found = document.elements(["c"], lambda element, root: begun.append((element.name, root)))
    around = [(element.text, [each.name for each in outer]) for element, outer in found]
    assert around == [("", ["a", "n:b"]), ("xy", ["a", "n:b"])]
    assert begun == [("a", True), ("n:b", False)]


def test_comments_have_their_places() -> None:
    document = XmlDocument(Path("a.xml"), b"<a><b>c<!-- d\x07-->e<?f g?><!-->--></b></a>")
    [(element, _)] = document.elements(["b"])
    inside = [x if isinstance(x, str) else document.raw(x.start, x.end) for x in element.children]
    assert inside == ["c", "<!-- d\x07-->", "e", "<?f g?>", "<!-->-->"]


def test_entities_of_other_files_are_refused_in_a_document() -> None:
    content = b'<!DOCTYPE a SYSTEM "other.dtd"><a>&b;</a>'
    with pytest.raises(UserError, match="entity b"):
        list(XmlDocument(Path("a.xml"), content).events())
