"""Small Marian models with random weights, as others publish them, to import."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
import yaml

from tests.conftest import toy_pairs

PAIRS = toy_pairs()
LANGUAGE_TOKENS = (">>deu<<", ">>cmn_Hans<<")


def make_model(
    kind: str = "unigram",
    separate: bool = False,
    tokens: tuple[str, ...] = (),
    folder: Path = Path("marian"),
    pieces: int = 60,
    languages: tuple[str, str] = ("en", "de"),
    **changes: Any,
) -> Path:
    """Write a model in the format of transformers to a new folder.

    kind: of subwords; separate: one vocabulary for each side; tokens: of target languages; pieces:
    of each SentencePiece model; changes: of config.json
    """
    import transformers

    folder.mkdir()
    vocabularies: list[list[str]] = []
    columns = (0, 1) if languages[0] == "en" else (1, 0)
    for side, name in zip(columns, ("source", "target"), strict=True):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([pair[side] for pair in PAIRS]),
            model_prefix=str(folder / name),
            vocab_size=pieces,
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
    for name, given in zip(("vocab", "target_vocab"), vocabularies, strict=False):
        distinct = [*sorted(set(given))[1:], *tokens]  # one piece is lacking in the vocabulary
        random.Random(1).shuffle(distinct)
        numbers = ["</s>", "<unk>", *distinct]
        last = 1 + len(tokens) + max(len(set(each)) for each in vocabularies)
        content = {piece: i for i, piece in enumerate(numbers)} | {"<pad>": last}
        (folder / f"{name}.json").write_text(json.dumps(content))
        sizes.append(last + 1)
    source, target = languages
    settings = {"source_lang": source, "target_lang": target, "separate_vocabs": separate}
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
    translator = transformers.MarianMTModel(config)
    with torch.no_grad():
        translator.final_logits_bias.normal_()
        if not separate:  # one matrix, although transformers ties it only together with the output
            for stack in (translator.model.encoder, translator.model.decoder):
                stack.embed_tokens.weight.copy_(translator.model.shared.weight)
        # As in published models, whose decoder starts from zeros.
        translator.get_output_embeddings().weight[config.pad_token_id] = 0  # type: ignore[no-untyped-call]
        translator.final_logits_bias[0, config.pad_token_id] = 0
    translator.generation_config.num_beams = 3
    translator.generation_config.max_length = 48
    translator.generation_config.bad_words_ids = [[config.pad_token_id]]
    translator.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: cc-by-4.0\n---\n# A model\n")
    return folder


def as_marian(folder: Path, output: Path = Path("en-de")) -> Path:
    """Write a model of `make_model` again in Marian's own format, to a new folder."""
    from safetensors.numpy import load_file

    output.mkdir()
    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    names = {"self_attn": "self", "encoder_attn": "context"}
    arrays: dict[str, Any] = {}
    for name, array in weights.items():
        parts = name.split(".")
        if name == "model.shared.weight":
            arrays["Wemb"] = array[:-1]
        elif name == "final_logits_bias":
            arrays["decoder_ff_logit_out_b"] = array[:, :-1]
        elif parts[2:3] == ["layers"]:
            layer = f"{parts[1]}_l{int(parts[3]) + 1}"
            *place, kind = parts[4:]
            if place[0].endswith("layer_norm"):
                before = place[0].removesuffix("_layer_norm")
                scope = f"{names[before]}_Wo" if before in names else "ffn_ffn"
                ending = {"weight": "scale", "bias": "bias"}[kind]
                arrays[f"{layer}_{scope}_ln_{ending}"] = array[None]
                continue
            which = place[0][2:] if place[0] in ("fc1", "fc2") else place[1][0]
            scope = names.get(place[0], "ffn")
            arrays[f"{layer}_{scope}_{'W' if kind == 'weight' else 'b'}{which}"] = (
                array.T if kind == "weight" else array[None]
            )
    settings = {
        "type": "transformer",
        "dim-emb": config["d_model"],
        "dim-vocabs": [len(arrays["Wemb"])] * 2,
        "enc-depth": config["encoder_layers"],
        "dec-depth": config["decoder_layers"],
        "transformer-heads": config["encoder_attention_heads"],
        "transformer-dim-ffn": config["encoder_ffn_dim"],
        "transformer-ffn-activation": config["activation_function"],
        "transformer-ffn-depth": 2,
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-decoder-autoreg": "self-attention",
        "transformer-guided-alignment-layer": "last",
        "transformer-no-projection": False,
        "transformer-train-position-embeddings": False,
        "tied-embeddings-all": True,
    }
    text = yaml.safe_dump(settings).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, np.int8)
    np.savez(output / "model.npz", **arrays)
    numbers = json.loads((folder / "vocab.json").read_text())
    lines = [f"{json.dumps(p, ensure_ascii=False)}: {n}" for p, n in numbers.items()][:-1]
    (output / "opus.vocab.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    decoder = {
        "relative-paths": True,
        "models": ["model.npz"],
        "vocabs": ["opus.vocab.yml"] * 2,
        "beam-size": 6,
        "normalize": 1,
    }
    (output / "decoder.yml").write_text(yaml.safe_dump(decoder))
    for name in ("source.spm", "target.spm"):
        (output / name).write_bytes((folder / name).read_bytes())
    return output
