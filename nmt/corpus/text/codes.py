"""Patterns of what is kept as typed: formulas, program text, street addresses, Rock 'n' Roll.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

from nmt.corpus.text.punctuation import DASHED

_TERM = r"(?:\d+(?:[.,]\d+)*(?:%|[a-z]{1,2})?|[A-Za-z]\d?|[A-Za-z]{2}(?=[²³]))[²³]?(?![\w²³'’])"
_SUM = rf"{_TERM}(?:(?:\s?[-+*/×÷·^−]\s?| x ){_TERM}){{0,9}}"
_FORMULA = (  # E = mc², x > 3, 2 + 2 = 4
    rf"(?<![\w.,:$€£<>=/+'’-]){_SUM}"
    rf"(?:\s?(?:[<>=!]=|[=<>≤≥≠≈±])\s?(?:[-−]\s?)?{_SUM}){{1,9}}"
)
_ARGUMENT = r"(?:\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|\d[\d.]{0,20}|[A-Za-z]|\w{1,40}[._=]\w{1,40})"
_COMMANDS = (
    "apt(?:-get)?|awk|brew|cd|chmod|chown|cp|curl|df|docker|du|ffmpeg|git|grep|ls|mkdir|mv|node|"
    "npm|ping|pip3?|ps|python3?|rm|rsync|scp|sed|ssh|sudo|tar|wget|yarn"
)
_PROGRAM_TEXT = (
    r"(?<![\w.+*/^²³?&=-])[\w.+*/^²³-]{1,60}={1,3}[\w.+*/^²³@:-]{0,100}[\w²³]",  # KEY=value
    r"(?<![\w\])])[A-Za-z](?:\[[\w:-]{1,10}\])+",  # x[0]
    # f(x), print("Hello"), max(a, b); not dog(s) or a(n)
    r"(?<![\w.])(?!a\(n\))(?:[a-z]{1,3}|[A-Za-z_][\w.]{0,60}(?=\([^()\n]{0,200}[\"',=]))"
    rf"\((?!s\)){_ARGUMENT}(?:, ?{_ARGUMENT}){{0,9}}\)",
    rf"(?<![\w-])(?:{_COMMANDS})(?: [a-z]{{2,20}})?(?: --?[A-Za-z][\w=-]{{0,40}})+"  # ls -la
    r"(?: \"[^\"\n]{0,80}\")?"
    rf"|(?<![\w-])(?:{_COMMANDS}) (?:\"[^\"\n]{{1,80}}\"|'[^'\n]{{1,80}}')(?!\w)"  # rm 'my file'
    rf"|(?<!\S)(?!{DASHED}|-[AIa] [a-z])-[A-Za-z](?![\w'’-])"
    r"|(?<!\w)cd \.\.(?![\w.])",
    # The name of a hidden file, or an ending: .env, .pdf
    r"(?<!\S)\.(?:bash\w{2,10}|docx?|editorconfig|env|git\w{2,12}|htaccess|jpe?g|json|pdf|png|"
    r"profile|txt|\w{2,10}(?:ignore|rc)|xlsx?|zip)(?!\w)",
)
_WORDS_WITH_APOSTROPHES = (
    r"(?<!\w)[Mm]a['’]am(?!\w)",
    r"(?<![\w'’])[A-Za-z]{2,20}(?: ['’]n['’] |['’]n['’])[A-Za-z]{2,20}(?!\w)",  # Rock 'n' Roll
)
_SUBSECTION = r"(?<![\w.+])\d{1,4}[a-z]?(?:\((?:[a-z]|\d{1,2}|[ivx]{2,4})\)){1,4}(?!\w)"  # 5(1)(a)
WAYS = "Street|Road|Avenue|Lane|Drive|Square|Boulevard"
_WAY = rf"(?:{WAYS}|(?:Ave|Blvd|Ct|Dr|Ln|Pl|Rd|Sq|St)(?:\.(?=,| [a-z]))?)"
_OF_WAY = r"(?:(?:[A-Z][\w'’-]+|\d{1,3}(?:st|nd|rd|th)) ){1,2}"  # Baker, 5th
_STREET = (  # 221B Baker Street, 350 Fifth Ave, New York, NY 10118
    rf"(?<=[a-z,] ){_OF_WAY}(?:{WAYS})(?!\w)"
    rf"|(?<!\w)\d{{1,5}}[A-Za-z]? {_OF_WAY}"
    rf"{_WAY}(?!\w)(?:, [A-Z][a-z]+(?: [A-Z][a-z]+)?, [A-Z]{{2}}(?: \d{{5}})?(?!\w))?"
)
CODES = (_FORMULA, *_PROGRAM_TEXT, *_WORDS_WITH_APOSTROPHES, _SUBSECTION, _STREET)
"""Regular expressions, each of which matches as a whole what is kept as typed."""
