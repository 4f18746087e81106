"""Short files with the structure that each tool writes, according to its documentation or source.

What filling the empty targets adds stands in ⟦brackets⟧, what it removes in ⟪these⟫; the pretended
translation is the source in capitals. Each file comes with the pairs that it has as a corpus. The
texts are our own. The formatter is off in the tables, where it would nearly double the lines.
"""

import re
from typing import NamedTuple


def before(example: str) -> str:
    return re.sub("⟦[^⟧]*⟧", "", example).replace("⟪", "").replace("⟫", "")


def after(example: str) -> str:
    return re.sub("⟪[^⟫]*⟫", "", example).replace("⟦", "").replace("⟧", "")


class ToolFile(NamedTuple):
    """A file's name, the finished pairs in it, and its text."""

    name: str
    pairs: list[tuple[str, str]]
    text: str


MT = 'state="needs-review-translation" state-qualifier="leveraged-mt"'
NEW = f"⟦ {MT}⟧"
XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
XLIFF_12 = 'version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"'
DONE = [("Done", "Fertig")]


def xliff(file: str, body: str, root: str = "", header: str = "") -> str:
    return (
        f"{XML}<xliff {XLIFF_12}{root}>\n<file {file}>{header}\n<body>\n{body}\n</body></file>\n"
        "</xliff>\n"
    )


EN_DE = 'source-language="en" target-language="de" datatype="plaintext"'

# fmt: off
XLIFF = {
    "Okapi Tikal, with copies of the sources": ToolFile("a.html.xlf", [("A big dog",) * 2], xliff(
        f'original="a.html" {EN_DE.replace("plaintext", "html")} okp:inputEncoding="UTF-8"',
        '<trans-unit id="tu1" restype="x-paragraph">\n<source xml:lang="en">A <g id="1">big'
        '</g> dog</source>\n<seg-source><mrk mid="0" mtype="seg">A <g id="1">big</g> dog</mrk>'
        f'</seg-source>\n<target xml:lang="de"{NEW}><mrk mid="0" mtype="seg">⟪A ⟫⟦A ⟧<g id="1">'
        "⟪big⟫⟦BIG⟧</g>⟪ dog⟫⟦ DOG⟧</mrk></target>\n</trans-unit>",
        ' xmlns:okp="okapi-framework:xliff-extensions"')),
    "Okapi Rainbow, without targets": ToolFile("a.docx.xlf", [], xliff(
        f'original="word/document.xml" {EN_DE} tool-id="okapi"',
        '<group id="P1" restype="x-paragraph">\n<trans-unit id="NF1" xml:space="preserve">\n'
        '<source xml:lang="en">Press <x id="1"/>now</source>\n'
        '<seg-source><mrk mid="0" mtype="seg">Press <x id="1"/>now</mrk></seg-source>'
        f'⟦\n<target {MT}><mrk mid="0" mtype="seg">PRESS <x id="1"/>NOW</mrk></target>⟧\n'
        "</trans-unit>\n</group>",
        header='<header><tool tool-id="okapi" tool-name="Okapi"/></header>')),
    "Okapi, XLIFF 2 with codes": ToolFile("a.xlf", [],
        f'{XML}<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" '
        'trgLang="de">\n<file id="f1" original="a.html">\n<unit id="tu1">\n<originalData>\n'
        '<data id="d1">&lt;b></data>\n<data id="d2">&lt;/b></data>\n</originalData>\n'
        '<segment id="s1"⟦ state="initial" subState="nmt:mt"⟧>\n<source>A <pc id="1" canDelete="no"'
        ' dataRefEnd="d2" dataRefStart="d1">big</pc> dog</source>⟦\n<target>A <pc id="1" '
        'canDelete="no" dataRefEnd="d2" dataRefStart="d1">BIG</pc> DOG</target>⟧\n</segment>\n'
        "</unit>\n</file>\n</xliff>\n"),
    "Weblate": ToolFile("de.xliff", DONE, xliff(f'original="app" {EN_DE}',
        '<trans-unit id="save" xml:space="preserve">\n<source>Save</source>\n'
        f"<target{NEW}>⟦SAVE⟧</target>\n</trans-unit>\n"
        '<trans-unit id="done" xml:space="preserve" approved="yes">\n<source>Done</source>\n'
        '<target state="translated">Fertig</target>\n</trans-unit>')),
    "Virtaal, version 1.1": ToolFile("a.xlf", [],
        f'{XML}<xliff xmlns="urn:oasis:names:tc:xliff:document:1.1" version="1.1">\n'
        f'  <file original="NoName" {EN_DE}>\n    <body>\n'
        '      <trans-unit xml:space="preserve" id="2">\n        <source>Save</source>⟦\n'
        f"        <target {MT}>SAVE</target>⟧\n"
        '        <note from="developer">hint</note>\n      </trans-unit>\n'
        '      <trans-unit xml:space="preserve" id="3" approved="no">\n        <source>Open'
        '</source>\n        <target state="needs-review-translation">Öffnen</target>\n'
        "      </trans-unit>\n    </body>\n  </file>\n</xliff>\n"),
    "translate-toolkit, from PO": ToolFile("a.xlf", [], xliff(f'original="a.po" {EN_DE}',
        '<trans-unit xml:space="preserve" id="1" approved="no" '
        'restype="x-gettext-domain-header">\n<source>Language: de\n</source>\n<target></target>'
        '\n</trans-unit>\n<trans-unit xml:space="preserve" id="2">\n<source>_Open</source>\n'
        f'<target{NEW}>⟦_OPEN⟧</target>\n<context-group name="po-reference" purpose="location">'
        '<context context-type="sourcefile">a.c</context></context-group>\n</trans-unit>\n'
        '<group restype="x-gettext-plurals" id="3">\n<trans-unit xml:space="preserve" id="3[0]"'
        f">\n<source>%d file</source>⟦\n<target {MT}>%d FILE</target>⟧\n</trans-unit>\n"
        '<trans-unit xml:space="preserve" id="3[1]">\n<source>%d files</source>⟦\n'
        f"<target {MT}>%d FILES</target>⟧\n</trans-unit>\n</group>")),
    "Trados Studio": ToolFile("a.docx.sdlxliff", DONE, "\ufeff" + xliff(
        'original="c:\\a.docx" datatype="x-sdlfilterframework2" source-language="en-US" '
        'target-language="de-DE"',
        '<trans-unit id="11" translate="no"><source><x id="0" /></source></trans-unit>\n'
        '<group><sdl:cxts><sdl:cxt id="1" /></sdl:cxts><trans-unit id="22"><source>'
        'See <g id="5">this</g>. Done</source><seg-source><mrk mtype="seg" mid="1">See '
        '<g id="5">this</g>.</mrk> <mrk mtype="seg" mid="2">Done</mrk></seg-source><target>'
        '<mrk mtype="seg" mid="1"⟪ />⟫⟦>SEE <g id="5">THIS</g>.</mrk>⟧ <mrk mtype="seg" mid="2">'
        'Fertig</mrk></target><sdl:seg-defs><sdl:seg id="1"⟦ conf="Draft" origin="mt" '
        'origin-system="nmt"⟧ /><sdl:seg id="2" conf="ApprovedTranslation" origin="tm" '
        'percent="100"><sdl:value key="Hash">1</sdl:value></sdl:seg></sdl:seg-defs>'
        "</trans-unit></group>",
        ' xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0" sdl:version="1.0"',
        '<header><file-info xmlns="http://sdl.com/FileTypes/SdlXliff/1.0"><value key="k">v'
        '</value></file-info><tag-defs xmlns="http://sdl.com/FileTypes/SdlXliff/1.0"><tag '
        'id="5"><bpt name="cf">&lt;cf&gt;</bpt><ept name="cf">&lt;/cf&gt;</ept></tag>'
        "</tag-defs></header>")),
    "memoQ": ToolFile("a.docx.mqxliff", DONE, "\ufeff" + xliff(
        'original="a.docx" source-language="en-us" target-language="de-de" datatype="x-mso"',
        '<trans-unit id="1" mq:status="⟪NotStarted⟫⟦MachineTranslated⟧" mq:segmentguid="1" '
        'mq:locked="unlocked">\n<source xml:space="preserve">A <bpt id="1" ctype="bold">{}'
        '</bpt>big<ept id="1">{}</ept> dog</source>\n<target xml:space="preserve">⟦A <bpt '
        'id="1" ctype="bold">{}</bpt>BIG<ept id="1">{}</ept> DOG⟧</target>\n'
        '<mq:comments></mq:comments>\n</trans-unit>\n<trans-unit id="2" '
        'mq:status="ManuallyConfirmed" mq:translatorcommitusername="A">\n<source '
        'xml:space="preserve">Done</source>\n<target xml:space="preserve">Fertig</target>\n'
        "</trans-unit>",
        ' xmlns:mq="MQXliff" mq:version="1.0"',
        '<header><skl><external-file href="s.skl"/></skl><mq:docinformation/></header>')),
    "Phrase TMS (Memsource)": ToolFile("a.docx-en-de-T.mxliff", DONE, xliff(
        'original="a.docx" source-language="en" target-language="de" datatype="x-docx"',
        '<group id="0" m:para-id="0">\n<trans-unit id="a:0" xml:space="preserve" '
        'm:score="0.0" m:trans-origin="null" m:confirmed="0" m:locked="false" '
        f'm:level-edited="false">\n<source>Save</source>\n<target{NEW}>⟦SAVE⟧</target>\n'
        '<alt-trans origin="machine-trans"><target>Sichern</target></alt-trans>\n'
        "<m:tunit-metadata/>\n</trans-unit>\n</group>\n"
        '<trans-unit id="a:1" xml:space="preserve" m:confirmed="1" m:locked="true">\n'
        "<source>Done</source>\n<target>Fertig</target>\n</trans-unit>",
        ' xmlns:m="http://www.memsource.com/mxlf/2.0" m:version="2.4"')),
    "Phrase Strings": ToolFile("de.xlf", [], xliff(f'original="global" {EN_DE}',
        '<trans-unit id="save" resname="save">\n<source>Save</source>\n'
        f"<target⟪/⟫{NEW}>⟦SAVE</target>⟧\n<note>Button</note>\n</trans-unit>")),
    "Crowdin": ToolFile("de.xliff", DONE, xliff(f'id="3" original="/app.json" {EN_DE}',
        '<trans-unit id="5" resname="save">\n<source>Save</source>\n<target '
        'state="⟪needs-translation⟫⟦needs-review-translation⟧"⟦ '
        'state-qualifier="leveraged-mt"⟧>⟪Save⟫⟦SAVE⟧</target>\n<note>save</note>\n'
        '</trans-unit>\n<trans-unit id="6" resname="done" approved="yes">\n<source>Done'
        '</source>\n<target state="final">Fertig</target>\n</trans-unit>',
        header='<header><tool tool-id="crowdin.com" tool-name="Crowdin"/></header>')),
    "Pontoon and Xcode, without a target language": ToolFile("firefox-ios.xliff", [], xliff(
        'original="Client/en.lproj/Localizable.strings" source-language="en" '
        'datatype="plaintext"⟦ target-language="de"⟧',
        '<trans-unit id="Greeting" xml:space="preserve">\n<source>Hello, %@</source>⟦\n'
        f"<target {MT}>HELLO, %@</target>⟧\n<note>Shown first</note>\n</trans-unit>",
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
        '<header><tool tool-id="com.apple.dt.xcode" tool-name="Xcode"/></header>')),
    "Qt Linguist": ToolFile("app_de.xlf", [], xliff(
        'original="main.cpp" datatype="cpp" source-language="en" target-language="de"',
        '<group restype="x-trolltech-linguist-context" resname="Window">\n<trans-unit '
        'id="_msg1">\n<source xml:space="preserve">&amp;File</source>\n<target '
        f'xml:space="preserve"⟪/⟫{NEW}>⟦&amp;FILE</target>⟧\n<context-group purpose="location">'
        '<context context-type="linenumber">1</context></context-group>\n</trans-unit>\n'
        '<group restype="x-gettext-plurals" id="_msg2">\n<trans-unit id="_msg2[0]">\n<source '
        'xml:space="preserve">%n file(s)</source>\n<target xml:space="preserve"⟪/⟫'
        f"{NEW}>⟦%n FILE(S)</target>⟧\n</trans-unit>\n</group>\n</group>",
        ' xmlns:trolltech="urn:trolltech:names:ts:document:1.0"')),
    "Angular, XLIFF 2": ToolFile("messages.xlf", [],
        f'{XML}<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en-US"'
        '⟦ trgLang="de"⟧>\n  <file id="ngi18n" original="ng.template">\n    <unit id="1">\n'
        '      <notes><note category="location">a.html:1</note></notes>\n'
        '      <segment⟦ state="initial" subState="nmt:mt"⟧>\n        <source>See <pc id="0" '
        'equivStart="START_LINK" equivEnd="CLOSE_LINK" type="link" dispStart="&lt;a&gt;" '
        'dispEnd="&lt;/a&gt;">this</pc></source>⟦\n        <target>SEE <pc id="0" '
        'equivStart="START_LINK" equivEnd="CLOSE_LINK" type="link" dispStart="&lt;a&gt;" '
        'dispEnd="&lt;/a&gt;">THIS</pc></target>⟧\n      </segment>\n    </unit>\n  </file>\n'
        "</xliff>\n"),
    "Symfony, XLIFF 2": ToolFile("messages.de.xlf", [],
        f'{XML}<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" '
        'trgLang="de">\n  <file id="messages.de">\n    <unit id="a" name="save">\n'
        '      <segment⟦ state="initial" subState="nmt:mt"⟧>\n        <source>Save</source>\n'
        "        <target>⟦SAVE⟧</target>\n      </segment>\n    </unit>\n  </file>\n</xliff>\n"),
    "Drupal": ToolFile("job.xlf", [], xliff(f'original="xliff-core-1.2-strict.xsd" {EN_DE}',
        '<group id="1">\n<note>Page</note>\n<trans-unit id="1][title" resname="1][title">\n'
        '<source xml:lang="en"><![CDATA[You & me]]></source>\n<target xml:lang="de"'
        f"{NEW}>⟦YOU &amp; ME⟧</target>\n<note>Title</note>\n</trans-unit>\n</group>",
        header='<header><phase-group><phase tool-id="tmgmt" phase-name="extraction"/>'
        "</phase-group></header>")),
    "WPML": ToolFile("job.xliff", [],
        '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE xliff PUBLIC '
        '"-//XLIFF//DTD XLIFF//EN" "http://www.oasis-open.org/committees/xliff/documents/xliff.dtd"'
        '>\n<xliff version="1.0"><file original="1" source-language="en" target-language="de" '
        'datatype="plaintext"><header/><body><trans-unit resname="title" restype="String" '
        'datatype="text|html" id="title"><source><![CDATA[Save]]></source><target '
        'state="⟪needs-translation⟫⟦needs-review-translation⟧"⟦ state-qualifier="leveraged-mt"⟧>'
        "⟪<![CDATA[Save]]>⟫⟦SAVE⟧</target></trans-unit></body></file></xliff>\n"),
    "TYPO3": ToolFile("de.locallang.xlf", DONE, xliff(
        f'original="EXT:a/locallang.xlf" {EN_DE} date="2026-01-01T00:00:00Z"',
        '\t<trans-unit id="save" resname="save" approved="no">\n\t\t<source>Save</source>⟦\n'
        f"\t\t<target {MT}>SAVE</target>⟧\n\t</trans-unit>\n"
        '\t<trans-unit id="done" resname="done" approved="yes">\n\t\t<source>Done</source>\n'
        "\t\t<target>Fertig</target>\n\t</trans-unit>",
        header="<header/>")),
    "Microsoft's xliff-tasks": ToolFile("Strings.de.xlf", [], xliff(
        'datatype="xml" source-language="en" target-language="de" original="../Strings.resx"',
        '<trans-unit id="Hi">\n<source>Hi {0}</source>\n<target '
        'state="⟪new⟫⟦needs-review-translation⟧"⟦ state-qualifier="leveraged-mt"⟧>⟪Hi {0}⟫'
        "⟦HI {0}⟧</target>\n<note />\n</trans-unit>")),
    "Multilingual App Toolkit": ToolFile("app.de.xlf", [], xliff(
        'datatype="xml" source-language="en-US" target-language="de-DE" original="A" '
        'tool-id="MultilingualAppToolkit"',
        '<group id="RESOURCES.RESX" datatype="resx">\n<trans-unit id="a" translate="yes" '
        'xml:space="preserve">\n<source>Save</source>\n<target '
        'state="⟪new⟫⟦needs-review-translation⟧"⟦ state-qualifier="leveraged-mt"⟧>⟪Save⟫⟦SAVE⟧'
        '</target>\n</trans-unit>\n<trans-unit id="b" translate="no">\n<source>OK</source>\n'
        "</trans-unit>\n</group>",
        header='<header><tool tool-id="MultilingualAppToolkit" tool-name="T"/></header>')),
    "Transifex": ToolFile("for_use_a_de.xlf", [], xliff(f'original="a" {EN_DE}',
        '<trans-unit id="s1" resname="k" approved="no">\n<source>One.\nTwo.</source>\n<target'
        f"⟪/⟫{NEW}>⟦ONE.\nTWO.</target>⟧\n</trans-unit>")),
    "Lokalise": ToolFile("de.xliff", [], xliff(f'original="app.xliff" {EN_DE}',
        '<trans-unit id="k"><source><![CDATA[<b>Big</b> dog]]></source>'
        f"<target{NEW}>⟦&lt;b&gt;BIG&lt;/b&gt; DOG⟧</target></trans-unit>")),
    "XTM": ToolFile("a.xlf", [], xliff(
        'original="a.html" source-language="en_GB" target-language="de_DE" datatype="xml"',
        '<trans-unit id="1"><source>See<x ctype="lb" id="2"/>this <bx id="3" rid="3"/>big'
        f'<ex id="4" rid="3"/> dog</source>⟦<target {MT}>SEE<x ctype="lb" id="2"/>THIS <bx '
        'id="3" rid="3"/>BIG<ex id="4" rid="3"/> DOG</target>⟧<note annotates="source">N</note>'
        "</trans-unit>")),
}
# fmt: on


def tmx(header: str, body: str, version: str = "1.4", doctype: str = "") -> str:
    return (
        f'{XML}{doctype}<tmx version="{version}">\n<header {header}/>\n<body>\n{body}\n</body>\n'
        "</tmx>\n"
    )


def header(tool: str, language: str = "en") -> str:
    return (
        f'creationtool="{tool}" creationtoolversion="1" segtype="sentence" o-tmf="{tool}" '
        f'adminlang="en" srclang="{language}" datatype="plaintext"'
    )


def unit(*variants: str, attributes: str = "") -> str:
    return f"<tu{attributes}>\n{chr(10).join(variants)}\n</tu>"


def variant(language: str, text: str, attributes: str = "") -> str:
    return f'<tuv xml:lang="{language}"{attributes}><seg>{text}</seg></tuv>'


BY = ' creationid="MT" creationtool="nmt"'
DTD = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'


def added(language: str, text: str, name: str = "xml:lang") -> str:
    return f'⟦\n<tuv {name}="{language}"{BY}><seg>{text}</seg></tuv>⟧'


DONE_UNIT = unit(variant("en", "Done"), variant("de", "Fertig"))
SAVE_UNIT = unit(variant("en", "Save") + added("de", "SAVE"))
# fmt: off
TMX = {
    "OmegaT, project memory": ToolFile("project_save.tmx", [*DONE, ("Done", "Erledigt")], tmx(
        header("OmegaT", "EN-US"),
        "<!-- Default translations -->\n    <tu>\n      <note>N</note>\n"
        '      <tuv xml:lang="EN-US">\n        <seg>Done</seg>\n      </tuv>\n'
        '      <tuv xml:lang="DE" changeid="A" changedate="20260101T000000Z" creationid="A" '
        'creationdate="20260101T000000Z">\n        <seg>Fertig</seg>\n      </tuv>\n    </tu>\n'
        "<!-- Alternative translations -->\n    <tu>\n"
        '      <prop type="file">a.txt</prop>\n      <prop type="prev">Save</prop>\n'
        '      <tuv xml:lang="EN-US">\n        <seg>Done</seg>\n      </tuv>\n'
        '      <tuv xml:lang="DE">\n        <seg>Erledigt</seg>\n      </tuv>\n    </tu>',
        "1.1", '<!DOCTYPE tmx SYSTEM "tmx11.dtd">\n')),
    "OmegaT, level 2": ToolFile("a-level2.tmx", [], tmx(header("OmegaT"),
        unit(variant("en", 'A <bpt i="0" x="0">&lt;a0&gt;</bpt>big<ept i="0">&lt;/a0&gt;</ept> dog')
        + added("de", 'A <bpt i="0" x="0">&lt;a0&gt;</bpt>BIG<ept i="0">&lt;/a0&gt;</ept> DOG')),
        doctype=DTD)),
    "Trados Workbench": ToolFile("wb.tmx", DONE, tmx(
        'creationtool="TRADOS Translator\'s Workbench for Windows" creationtoolversion="7" '
        'segtype="sentence" o-tmf="TW4Win 2.0 Format" adminlang="EN-US" srclang="EN-US" '
        'datatype="rtf"',
        '<tu creationdate="20260101T000000Z" creationid="A">\n<prop type="Txt::Client">C</prop>'
        '\n<tuv xml:lang="EN-US">\n<seg><ut>{\\b </ut>Done<ut>}</ut></seg>\n</tuv>\n'
        '<tuv xml:lang="DE-DE">\n<seg><ut>{\\b </ut>Fertig<ut>}</ut></seg>\n</tuv>\n</tu>\n'
        '<tu>\n<tuv xml:lang="EN-US"><seg>Save<it pos="end">}</it></seg></tuv>'
        '⟦\n<tuv xml:lang="DE-DE" creationid="MT" creationtool="nmt"><seg>SAVE<it pos="end">}</it>'
        "</seg></tuv>⟧\n</tu>",
        doctype=DTD)),
    "Trados Studio": ToolFile("studio.tmx", [], tmx(header("SDL Language Platform", "en-US"),
        '<tu creationdate="20260101T000000Z" creationid="D\\A" lastusagedate="20260101T000000Z">\n'
        '<prop type="x-LastUsedBy">D\\A</prop>\n'
        '<prop type="x-ConfirmationLevel">ApprovedTranslation</prop>\n<tuv xml:lang="en-US">\n'
        '<seg>A <bpt i="1" type="14" x="1" />big<ept i="1" /> dog</seg>\n</tuv>⟦\n'
        '<tuv xml:lang="de" creationid="MT" creationtool="nmt">'
        '<seg>A <bpt i="1" type="14" x="1" />BIG<ept i="1" /> DOG</seg></tuv>⟧\n</tu>')),
    "memoQ": ToolFile("memoq.tmx", DONE, "\ufeff" + tmx(header("MemoQ", "en-us"),
        '<tu changedate="20260101T000000Z" creationid="A">\n<prop type="client">C</prop>\n'
        '<tuv xml:lang="en-us">\n<prop type="x-context-pre">&lt;seg&gt;Save&lt;/seg&gt;</prop>\n'
        '<seg>Done<ph type="tag" x="1">&lt;br /&gt;</ph></seg>\n</tuv>\n<tuv xml:lang="de-de">\n'
        '<seg>Fertig<ph type="tag" x="1">&lt;br /&gt;</ph></seg>\n</tuv>\n</tu>')),
    "Phrase TMS (Memsource)": ToolFile("memsource.tmx", DONE, tmx(header("Memsource Cloud"),
        '<tu tuid="1"><prop type="x-context">k</prop>'
        + variant("en", "Done", ' creationdate="20260101T000000Z"')
        + variant("de", "Fertig", ' creationid="A" changedate="20260101T000000Z"') + "</tu>\n"
        + SAVE_UNIT)),
    "Crowdin": ToolFile("crowdin.tmx", DONE, tmx(header("Crowdin", "en"),
        unit(variant("en", "Done"), variant("de", "Fertig"), variant("fr", "Fini")) + "\n"
        + unit(variant("en", "Save") + added("de", "SAVE"), variant("fr", "Enregistrer")))),
    "Weblate and translate-toolkit": ToolFile("weblate.tmx", DONE, tmx(
        header("Translate Toolkit"),
        '<tu srclang="en">\n      <tuv xml:lang="en">\n        <seg>Done</seg>\n      </tuv>\n'
        '      <tuv xml:lang="de">\n        <seg>Fertig</seg>\n      </tuv>\n    </tu>',
        doctype=DTD)),
    "Pontoon": ToolFile("pontoon.tmx", DONE, tmx(header("Pontoon", "en-US"),
        '\t<tu tuid="a.ftl:key" srclang="en-US">\n\t\t<tuv xml:lang="en-US"><seg>Done</seg></tuv>\n'
        '\t\t<tuv xml:lang="de"><seg>Fertig</seg></tuv>\n\t</tu>')),
    "Okapi Olifant": ToolFile("olifant.tmx", [], tmx(header("oku_textmodification", "en-US"),
        '<tu tuid="1">\n<prop type="Txt::FileName">a.html</prop>\n'
        '<prop type="Att::State">S</prop>\n'
        '<tuv xml:lang="en-US"><seg>A <bpt i="1" x="1">&lt;b></bpt>big<ept i="1">&lt;/b></ept> dog'
        "</seg></tuv>"
        + added("de", 'A <bpt i="1" x="1">&lt;b></bpt>BIG<ept i="1">&lt;/b></ept> DOG')
        + "\n</tu>")),
    "Wordfast": ToolFile("wordfast.tmx", [], tmx(header("Wordfast", "EN-US"),
        '<tu changedate="20260101T000000Z" creationid="A">\n<tuv lang="EN-US"><seg>Save</seg></tuv>'
        + added("de", "SAVE", "lang") + "\n</tu>",
        "1.1")),
    "Déjà Vu": ToolFile("dvx.tmx", [], tmx(header("ATRIL Déjà Vu X", "EN-US"),
        '<tu creationdate="20260101T000000Z">\n<prop type="x-Client:0">0</prop>\n'
        '<tuv xml:lang="EN-US"><seg>See<ph>{00000}</ph>this</seg></tuv>'
        + added("de", "SEE<ph>{00000}</ph>THIS") + "\n</tu>")),
    "Swordfish": ToolFile("swordfish.tmx", DONE, tmx(header("Swordfish", "*all*"),
        '<tu tuid="1" creationtool="Swordfish">\n<note>N</note>\n<tuv xml:lang="en-US"><seg>'
        'Done<ph type="x" x="1">&lt;g id="1"&gt;</ph></seg></tuv>\n<tuv xml:lang="de"><seg>Fertig'
        '<ph type="x" x="1">&lt;g id="1"&gt;</ph></seg></tuv>\n</tu>')),
    "Heartsome": ToolFile("heartsome.tmx", [], tmx(header("HSStudio", "en-US"),
        '<tu tuid="1">\n<tuv xml:lang="en-US"><seg>A <hi type="bold">big</hi> dog</seg></tuv>'
        + added("de", 'A <hi type="bold">BIG</hi> DOG') + "\n</tu>")),
    "XTM": ToolFile("xtm.tmx", DONE, tmx(header("XTM", "en_GB"),
        '<tu tuid="x"><prop type="x-xtm-status">approved</prop>\n' + variant("en_GB", "Done")
        + "\n" + variant("de_DE", "Fertig") + "\n</tu>")),
    "Matecat and MyMemory": ToolFile("matecat.tmx", DONE, tmx(header("MateCat", "en-US"),
        '<tu tuid="1" creationdate="20260101T000000Z" datatype="plaintext" srclang="en-US">\n'
        '<prop type="x-MateCAT-id_job">1</prop>\n<tuv xml:lang="en-US"><seg>Done</seg></tuv>\n'
        '<tuv xml:lang="de-DE"><seg>Fertig</seg></tuv>\n</tu>')),
    "OPUS": ToolFile("en-de.tmx", DONE, tmx(
        'creationdate="Sun Jan 1 00:00:00 2026" srclang="en" adminlang="en" o-tmf="unknown" '
        'segtype="sentence" creationtool="Uplug" creationtoolversion="unknown" '
        'datatype="PlainText"',
        '    <tu>\n      <tuv xml:lang="en"><seg>Done</seg></tuv>\n'
        '      <tuv xml:lang="de"><seg>Fertig</seg></tuv>\n    </tu>')),
    "DGT of the European Commission": ToolFile("dgt.tmx", DONE, tmx(header("tm3", "EN-GB"),
        '<tu><prop type="Txt::Doc. No.">1</prop>\n<tuv lang="EN-GB">\n<seg>Done</seg>\n</tuv>\n'
        '<tuv lang="BG-01">\n<seg>Готово</seg>\n</tuv>\n<tuv lang="DE-DE">\n<seg>Fertig</seg>\n'
        "</tuv>\n</tu>",
        "1.1")),
    "Smartling": ToolFile("smartling.tmx", [], tmx(header("Smartling", "en-US"),
        '<tu tuid="a" segtype="block"><prop type="x-smartling-string-variant">k</prop>\n'
        + variant("en-US", 'Hi <ph x="1">{name}</ph>!') + added("de", 'HI <ph x="1">{name}</ph>!')
        + "</tu>")),
    "Across": ToolFile("across.tmx", DONE, tmx(header("Across", "en-us"),
        '<tu tuid="{1}" usagecount="1">\n'
        '<tuv xml:lang="en-us" creationid="A"><seg>Done</seg></tuv>\n'
        '<tuv xml:lang="de-de" creationid="A"><seg>Fertig</seg></tuv>\n</tu>',
        doctype=DTD)),
    "Lilt, with an empty variant": ToolFile("lilt.tmx", DONE, tmx(header("lilt"),
        '<tu tuid="1">\n<tuv xml:lang="en"><seg>Save</seg></tuv>\n<tuv xml:lang="de"'
        f"⟦{BY}⟧><seg⟪/⟫>⟦SAVE</seg>⟧</tuv>\n</tu>\n{DONE_UNIT}")),
}
# fmt: on


def po(*entries: str, more: str = "", language: str = "de") -> str:
    return (
        f'msgid ""\nmsgstr ""\n"Project-Id-Version: demo 1\\n"\n"Language: {language}\\n"\n'
        '"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        f'"Content-Transfer-Encoding: 8bit\\n"\n{more}\n' + "\n".join(entries)
    )


FUZZY = "⟦#, fuzzy\n⟧"
SAVE_ENTRY = f'{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n'
DONE_ENTRY = 'msgid "Done"\nmsgstr "Fertig"\n'
PLURAL = '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
# fmt: off
PO = {
    "msginit of gettext": ToolFile("de.po", DONE,
        "# German translations for demo package.\n#\n"
        + po(f"#: src/main.c:1\n{SAVE_ENTRY}", DONE_ENTRY, more=PLURAL)),
    "msgmerge of gettext": ToolFile("de.po", [], po(
        '#: a.c:1\n#, fuzzy\n#| msgid "Safe"\nmsgid "Save it"\nmsgstr "Sicher"\n', SAVE_ENTRY,
        '#~ msgid "Old"\n#~ msgstr "Alt"\n')),
    "Poedit": ToolFile("de.po", DONE, po(
        f'#: a.php:1\n{FUZZY}msgid ""\n"A long line\\n"\n"in two."\n'
        'msgstr "⟪"⟫⟦"\n"A LONG LINE\\n"\n"IN TWO."⟧\n',
        DONE_ENTRY,
        more='"X-Generator: Poedit 3.4\\n"\n"X-Poedit-Basepath: ..\\n"\n'
        '"X-Poedit-SearchPath-0: .\\n"\n')),
    "Weblate": ToolFile("de.po", [("Hi {name}", "Hallo {name}")], po(
        '#: a.py:1\n#, python-brace-format\nmsgid "Hi {name}"\nmsgstr "Hallo {name}"\n',
        SAVE_ENTRY, more='"X-Generator: Weblate 5.4\\n"\n' + PLURAL)),
    "Pontoon": ToolFile("de.po", DONE, po(
        SAVE_ENTRY, "#. Note\n" + DONE_ENTRY, more='"X-Generator: Pontoon\\n"\n')),
    "Virtaal": ToolFile("de.po", [], po(
        f"#. extracted\n#: a.c:1\n{SAVE_ENTRY}", more='"X-Generator: Virtaal 0.7\\n"\n')),
    "Lokalize of KDE": ToolFile("app.po", [], po(
        '#: a.cpp:1\n#,⟦ fuzzy,⟧ kde-format\nmsgctxt "@action:button"\nmsgid "&Open %1"\n'
        'msgstr "⟦&OPEN %1⟧"\n',
        f'#: a.cpp:2\n{FUZZY}msgctxt "@info"\nmsgid "<para>See <filename>this</filename></para>"\n'
        'msgstr "⟦<para>SEE <filename>THIS</filename></para>⟧"\n',
        more='"X-Generator: Lokalize 24.01\\n"\n')),
    "GNOME": ToolFile("de.po", [], po(
        f'#. Translators: a button\n#: a.ui:1\n{FUZZY}msgid "_Open"\nmsgstr "⟦_OPEN⟧"\n',
        f'#: a.ui:2\n{FUZZY}msgctxt "shortcut window"\nmsgid "Zoom in"\nmsgstr "⟦ZOOM IN⟧"\n')),
    "Transifex": ToolFile("for_use_de.po", [], po(
        "# Translators:\n# A <a@example.org>, 2026\n" + SAVE_ENTRY,
        more='"Language-Team: German (https://app.transifex.com/x/teams/1/de/)\\n"\n')),
    "Crowdin": ToolFile("de.po", DONE, po(SAVE_ENTRY, DONE_ENTRY,
        more='"X-Crowdin-Project: demo\\n"\n"X-Crowdin-Language: de\\n"\n'
        '"X-Crowdin-File: /a.pot\\n"\n')),
    "Launchpad": ToolFile("de.po", [], po(
        '#. Tag: para\n#: a.xml:1\n#,⟦ fuzzy,⟧ no-c-format\nmsgid "Save"\nmsgstr "⟦SAVE⟧"\n',
        more='"X-Launchpad-Export-Date: 2026-01-01 00:00+0000\\n"\n"X-Generator: Launchpad\\n"\n')),
    "WordPress": ToolFile("plugin-de_DE.po", [], po(
        '#. translators: %s: name\n#: a.php:1\n#,⟦ fuzzy,⟧ php-format\nmsgid "%1$s in <a '
        'href=\\"%2$s\\">this</a>"\nmsgstr "⟦%1$s IN <a href=\\"%2$s\\">THIS</a>⟧"\n',
        more='"X-Generator: WP-CLI 2.10.0\\n"\n"X-Domain: plugin\\n"\n', language="de_DE")),
    "Loco Translate": ToolFile("theme-de_DE.po", [], po(f"#: a.php:1\n{SAVE_ENTRY}",
        more='"X-Loco-Version: 2.6.6; wp-6.4\\n"\n"X-Generator: Loco https://localise.biz/\\n"\n',
        language="de_DE")),
    "Django": ToolFile("django.po", [], "#, fuzzy\n" + po(
        '#: a.py:1\n#,⟦ fuzzy,⟧ python-format\nmsgid "%(count)d file"\nmsgid_plural '
        '"%(count)d files"\nmsgstr[0] "⟦%(count)d FILE⟧"\nmsgstr[1] "⟦%(count)d FILES⟧"\n',
        more=PLURAL, language="")),
    "Babel": ToolFile("messages.po", [], po(f"#: a.py:1\n{SAVE_ENTRY}",
        more='"Language-Team: de <LL@li.org>\\n"\n"Generated-By: Babel 2.14.0\\n"\n')),
    "Sphinx": ToolFile("index.po", [], po(
        f'#: ../../index.rst:1 1f2e\n{FUZZY}msgid "See **this** and `that '
        f'<https://example.org>`_"\nmsgstr "⟦SEE **THIS** AND `THAT <https://example.org>`_⟧"\n',
        more='"Generated-By: Babel 2.14.0\\n"\n')),
    "Odoo": ToolFile("de.po", DONE, po(
        f"#. module: base\n#: model:ir.ui.menu,name:base.menu\n{SAVE_ENTRY}",
        "#. module: base\n#. odoo-python\n#: code:addons/base/a.py:0\n" + DONE_ENTRY)),
    "Drupal": ToolFile("de.po", [], po(
        f'#: a.module:1\n{FUZZY}msgid "1 file"\nmsgid_plural "@count files"\n'
        'msgstr[0] "⟦1 FILE⟧"\nmsgstr[1] "⟦@count FILES⟧"\n',
        f'{FUZZY}msgid "See <em class=\\"placeholder\\">%title</em>"\n'
        'msgstr "⟦SEE <em class=\\"placeholder\\">%title</em>⟧"\n',
        more=PLURAL)),
    "Lingui": ToolFile("messages.po", [], po(
        f'#. js-lingui-explicit-id\n#: src/a.js:1\n{FUZZY}msgid "Hi <0>you</0>, {{name}}"\n'
        'msgstr "⟦HI <0>YOU</0>, {name}⟧"\n',
        more='"X-Generator: @lingui/cli\\n"\n')),
    "LibreOffice": ToolFile("cui.po", [], po(
        "#. abcde\n#: cui/inc/strings.hrc:1\n"
        f'{FUZZY}msgctxt "RID_SAVE"\nmsgid "~Save as"\nmsgstr "⟦~SAVE AS⟧"\n',
        more='"X-Accelerator-Marker: ~\\n"\n"X-Generator: LibreOffice\\n"\n')),
    "po4a": ToolFile("de.po", DONE, po(
        '#. type: Title =\n#: a.md:1\n#, no-wrap\nmsgid "Done"\nmsgstr "Fertig"\n',
        f'#. type: Plain text\n#: a.md:3\n{FUZZY}msgid "Save it."\nmsgstr "⟦SAVE IT.⟧"\n')),
    "polib": ToolFile("de.po", [], "#\n" + po(
        "# y\n#. x\n#: a.py:1\n#,⟦ fuzzy,⟧ python-format\n"
        'msgid ""\n"A longer line that is wrapped by the "\n"library"\n'
        'msgstr "⟦A LONGER LINE THAT IS WRAPPED BY THE LIBRARY⟧"\n',
        '#~ msgid "Old"\n#~ msgstr "Alt"\n')),
}
# fmt: on
