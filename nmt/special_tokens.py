"""The four special tokens at the start of every vocabulary, their ids, and placeholders."""

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")
SUPPRESSED = (PAD, BOS)  # by any search

# For unknown words and for numbers (nmt/corpus/text/placeholders.py). They are private-use
# characters, which have no meaning in text; cleaning removes any that occur.
PLACEHOLDERS = "\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"
NUMBERS = "\ue009\ue00a\ue00b\ue00c\ue00d\ue00e\ue00f\ue010"
# For tags (nmt/corpus/text/tags.py); also private-use characters. A model for many languages has
# one for each, so most are from a plane that text never uses.
TAGS = "\ue011\ue012\ue013\ue014\ue015\ue016\ue017\ue018" + "".join(
    map(chr, range(0xF0000, 0xF0000 + 992))
)
# All of them, within the brackets of a regular expression: as ranges, since it would compare each
# character of a text with a thousand single ones.
RESERVED = r"\ue001-\ue018\U000f0000-\U000f03df"
