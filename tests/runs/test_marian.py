"""Models in Marian's own format become the same runs as in the format of `transformers`."""

import os
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import yaml

from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.runs.importing import import_run
from tests.marian_models import LANGUAGE_TOKENS, PAIRS, as_marian, make_model

pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_weights_and_vocabularies_are_equal_in_both_formats(kind):
    folder = make_model(kind, tokens=LANGUAGE_TOKENS, activation_function="relu")
    expected = import_run(folder, Path("runs/transformers"))
    run = import_run(as_marian(folder), Path("runs/marian"))
    assert run.weights("best").read_bytes() == expected.weights("best").read_bytes()
    for name in ("joint.model", "target.model"):
        assert (run.data / name).read_bytes() == (expected.data / name).read_bytes()
    assert run.config.data.tags == ["cmn_Hans", "deu"]
    data, decoding = run.config.data, run.config.decoding
    assert (data.source_language, data.target_language) == ("en", "de")  # of the folder's name
    assert (decoding.beam_size, decoding.length_penalty, decoding.length_offset) == (6, 1, 0)


def test_translations_are_those_of_ctranslate2s_own_converter():
    import ctranslate2

    folder = as_marian(make_model())
    ctranslate2.converters.OpusMTConverter(str(folder)).convert("converted")
    run = import_run(folder, Path("runs/marian"))
    ours = load_translator(
        run, engine="ctranslate2", compute_type="float32", overrides=["decoding.beam_size=1"]
    )
    theirs = ctranslate2.Translator("converted", compute_type="float32", inter_threads=1)
    sources = [source for source, _ in PAIRS[:40]]
    found = theirs.translate_batch(
        [ours.tokenizers.source.split(source) for source in sources],
        beam_size=1,
        max_decoding_length=12,
        suppress_sequences=[["<unk>"]],
    )
    ids = [[*ours.tokenizers.source.encode(source), 3] for source in sources]
    hypotheses = [best for [best] in ours.engine(ids, [12] * len(ids), ours.decoding)]
    pieces = [ours.tokenizers.target.tokens(each.ids) for each in hypotheses]
    assert pieces == [each.hypotheses[0] for each in found]
    assert len(set(map(tuple, pieces))) > 1


def test_a_sentencepiece_model_may_be_the_vocabulary():
    folder = make_model(separate=True)
    output = as_marian(make_model(folder=Path("shared")))
    decoder = yaml.safe_load((output / "decoder.yml").read_text())
    (output / "vocab.spm").write_bytes((folder / "source.spm").read_bytes())
    (output / "decoder.yml").write_text(yaml.safe_dump(decoder | {"vocabs": ["vocab.spm"] * 2}))
    content = arrays_of(output)
    size = sentencepiece.SentencePieceProcessor(model_file=str(output / "vocab.spm")).vocab_size()
    content["Wemb"] = content["Wemb"][:size]
    content["decoder_ff_logit_out_b"] = content["decoder_ff_logit_out_b"][:, :size]
    np.savez(output / "model.npz", **content)
    (output / "source.spm").unlink()
    (output / "target.spm").unlink()
    run = import_run(output, Path("runs/marian"))
    assert load_translator(run).tokenizers.source.split("Anna")[-1] == "na"


def test_vocabularies_keep_pieces_that_yaml_would_convert():
    folder = as_marian(make_model())
    path = folder / "opus.vocab.yml"
    lines = path.read_text(encoding="utf-8").splitlines()
    strange = ["~", "yes", "'1'", '"\\""']
    numbers = [line.rpartition(": ")[2] for line in lines[-4:]]
    changed = [f"{piece}: {number}" for piece, number in zip(strange, numbers, strict=True)]
    path.write_text("\n".join([*lines[:-4], *changed]) + "\n", encoding="utf-8")
    run = import_run(folder, Path("runs/marian"))
    tokenizer = load_translator(run).tokenizers.source
    pieces = tokenizer.tokens(range(tokenizer.size))
    assert {"~", "yes", "1", '"'} <= set(pieces)


def test_the_readme_names_the_languages():
    folder = as_marian(make_model(), Path("model"))
    with pytest.raises(UserError, match="languages"):
        import_run(folder, Path("runs/marian"))
    text = "# opus-2020-02-26.zip\n\n* source language(s): deu\n* target language(s): fra wln\n"
    (folder / "README.md").write_text(text)
    data = import_run(folder, Path("runs/marian")).config.data
    assert (data.source_language, data.target_language) == ("de", "mul")


@pytest.mark.parametrize(
    "lines",
    [
        "* source languages: fi\n* target languages: sv\n",
        "* source group: Finnish\n* source language: fin\n* target language: swe\n",
    ],
)
def test_the_readme_overrules_the_name_of_the_folder(lines):
    folder = as_marian(make_model())
    (folder / "README.md").write_text(f"# A model\n\n{lines}")
    data = import_run(folder, Path("runs/marian")).config.data
    assert (data.source_language, data.target_language) == ("fi", "sv")


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("en-de", ("en", "de")),
        ("eng-deu", ("en", "de")),
        ("ceb-en", ("ceb", "en")),
        ("opus-mt-en-de", ("en", "de")),
        ("opus-mt-fi-sv", ("fi", "sv")),
        ("opus-tatoeba-en-ro", ("en", "ro")),
        ("marian_en_de", ("en", "de")),
        ("downloaded-fr-en", ("fr", "en")),
        ("mt-en", ("mt", "en")),
        ("opus-mt-mt-en", ("mt", "en")),
        ("opus-mt-en-mt", ("en", "mt")),
        ("opus-mt-en", None),  # machine translation, not Maltese
        ("my_mt_en", None),
        ("opus-en-de-mt", None),
        ("opus-mt-en-ROMANCE", None),
        ("opus-2020-02-26", None),
        ("opus+bt-2021-04-13", None),
        ("opus-mt-tc-big", None),
        ("my-new-en", None),
        ("old-run", None),
    ],
)
def test_the_name_of_the_folder_ends_with_the_languages(name, languages):
    folder = as_marian(make_model(), Path(name))
    if languages is None:
        with pytest.raises(UserError, match="languages"):
            import_run(folder, Path("runs/marian"))
        return
    data = import_run(folder, Path("runs/marian")).config.data
    assert (data.source_language, data.target_language) == languages


def arrays_of(folder: Path) -> dict[str, Any]:
    with np.load(folder / "model.npz") as arrays:
        return dict(arrays)


def rewrite(folder: Path, **changes: Any) -> None:
    """Change settings in the weights."""
    content = arrays_of(folder)
    settings = yaml.safe_load(content["special:model.yml"].tobytes().rstrip(b"\0"))
    text = yaml.safe_dump(settings | changes).encode() + b"\0"
    np.savez(folder / "model.npz", **content | {"special:model.yml": np.frombuffer(text, np.int8)})


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "s2s"},
        {"transformer-preprocess": "n"},
        {"transformer-decoder-autoreg": "rnn"},
        {"transformer-ffn-activation": "sigmoid"},
        {"enc-depth": 3},
        {"dec-depth": 10**6},
        {"dim-emb": 17},
    ],
)
def test_other_architectures_are_refused(changes):
    folder = as_marian(make_model())
    rewrite(folder, **changes)
    with pytest.raises(UserError, match=r"model\.npz|decoder\.yml"):
        import_run(folder, Path("runs/marian"))
    assert not list(Path("runs").glob("*"))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("decoder.yml", b"[" * 10_000),
        ("decoder.yml", b"models: [a.npz]\nvocabs: [b.yml]\n"),
        ("decoder.yml", b"models: [../../etc/passwd]\nvocabs: [b.yml, b.yml]\n"),
        ("opus.vocab.yml", b"a: b\n"),
        ("opus.vocab.yml", b"a: 1\nb: 1\n"),
        ("opus.vocab.yml", b"- a\n"),
        ("model.npz", b"PK"),
        ("source.spm", b"none"),
    ],
)
def test_damaged_files_are_refused(file, content):
    folder = as_marian(make_model())
    (folder / file).write_bytes(content)
    with pytest.raises(UserError):
        import_run(folder, Path("runs/marian"))
    assert not list(Path("runs").glob("*"))


def test_models_with_bpe_files_are_refused():
    folder = as_marian(make_model())
    (folder / "source.spm").rename(folder / "source.bpe")
    with pytest.raises(UserError, match=r"source\.bpe: nmt cannot import this model: it has BPE"):
        import_run(folder, Path("runs/marian"))


def test_pickled_arrays_are_not_executed():
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (Path("executed"),)

    folder = as_marian(make_model())
    evil = np.array([Evil()], dtype=object)
    np.savez(folder / "model.npz", **arrays_of(folder) | {"decoder_ff_logit_out_b": evil})
    with pytest.raises(UserError, match=r"model\.npz"):
        import_run(folder, Path("runs/marian"))
    assert not Path("executed").exists()


def test_arrays_that_claim_more_than_their_file_are_refused():
    folder = as_marian(make_model())
    content = arrays_of(folder)
    del content["Wemb"]
    np.savez(folder / "model.npz", **content)
    with (
        zipfile.ZipFile(folder / "model.npz", "a") as archive,
        archive.open("Wemb.npy", "w") as file,
    ):
        header = {"descr": "<f4", "fortran_order": False, "shape": (60_000, 10**6)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(UserError, match=r"model\.npz: .*Wemb\.npy claims 240,000,000,"):
        import_run(folder, Path("runs/marian"))


def test_settings_that_unpack_to_too_much_are_refused():
    folder = as_marian(make_model())
    rewrite(folder, devices="0" * 600_000)
    with pytest.raises(UserError, match=r"model\.npz: .*settings are larger than"):
        import_run(folder, Path("runs/marian"))


def test_weights_that_unpack_to_too_much_are_refused(monkeypatch):
    monkeypatch.setattr("nmt.runs.marian.LARGEST_WEIGHTS", 10_000)
    folder = as_marian(make_model())
    with zipfile.ZipFile(folder / "model.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("special:model.yml.npy", bytes(100_000))
    with pytest.raises(UserError, match="larger than"):
        import_run(folder, Path("runs/marian"))


def test_weights_with_several_names_or_more_rows_than_pieces_are_refused():
    folder = as_marian(make_model())
    content = arrays_of(folder)
    extra = {"encoder_l01_self_Wq": content["encoder_l1_self_Wq"]}
    np.savez(folder / "model.npz", **content | extra)
    with pytest.raises(UserError, match=r"model\.npz: .*_l01_self_Wq is there under another"):
        import_run(folder, Path("runs/marian"))
    for name, axis in (("Wemb", 0), ("decoder_ff_logit_out_b", 1)):
        longer = np.concatenate([content[name], content[name]], axis)
        np.savez(folder / "model.npz", **content | {name: longer})
        with pytest.raises(UserError, match=r"model\.npz: .*has the shape"):
            import_run(folder, Path("runs/marian"))
    assert not list(Path("runs").glob("*"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("file", ["model.npz", "opus.vocab.yml", "source.spm"])
def test_pipes_are_refused(file):
    folder = as_marian(make_model())
    (folder / file).unlink()
    os.mkfifo(folder / file)
    with pytest.raises(UserError, match=re.escape(file)):
        import_run(folder, Path("runs/marian"))
