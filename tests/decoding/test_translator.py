"""Every line, whatever its content, gives exactly one translated line."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.text.capitals import Casing
from nmt.corpus.text.parts import Part
from nmt.corpus.text.quotations import Quotation
from nmt.corpus.text.tags import tag_of
from nmt.corpus.text.target_words import TargetWords
from nmt.corpus.text.training_placeholders import KnownWords
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers, train_tokenizers
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.decoding.engines.interface import Constraints
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.glossary import parse_glossary
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.segments import Segment, Segmenter, TrainingLines
from nmt.decoding.term_placement import Alignment
from nmt.decoding.translator import Translation, Translator
from nmt.errors import UserError
from nmt.special_tokens import EOS, PLACEHOLDERS, SPECIALS, UNK

ENGLISH = ["Anna sings today.", "Ben reads a book at home.", "Clara often dances!", "Is Emma here?"]
GERMAN = ["Anna singt heute.", "Ben liest ein Buch.", "Clara tanzt oft!", "Ist Emma da?"]
LINES = [
    "Anna sings.",
    "",
    "Clara dances at home, and Ben reads a book.",
    "   ",
    "\t",
    "Ben",
    "Anna sings.",
    "ŽŁŧ 漢字 🙂",
    "\u200b",
    "<unk> <pad> <sos> <eos>",
    "▁",  # the subword models' symbol for a space
]
BLANK = [1, 3, 4, 8]
FIRST, SECOND = PLACEHOLDERS[:2]


@pytest.fixture(scope="module")
def subwords(tmp_path_factory: pytest.TempPathFactory) -> Tokenizers:
    """A joint vocabulary that spells unknown characters as bytes."""
    folder = tmp_path_factory.mktemp("subwords")
    texts = (folder / "en.txt", folder / "de.txt")
    for path, lines in zip(texts, (ENGLISH, GERMAN), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    settings = TokenizerConfig(vocabulary_size=310)
    train_tokenizers(DataConfig(), settings, texts, folder)
    return load_tokenizers(DataConfig(), settings, folder)


@pytest.fixture(scope="module")
def words() -> Tokenizers:
    """Tokenizers that split at spaces, with the same vocabulary on both sides."""
    tokenizer = WordTokenizer(
        "whitespace", "de", Vocabulary([*SPECIALS, "Anna", "Ben", "singt", "liest", "."])
    )
    return Tokenizers(tokenizer, tokenizer)


class ScriptedEngine:
    """Returns scripted answers, and records its arguments.

    answer: maps a source's ids, with <eos>, to the ids of its hypotheses
    """

    workers = 1

    def __init__(self, answer: Callable[[list[int]], list[list[int]]], max_length: int = 24):
        self.answer, self.max_length = answer, max_length
        self.sources: list[list[int]] = []
        self.asked: list[tuple[int, Constraints | None]] = []  # n_best and the constraints

    def __call__(self, sources, limits, decoding, n_best=1, constraints=None):
        if sources:
            self.asked.append((n_best, constraints))
        self.sources += sources
        return [
            [Hypothesis(found, -1.0, -float(i), True) for i, found in enumerate(self.answer(ids))][
                :n_best
            ]
            for ids in sources
        ]

    def cross_attention(self, source, written):
        """Return attention of each target token to the source token at the same place."""
        return torch.eye(len(written), len(source))


def echo(max_length: int = 24) -> ScriptedEngine:
    """Return an engine that returns the source itself."""
    return ScriptedEngine(lambda ids: [ids[:-1]], max_length)


def write(*ids: int) -> ScriptedEngine:
    """Return an engine that returns these ids for every source."""
    return ScriptedEngine(lambda source: [list(ids)])


def says(tokenizers: Tokenizers, *texts: str) -> ScriptedEngine:
    """Return an engine that returns these texts for every source."""
    return ScriptedEngine(lambda ids: [tokenizers.target.encode(text) for text in texts])


def with_terms(made: Translator, *lines: str) -> Translator:
    return made.customized(parse_glossary("\n".join(lines), ("en", "de")))


def texts_of(translations: list[Translation]) -> list[str]:
    return [each.text for each in translations]


def with_placeholders(folder: Path, **changed: object) -> Tokenizers:
    """Train subwords with placeholders; the known words are Anna, sings and today."""
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in [*ENGLISH, *GERMAN]), encoding="utf-8")
    data = DataConfig(placeholders="all")
    settings = TokenizerConfig.model_validate({"vocabulary_size": 320} | changed)
    train_tokenizers(data, settings, (text, text), folder)
    KnownWords(["anna", "sings", "today"], only_names=False).save(folder)
    return load_tokenizers(data, settings, folder)


@pytest.fixture
def carrying(tmp_path: Path) -> Tokenizers:
    """Subwords with placeholders."""
    return with_placeholders(tmp_path)


@pytest.fixture
def translator(random_model) -> Callable[..., Translator]:
    """Return a function that creates a translator with a random model, or with another engine."""

    def make(
        tokenizers: Tokenizers,
        *,
        max_length: int = 24,
        longest_source: int | None = None,
        single: bool = False,
        growth: float = 0.0,
        data: DataConfig | None = None,
        engine: ScriptedEngine | None = None,
        pytorch: ScriptedEngine | None = None,
        target_words: TargetWords | None = None,
        **decoding: object,
    ) -> Translator:
        model = random_model(
            source_size=tokenizers.source.size,
            target_size=tokenizers.target.size,
            max_length=max_length,
            positions="learned",
        )
        settings = {"max_length_extra": 3, "beam_size": 1} | decoding
        return Translator(
            engine or PyTorchEngine([model]),
            tokenizers,
            data or DataConfig(),
            DecodingConfig.model_validate(settings),
            TrainingLines(longest_source or max_length - 1, single, growth),
            lambda: pytorch or PyTorchEngine([model]),
            target_words=target_words,
        )

    return make


# --------------------------------------------------------------------------------- new words


@pytest.mark.parametrize(
    "settings", [{}, {"new_words_margin": 0.5}, {"new_words_margin": 0}, {"temperature": 1}]
)
def test_a_near_hypothesis_without_new_words_comes_first(subwords, translator, settings):
    texts = ["Anna sinkt heute.", "Anna singt heute."]
    known = TargetWords(["singt", "heute"])
    engine = says(subwords, *texts)
    made = translator(subwords, engine=engine, target_words=known, beam_size=4, **settings)
    assert made.translate(["Anna sings"])[0].text == texts[0 if settings else 1]
    if not settings:  # alternatives follow
        assert texts_of(made.n_best(["Anna sings"], 2)[0]) == texts[::-1]


def test_a_hypothesis_that_loses_a_hidden_word_is_not_preferred(carrying, translator):
    engine, known = says(carrying, f"{FIRST} sinkt.", "Emma singt."), TargetWords(["emma", "singt"])
    made = translator(carrying, engine=engine, pytorch=engine, target_words=known, beam_size=4)
    assert made.translate(["Zora sings"])[0].text == "Zora sinkt."


# ------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize("beam_size", [1, 3])
def test_every_line_gives_one_line_in_order(beam_size, translator, subwords):
    translate = translator(subwords, max_length=64, beam_size=beam_size).translate
    found = translate(LINES)
    assert len(found) == len(LINES)
    assert len({t.text for t in found}) > 4
    for line, translation in zip(LINES, found, strict=True):
        [alone] = translate([line])
        assert alone.text == translation.text
        assert alone.score == pytest.approx(translation.score, abs=1e-4)


def test_blank_lines_give_empty_translations(translator, subwords):
    ready = translator(subwords)
    found = ready.translate(LINES)
    for i in BLANK:
        assert (found[i].text, found[i].score, found[i].complete) == ("", 0.0, True)
    assert ready.n_best(["", " "], 3) == [[found[1]], [found[1]]]
    assert ready.translate([]) == list(ready.stream(iter([]))) == []


@pytest.mark.parametrize("beam_size", [1, 4])
def test_special_tokens_are_never_written(beam_size, translator, subwords):
    lines = [line for line in ENGLISH + LINES if "<" not in line]
    found = translator(subwords, beam_size=beam_size).translate(lines)
    text = " ".join(t.text for t in found)
    assert len(text) > 20
    assert not any(special in text for special in ("<pad>", "<sos>", "<eos>"))


@pytest.mark.parametrize(
    "separator", ["\u2028", "\t", "\x0b", "\x85", "\u00a0", " \r ", "  \u00ad"]
)
def test_lines_are_cleaned_like_the_training_text(separator, translator, subwords):
    data = DataConfig(lowercase="source")
    line = f"  Anna SINGS{separator}today."
    [found] = translator(subwords, data=data, engine=echo()).translate([line])
    assert (found.text, found.parts) == ("Anna sings today.", 1)


def test_capitals_are_restored_except_in_copied_words(carrying, translator):
    casing = Casing.learn(lambda: ["Anna liest ein Buch. Zora: ein Zora."])
    data = DataConfig(placeholders="all", lowercase="both", restore_case=True)
    engine = says(carrying, f"{FIRST} liest ein buch. das buch.")
    ready = translator(replace(carrying, casing=casing), data=data, engine=engine)
    [found], [trace] = ready.translate(["zora reads"]), ready.trace("zora reads")
    assert found.text == trace.text == "zora liest ein Buch. Das Buch."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('Anna sings "today".', "Anna singt „heute“."),
        ("Anna sings (today). Anna sings 'today'.", "Anna singt (heute). Anna singt „heute“."),
    ],
)
def test_quotations_are_translated_by_themselves(line, expected, translator, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ENGLISH", [*ENGLISH, 'He said "Anna (often)".'])
    carrying = with_placeholders(tmp_path)
    said = {
        f'Anna sings "{FIRST}".': f'Anna singt "{FIRST}".',
        f"Anna sings ({FIRST}).": f"Anna singt ({FIRST}).",
        "today": "heute",
    }
    answers = {
        (*carrying.source.encode(read), EOS): carrying.target.encode(written)
        for read, written in said.items()
    }
    engine = ScriptedEngine(lambda ids: [answers[tuple(ids)]], max_length=60)
    data = DataConfig(placeholders="all", plain_punctuation=True)
    made = translator(carrying, data=data, engine=engine, max_length=60, single=True)
    [found] = made.translate([line])
    assert found.text == expected
    assert len(engine.sources) == line.count("Anna") + 1  # equal ones are searched once
    with_term = with_terms(made, "today\tjetzt")  # which the sentence around it need not contain
    assert not any(segment.terms for segment in with_term.segments(line))


@pytest.mark.parametrize("batch_tokens", [1, 60, 4096])
def test_the_batch_size_does_not_change_translations(batch_tokens, translator, subwords):
    lines = ENGLISH + LINES
    expected = translator(subwords, beam_size=2).translate(lines)
    found = translator(subwords, beam_size=2, batch_tokens=batch_tokens).translate(lines)
    assert texts_of(found) == texts_of(expected)


@pytest.mark.parametrize("beam_size", [1, 2])
def test_the_output_is_limited_by_the_length_of_the_source(beam_size, translator, words):
    lengths = {"max_length_factor": 2.0, "max_length_extra": 1, "max_length": 24}
    ready = translator(words, beam_size=beam_size, **lengths)
    set_bias_of_eos(ready, -100.0)
    found = ready.translate(["Anna", "Anna singt .", " ".join(["Ben"] * 15)])
    # 2 * words + 1, and never more than the model's positions
    assert [len(text.split(" ")) for text in texts_of(found)] == [3, 7, 23]
    assert not found[0].complete


def set_bias_of_eos(translator: Translator, bias: float) -> None:
    with torch.no_grad():
        translator.engine.models[0].output.bias[EOS] = bias


def test_a_finished_hypothesis_is_complete(translator, words):
    ready = translator(words)
    set_bias_of_eos(ready, 100.0)
    [found] = ready.translate(["Anna singt ."])
    assert (found.text, found.complete) == ("", True)


# ------------------------------------------------------------------------------------- n best


@pytest.mark.parametrize("beam_size", [1, 2, 6])
def test_n_best_translations_are_distinct_and_sorted(beam_size, translator, words):
    ready = translator(words, beam_size=beam_size)
    for options in ready.n_best(["Anna singt .", "Ben", "Ben liest ."], 4):
        assert 3 <= len(options) <= 4  # an empty one is left out
        assert all(option.text for option in options)
        scores = [option.score for option in options]
        assert scores == sorted(scores, reverse=True)
        assert len({option.text for option in options}) == len(options)


def test_different_tokens_of_the_same_text_are_one_option(translator, subwords, monkeypatch):
    engine = ScriptedEngine(lambda ids: [[5, 6], [5], [7, 8]])
    ready = translator(subwords, beam_size=4, engine=engine)
    written = {1: "Ben", 2: "Anna"}
    monkeypatch.setattr(ready.segment_search, "text", lambda _, h: written[len(h.ids)])
    [options] = ready.n_best(["Anna"], 3)
    assert [(option.text, option.score) for option in options] == [("Anna", 0), ("Ben", -1)]


def test_the_first_of_the_n_best_is_the_translation(translator, subwords):
    ready = translator(subwords, beam_size=4)
    best = [options[0] for options in ready.n_best(ENGLISH, 4)]
    assert texts_of(best) == texts_of(ready.translate(ENGLISH))


def test_the_n_best_of_a_line_join_the_n_best_of_its_parts(translator, words):
    ready = translator(words, single=True, beam_size=3)
    [options] = ready.n_best(["Anna singt . Ben liest ."], 3)
    parts = ready.n_best(["Anna singt .", "Ben liest ."], 3)
    for rank, option in enumerate(options):
        chosen = [part[min(rank, len(part) - 1)] for part in parts]
        assert option.text == " ".join(part.text for part in chosen)
        assert option.score == pytest.approx(sum(part.score for part in chosen), abs=1e-4)
        assert option.parts == 2


def test_a_part_with_fewer_options_repeats_its_last_one(translator, words):
    engine = ScriptedEngine(lambda ids: [[4], [5]] if ids[0] == 4 else [[6], [7], [8]])
    ready = translator(words, single=True, beam_size=3, engine=engine)
    [options] = ready.n_best(["Anna . Ben ."], 3)
    assert texts_of(options) == ["Anna singt", "Ben liest", "Ben ."]


def test_the_mean_probability_is_that_of_all_tokens_of_all_parts(translator, words, monkeypatch):
    answers = {
        4: [Hypothesis([4], -3.0, -1.5, complete=False)],
        5: [Hypothesis([5, 6], -2.0, -1.0, complete=True)],
    }
    monkeypatch.setattr(
        PyTorchEngine, "__call__", lambda _, sources, *rest: [answers[ids[0]] for ids in sources]
    )
    [found] = translator(words, single=True).translate(["Anna . Ben ."])
    assert (found.log_probability, found.tokens, found.sentences) == (-5.0, 4, 2)
    assert found.mean_probability == pytest.approx(math.exp(-5 / 4))
    assert not found.complete


# ------------------------------------------------------------------------------------- stream


def test_an_endless_stream_is_read_only_as_needed(translator, subwords, monkeypatch):
    monkeypatch.setattr("nmt.decoding.translator.LINES_AT_A_TIME", 4)
    read = []

    def lines():
        for i in itertools.count():
            read.append(i)
            yield f"Anna {i}"

    ready = translator(subwords, engine=echo())
    found = list(itertools.islice(ready.stream(lines()), 9))
    assert [t.text for [t] in found] == [f"Anna {i}" for i in range(9)]
    assert len(read) == 12
    assert [t.text for [t] in ready.stream(iter(LINES[:1] * 9))] == LINES[:1] * 9  # the end
    read.clear()
    next(ready.stream(lines(), soon=True))
    assert len(read) == 128


def test_a_stream_can_give_n_best(translator, words):
    ready = translator(words)
    assert all(2 <= len(options) <= 3 for options in ready.stream(["Anna", "Ben"], 3))
    assert [len(options) for options in ready.stream(["Anna", "Ben"])] == [1, 1]


# ------------------------------------------------------------------------------------- parts


def test_a_long_line_is_translated_sentence_by_sentence(translator, subwords):
    ready = translator(subwords, max_length=40)
    [whole] = ready.translate([" ".join(ENGLISH)])
    sentences = ready.translate(ENGLISH)
    assert whole.parts == 4
    assert whole.text == " ".join(t.text for t in sentences if t.text)
    assert whole.score == pytest.approx(sum(t.score for t in sentences), abs=1e-4)
    assert whole.complete == all(t.complete for t in sentences)


def test_a_sentence_whose_translation_repeats_a_phrase_is_divided(subwords, translator):
    line = "Anna sings today, and Ben reads a book at home."
    length = len(subwords.source.encode(line))
    once = "Ben liest ein Buch."
    loop, short = (subwords.target.encode(text) for text in (f"{once} " * 3, once))
    engine = ScriptedEngine(lambda ids: [loop if len(ids) > length else short], max_length=80)
    [found] = translator(subwords, engine=engine, max_length=80, growth=1.0).translate([line])
    assert (found.text, found.parts) == (f"{once} {once}", 2)


@pytest.mark.parametrize(
    "parts",
    [
        ["Ben reads a book today,", "Anna often sings"],
        ["Ben reads a book at home", "and Anna sings"],
    ],
)
def test_a_sentence_longer_than_any_in_training_is_divided_at_a_comma_or_conjunction(
    parts, translator, subwords
):
    sentence = " ".join(parts)
    length = len(subwords.source.encode(sentence))
    for longest, expected in ((length, [sentence]), (length - 1, parts)):
        engine = echo(100)
        ready = translator(subwords, longest_source=longest, engine=engine)
        assert ready.translate([sentence])[0].text == sentence
        assert [subwords.source.decode(ids[:-1]) for ids in engine.sources] == expected


@pytest.mark.parametrize(("kind", "unknown"), [("subwords", ("猫", "犬")), ("words", ("猫犬猫",))])
def test_what_the_model_cannot_read_is_told(translator, kind, unknown, request):
    data = DataConfig(placeholders="none")
    ready = translator(request.getfixturevalue(kind), data=data, engine=echo(100))
    strange, plain = ready.translate(["Anna 猫犬猫 .", "Anna ."])
    assert (strange.unknown, plain.unknown) == (unknown, ())


def test_lines_longer_than_training_or_the_model_allow_are_split_between_sentences(
    translator, subwords
):
    sentences = ENGLISH[::2]
    total = sum(len(subwords.source.encode(sentence)) for sentence in sentences)
    for engine, longest in ((echo(200), 5), (echo(total - 1), None)):
        ready = translator(subwords, longest_source=longest, engine=engine)
        [found] = ready.translate([" ".join(sentences)])
        assert (found.text, found.parts) == (" ".join(sentences), 2)
        assert [subwords.source.decode(ids[:-1]) for ids in engine.sources] == sentences


def test_a_line_as_long_as_the_longest_in_training_is_not_split(translator, words):
    ready = translator(words, longest_source=6, engine=echo())
    exact, longer = ready.translate(["Anna singt . Ben liest .", "Anna singt . Ben liest . Ben"])
    assert (exact.parts, longer.parts) == (1, 3)
    assert (exact.is_long, longer.is_long) == (False, True)


def test_sentences_and_items_in_a_row_are_not_long(translator, words):
    ready = translator(words, longest_source=6, single=True, engine=echo())
    found = ready.translate(["Anna singt . Ben liest .", "Anna | Ben | liest"])
    assert [each.parts for each in found] == [2, 3]
    assert not any(each.is_long for each in found)


def test_sentences_are_translated_separately_if_training_had_one_per_line(translator, subwords):
    line = "Anna sings.  Ben reads a book. "
    [whole] = translator(subwords, engine=echo(200)).translate([line])
    [apart] = translator(subwords, single=True, engine=echo(200)).translate([line])
    assert (whole.text, whole.parts) == ("Anna sings. Ben reads a book.", 1)
    assert (apart.text, apart.parts) == ("Anna sings.  Ben reads a book.", 2)


def test_titles_and_initials_do_not_end_a_sentence(translator, subwords):
    line = "Mr. Ben met Dr. Anna B. Clara. Mrs. Emma sings."
    longest = len(subwords.source.encode(line)) - 1
    [found] = translator(subwords, longest_source=longest, engine=echo(400)).translate([line])
    assert (found.text, found.parts) == (line, 2)


@pytest.mark.parametrize(
    "line",
    [
        " ".join(ENGLISH * 3),
        "Anna sings and " * 20 + "Ben reads",
        "Anna sings today. " + "Ben and " * 30 + "Clara.",
    ],
)
@pytest.mark.parametrize("max_length", [8, 12, 30])
def test_splitting_between_sentences_and_words_loses_no_text(
    line, max_length, translator, subwords
):
    [found] = translator(subwords, engine=echo(max_length)).translate([line])
    assert found.parts > 1
    assert found.text == line


@pytest.mark.parametrize("max_length", [6, 9, 30])
@pytest.mark.parametrize("line", ["x" * 300, "漢字" * 100, "Anna " + "z" * 200 + " sings"])
def test_an_overlong_word_is_split_without_loss(line, max_length, translator, subwords):
    [found] = translator(subwords, engine=echo(max_length)).translate([line])
    assert found.parts > 1
    assert found.text.replace(" ", "") == line.replace(" ", "")


def test_a_character_with_more_bytes_than_max_length_is_still_translated(translator, subwords):
    ready = translator(subwords, max_length=4)
    assert len(subwords.source.encode("𐌰")) > 4
    [found] = ready.translate(["Ben 𐌰𐌱"])
    assert found.parts > 2
    for trace in ready.traces(found):
        assert len(trace.source) == len(trace.source_ids) <= 4


@pytest.mark.parametrize("beam_size", [1, 2])
def test_no_part_is_too_long_for_the_model(beam_size, translator, subwords):
    line = " ".join(ENGLISH * 3) + "y" * 100
    [found] = translator(subwords, max_length=10, beam_size=beam_size).translate([line])
    assert found.parts > 12


def test_split_lines_do_not_shift_other_lines(translator, words):
    lines = ["Anna", "Ben . " * 20, "", "Ben", "liest " * 30, "singt"]
    found = translator(words, engine=echo(8)).translate(lines)
    assert [t.text for t in found] == [line.strip() for line in lines]
    assert [t.parts > 1 for t in found] == [False, True, False, False, True, False]


# ------------------------------------------------------------------------------------- <unk>


def test_a_sample_is_not_the_best_of_several():
    assert DecodingConfig(beam_size=4, temperature=1.0).hypotheses(1) == 1
    assert DecodingConfig(beam_size=4).hypotheses(1) == 4


@pytest.mark.parametrize(
    ("line", "ids", "settings", "expected"),
    [
        ("Zora singt .", [UNK, 6, 8], {}, "Zora singt ."),
        ("Ben Yann .", [UNK, 6, 8], {}, "Yann singt ."),
        ("Zora singt .", [UNK, 6, 8], {"replace_unknown": False}, "<unk> singt ."),
        ("ZORA", [UNK, 8], {"data": DataConfig(lowercase="source")}, "ZORA ."),
        ("ZORA", [UNK, 8], {"data": DataConfig(lowercase="both", restore_case=True)}, "ZORA ."),
        ("ZORA", [UNK, 8], {"data": DataConfig(lowercase="both")}, "zora ."),
    ],
)
def test_unknown_words_are_copied_as_configured(translator, words, line, ids, settings, expected):
    [found] = translator(words, engine=write(*ids), **settings).translate([line])
    assert found.text == expected


def test_copied_words_stay_in_their_part(translator, words):
    engine = ScriptedEngine(lambda source: [[UNK]], max_length=4)
    [found] = translator(words, engine=engine).translate(["Ben Zora . Anna Yann ."])
    assert (found.text, found.parts) == ("Zora Yann", 2)


def test_copied_words_keep_their_spacing(translator):
    vocabulary = Vocabulary([*SPECIALS, "Anna", "￭."])
    tokenizers = Tokenizers(*(WordTokenizer("spacy", code, vocabulary) for code in ("en", "de")))
    [trace] = translator(tokenizers, engine=write(4, UNK, 5)).trace("Anna Zora.")
    assert trace.text == "Anna Zora."
    assert trace.target == ["Anna", "Zora", "￭."]


def test_subwords_are_not_copied(translator, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in ENGLISH), encoding="utf-8")
    settings = TokenizerConfig(vocabulary_size=40, byte_fallback=False)
    train_tokenizers(DataConfig(), settings, (text, text), tmp_path)
    tokenizers = load_tokenizers(DataConfig(), settings, tmp_path)
    [found] = translator(tokenizers, engine=write(UNK)).translate(["Anna"])
    assert found.text == "<unk>"


# ------------------------------------------------------------------------------------ placeholders


def test_unseen_words_are_copied_as_typed(carrying, translator):
    engine = says(carrying, f"{SECOND} singt für {FIRST}.")
    data = DataConfig(placeholders="all", lowercase="source")
    ready = translator(carrying, data=data, engine=engine)
    found = ready.translate(["ZORA sings Öre today.", "Anna sings.", f"Anna {FIRST}"])
    [trace] = ready.trace("ZORA sings")
    assert texts_of(found) == ["Öre singt für ZORA.", "singt für .", "singt für ."]
    seen = [carrying.source.decode(ids) for ids in engine.sources]
    assert sorted(seen[:3]) == ["anna", "anna sings.", f"{FIRST} sings {SECOND} today."]
    assert "ZORA" in trace.source
    assert "ZORA" in trace.target


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (" ".join(f"Zora{'x' * i} sings Yann{'y' * i}." for i in range(12)), 12),
        (", ".join(f"Zora{'x' * i}" for i in range(20)), 2),  # more than there are placeholders
    ],
)
def test_words_are_copied_in_each_part_of_a_long_line(line, parts, carrying, translator):
    [found] = translator(carrying, longest_source=20, engine=echo()).translate([line])
    assert found.parts >= parts
    assert found.text == line


# ------------------------------------------------------------------------------------------ traces


def test_a_trace_contains_the_tokens_of_both_sides(translator, subwords):
    made = translator(subwords)
    [trace] = made.trace("Anna sings.")
    assert trace.source == [*subwords.source.split("Anna sings."), "<eos>"]
    assert trace.source_ids == [*subwords.source.encode("Anna sings."), EOS]
    assert trace.target == subwords.target.tokens(trace.hypothesis.ids)
    assert trace.text == made.translate(["Anna sings."])[0].text
    assert made.trace(" \t") == []


def test_a_trace_shows_unknown_words_as_typed(translator, words):
    [trace] = translator(words).trace("Anna kocht .")
    assert trace.source == ["Anna", "kocht", ".", "<eos>"]
    assert trace.source_ids[1] == UNK


def test_pytorch_decodes_again_if_a_placeholder_is_lost(carrying, translator):
    losing, keeping = says(carrying, "singt."), says(carrying, f"{SECOND} singt {FIRST}.")
    ready = translator(carrying, beam_size=4, engine=losing, pytorch=keeping)
    assert ready.translate(["Zora sings Öre"])[0].text == "Öre singt Zora."
    assert losing.asked == [(4, None), (32, None)]
    [(count, constraints)] = keeping.asked
    assert count == 1
    # Only punctuation and the genitive's s may be attached to a copied word.
    [ending] = [i for i in constraints.continuing if carrying.target.tokens([i]) == ["s"]]
    alone = [carrying.target.encode(mark) for mark in (FIRST, SECOND)]
    assert constraints.phrases == [[[mark, [*mark, ending]] for mark in alone]]
    tokens = set(carrying.target.tokens(constraints.continuing))
    assert {"n", "en", FIRST} <= tokens
    assert not {".", "▁", "▁s", "</s>"} & tokens


@pytest.mark.parametrize("mark", [False, True])
def test_a_copied_word_must_be_a_word_of_its_own(tmp_path, translator, mark):
    carrying = with_placeholders(tmp_path, whitespace_as_suffix=mark)
    for text, chosen in (
        (f"{FIRST}en singt {SECOND}.", "Zora singt Öre."),
        (f"{FIRST}{SECOND} singt.", "Zora singt Öre."),
        (f"Ha{FIRST} {SECOND}.", "Zora singt Öre."),
        (f"{FIRST}s {SECOND}.", "Zoras Öre."),
        (f"({FIRST})-{SECOND}.", "(Zora)-Öre."),
    ):
        engine = says(carrying, text, f"{FIRST} singt {SECOND}.")
        made = translator(carrying, beam_size=4, engine=engine, pytorch=engine)
        assert made.translate(["Zora sings Öre"])[0].text == chosen


def test_where_words_end_with_a_mark_anything_may_follow_a_copied_word(tmp_path, translator):
    carrying = with_placeholders(tmp_path, whitespace_as_suffix=True)
    losing, keeping = says(carrying, "singt."), says(carrying, f"{FIRST} singt.")
    [found] = translator(carrying, engine=losing, pytorch=keeping).translate(["Zora sings"])
    assert found.text == "Zora singt."
    [(_, constraints)] = keeping.asked
    [[[phrase]]] = constraints.phrases
    assert carrying.target.tokens(phrase) == [FIRST, "▁"]
    assert constraints.continuing == []


def test_a_copied_word_in_brackets_needs_no_space_before_it(carrying, translator):
    losing, keeping = says(carrying, "singt."), says(carrying, f"({FIRST}) singt {SECOND}.")
    [found] = translator(carrying, engine=losing, pytorch=keeping).translate(["(Zora) sings Öre"])
    assert found.text == "(Zora) singt Öre."
    [(_, constraints)] = keeping.asked
    tokens = [carrying.target.tokens(phrases[0]) for phrases in constraints.phrases[0]]
    assert tokens == [[FIRST], ["▁", SECOND]]


def test_a_wider_beam_is_tried_before_pytorch(carrying, translator):
    engine = says(carrying, *4 * ["singt."], f"{FIRST} singt {FIRST}.", f"{FIRST} singt.")
    ready = translator(carrying, beam_size=4, engine=engine, pytorch=echo())
    assert ready.translate(["Zora sings"])[0].text == "Zora singt."
    assert [width for width, _ in engine.asked] == [4, 32]
    assert ready.pytorch.asked == []


@pytest.mark.parametrize(
    ("has_pytorch", "settings"), [(True, {"temperature": 1.0}), (False, {"beam_size": 4})]
)
def test_samples_and_without_pytorch_translations_that_lost_a_word_remain(
    has_pytorch, settings, carrying, translator, monkeypatch
):
    monkeypatch.setattr("nmt.decoding.segment_search._HAS_PYTORCH", has_pytorch)
    ready = translator(carrying, engine=says(carrying, "singt."), pytorch=echo(), **settings)
    assert ready.translate(["Zora sings"])[0].text == "singt."
    assert ready.pytorch.asked == []


def test_hypotheses_with_all_placeholders_rank_first(carrying, translator):
    texts = ["singt.", f"{FIRST} singt.", f"{SECOND} singt {FIRST}.", f"{FIRST} {SECOND}."]
    engine = says(carrying, *texts)
    ready = translator(carrying, beam_size=4, engine=engine, pytorch=echo())
    found = ready.translate(["Zora sings Öre", "Anna sings"])
    assert texts_of(found) == ["Öre singt Zora.", "singt."]
    assert sorted(engine.asked) == [(1, None), (4, None)]
    assert texts_of(ready.n_best(["Zora sings"], 2)[0]) == ["Zora singt.", "singt Zora."]
    assert ready.pytorch.asked == []  # nothing was lost


# ------------------------------------------------------------------------------------- glossary


def test_a_translation_without_a_term_is_searched_again(subwords, translator):
    plain, bound = says(subwords, "Ben liest."), says(subwords, "Ben liest Bücher.")
    made = with_terms(translator(subwords, engine=plain, pytorch=bound), "book\tBuch")
    found = made.translate(["Ben reads books.", "Anna sings."])
    assert texts_of(found) == ["Ben liest Bücher.", "Ben liest."]
    assert {width for width, _ in plain.asked} == {1}  # a wider beam would rarely have the term


def test_a_translation_with_a_form_of_the_term_is_kept(subwords, translator):
    engine = says(subwords, "Ben liest.", "Ben liest Bücherei.", "Ben mag Bücher.")
    made = translator(subwords, engine=engine, pytorch=echo(), beam_size=3)
    [found] = with_terms(made, "book\tBuch").translate(["Ben likes books."])
    assert found.text == "Ben mag Bücher."
    assert made.pytorch.asked == []


def test_a_translation_in_the_wrong_number_is_searched_again(subwords, translator):
    plain, bound = says(subwords, "Ben liest Buch."), says(subwords, "Ben liest Bücher.")
    made = with_terms(translator(subwords, engine=plain, pytorch=bound), "book\tBuch")
    found = made.translate(["Ben reads books.", "Ben reads a book."])
    assert texts_of(found) == ["Ben liest Bücher.", "Ben liest Buch."]


def test_a_hypothesis_in_the_wrong_number_is_not_preferred_for_its_known_words(
    subwords, translator
):
    engine = says(subwords, "Ben liest Bücher.", "Ben liest Buch.")
    known = TargetWords(["ben", "liest", "buch"])
    made = translator(subwords, engine=engine, pytorch=engine, target_words=known, beam_size=4)
    [found] = with_terms(made, "book\tBuch").translate(["Ben reads books."])
    assert found.text == "Ben liest Bücher."


def test_a_plural_may_stand_for_a_singular_and_a_term_in_both_numbers_fits_in_any(
    subwords, translator
):
    engine = says(subwords, "Ben liest Bücher. Ben liest Bücher.")
    made = translator(subwords, engine=engine, pytorch=echo())
    with_terms(made, "book\tBuch").translate(["Ben reads the book.", "Ben reads a book or books."])
    assert made.pytorch.asked == []


@pytest.mark.parametrize(
    ("translation", "missing"),
    [("Buch. Bücher.", []), ("Buch.", ["book → Buch"]), ("Buch. Bücherei.", ["book → Buch"])],
)
def test_a_term_must_be_written_as_often_as_it_occurs(subwords, translator, translation, missing):
    engine = says(subwords, translation)
    made = with_terms(translator(subwords, engine=engine, pytorch=engine), "book\tBuch")
    [found] = made.translate(["A book and another book"])
    assert [str(term) for term in found.missing_terms] == missing


def test_a_term_in_the_wrong_number_is_placed(words, translator, monkeypatch):
    encode = words.target.encode
    plain = ContinuingScript(lambda ids: [encode("Clara singt Ben .")], *encode("."))
    made = translator(words, engine=plain, pytorch=ScriptedEngine(lambda ids: []))
    given = {None: ["Clara", "Anna"], "plural": ["Anna"]}
    monkeypatch.setattr(
        "nmt.decoding.glossary.Glossary.forms", lambda self, match, number, known: given[number]
    )
    monkeypatch.setattr("nmt.decoding.glossary.Match.number", "plural")
    [found] = with_terms(made, "Clara\tClara").translate(["Clara singt Ben ."])
    assert found.text == "Anna ."


SUNG = "Gesungen gesungen Sang sang Singen singen"


@pytest.mark.parametrize(
    ("term", "line", "known", "forms"),
    [
        ("book\tBuch", "Ben reads books.", "", "Bücher Büchern"),  # the number of the source
        ("book\tBuch", "Ben reads books.", "ben", "Bücher Büchern"),
        ("book\tBuch", "Ben reads books.", "bücher", "Bücher"),  # no other is in the training text
        ("book\tBuch", "Books, a book, a book.", "", "Buch Buches Buchs Bücher Büchern"),
        ("sing\tsingen", "Ben sings.", "singen gesungen sang", SUNG),
    ],
)
def test_forms_of_a_term_that_the_second_search_may_write(
    subwords, translator, monkeypatch, term, line, known, forms
):
    monkeypatch.setattr("nmt.decoding.inflection.noun_table", lambda: None)
    plain, bound = says(subwords, "Ben."), says(subwords, forms)
    words = TargetWords(known.split()) if known else None
    made = translator(subwords, engine=plain, pytorch=bound, target_words=words)
    [found] = with_terms(made, term).translate([line])
    assert not found.missing_terms
    [(_, constraints)] = bound.asked
    assert {subwords.target.decode(ids) for ids in constraints.phrases[0][0]} == {*forms.split()}


@pytest.mark.parametrize(
    ("translation", "is_kept"),
    [
        ("Ben holt Anna oft ab.", True),
        ("Holt Anna ab, Ben!", True),
        ("Ben holt Anna ab und liest.", True),
        ("Ben holt ab heute Anna.", False),  # a preposition
        ("Ben holt Anna. Sie liest ab.", False),
        ("Ben holt Anna Abend.", False),
    ],
)
def test_a_separated_verb_counts_as_its_term(subwords, translator, translation, is_kept):
    plain, bound = says(subwords, translation), says(subwords, "Ben kann Anna abholen.")
    words = TargetWords(["holen", "holt", "abholen"])
    made = translator(subwords, engine=plain, pytorch=bound, target_words=words)
    [found] = with_terms(made, "pick up\tabholen").translate(["Ben picks up Anna."])
    assert (found.text == translation) == is_kept
    assert not found.missing_terms


def test_a_translation_with_a_forbidden_word_is_searched_again(subwords, translator):
    plain, bound = says(subwords, "Ben liest."), says(subwords, "Anna liest.")
    made = with_terms(translator(subwords, engine=plain, pytorch=bound), "Ben\t!Ben")
    [found] = made.translate(["Ben reads."])
    assert found.text == "Anna liest."
    assert not found.missing_terms
    [(_, constraints)] = bound.asked
    assert constraints.phrases == [[]]
    assert "Ben" in [subwords.target.decode(ids) for ids in constraints.forbidden[0]]


def test_a_further_search_may_not_write_what_the_first_wrote_for_a_term(words, translator):
    plain = ScriptedEngine(lambda ids: [words.target.encode("Anna liest Ben .")])
    bound = ScriptedEngine(lambda ids: [words.target.encode("Anna liest Ben Lied .")])
    made = translator(words, engine=plain, pytorch=bound)
    with_terms(made, "Ben\tLied").translate(["Anna singt Ben ."])
    [(_, constraints)] = bound.asked
    assert [words.target.decode(ids) for ids in constraints.forbidden[0]] == ["Ben"]


def test_a_tag_is_no_word_of_the_source(subwords):
    glossary = parse_glossary("Anna\tLied", ("en", "de"))
    data, seen = DataConfig(address=True), TrainingLines(20, False)
    segmenter = Segmenter(subwords, data, seen, 20, glossary, tag_of(data, "sie"))
    [segment] = segmenter.segment("Anna reads")
    ids = subwords.target.encode("Buch liest")
    strict = segmenter.forbid_usual_words(segment, ids, Alignment([(0, 0), (1, 1)], [0, 1]))
    assert segment.tag
    assert [term.forbidden for term in strict.terms] == [("Buch",)]


class ContinuingScript(ScriptedEngine):
    """A scripted engine that ends every given beginning with a full stop, and records them."""

    name = "ctranslate2"

    def __init__(self, answer, stop: int):
        super().__init__(answer)
        self.stop, self.begun = stop, []

    def continue_from(self, sources, beginnings, limits, decoding):
        self.begun += beginnings
        return [
            [Hypothesis([*ids, self.stop], -1.0, -1.0, True) for ids in options]
            for options in beginnings
        ]


def test_missing_terms_are_placed_one_by_one_by_continuing_the_translation(words, translator):
    encode = words.target.encode
    plain = ContinuingScript(lambda ids: [encode("Ben singt Ben .")], *encode("."))
    bound = ScriptedEngine(lambda ids: [])
    made = with_terms(
        translator(words, engine=plain, pytorch=bound), "singt	liest", "Ben	Anna"
    )
    [found] = made.translate(["Ben singt Anna ."])
    assert found.text == "Anna liest ."
    assert plain.begun == [[encode("Anna")], [encode("Anna liest")]]
    assert bound.asked == []


@pytest.mark.parametrize(
    ("forbidden", "beginning"), [("Kalender", "Kalen"), ("Bücherei", "Bücherei")]
)
def test_the_first_half_of_a_forbidden_word_is_forbidden_unless_a_term_begins_with_it(
    subwords, translator, forbidden, beginning
):
    engine = says(subwords, "Ben liest.")
    made = with_terms(
        translator(subwords, engine=engine, pytorch=engine), f"book\tBuch|!{forbidden}"
    )
    made.translate(["Ben reads books."])
    (_, constraints) = engine.asked[-1]
    decode = subwords.target.decode
    assert beginning in {decode(ids) for ids in constraints.forbidden[0]}
    needed = [decode(ids) for ids in constraints.phrases[0][0]]
    assert not any(
        text.startswith(decode(ids)) for ids in constraints.forbidden[0] for text in needed
    )


def test_a_term_that_could_not_be_placed_is_told(subwords, translator):
    losing = says(subwords, "Ben liest.")
    made = with_terms(translator(subwords, engine=losing, pytorch=losing), "book\tBuch", "Ben\t=")
    [found] = made.translate(["Ben reads a book."])
    assert [str(term) for term in found.missing_terms] == ["book → Buch"]


@pytest.mark.parametrize(
    ("term", "source", "written", "text"),
    [
        ("log in\tanmelden", "Logging in is fun.", "anmelden ist toll.", "Anmelden ist toll."),
        ("log in\tanmelden", "logging in is fun.", "anmelden ist toll.", "anmelden ist toll."),
        ("pick up\tabholen", "Pick up Anna!", "hol Anna ab!", "Hol Anna ab!"),
        ("log in\tanmelden", "Ben can log in.", "kann Ben anmelden?", "kann Ben anmelden?"),
        ("log in\tanmelden", "Log in now.", "anmeldend jetzt.", "anmeldend jetzt."),
        ("quick\tschnell", "Quick, Ben!", "(schnelle) Ben!", "(Schnelle) Ben!"),
        ("shop\teBay", "Shop now.", "eBay jetzt.", "eBay jetzt."),
        ("log\t=", "Log, log.", "log, Log.", "log, Log."),
    ],
)
def test_a_term_that_begins_a_sentence_has_a_capital(
    subwords, translator, term, source, written, text
):
    engine, words = says(subwords, written), TargetWords(["hol", "holen", "abholen"])
    made = translator(subwords, engine=engine, pytorch=engine, target_words=words)
    assert with_terms(made, term).translate([source])[0].text == text


def test_german_nouns_have_capitals_anywhere(subwords, translator):
    engine = says(subwords, "anmelden ist toll.")
    german = DataConfig(source_language="de", target_language="en")
    made = translator(subwords, engine=engine, pytorch=engine, data=german)
    made = with_terms(made, "Anmeldung\tanmelden")
    assert made.translate(["Anmeldung ist toll."])[0].text == "anmelden ist toll."


def test_a_hidden_word_at_the_start_is_replaced_by_its_term_with_a_capital(carrying, translator):
    engine = says(carrying, f"{FIRST} singt.")
    made = with_terms(translator(carrying, engine=engine, pytorch=engine), "Öre\terz", "Zoë\t=")
    assert texts_of(made.translate(["Öre sings", "Zoë sings"])) == ["Erz singt.", "Zoë singt."]


@pytest.mark.parametrize(
    ("source", "text", "is_complete"),
    [
        ("Login, login and LOGIN.", "Login, LOGIN und login.", True),
        ("Login, login and LOGIN.", "Login, login und login.", False),
        ("Login, login and LOGIN.", "login, login und LOGIN.", False),
        ("login, login and Login.", "login, Login.", False),
        ("login and login.", "login und login.", True),
        ("login and login.", "login.", False),
        ("Login now.", "login jetzt.", True),  # within a sentence, it may have a small letter
    ],
)
def test_a_kept_term_keeps_each_of_its_spellings(subwords, translator, source, text, is_complete):
    engine = says(subwords, text)
    made = with_terms(translator(subwords, engine=engine, pytorch=engine), "login\t=")
    [found] = made.translate([source])
    assert (not found.missing_terms) == is_complete


def test_what_the_model_cannot_write_of_a_term_is_told(subwords, words, tmp_path, translator):
    letters = with_placeholders(tmp_path, kind="char", byte_fallback=False)
    terms = parse_glossary("a\tłiest\nb\tAnna liest ö\nc\t!x", ("en", "de")).terms
    assert translator(words).out_of_vocabulary(terms) == ["łiest", "ö"]
    assert translator(letters).out_of_vocabulary(terms) == ["ł", "ö"]
    assert translator(subwords).out_of_vocabulary(terms) == []  # it spells them as bytes


def test_a_term_that_is_a_hidden_word_replaces_its_placeholder(carrying, translator):
    engine = says(carrying, f"{FIRST} singt {SECOND}.")
    made = with_terms(translator(carrying, engine=engine, pytorch=engine), "song\tLied", "Öre\t=")
    [trace] = made.trace("Öre sings songs")
    assert trace.text == "Öre singt Lieder."
    assert "songs" in trace.source
    assert "Lieder" in trace.target


def test_a_term_of_several_words_some_hidden_has_a_single_placeholder(carrying, translator):
    engine = says(carrying, f"{FIRST} singt {SECOND}.")
    made = translator(carrying, engine=engine, pytorch=engine)
    found = with_terms(made, "anna song\tLied", "Öre\t=").translate(
        ["Öre sings anna songs today", "Öre sings anna songs, songs"]
    )
    assert found[0].text == "Öre singt Lieder."
    assert not found[0].missing_terms
    read = {carrying.source.decode(ids) for ids in engine.sources}
    assert read == {f"{FIRST} sings {SECOND} today", f"{FIRST} sings anna {SECOND}, {SECOND}"}
    assert [str(term) for term in found[1].missing_terms] == ["anna song → Lied"]


@pytest.mark.parametrize(
    ("terms", "text"),
    [(["Öre\tErz"], "Zoë Erz singt."), (["Öre\tErz", "Zoë\tZoe"], "Zoe Erz singt.")],
)
def test_terms_within_a_hidden_name_replace_their_parts(carrying, translator, terms, text):
    engine = says(carrying, f"{FIRST} singt.")
    made = with_terms(translator(carrying, engine=engine, pytorch=engine), *terms)
    assert made.translate(["Zoë Öre sings"])[0].text == text


# -------------------------------------------------------------------------------------- address


def test_a_form_of_address_is_a_tag_of_every_part(subwords, translator):
    data = DataConfig(address=True)
    engine = says(subwords, "Ben liest.")
    made = translator(subwords, data=data, engine=engine, single=True).customized(address="sie")
    parts = made.segments("Ben reads. Anna sings.")
    assert [part.tag for part in parts] == [tag_of(data, "sie")] * 2
    assert all(part.part.text.startswith(part.tag) for part in parts)
    assert made.segments(tag_of(data, "du") + "Ben")[0].tag == tag_of(data, "du")


@pytest.mark.parametrize(
    ("address", "texts", "chosen", "searches"),
    [
        ("sie", ["Hast du Zeit?", "Haben Sie Zeit?"], 1, 1),
        ("du", ["Hast du Zeit?", "Haben Sie Zeit?"], 0, 1),
        ("sie", ["Hast du Zeit?", "Ist Zeit?", "Haben Sie Zeit?"], 1, 1),
        ("sie", ["Hast du Ihr Buch?", "Haben Sie Ihr Buch?"], 1, 1),
        ("sie", ["Hast du Zeit?", "Hast du?", "Habt ihr Zeit?", "Haben Sie Zeit?"], 3, 2),
        ("sie", ["Hast du Zeit?", "Hast du?"], 0, 5),
        ("sie", ["Ben liest.", "Haben Sie Zeit?"], 0, 1),
    ],
)
def test_a_hypothesis_with_the_demanded_address_comes_first(
    subwords, translator, address, texts, chosen, searches
):
    engine, data = says(subwords, *texts), DataConfig(address=True)
    made = translator(subwords, data=data, engine=engine, pytorch=engine, beam_size=3)
    [found] = made.customized(address=address).translate(["Anna sings"])
    assert found.text == texts[chosen]
    # Another one with a wider beam, if all have other forms, and then three with constraints.
    assert len(engine.asked) == searches


def test_words_of_other_forms_are_forbidden_if_a_wider_beam_has_them_too(subwords, translator):
    answers = iter(["Habt ihr Zeit?", "Haben Sie Zeit?"])
    bound = ScriptedEngine(lambda ids: [subwords.target.encode(next(answers))])
    plain, data = says(subwords, "Hast du Zeit?"), DataConfig(address=True)
    made = translator(subwords, data=data, engine=plain, pytorch=bound, beam_size=3)
    [found] = made.customized(address="sie").translate(["Anna sings"])
    assert found.text == "Haben Sie Zeit?"
    forbidden = [
        {subwords.target.decode(ids) for ids in constraints.forbidden[0]}
        for _, constraints in bound.asked
    ]
    assert forbidden[0] == {"hast", "Hast", "du", "Du"}
    assert forbidden[1] == forbidden[0] | {"habt", "Habt"}  # "ihr" may also be: to her


def test_samples_stay_in_their_order_whatever_their_address(subwords, translator):
    engine = says(subwords, "Hast du Zeit?", "Haben Sie Zeit?")
    made = translator(subwords, data=DataConfig(address=True), engine=engine, temperature=1)
    assert made.customized(address="sie").translate(["Anna sings"])[0].text == "Hast du Zeit?"


def test_a_model_without_forms_of_address_refuses_them(subwords, translator):
    with pytest.raises(UserError, match="address sie"):
        translator(subwords).customized(address="sie")


# ------------------------------------------------------------------------------------- beginnings


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("beginning", ["Clara", "Clara t", "Ben liest ", "An"])
def test_translations_begin_as_prescribed(beginning, beam_size, subwords, translator):
    made = translator(subwords, beam_size=beam_size)
    [[found], [free]] = made.n_best(["Anna sings.", "Ben reads."], 1, [beginning, ""])
    assert f"{found.text} ".startswith(beginning)
    assert free == made.translate(["Ben reads."])[0]


@pytest.mark.parametrize(
    ("beginning", "text", "missing"),
    [("Ben l", "Ben liest Clara.", []), ("Ben liest An", "Ben liest Anna.", ["Anna → Clara"])],
)
def test_a_term_is_placed_after_the_beginning(beginning, text, missing, subwords, translator):
    plain = ContinuingScript(lambda ids: [], subwords.target.encode("Ben.")[-1])
    made = translator(subwords, engine=plain, pytorch=echo())
    [[found]] = with_terms(made, "Anna\tClara").n_best(["Ben liest Anna."], 1, [beginning])
    assert found.text == text
    assert [str(term) for term in found.missing_terms] == missing
    (_, constraints), *_ = made.pytorch.asked
    assert constraints.phrases == [[]]  # the first search is free to choose other words


def test_each_sentence_of_a_beginning_begins_another_one(subwords, translator):
    made = translator(subwords, single=True)
    [[found]] = made.n_best(["Anna sings today. Ben reads."], 1, ["Clara singt. Em"])
    first, second = found.found
    assert (first[0].beginning, second[0].beginning) == ("Clara singt.", "Em")
    assert made.begin(["a", "b"], "Clara singt. Em") == ["Clara singt.", "Em"]
    assert made.begin(["a"], "Clara singt. Em ") == ["Clara singt. Em "]
    assert made.begin(["a", "b"], "") == ["", ""]


def test_copied_words_are_completed_in_a_beginning(carrying, translator):
    made = translator(carrying)
    [[found]] = made.n_best(["Zora sings"], 1, ["Zo"])
    assert found.text.startswith("Zora")


@pytest.mark.parametrize(
    ("beginning", "read"),
    [
        ('"auf" Anna', f'"{PLACEHOLDERS[0]}" Anna'),
        ("Anna auf", "Anna auf"),
        ("Anna laufe a", "Anna laufe a"),
        ("Zoras", f"{PLACEHOLDERS[1]}s"),
        ("Zorasa", "Zorasa"),
        ("Anna Zo", f"Anna {PLACEHOLDERS[1]}"),
    ],
)
def test_only_whole_words_of_a_beginning_become_placeholders(beginning, read, carrying, translator):
    quotations = {PLACEHOLDERS[0]: Quotation('"', '"', "on", translation="auf")}
    written = {PLACEHOLDERS[0]: "auf", PLACEHOLDERS[1]: "Zora", PLACEHOLDERS[2]: ""}
    part = Part("", "", "", [], written=written, quotations=quotations)
    segmenter = translator(carrying)._segments
    assert segmenter.begin([Segment(part, [])], beginning)[0].beginning == read


def test_a_beginning_that_the_model_cannot_write_is_refused(words, translator):
    with pytest.raises(UserError, match="prefix"):
        translator(words).n_best(["Anna sings."], 1, ["Anna"])


class Continuing(ScriptedEngine):
    """Stands in for PyTorch; continues a beginning with each of these texts."""

    def __init__(self, tokenizers: Tokenizers, texts: list[str]):
        super().__init__(lambda ids: [])
        self.target, self.texts = tokenizers.target, texts

    def continuations(self, source, written, count, limit, ended):
        before = self.target.decode(written)
        return [self.target.encode(before + text)[len(written) :] for text in self.texts]


@pytest.mark.parametrize(
    ("beginning", "texts", "found"),
    [
        ("Anna ", [" singt heute", " liest.", ".", " singt gern"],
         {"singt": "Anna singt ", "liest": "Anna liest."}),
        ("Anna", [".", " singt", "s"], {".": "Anna.", "singt": "Anna singt"}),
        ("", ["Anna liest", "Ben"], {"Anna": "Anna ", "Ben": "Ben"}),
    ],
)  # fmt: skip
def test_next_words_come_with_what_ends_them(beginning, texts, found, subwords, translator):
    made = translator(subwords, pytorch=Continuing(subwords, texts))
    assert made.next_words("Anna sings.", beginning, 5) == found
    assert list(made.next_words("Anna sings.", beginning, 1)) == list(found)[:1]


def test_next_words_are_words_of_the_training_text(subwords, translator):
    pytorch = Continuing(subwords, [" sinest", " singt"])
    made = translator(subwords, pytorch=pytorch, target_words=TargetWords(["singt"]))
    assert list(made.next_words("Anna sings.", "Anna ", 5)) == ["singt"]


def test_next_words_are_written_by_the_model(subwords, translator):
    made = translator(subwords)
    for word, text in made.next_words("Anna sings.", "Clara ", 3).items():
        assert text.startswith(f"Clara {word}")
    assert made.next_words("Anna sings.", "Clara " * 30, 3) == {}  # no room for more


@pytest.mark.parametrize("line", ["", "Anna sings. Ben reads."])
def test_next_words_are_those_of_one_sentence(line, subwords, translator):
    with pytest.raises(UserError, match="one sentence"):
        translator(subwords, single=True).next_words(line, "Clara ", 3)


def test_no_word_follows_within_a_copied_word_or_without_subwords(carrying, words, translator):
    assert translator(carrying).next_words("Zora sings", "Zo", 3) == {}
    assert translator(words).next_words("Anna sings.", "Anna ", 3) == {}
