"""Marian models of `transformers` become runs with the same pieces, logits and translations."""

import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt.config.yaml_files import load_config
from nmt.corpus.sources.registry import open_corpora
from nmt.corpus.text.tags import tag_of
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.export.export import export_run
from nmt.export.model_card import model_card
from nmt.reports.summaries import run_facts
from nmt.runs.folder import RunFolder
from nmt.runs.importing import import_run
from nmt.training.fine_tuning import config_from
from nmt.training.train import train
from tests.cli.command_line import assert_refused, nmt
from tests.marian_models import LANGUAGE_TOKENS, PAIRS, make_model

transformers = pytest.importorskip("transformers")
LINES = [*(source for source, _ in PAIRS), "", "A  ﬁne “word”…", "«naïve» 東京"]
pytestmark = pytest.mark.usefixtures("in_empty_folder")
# What differs between the config.json of published models: Helsinki-NLP/opus-mt-en-de,
# opus-mt-zlw-fiu, opus-tatoeba-af-ru, opus-mt-tc-base-uk-hu, opus-mt-tc-big-en-es, -hu-en and
# -gmq-zlw, opus-mt-tc-bible-big-urj-deu_eng_nld, Neurora/opus-tatoeba-eng-zho,
# Teradata/opus-mt_tiny_kor-eng, staka/takomt, techiaith/mt-dspec-health-en-cy.
PUBLISHED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("2020", {"num_beams": 4, "max_length": 512, "bad_words_ids": [[0]]}, {}),
    ("2021", {"num_beams": 6, "max_length": 512, "decoder_vocab_size": None}, {}),
    ("tc-big", {"activation_function": "relu", "dtype": "float16", "num_beams": 4}, {}),
    ("2024", {"num_beams": None, "max_length": None, "forced_eos_token_id": None}, {}),
    ("tiny", {"max_length": None}, {"num_beams": 4, "renormalize_logits": True}),
    ("takomt", {"num_beams": 12, "normalize_before": False}, {"max_length": None}),
]


@pytest.mark.parametrize(
    ("kind", "separate", "changes"),
    [
        ("unigram", False, {}),
        ("bpe", False, {"activation_function": "relu", "scale_embedding": False}),
        ("bpe", False, {"tie_word_embeddings": False}),
        ("unigram", True, {}),
        ("unigram", True, {"tie_word_embeddings": False, "decoder_layers": 2}),
    ],
)
def test_pieces_logits_and_greedy_translations_are_equal(
    kind: str, separate: bool, changes: dict[str, Any]
) -> None:
    folder = make_model(kind, separate, **changes)
    theirs = transformers.MarianMTModel.from_pretrained(folder).eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    run = import_run(folder, Path("runs/marian"))
    ours = load_translator(run, engine="pytorch", device="cpu", overrides=["decoding.beam_size=1"])
    assert isinstance(ours.engine, PyTorchEngine)
    [network] = ours.engine.models
    theirs_of_ours = [numbers_of(folder, name, ours) for name in ("vocab", "target_vocab")]

    batch = tokenizer(LINES, return_tensors="pt", padding=True)
    ids = [[*ours.tokenizers.source.encode(line), 3] for line in LINES]
    for row, mask, own in zip(batch["input_ids"], batch["attention_mask"], ids, strict=True):
        assert row[mask.bool()].tolist() == [theirs_of_ours[0][i] for i in own]

    source = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in ids], True)
    target = torch.randint(4, len(theirs_of_ours[1]) - 5, (len(LINES), 9))
    their_target = torch.tensor(theirs_of_ours[1])[target]
    target[:, 0], their_target[:, 0] = 2, theirs.config.pad_token_id
    columns = torch.tensor(theirs_of_ours[1])
    with torch.no_grad():
        expected = theirs(**batch, decoder_input_ids=their_target).logits[..., columns]
        logits = network(source, target)
    excluded = logits.amax((0, 1)) < -1000
    assert excluded[2]  # <sos>
    torch.testing.assert_close(logits[..., ~excluded], expected[..., ~excluded], atol=1e-4, rtol=0)

    with torch.no_grad():
        found = theirs.generate(**batch, num_beams=1, max_length=13)
    hypotheses = [best for [best] in ours.engine(ids, [12] * len(ids), ours.decoding)]
    for row, hypothesis in zip(found.tolist(), hypotheses, strict=True):
        assert written_ids(row, end=0) == [theirs_of_ours[1][i] for i in hypothesis.ids]


def written_ids(row: list[int], end: int) -> list[int]:
    """Return what transformers wrote: without the first token, the end and what follows it."""
    written = row[1:]
    return written[: written.index(end)] if end in written else written


def change(path: Path, **changes: Any) -> None:
    """Change settings in a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def numbers_of(folder: Path, name: str, ours: Any) -> list[int]:
    """Return the id in the original vocabulary of each of nmt's ids."""
    path = folder / f"{name}.json"
    path = path if path.exists() else folder / "vocab.json"
    numbers = json.loads(path.read_text())
    side = ours.tokenizers.target if name == "target_vocab" else ours.tokenizers.source
    pieces = side.tokens(range(side.size))
    names = {"<sos>": "<pad>", "<eos>": "</s>"}
    rows = {f"<row {row}>": row for row in range(len(pieces))}
    return [(numbers | rows).get(names.get(p, p), numbers["<unk>"]) for p in pieces]


def save_as_pickle(folder: Path, weights: Any, archive: bool) -> Path:
    """Replace a model's weights with PyTorch's file; those of 2020 are no archives."""
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=archive)
    return folder / "pytorch_model.bin"


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_two_thousand_lines_are_split_into_the_same_pieces(kind: str) -> None:
    folder = make_model(kind)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    ours = load_translator(import_run(folder, Path("runs/marian")))
    signs = ["“{}”", "{} – {}", "  {}", "{}…", "{}\u00a0%", "{}'s", "ﬁ{}", "{} ½", "{}", "(¿{}?)"]
    lines = [sign.format(source, target) for source, target in PAIRS for sign in signs]
    numbers = numbers_of(folder, "vocab", ours)
    assert len(lines) == 2000
    for line in lines:
        expected = tokenizer(line)["input_ids"][:-1]
        assert [numbers[i] for i in ours.tokenizers.source.encode(line)] == expected


@pytest.mark.parametrize(
    ("joint", "tie"),
    [(True, "all"), pytest.param(False, "target", marks=pytest.mark.slow)],
)
def test_beam_search_writes_the_tokens_of_transformers(
    toy_config: Any, joint: bool, tie: str
) -> None:
    """With a trained model, whose beams end early; see `nmt/decoding/search/beam.py`."""
    limits = {"max_updates": 300, "epochs": 200, "learning_rate": 5e-3, "validate_updates": 300}
    config = toy_config(
        tokenizer={"joint": joint},
        model={"norm_position": "post", "final_norm": False, "tie": tie},
        training=limits,
    )
    export_run(train(config, "run"), "out", "best", "transformers")
    theirs = transformers.MarianMTModel.from_pretrained("out").eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained("out")
    run = import_run(Path("out"), Path("runs/marian"))
    sources = [source for source, _ in PAIRS]
    batch = tokenizer(sources, return_tensors="pt", padding=True)
    with torch.no_grad():
        found = theirs.generate(**batch, num_beams=4, length_penalty=1.0, max_length=20)
    ours = load_translator(
        run, engine="pytorch", overrides=["decoding.beam_size=4", "decoding.length_penalty=1"]
    )
    ids = [[*ours.tokenizers.source.encode(source), 3] for source in sources]
    hypotheses = [best for [best] in ours.engine(ids, [19] * len(ids), ours.decoding)]
    numbers = numbers_of(Path("out"), "target_vocab", ours)
    written = [written_ids(row, theirs.config.eos_token_id) for row in found.tolist()]
    assert [[numbers[i] for i in each.ids] for each in hypotheses] == written
    assert len(set(map(tuple, written))) > 190


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_an_imported_run_translates_with_both_engines(kind: str) -> None:
    run = import_run(make_model(kind), Path("runs/marian"))
    sources = LINES[:20]
    greedy = ["decoding.beam_size=1"]
    translations = [
        [best.text for best in translator.translate(sources)]
        for translator in (
            load_translator(run, engine="pytorch", overrides=greedy),
            load_translator(run, engine="ctranslate2", overrides=greedy, compute_type="float32"),
        )
    ]
    assert translations[0] == translations[1]
    assert len(set(translations[0])) > 1
    [translation] = load_translator(run, compute_type="int8").translate([sources[0]])
    assert translation.parts == 1


@pytest.mark.parametrize(
    ("kind", "separate", "changes"),
    [
        ("unigram", False, {}),
        ("bpe", False, {"tie_word_embeddings": False}),
        ("bpe", True, {}),
        ("unigram", True, {"tie_word_embeddings": False}),
        ("unigram", False, {"tokens": LANGUAGE_TOKENS}),
        ("bpe", False, {"tokens": LANGUAGE_TOKENS}),
    ],
)
def test_an_export_of_an_imported_run_is_imported_as_the_same_run(
    kind: str, separate: bool, changes: dict[str, Any]
) -> None:
    first = import_run(make_model(kind, separate, **changes), Path("runs/first"))
    export_run(first, "exported", format_="transformers")
    again = import_run(Path("exported"), Path("runs/again"))
    assert again.config == first.config
    assert again.weights("best").read_bytes() == first.weights("best").read_bytes()
    models = sorted(path.name for path in first.data.glob("*.model"))
    assert models
    for name in models:
        assert (again.data / name).read_bytes() == (first.data / name).read_bytes()


def test_an_export_has_the_logits_of_the_original() -> None:
    folder = make_model(tokens=LANGUAGE_TOKENS)
    export_run(import_run(folder, Path("runs/marian")), "exported", format_="transformers")
    logits = []
    for place in (folder, Path("exported")):
        model = transformers.MarianMTModel.from_pretrained(place).eval()
        tokenizer = transformers.MarianTokenizer.from_pretrained(place)
        numbers = json.loads((place / "vocab.json").read_text())
        pieces = sorted(numbers.keys() & json.loads((folder / "vocab.json").read_text()).keys())
        pieces = [piece for piece in pieces if not piece.startswith("<")]
        batch = tokenizer([f">>deu<< {line}" for line in LINES], return_tensors="pt", padding=True)
        start = torch.full((len(LINES), 1), model.config.decoder_start_token_id)
        with torch.no_grad():
            found = model(**batch, decoder_input_ids=start).logits
        logits.append(found[..., [numbers[piece] for piece in pieces]])
    assert logits[0].shape[-1] > 40
    torch.testing.assert_close(*logits, atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_target_languages_are_tags(kind: str) -> None:
    folder = make_model(kind, tokens=LANGUAGE_TOKENS)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    run = import_run(folder, Path("runs/marian"))
    ours = load_translator(run, engine="pytorch")
    assert ours.data.tags == ["cmn_Hans", "deu"]
    numbers = json.loads((folder / "vocab.json").read_text())
    columns = numbers_of(folder, "vocab", ours)
    for tag in ours.data.tags:
        [segment] = ours.segments(tag_of(ours.data, tag) + PAIRS[0][0])
        pieces = tokenizer(f">>{tag}<< {PAIRS[0][0]}")["input_ids"]
        assert pieces[0] == numbers[f">>{tag}<<"]
        assert [columns[i] for i in segment.ids[1:]] == pieces[1:]
    assert nmt("translate", "--run", run.path, "--tag", "deu", PAIRS[0][0]).returncode == 0
    assert_refused("translate", "--run", run.path, "--tag", "fra", "Hi.", message="tag fra")


def test_more_target_languages_than_tags_give_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    tokens = tuple(f">>x{number:04}<<" for number in range(1001))
    run = import_run(make_model(tokens=tokens), Path("runs/marian"))
    assert len(run.config.data.tags) == 1000
    assert "1,001 target languages" in caplog.text
    assert "x0000 to x0999" in caplog.text


@pytest.mark.parametrize(("name", "changes", "generation"), PUBLISHED)
def test_settings_as_published_models_have_them(
    name: str, changes: dict[str, Any], generation: dict[str, Any]
) -> None:
    folder = make_model()
    change(folder / "config.json", **changes)
    (folder / "generation_config.json").unlink()
    if generation:
        (folder / "generation_config.json").write_text(json.dumps(generation))
    if changes.get("dtype") == "float16":
        model = transformers.MarianMTModel.from_pretrained(folder)
        model.half().save_pretrained("half")
        (folder / "model.safetensors").write_bytes(Path("half/model.safetensors").read_bytes())
    run = import_run(folder, Path("runs") / name)
    decoding = run.config.decoding
    assert decoding.beam_size == (changes.get("num_beams") or generation.get("num_beams") or 4)
    assert (decoding.max_length_factor, decoding.max_length_extra) == (0, 63)
    assert (decoding.length_penalty, decoding.length_offset) == (1, 0)
    assert load_translator(run).translate([PAIRS[0][0]])[0].text


@pytest.mark.parametrize(
    ("given", "expected"),
    [("en", "en"), ("eng", "en"), ("zho", "zh"), ("ZH", "zh"), ("ROMANCE", "mul"), ("gem", "gem")],
)
def test_language_codes_are_those_of_nmt(given: str, expected: str) -> None:
    folder = make_model()
    settings = {"source_lang": given, "target_lang": "deu+eng+nld"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    data = import_run(folder, Path("runs/marian")).config.data
    assert (data.source_language, data.target_language) == (expected, "mul")


def test_tokens_may_be_written_with_their_properties() -> None:
    folder = make_model()
    expected = import_run(folder, Path("runs/expected"))
    change(folder / "config.json", eos_token_id=[0])
    unknown, end = ({"content": each, "__type": "AddedToken"} for each in ("<unk>", "</s>"))
    change(folder / "tokenizer_config.json", unk_token=unknown, eos_token=end)
    run = import_run(folder, Path("runs/marian"))
    assert run.weights("best").read_bytes() == expected.weights("best").read_bytes()
    change(folder / "tokenizer_config.json", unk_token={"text": "<unk>"})
    with pytest.raises(UserError, match=r"tokenizer_config\.json: .*unk_token should be text"):
        import_run(folder, Path("runs/again"))


def test_rows_keep_names_of_their_own_whatever_the_names_of_pieces() -> None:
    folder = make_model("unigram")
    numbers = json.loads((folder / "vocab.json").read_text())
    used = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    rows = [n for piece, n in numbers.items() if used.piece_to_id(piece) == used.unk_id()]
    first, second, third, fourth = sorted(rows)[2:6]
    kept = {piece: number for piece, number in numbers.items() if number not in rows[2:]}
    kept |= {piece: numbers[piece] for piece in ("</s>", "<unk>", "<pad>")}
    # One has the name of a row without a piece, others those of nmt's special tokens.
    names = {f"<row {fourth}>": first, "<sos>": second, "<eos>": third}
    (folder / "vocab.json").write_text(json.dumps(kept | names))
    run = import_run(folder, Path("runs/marian"))
    assert load_translator(run).translate([PAIRS[0][0]])[0].text


def test_suppressed_pieces_are_never_written() -> None:
    folder = make_model()

    def written(name: str) -> list[int]:
        """Import the model; return the original ids of what it writes."""
        ours = load_translator(import_run(folder, Path("runs") / name), engine="pytorch")
        [[best]] = ours.engine([[10, 3]], [4], ours.decoding)
        return [numbers_of(folder, "vocab", ours)[i] for i in best.ids]

    first, *_ = written("marian")
    change(folder / "generation_config.json", suppress_tokens=[first])
    assert first not in written("again")


# ------------------------------------------------------------------------------ a run like others


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A configuration file that names pairs, as a user writes it."""
    lines = "".join(f"{source}\t{target}\n" for source, target in PAIRS)
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"data: {{source: tsv, path: '{tmp_path / 'pairs.tsv'}', validation_size: 10, "
        "test_size: 10, min_coverage: 0.1}\n"
        "training: {max_updates: 3, validate_updates: 3, batch_tokens: 256}\n"
    )
    return path


def test_it_is_fine_tuned_on_pairs_and_exported(corpus: Path) -> None:
    run = import_run(make_model(tokens=LANGUAGE_TOKENS), Path("runs/marian"))
    config = config_from(run, "best", load_config(corpus), [])
    assert config.training.learning_rate == 1e-4
    assert config.decoding == run.config.decoding
    assert config.data.tags == ["cmn_Hans", "deu"]
    done = nmt("train", "--from", run.path, "--config", corpus, "--run", "runs/tuned")
    assert done.returncode == 0, done.stderr
    assert b"model, tokenizer and decoding of runs/marian; data and training of" in done.stderr
    tuned = RunFolder(Path("runs/tuned"))
    assert tuned.weights("best").read_bytes() != run.weights("best").read_bytes()
    assert nmt("evaluate", "--run", tuned.path).returncode == 0
    export_run(tuned, "exported", format_="transformers")
    export_run(tuned, "converted")
    model = transformers.MarianMTModel.from_pretrained("exported")
    assert model.generation_config.max_length == 48  # as in the original


def test_what_needs_the_text_of_the_original_says_that_it_is_unknown(corpus: Path) -> None:
    run = import_run(make_model(), Path("runs/marian"))
    given = load_config(corpus)
    with pytest.raises(UserError, match="--mix"):
        config_from(run, "best", given, [], mix=0.3)
    with pytest.raises(UserError, match=r"data\.source"):
        open_corpora(run.config.data)
    done = nmt("train", "--from", run.path)
    assert (done.returncode, b"data.source" in done.stderr) == (2, True)
    assert_refused("datastore", run.path, message="--config")


def test_the_licence_and_the_card_stay_with_the_run(corpus: Path) -> None:
    folder = make_model()
    (folder / "LICENSE").write_text("Name the authors.")
    run = import_run(folder, Path("runs/marian"))
    facts = run_facts(run)
    assert ("licence", "cc-by-4.0") in facts
    assert ("model card", str(run.path / "README.md")) in facts
    assert ("config", "marian") in facts
    export_run(run, "exported", format_="transformers")
    assert "license: cc-by-4.0" in Path("exported/README.md").read_text()
    tuned = train(config_from(run, "best", load_config(corpus), []), "tuned")
    assert ("earlier corpus", "imported: train 0; cc-by-4.0") in run_facts(tuned)
    assert (tuned.path / "README.md").read_bytes() == (folder / "README.md").read_bytes()
    assert (tuned.path / "LICENSE").read_text() == "Name the authors."
    assert "# A model" in model_card(tuned, "best", "")
    export_run(tuned, "converted")
    assert Path("converted/LICENSE").read_text() == "Name the authors."


@pytest.mark.parametrize(
    ("front", "licence"),
    [
        ('license: "cc-by-4.0"', "cc-by-4.0"),
        ("license:\n- apache-2.0\n- cc-by-4.0", "apache-2.0, cc-by-4.0"),
        ("license: {a: b}", ""),
        ("license: [", ""),
        ("language: en", ""),
    ],
)
def test_the_licence_is_read_from_the_front_matter(front: str, licence: str) -> None:
    folder = make_model()
    (folder / "README.md").write_text(f"---\n{front}\n---\n# A model\n")
    run = import_run(folder, Path("runs/marian"))
    assert run.report["corpora"][0]["licence"] == licence


@pytest.mark.parametrize("cached", [False, True])
def test_links_are_followed_only_within_a_folder_of_the_hub(cached: bool) -> None:
    """As the cache of the Hub has them: from a version of a repository to its blobs."""
    repository = Path("models--a--b" if cached else "b")
    folder = repository / "snapshots" / "0123" if cached else repository / "0123"
    folder.parent.mkdir(parents=True)
    make_model(folder=folder)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "licence").write_text("Name the authors.")
    (folder / "LICENSE").symlink_to("../../blobs/licence" if cached else "../blobs/licence")
    if cached:
        run = import_run(folder, Path("runs/cached"))
        assert (run.path / "LICENSE").read_text() == "Name the authors."
        assert not (run.path / "LICENSE").is_symlink()
        (folder / "LICENSE").unlink()
        Path("secret").write_text("secret")
        (folder / "LICENSE").symlink_to("../../../secret")
    with pytest.raises(UserError, match=r"LICENSE: links to a file outside"):
        import_run(folder, Path("runs/marian"))
    assert not Path("runs/marian").exists()


def test_a_huge_licence_is_refused() -> None:
    folder = make_model()
    (folder / "LICENSE").write_text("x" * 5_000_001)
    with pytest.raises(UserError, match=r"LICENSE: cannot be read: larger than"):
        import_run(folder, Path("runs/marian"))


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_a_model_whose_output_is_no_number_is_reported(engine: Any) -> None:
    folder = make_model(init_std=1e37)
    ours = load_translator(import_run(folder, Path("runs/marian")), engine=engine)
    with pytest.raises(UserError, match="output is not a number"):
        ours.translate([PAIRS[0][0]])
    with pytest.raises(UserError, match="output is not a number"):
        list(ours.stream([PAIRS[0][0]], 1, ["Anna"]))


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("archive", [True, False])
def test_weights_in_pytorchs_formats_are_read(archive: bool) -> None:
    folder = make_model()
    before = import_run(folder, Path("runs/safetensors")).weights("best").read_bytes()
    save_as_pickle(folder, transformers.MarianMTModel.from_pretrained(folder).state_dict(), archive)
    assert import_run(folder, Path("runs/bin")).weights("best").read_bytes() == before


@pytest.mark.parametrize("archive", [True, False])
def test_tensors_that_claim_more_than_their_file_are_refused(archive: bool) -> None:
    folder = make_model()
    weights = transformers.MarianMTModel.from_pretrained(folder).state_dict()
    rows = len(weights["model.shared.weight"])
    weights["model.shared.weight"] = torch.zeros(1).expand(rows, 10**6)  # one number, repeated
    assert save_as_pickle(folder, weights, archive).stat().st_size < 100_000
    with pytest.raises(UserError, match=r"pytorch_model\.bin: .*model\.shared\.weight claims"):
        import_run(folder, Path("runs/marian"))


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize("content", [{"a": _Evil()}, [1, 2], {"a": "text"}, {1: torch.ones(2)}])
def test_a_pickle_is_not_executed(content: Any, archive: bool) -> None:
    folder = make_model()
    save_as_pickle(folder, content, archive)
    with pytest.raises(UserError, match=r"pytorch_model\.bin"):
        import_run(folder, Path("runs/marian"))
    assert not Path("executed").exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", "[" * 100_000),
        ("config.json", '["marian"]'),
        ("config.json", "{}"),
        ("generation_config.json", '{"num_beams": "many"}'),
        ("tokenizer_config.json", "{"),
        ("vocab.json", "[]"),
        ("vocab.json", '{"<unk>": 1, "a": 1}'),
        ("vocab.json", '{"<unk>": 1000000}'),
        ("vocab.json", '{"<unk>": 1, "": 2}'),
        ("vocab.json", '{"<unk>": 1, "\\ud800x": 2}'),
        ("source.spm", "no model"),
        ("source.spm", ""),
        ("model.safetensors", "no weights"),
        ("model.safetensors", None),
    ],
)
def test_damaged_folders_are_refused_and_leave_nothing(file: str, content: str | None) -> None:
    folder = make_model()
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(UserError, match=file.replace(".", r"\.")) as caught:
        import_run(folder, Path("runs/marian"))
    assert "\n" not in str(caught.value)
    assert not list(Path("runs").glob("*"))


@pytest.mark.parametrize("kept", [0.1, 0.6, 0.99])
def test_truncated_weights_are_refused(kept: float) -> None:
    path = make_model() / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(UserError, match=r"model\.safetensors"):
        import_run(path.parent, Path("runs/marian"))


@pytest.mark.parametrize("missing", ["trainer_spec", "normalizer_spec"])
def test_sentencepiece_models_that_end_between_two_parts_are_refused(missing: str) -> None:
    path = make_model() / "target.spm"
    content = path.read_bytes()
    model = ModelProto.FromString(content)
    for part in ("denormalizer_spec", "normalizer_spec", "trainer_spec"):
        model.ClearField(part)
        if part == missing:
            break
    shorter = model.SerializeToString()
    assert content.startswith(shorter)
    path.write_bytes(shorter)
    with pytest.raises(UserError, match=r"target\.spm: .*not a complete SentencePiece model"):
        import_run(path.parent, Path("runs/marian"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_finite_numbers_are_refused(value: float) -> None:
    path = make_model() / "model.safetensors"
    weights = load_file(path)
    weights["model.decoder.layers.0.fc1.bias"][3] = value
    save_file(weights, path)
    with pytest.raises(UserError, match="infinite or not a number"):
        import_run(path.parent, Path("runs/marian"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "mbart"}, "mBART"),
        ({"model_type": "m2m_100"}, "M2M100 or NLLB"),
        ({"model_type": "llama"}, "llama"),
        ({"normalize_before": True}, "normalize_before"),
        ({"activation_function": "tanh"}, "activation should be 'relu', 'gelu'"),
        ({"encoder_attention_heads": 3, "decoder_attention_heads": 3}, "`heads` 3 must divide"),
        ({"encoder_attention_heads": 0, "decoder_attention_heads": 0}, "heads should be greater"),
        ({"max_position_embeddings": 10**6}, "max_length should be less than or equal to 32768"),
        ({"encoder_ffn_dim": 64}, "ffn_dim"),
        ({"decoder_layers": 2}, r"model\.safetensors"),
        ({"encoder_layers": 1}, r"model\.safetensors"),
        ({"d_model": 2048, "vocab_size": 100_000, "decoder_vocab_size": 100_000}, "too small"),
    ],
)
def test_models_with_other_parts_are_refused(changes: dict[str, Any], message: str) -> None:
    folder = make_model()
    change(folder / "config.json", **changes)
    with pytest.raises(UserError, match=message):
        import_run(folder, Path("runs/marian"))


def test_character_models_are_refused() -> None:
    folder = make_model()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([source for source, _ in PAIRS]),
        model_prefix="chars",
        model_type="char",
        vocab_size=30,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (folder / "source.spm").write_bytes(Path("chars.model").read_bytes())
    with pytest.raises(UserError, match=r"source\.spm"):
        import_run(folder, Path("runs/marian"))
