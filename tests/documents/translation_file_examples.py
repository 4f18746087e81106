"""Files as translation tools write them, with what filling their targets adds and removes.

What stands in ⟦brackets⟧ is added, and what stands in ⟪these⟫ is removed. The pretended translation
is the source in capitals. Structures follow the tools' documentation; the texts are our own.
"""

MT = 'state="needs-review-translation" state-qualifier="leveraged-mt"'


def xliff(body: str, file: str = 'target-language="de"', root: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" '
        f'xmlns="urn:oasis:names:tc:xliff:document:1.2"{root}>\n  <file original="a.html" '
        f'source-language="en-US" {file} datatype="html">\n    <body>\n{body}\n    </body>\n'
        "  </file>\n</xliff>\n"
    )


def unit(inside: str, attributes: str = "") -> str:
    return f'<trans-unit id="1"{attributes}>{inside}</trans-unit>'


def trados(unit_: str, definitions: str) -> str:
    space = ' xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0" sdl:version="1.0"'
    defined = f"<sdl:seg-defs>{definitions}</sdl:seg-defs>"
    body = f"<group>{unit(unit_ + defined, ' translate=' + chr(34) + 'yes' + chr(34))}</group>"
    return "\ufeff" + xliff(body, root=space)


def segmented(*texts: str) -> str:
    return " ".join(
        f'<mrk mtype="seg" mid="{number}">{text}</mrk>' for number, text in enumerate(texts, 1)
    )


def memoq(inside: str, attributes: str) -> str:
    return xliff(unit(inside, attributes), root=' xmlns:mq="MQXliff"')


def xliff_2(unit_: str, languages: str = 'srcLang="en" trgLang="de"') -> str:
    return (
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" '
        f'{languages}><file id="f"><unit id="u">{unit_}</unit></file></xliff>'
    )


DRAFT = '⟦ conf="Draft" origin="mt" origin-system="nmt"⟧'
INITIAL = '⟦ state="initial" subState="nmt:mt"⟧'
SOURCE = "<source>Save the file</source>"

XLIFF = {
    "no target": ("a.xlf", xliff(unit(f"{SOURCE}⟦<target {MT}>SAVE THE FILE</target>⟧"))),
    "indented": (
        "a.xlf",
        xliff(unit(f"\n  {SOURCE}⟦\n  <target {MT}>SAVE THE FILE</target>⟧\n  <note>N</note>\n")),
    ),
    "empty target": ("a.xlf", xliff(unit(f"{SOURCE}<target⟦ {MT}⟧>⟦SAVE THE FILE⟧</target>"))),
    "self-closing target": (
        "a.xliff",
        xliff(unit(f"{SOURCE}<target⟪ /⟫⟦ {MT}⟧>⟦SAVE THE FILE</target>⟧")),
    ),
    "Angular, without a target language": (
        "a.xlf",
        xliff(
            unit(
                '<source>Hello <x id="INTERPOLATION" equiv-text="{{ name }}"/>!</source>'
                f'⟦<target {MT}>HELLO <x id="INTERPOLATION" equiv-text="{{{{ name }}}}"/>!'
                "</target>⟧",
                ' datatype="html"',
            ),
            file="",
        ).replace(
            ' datatype="html">\n    <body>', ' datatype="html"⟦ target-language="de"⟧>\n    <body>'
        ),
    ),
    "copied source": (
        "a.xlf",
        xliff(
            unit(
                f'{SOURCE}<target state="⟪new⟫⟦needs-review-translation⟧"⟦ '
                'state-qualifier="leveraged-mt"⟧>⟪Save the file⟫⟦SAVE THE FILE⟧</target>'
            )
        ),
    ),
    "copied message, which nobody has translated": (
        "a.xlf",
        xliff(
            unit(
                "<source>{n, plural, one {day} other {days}}</source>"
                '⟦<target state="needs-translation">{n, plural, one {day} other {days}}</target>⟧'
            )
        ),
    ),
    "approved and translated": (
        "a.xlf",
        xliff(
            unit(f"{SOURCE}<target/>", ' approved="yes"')
            + unit(f'{SOURCE}<target state="translated"/>')
            + unit(f"{SOURCE}<target>Sichern</target>")
            + unit(SOURCE, ' translate="no"')
            + f'<group translate="no">{unit(SOURCE)}</group>'
        ),
    ),
    "copies without a state beside translations": (
        "a.xlf",
        xliff(
            unit(f"{SOURCE}<target>Save the file</target>")
            + unit("<source>Open</source><target>Öffnen</target>")
        ),
    ),
    "copies without a state beside a translation that is approved": (
        "a.xlf",
        xliff(
            unit(f"{SOURCE}<target>Save the file</target>")
            + unit("<source>Open</source><target>Öffnen</target>", ' approved="yes"')
        ),
    ),
    "copies without a state beside a translation that is not to be changed": (
        "a.xlf",
        xliff(
            unit(f"{SOURCE}<target>Save the file</target>")
            + unit("<source>Open</source><target>Öffnen</target>", ' translate="no"')
        ),
    ),
    "copies without a state beside empty targets": (
        "a.xlf",
        xliff(
            unit("<source>OK</source><target>OK</target>")
            + unit(f"{SOURCE}<target⟦ {MT}⟧>⟦SAVE THE FILE⟧</target>")
        ),
    ),
    "paired codes": (
        "a.xlf",
        xliff(
            unit(
                '<source>a <bpt id="1">&lt;b&gt;</bpt>big<ept id="1">&lt;/b&gt;</ept> dog</source>'
                f'⟦<target {MT}>A <bpt id="1">&lt;b&gt;</bpt>BIG<ept id="1">&lt;/b&gt;</ept> DOG'
                "</target>⟧"
            )
        ),
    ),
    "mnemonic, as wxWidgets and Qt": (
        "a.xlf",
        xliff(
            unit(
                "<source><g id='1'>File</g> &amp;name</source>"
                f"⟦<target {MT}><g id='1'>FILE</g> &amp;NAME</target>⟧"
            )
        ),
    ),
    "comment and processing instruction": (
        "a.xlf",
        xliff(
            unit(
                "<source>a <!-- not a cat -->big<?x y?> dog</source>"
                f"⟦<target {MT}>A <!-- not a cat -->BIG<?x y?> DOG</target>⟧"
            )
        ),
    ),
    "suggestion of a memory": (
        "a.xlf",
        xliff(
            unit(
                f"{SOURCE}⟦<target {MT}>SAVE THE FILE</target>⟧<alt-trans><source>Save</source>"
                "<target>Sichern</target></alt-trans>"
            )
        ),
    ),
    "prefixed elements": (
        "a.xlf",
        '<x:xliff version="1.2" xmlns:x="urn:oasis:names:tc:xliff:document:1.2"><x:file '
        'source-language="en" target-language="de-AT"><x:trans-unit id="1"><x:source>Save'
        f"</x:source>⟦<x:target {MT}>SAVE</x:target>⟧</x:trans-unit></x:file></x:xliff>",
    ),
    "Trados, no target": (
        "a.sdlxliff",
        trados(
            f"<source>One. Two.</source><seg-source>{segmented('One.', 'Two.')}</seg-source>"
            f"⟦<target>{segmented('ONE.', 'TWO.')}</target>⟧",
            f'<sdl:seg id="1"{DRAFT} /><sdl:seg id="2"{DRAFT}><sdl:value key="k">v</sdl:value>'
            "</sdl:seg>",
        ),
    ),
    "Trados, empty and translated segments": (
        "a.sdlxliff",
        trados(
            f"<source>One. Two.</source><seg-source>{segmented('One.', 'Two.')}</seg-source>"
            '<target><mrk mtype="seg" mid="1">Eins.</mrk> <mrk mtype="seg" mid="2"⟪ /⟫>⟦TWO.</mrk>⟧'
            "</target>",
            f'<sdl:seg id="1" conf="Translated"/><sdl:seg id="2"{DRAFT}/>',
        ),
    ),
    "Trados, copies, one of which is approved": (
        "a.sdlxliff",
        trados(
            f"<source>Hotel. Two.</source><seg-source>{segmented('Hotel.', 'Two.')}</seg-source>"
            '<target><mrk mtype="seg" mid="1">Hotel.</mrk> <mrk mtype="seg" mid="2">⟪Two.⟫⟦TWO.⟧'
            "</mrk></target>",
            f'<sdl:seg id="1" conf="ApprovedTranslation"/><sdl:seg id="2"{DRAFT}/>',
        ),
    ),
    "Trados, locked segment": (
        "a.sdlxliff",
        trados(
            f"<source>One.</source><seg-source>{segmented('One.')}</seg-source>",
            '<sdl:seg id="1" locked="true"/>',
        ),
    ),
    "Trados, segments within tags": (
        "a.sdlxliff",
        trados(
            f'<source><g id="5">One</g></source><seg-source><g id="5">{segmented("One")}</g>'
            f'</seg-source>⟦<target><g id="5">{segmented("ONE")}</g></target>⟧',
            f'<sdl:seg id="1"{DRAFT}/>',
        ),
    ),
    "segments without definitions": (
        "a.xlf",
        xliff(
            unit(
                f"<source>One. Two.</source><seg-source>{segmented('One.', 'Two.')}</seg-source>"
                f'<target⟦ {MT}⟧><mrk mtype="seg" mid="1">Eins.</mrk> <mrk mtype="seg" mid="2">'
                "⟦TWO.⟧</mrk></target>"
            )
        ),
    ),
    "memoQ, not started": (
        "a.mqxliff",
        memoq(
            '<source xml:space="preserve">Save</source>'
            '<target xml:space="preserve">⟦SAVE⟧</target>',
            ' mq:status="⟪NotStarted⟫⟦MachineTranslated⟧"',
        ),
    ),
    "memoQ, confirmed and locked": (
        "a.mqxliff",
        memoq(f"{SOURCE}<target></target>", ' mq:status="ManuallyConfirmed"') + "<!-- and -->" + "",
    ),
    "memoQ, with placeholders": (
        "a.mqxliff",
        memoq(
            '<source>Press <ph id="1">{0}</ph> now</source><target>⟦PRESS <ph id="1">{0}</ph> NOW⟧'
            "</target>",
            ' mq:status="⟪NotStarted⟫⟦MachineTranslated⟧"',
        ),
    ),
    "XLIFF 2, no target": (
        "a.xlf",
        xliff_2(f"<segment{INITIAL}>{SOURCE}⟦<target>SAVE THE FILE</target>⟧</segment>"),
    ),
    "XLIFF 2, several segments": (
        "a.xliff",
        xliff_2(
            f'<segment id="1" state="final"><source>Yes</source><target>Ja</target></segment>'
            f"<ignorable><source> </source></ignorable><segment{INITIAL}><source>No</source>"
            "<target⟪/⟫>⟦NO</target>⟧</segment>"
        ),
    ),
    "XLIFF 2, tags and data": (
        "a.xlf",
        xliff_2(
            '<originalData><data id="d1">&lt;br/&gt;</data></originalData>'
            f'<segment{INITIAL}><source>a <pc id="1">big</pc> dog<ph id="2" dataRef="d1" '
            'type="fmt" subType="fmt:lb"/>barks</source>⟦<target>A <pc id="1">BIG</pc> DOG<ph '
            'id="2" dataRef="d1" type="fmt" subType="fmt:lb"/>BARKS</target>⟧</segment>'
        ),
    ),
    "XLIFF 2, annotations": (
        "a.xlf",
        xliff_2(
            f'<segment{INITIAL}><source>A <mrk id="1" type="term" ref="#n">big <pc id="2">dog</pc>'
            '</mrk> in <mrk id="3" translate="no">New York</mrk> <sm id="4" type="comment"/>runs'
            '<em startRef="4"/></source>⟦<target>A <mrk id="1" type="term" ref="#n">BIG <pc id="2">'
            'DOG</pc></mrk> IN <mrk id="3" translate="no">New York</mrk> <sm id="4" '
            'type="comment"/>RUNS<em startRef="4"/></target>⟧</segment>'
        ),
    ),
    "XLIFF 2, an annotation over two segments": (
        "a.xlf",
        xliff_2(
            f'<segment{INITIAL}><source>Yes <sm id="1"/>no</source>⟦<target>YES <sm id="1"/>NO'
            f'</target>⟧</segment><segment{INITIAL}><source>One<em startRef="1"/> two</source>'
            '⟦<target>ONE<em startRef="1"/> TWO</target>⟧</segment>'
        ),
    ),
    "XLIFF 1.2, notes on the source": (
        "a.xlf",
        xliff(
            unit(
                '<source>A <mrk mtype="term">dog</mrk> in <mrk mtype="protected">New York</mrk>'
                f'</source>⟦<target {MT}>A DOG IN <mrk mtype="protected">New York</mrk></target>⟧'
            )
        ),
    ),
    "XLIFF 2, without a target language": (
        "a.xlf",
        xliff_2(
            f"<segment{INITIAL}>{SOURCE}⟦<target>SAVE THE FILE</target>⟧</segment>",
            'srcLang="en"⟦ trgLang="de"⟧',
        ),
    ),
    "Memsource, a confirmed copy": (
        "a.mxliff",
        xliff(
            unit(f"{SOURCE}<target>Save the file</target>", ' m:confirmed="1" m:locked="false"'),
            root=' xmlns:m="http://www.memsource.com/mxlf/2.0"',
        ),
    ),
    "Memsource": (
        "a.mxliff",
        xliff(
            unit(
                f"{SOURCE}<target⟦ {MT}⟧>⟦SAVE THE FILE⟧</target>",
                ' xml:space="preserve" m:confirmed="0" m:locked="false"',
            ),
            root=' xmlns:m="http://www.memsource.com/mxlf/2.0"',
        ),
    ),
}


def tmx(body: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>\n') -> str:
    header = '<header creationtool="T" segtype="sentence" srclang="en-US" adminlang="en"/>'
    return f'{head}<tmx version="1.4">\n  {header}\n  <body>\n{body}\n  </body>\n</tmx>\n'


def tu(*variants: str) -> str:
    return f"<tu>{''.join(variants)}</tu>"


def variant(language: str, text: str, name: str = "xml:lang", more: str = "") -> str:
    return f'<tuv {name}="{language}"{more}><seg>{text}</seg></tuv>'


BY = ' creationid="MT" creationtool="nmt"'


def added(language: str, text: str, name: str = "xml:lang") -> str:
    return f"⟦{variant(language, text, name, BY)}⟧"


DOCTYPE = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
YES = variant("en", "Yes")
TMX = {
    "no variant": tmx(tu(YES, added("de", "YES"))),
    "indented": tmx(tu(f"\n    {YES}⟦\n    {variant('de', 'YES', more=BY)}⟧\n  ")),
    "empty variant": tmx(tu(YES, f'<tuv xml:lang="de"⟦{BY}⟧><seg>⟦YES⟧</seg></tuv>')),
    "self-closing segment": tmx(tu(YES, f'<tuv xml:lang="de"⟦{BY}⟧><seg⟪/⟫>⟦YES</seg>⟧</tuv>')),
    "translated": tmx(tu(YES, variant("de", "Ja"))),
    "the file's own code": tmx(
        tu(YES, variant("de-DE", "Ja")) + tu(YES, added("de-DE", "YES")),
    ),
    "upper case, as Trados": tmx(
        tu(variant("EN-US", "Yes"), variant("DE-DE", "Ja"))
        + tu(variant("EN-US", "No"), added("DE-DE", "NO"))
    ),
    "version 1.1": tmx(tu(variant("EN", "Yes", "lang"), added("de", "YES", "lang"))),
    "other languages": tmx(tu(variant("fr", "Oui"), YES, added("de", "YES"), variant("it", "Sì"))),
    "target first": tmx(tu(f'<tuv xml:lang="de"⟦{BY}⟧><seg>⟦YES⟧</seg></tuv>', YES)),
    "DOCTYPE, as OmegaT": tmx(tu(YES, added("de", "YES")), DOCTYPE),
    "properties and notes": tmx(
        tu(
            '<prop type="x-origin">a.html</prop><note>N</note>'
            f'<tuv xml:lang="en" changedate="20260101T120000Z"><prop type="p">P</prop><seg>Yes'
            f"</seg></tuv>{added('de', 'YES')}"
        )
    ),
    "pairs of codes": tmx(
        tu(
            variant("en", 'a <bpt i="1">&lt;b&gt;</bpt>big<ept i="1">&lt;/b&gt;</ept> dog'),
            added("de", 'A <bpt i="1">&lt;b&gt;</bpt>BIG<ept i="1">&lt;/b&gt;</ept> DOG'),
        )
    ),
    "placeholder with a field": tmx(
        tu(
            variant("en", 'Hello <ph x="1">{name}</ph>!'),
            added("de", 'HELLO <ph x="1">{name}</ph>!'),
        )
    ),
    "OmegaT's level 2": tmx(
        tu(
            variant("en", '<bpt i="0" x="0">&lt;a0&gt;</bpt>Yes<ept i="0">&lt;/a0&gt;</ept>'),
            added("de", '<bpt i="0" x="0">&lt;a0&gt;</bpt>YES<ept i="0">&lt;/a0&gt;</ept>'),
        )
    ),
    "isolated code": tmx(
        tu(
            variant("en", 'Yes <it pos="begin">&lt;i&gt;</it>now'),
            added("de", 'YES <it pos="begin">&lt;i&gt;</it>NOW'),
        )
    ),
    "highlighted": tmx(tu(variant("en", "<hi>Yes</hi> now"), added("de", "<hi>YES</hi> NOW"))),
    "old codes": tmx(
        tu(variant("en", "Yes<ut>{\\b}</ut> now"), added("de", "YES<ut>{\\b}</ut> NOW"))
    ),
    "entities and comments": tmx(
        "<!-- <tu> -->" + tu(variant("en", "You &amp; me &lt;3"), added("de", "YOU &amp; ME &lt;3"))
    ),
    "control characters": tmx(
        tu(YES, added("de", "YES")) + tu(variant("de", "Ja\x1f&#x1e;"), variant("en", "Yes"))
    ),
    "only symbols": tmx(tu(variant("en", "50 %"), added("de", "50 %"))),
}

HEADER = (
    'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)
FUZZY = "⟦#, fuzzy\n⟧"
PO = {
    "one entry": f'{HEADER}{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n',
    "translated": f'{HEADER}msgid "Save"\nmsgstr "Sichern"\n',
    "fuzzy": f'{HEADER}#, fuzzy\nmsgid "Save"\nmsgstr "Sichern"\n',
    "comments": f'{HEADER}#  by hand\n#. extracted\n#: a.c:1 b.c:2\n{FUZZY}msgid "Save"\n'
    'msgstr "⟦SAVE⟧"\n',
    "flags": f'{HEADER}#,⟦ fuzzy,⟧ c-format\nmsgid "%d files"\nmsgstr "⟦%d FILES⟧"\n',
    "empty and fuzzy": f'{HEADER}#, fuzzy, c-format\nmsgid "%d files"\nmsgstr "⟦%d FILES⟧"\n',
    "tabs": f'{HEADER}{FUZZY}msgid\t"Yes"\n⟪msgstr\t⟫⟦msgstr ⟧"⟦YES⟧"\n'
    f'{FUZZY}msgid\t"No"\n⟪msgstr\t⟫⟦msgstr ⟧"⟦NO⟧"\n',
    "previous source": f'{HEADER}{FUZZY}#| msgid "Safe"\nmsgid "Save"\nmsgstr "⟦SAVE⟧"\n',
    "context": f'{HEADER}{FUZZY}msgctxt "menu"\nmsgid "Save"\nmsgstr "⟦SAVE⟧"\n',
    "plural": f'{HEADER}{FUZZY}msgid "one file"\nmsgid_plural "%d files"\n'
    'msgstr[0] "⟦ONE FILE⟧"\nmsgstr[1] "⟦%d FILES⟧"\n',
    "translated plural": f'{HEADER}msgid "a"\nmsgid_plural "b"\nmsgstr[0] "x"\nmsgstr[1] ""\n',
    "several lines": f'{HEADER}{FUZZY}msgid ""\n"One.\\n"\n"Two."\nmsgstr "⟪"⟫⟦"\n"ONE.\\n"\n'
    '"TWO."⟧\n',
    "wrapped, as Poedit": f'{HEADER}{FUZZY}msgid ""\n"a long "\n"line"\nmsgstr "⟦A LONG LINE⟧"\n',
    "domains": f'domain "one"\n{HEADER}domain "two"\n{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n'
    f'domain "three"\n{FUZZY}msgid "Open"\nmsgstr "⟦OPEN⟧"\n',
    "mnemonics": f'{HEADER}{FUZZY}msgid "Save &As"\nmsgstr "⟦SAVE &AS⟧"\n\n'
    f'{FUZZY}msgid "E_xit"\nmsgstr "⟦_EXIT⟧"\n\n{FUZZY}msgid "R&D"\nmsgstr "⟦R&D⟧"\n',
    "obsolete": f'{HEADER}{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n\n#~ msgid "Old"\n#~ msgstr ""\n',
    "quotes and backslashes": f'{HEADER}{FUZZY}msgid "a \\"b\\" \\\\ c"\n'
    'msgstr "⟦A \\"B\\" \\\\ C⟧"\n',
    "tags": f'{HEADER}{FUZZY}msgid "a <b>big</b> dog<br>barks"\n'
    'msgstr "⟦A <b>BIG</b> DOG<br>BARKS⟧"\n',
    "named fields, as Python": f"{HEADER}#,⟦ fuzzy,⟧ python-format\n"
    'msgid "Hi %(name)s, {{x}}"\n'
    'msgstr "⟦HI %(name)s, {{x}}⟧"\n',
    "numbered fields": f'{HEADER}{FUZZY}msgid "%1$s of %2$s"\nmsgstr "⟦%1$s OF %2$s⟧"\n',
    "no header, as Weblate's component": f'{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n',
    "Windows line ends": f'{HEADER}{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n'.replace("\n", "\r\n"),
    "no line end at the end": f'{HEADER}{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"',
    "no blank lines between": f'{HEADER}{FUZZY}msgid "Yes"\nmsgstr "⟦YES⟧"\n'
    f'{FUZZY}msgid "No"\nmsgstr "⟦NO⟧"\n',
    "template": HEADER.replace("Language: de", "Language: ").replace("UTF-8", "CHARSET")
    + f'{FUZZY}msgid "Save"\nmsgstr "⟦SAVE⟧"\n',
}
