"""How German text addresses its reader: with du, with ihr (several), or with Sie.

Only what leaves no doubt counts: "ihr" may also be *her*, and "Sie" at the start of a sentence
*she* or *they*.
"""

import re

from nmt.config.choices import Address

_START = r"(?:^|[.!?:;…»“\"„«‚'’(\[/–—-]\s*)"  # where any word may have a capital
_DU_IMPERATIVES = (
    "antworte|beeil|bleib|bring|denk|entschuldige|erklär|erzähl|fahr|frag|geh|genieß|gib|glaub|"
    "hilf|hol|hör|iss|kauf|komm|lass|lauf|leg|lies|mach|nimm|öffne|pass|probier|putz|räum|ruf|sag|"
    "schau|schick|schließ|schlaf|schreib|setz|sieh|sprich|steh|stell|such|trink|triff|tu|vergiss|"
    r"verlass|versuch|wart(?!\s+ihr\b)|warte|wasch|wiederhole|wirf|zeig"
)
# The third person has another vowel or ending: "nimmt", "hält".
_IHR_IMPERATIVES = (
    "esst|fahrt|fangt|gebt|haltet|helft|lasst|lauft|lest|nehmt|seht|schlaft|sprecht|tragt|trefft|"
    "vergesst|werft"
)
# The same as the third person, which however has no object "ihr" (her) with these
_IHR_VERBS = (
    "arbeitet|braucht|denkt|feiert|findet|glaubt|heiratet|kennt|lebt|lernt|liebt|meint|plant|redet|"
    "reist|spielt|sucht|trinkt|versteht|wohnt|zieht"
)
_NO_PREPOSITION = "".join(
    rf"(?<!\b{word} )"
    for word in ("aus", "bei", "hinter", "mit", "nach", "neben", "von", "vor", "zu")
)
_QUESTION_WORDS = "wann|warum|was|wie|wie viel|wieso|wo|woher|wohin"
_EVIDENCE: dict[Address, re.Pattern[str]] = {
    "du": re.compile(
        r"\b(?i:du|dich|dir|dein(?:e[mnrs]?|s)?|bist|hast|kannst|musst|willst|darfst|sollst|weißt|"
        r"möchtest|könntest|würdest|hättest|wär(?:e)?st|solltest)\b"
        rf"|{_START}(?i:bitte\s+)?(?i:{_DU_IMPERATIVES})\b(?!-)"
    ),
    "ihr": re.compile(
        r"\b(?i:euch|euer|eure[mnrs]?|seid|habt|könnt|müsst|wollt|dürft|sollt|wisst|werdet|möchtet|"
        r"könntet|würdet|hättet|wär(?:e)?t|solltet|hattet)\b"
        rf"|{_START}(?i:bitte\s+)?(?i:{_IHR_IMPERATIVES})\b"
        rf"|\b(?:{_IHR_IMPERATIVES}|[Mm]ögt|wart|Wart(?=\s+ihr\b))\b"
        rf"|{_NO_PREPOSITION}\b[Ii]hr\b(?=\s+(?:{_IHR_VERBS})\b)"
        # But not: Sucht ihr Bruder, Sucht ihr neuer Freund
        rf"|{_START}(?:(?i:{_QUESTION_WORDS})\s+)?(?i:{_IHR_VERBS})\s+ihr\b"
        r"(?!\s+(?:[A-ZÄÖÜ]|\w+e[mnrs]?\b))"
    ),
    "sie": re.compile(r"(?<=[\w,] )(?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)\b(?!-)"),
}


def addresses(text: str) -> set[Address]:
    """Return all forms in which a German text addresses its readers, as far as that is sure.

    >>> sorted(addresses("Kannst du mir Ihr Buch geben?"))
    ['du', 'sie']
    """
    return {each for each, pattern in _EVIDENCE.items() if pattern.search(text)}


def words_of_other_forms(text: str, demanded: Address) -> list[str]:
    """Return the words by which a German text surely addresses its readers in other forms.

    With and without a capital, except for Sie, which without one has another meaning.

    >>> words_of_other_forms("Hast du Ihr Buch?", "sie"), words_of_other_forms("Mit Ihnen?", "du")
    (['hast', 'Hast', 'du', 'Du'], ['Ihnen'])
    """
    found: dict[str, None] = {}
    for each, pattern in _EVIDENCE.items():
        if each != demanded:
            for match in pattern.finditer(text):
                word = re.findall(r"\w+", match[0])[-1]  # without the "Bitte" before an imperative
                found |= dict.fromkeys(
                    [word] if each == "sie" else [word.lower(), word.capitalize()]
                )
    return list(found)


def address(text: str) -> Address | None:
    """Return how a German text addresses its reader; None if it does not, or that is unsure.

    >>> address("Haben Sie Zeit?"), address("Sie haben Zeit.")
    ('sie', None)
    """
    found = addresses(text)
    return found.pop() if len(found) == 1 else None
