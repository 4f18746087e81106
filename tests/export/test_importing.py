"""Marian models of `transformers` become runs with the same pieces, logits and translations."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from nmt.decoding.engines.pytorch import PyTorchSearch
from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.export.export import export_run
from nmt.export.importing import import_run
from tests.conftest import toy_pairs

transformers = pytest.importorskip("transformers")
PAIRS = toy_pairs()
LINES = [*(source for source, _ in PAIRS), "", "A  ﬁne “word”…", "«naïve» 東京"]
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def make_model(kind: str = "unigram", separate: bool = False, **changes: Any) -> Path:
    """Write a model with random weights to a folder."""
    folder = Path("marian")
    folder.mkdir()
    vocabularies: list[list[str]] = []
    for side, name in enumerate(("source", "target")):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([pair[side] for pair in PAIRS]),
            model_prefix=str(folder / name),
            vocab_size=60,
            model_type=kind,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{name}.model").rename(folder / f"{name}.spm")
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
        vocabularies.append([model.id_to_piece(i) for i in range(3, model.get_piece_size())])
    if not separate:
        vocabularies = [[*vocabularies[0], *vocabularies[1]]]
    sizes = []
    for name, pieces in zip(("vocab", "target_vocab"), vocabularies, strict=False):
        distinct = sorted(set(pieces))[1:]  # one piece is lacking in the vocabulary
        random.Random(1).shuffle(distinct)
        numbers = ["</s>", "<unk>", *distinct]
        last = 1 + max(len(set(each)) for each in vocabularies)
        content = {piece: i for i, piece in enumerate(numbers)} | {"<pad>": last}
        (folder / f"{name}.json").write_text(json.dumps(content))
        sizes.append(last + 1)
    settings = {"source_lang": "en", "target_lang": "de", "separate_vocabs": separate}
    tokenizer = {"tokenizer_class": "MarianTokenizer", **settings}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    config = transformers.MarianConfig(
        **{
            "vocab_size": sizes[0],
            "decoder_vocab_size": sizes[-1],
            "pad_token_id": sizes[0] - 1,
            "decoder_start_token_id": sizes[0] - 1,
            "forced_eos_token_id": None,
            "d_model": 16,
            "encoder_layers": 2,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32,
            "activation_function": "swish",
            "max_position_embeddings": 64,
            "scale_embedding": True,
            "init_std": 0.3,
            "share_encoder_decoder_embeddings": not separate,
            **changes,
        }
    )
    torch.manual_seed(1)
    model = transformers.MarianMTModel(config)
    with torch.no_grad():
        model.final_logits_bias.normal_()
    model.generation_config.num_beams = 3
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("kind", "separate", "changes"),
    [
        ("unigram", False, {}),
        ("bpe", False, {"activation_function": "relu", "scale_embedding": False}),
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
    assert isinstance(ours.search, PyTorchSearch)
    [network] = ours.search.models
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
        found = theirs.generate(
            **batch,
            num_beams=1,
            max_length=None,
            max_new_tokens=12,
            suppress_tokens=[theirs.config.pad_token_id],
        )
    hypotheses = [best for [best] in ours.search(ids, [12] * len(ids), ours.decoding)]
    for row, hypothesis in zip(found.tolist(), hypotheses, strict=True):
        written = row[1:]
        end = written.index(0) if 0 in written else len(written)
        assert written[:end] == [theirs_of_ours[1][i] for i in hypothesis.ids]


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


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_an_imported_run_translates_with_both_engines_and_is_exported(kind: str) -> None:
    run = import_run(make_model(kind), Path("runs/marian"))
    assert (run.config.decoding.beam_size, run.config.model.activation) == (3, "silu")
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
    export_run(run, Path("exported"), format_="transformers")
    again = import_run(Path("exported"), Path("runs/again"))
    assert [
        best.text
        for best in load_translator(again, overrides=greedy, engine="pytorch").translate(sources)
    ] == translations[0]


def test_weights_in_pytorchs_format_are_read() -> None:
    folder = make_model()
    before = import_run(folder, Path("runs/safetensors")).weights("best").read_bytes()
    weights = transformers.MarianMTModel.from_pretrained(folder).state_dict()
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert import_run(folder, Path("runs/bin")).weights("best").read_bytes() == before


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", '{"model_type": "mbart"}'),
        ("vocab.json", "[]"),
        ("vocab.json", '{"<unk>": 1, "a": 1}'),
        ("vocab.json", '{"<unk>": 1, ">>deu<<": 2}'),
        ("source.spm", "no model"),
        ("model.safetensors", "no weights"),
        ("model.safetensors", None),
    ],
)
def test_damaged_folders_are_refused_and_leave_nothing(file: str, content: str | None) -> None:
    folder = make_model()
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(UserError, match=file.replace(".", r"\.")):
        import_run(folder, Path("runs/marian"))
    assert not list(Path("runs").glob("*"))


def test_models_with_other_parts_are_refused() -> None:
    folder = make_model()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"normalize_before": True}))
    with pytest.raises(UserError, match="normalize_before"):
        import_run(folder, Path("runs/marian"))
    (folder / "config.json").write_text(json.dumps(config | {"decoder_layers": 2}))
    with pytest.raises(UserError, match=r"model\.safetensors"):
        import_run(folder, Path("runs/marian"))
