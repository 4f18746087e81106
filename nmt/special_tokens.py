"""The four special tokens that every vocabulary begins with, their ids, and placeholders."""

PAD, UNK, SOS, EOS = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")
NEVER_WRITTEN = (PAD, SOS)  # by any search

# For words that training never saw (nmt/corpus/placeholders.py). Private-use characters: they stand
# for nothing in any text, and cleaning removes them where they do occur.
PLACEHOLDERS = "\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"
# For the tags of corpora (nmt/corpus/tags.py), in the same way.
TAGS = "\ue011\ue012\ue013\ue014\ue015\ue016\ue017\ue018"
