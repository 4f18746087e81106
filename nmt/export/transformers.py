"""Exports a run for the library `transformers`: `nmt export --format transformers`.

The library's Marian is the paper's Transformer: norms after the residual connections, sinusoids,
subwords. Its Pegasus has the norms before the sublayers and at the end of each stack, and one
matrix for all embeddings. The sinusoids of both have all sines before all cosines, so the columns
of everything that is d_model wide are reordered: the same numbers in another order.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import save_file

from nmt.config.config import Config
from nmt.config.model import TRAINING_ONLY, ModelConfig
from nmt.config.yaml_files import written
from nmt.corpus.tokenizers.registry import load_tokenizers, vocabulary_files
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.decoding.engines.conversion import read_arrays
from nmt.decoding.engines.interface import unknown_fields
from nmt.errors import one_line
from nmt.model.parameters import parameter_shapes
from nmt.model.transformers_weights import named_weights, shares_embeddings
from nmt.runs.folder import RunFolder
from nmt.runs.published import TAG_PIECE, language_token
from nmt.special_tokens import BOS, EOS, PAD, SPECIALS, SUPPRESSED, TAGS, UNK

USAGE = """```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("FOLDER")
model = AutoModelForSeq2SeqLM.from_pretrained("FOLDER")
batch = tokenizer(["Where is the station?"], return_tensors="pt", padding=True)
print(tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True))
```

Give the tokenizer one sentence at a time, in the Unicode form NFC, with ordinary spaces and
without soft hyphens and other invisible characters: unlike nmt, transformers does not split or
normalize text. Greedy search then gives the same tokens
as nmt, except for text like a special token (`<pad>`) or a language code (`>>de<<`). Beam search
may choose other translations, because transformers ends it by a different rule and, unless
`decoding.length_offset` is 0, has a different length penalty."""
FILES = (  # that `write_transformers` writes
    *("model.safetensors", "config.json", "generation_config.json", "tokenizer_config.json"),
    *("source.spm", "target.spm", "vocab.json", "target_vocab.json"),
)
# Fields that must have these values, because the format supports no others.
_REQUIRED: dict[str, dict[str, object]] = {
    "model": {
        "norm_kind": "layer",
        "norm_epsilon": 1e-5,
        "key_value_heads": None,
        "positions": "sinusoidal",
        "position_exponent": "pair",
        "first_position": 0,
        "score_scale": "d_key",
    },
    "tokenizer": {"whitespace_as_suffix": False},
    "data": {
        "lowercase": "none",
        "restore_case": False,
        "strip_punctuation": False,
        "placeholders": "none",
    },
}
_REQUIRED_OF_MODEL: dict[str, dict[str, object]] = {  # further ones, by model.norm_position
    "post": {"final_norm": False},
    "pre": {"final_norm": True, "tie": "all"},
}
# Other fields of the model that are expressed here, or that only training needs.
_EXPRESSED = TRAINING_ONLY | {
    *("d_model", "heads", "d_key", "d_value", "d_ff", "encoder_layers", "decoder_layers"),
    *("norm_position", "final_norm", "activation", "attention_bias", "output_bias", "max_length"),
    *("scale_embeddings", "tie"),
}


def unsupported(config: Config) -> list[str]:
    """Return the reasons why transformers does not support such a run, if any."""
    reasons = unknown_fields("model", config.model, _EXPRESSED | _REQUIRED["model"].keys())
    norm = config.model.norm_position
    for section, fields in (*_REQUIRED.items(), ("model", _REQUIRED_OF_MODEL[norm])):
        for name, wanted in fields.items():
            value = getattr(getattr(config, section), name)
            if value != wanted:
                reasons.append(f"{section}.{name} is {written(value)}, not {written(wanted)}")
    # Models with forms of address were also trained without their tags.
    if any(part.tag not in (None, *config.data.imported_tags) for part in config.data.corpora):
        reasons.append("data.corpora has tags")
    if config.data.unicode == "NFKC":  # which changes common text, unlike NFC
        reasons.append("data.unicode is NFKC, not NFC or none")
    if not config.tokenizer.subword:
        reasons.append(f"tokenizer.kind is {config.tokenizer.kind}, not bpe or unigram")
    model = config.model
    if model.activation == "swiglu":
        reasons.append("model.activation is swiglu, not relu, gelu or silu")
    if (model.key_size, model.value_size) != (model.d_model // model.heads,) * 2:
        reasons.append("model.d_key and d_value are not d_model / heads")
    return reasons


def write_transformers(run: RunFolder, weights: Path, folder: Path) -> None:
    """Write model, tokenizer and generation settings to an empty folder.

    Raises `UserError` for weights that are damaged or of another model.
    """
    config = run.config
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    sizes = tokenizers.source.size, tokenizers.target.size
    shared = shares_embeddings(config.model)
    arrays = read_arrays(weights, parameter_shapes(config.model, *sizes))
    model = dict(named_weights(config.model, arrays.__getitem__, *sizes))
    try:
        save_file(model, folder / "model.safetensors", {"format": "pt"})
    except SafetensorError as error:  # such as a full disk
        raise OSError(one_line(error)[:200]) from None
    _write_json(folder / "config.json", _model_config(config.model, *sizes))
    _write_json(folder / "generation_config.json", _generation_config(config))
    source, target = vocabulary_files(config.tokenizer)
    shutil.copyfile(run.data / source, folder / "source.spm")
    shutil.copyfile(run.data / target, folder / "target.spm")
    _write_json(folder / "vocab.json", _numbers(tokenizers.source, config))
    if not shared:
        _write_json(folder / "target_vocab.json", _numbers(tokenizers.target, config))
    tokenizer = {
        "tokenizer_class": "MarianTokenizer",
        "separate_vocabs": not shared,
        "source_lang": config.data.source_language,
        "target_lang": config.data.target_language,
        "pad_token": SPECIALS[PAD],
        "unk_token": SPECIALS[UNK],
        "eos_token": SPECIALS[EOS],
        "model_max_length": config.model.max_length,
    }
    _write_json(folder / "tokenizer_config.json", tokenizer)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _numbers(tokenizer: Tokenizer, config: Config) -> dict[str, int]:
    tags = zip(TAGS, config.data.tags, strict=False)
    names = {TAG_PIECE + mark: language_token(tag) for mark, tag in tags}
    tokens = tokenizer.tokens(range(tokenizer.size))
    return {names.get(token, token): number for number, token in enumerate(tokens)}


def _model_config(model: ModelConfig, source_size: int, target_size: int) -> dict[str, Any]:
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("attention_heads", model.heads), ("ffn_dim", model.d_ff))
    }
    layouts: dict[str, dict[str, Any]] = {
        "post": {
            "architectures": ["MarianMTModel"],
            "model_type": "marian",
            "decoder_vocab_size": source_size if shares_embeddings(model) else target_size,
            "share_encoder_decoder_embeddings": shares_embeddings(model),
        },
        "pre": {"architectures": ["PegasusForConditionalGeneration"], "model_type": "pegasus"},
    }
    return {
        **layouts[model.norm_position],
        "d_model": model.d_model,
        **sides,
        "encoder_layers": model.encoder_layers,
        "decoder_layers": model.decoder_layers,
        "activation_function": model.activation,
        "scale_embedding": model.scale_embeddings,
        "max_position_embeddings": model.max_length,
        "vocab_size": source_size,
        "tie_word_embeddings": model.tie in ("target", "all"),
        "dropout": model.dropout,
        "attention_dropout": model.attention_dropout,
        "activation_dropout": model.feed_forward_dropout,
        **_special_ids(),
        "forced_eos_token_id": None,
    }


def _special_ids() -> dict[str, int]:
    return {
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
    }


def _generation_config(config: Config) -> dict[str, Any]:
    longest = config.model.max_length
    if not config.decoding.max_length_factor:
        longest = min(longest, config.decoding.max_length_extra + 1)  # <sos>
    return {
        **_special_ids(),
        "suppress_tokens": list(SUPPRESSED),
        "num_beams": config.decoding.beam_size,
        "length_penalty": config.decoding.length_penalty,
        "max_length": longest,
    }
