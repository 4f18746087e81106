"""Types for the values of options and arguments; fast to import."""

from typing import Literal, get_args

Weights = Literal["best", "last", "ema", "checkpoint_average"]
EngineChoice = Literal["auto", "ctranslate2", "pytorch"]
EngineName = Literal["ctranslate2", "pytorch"]
ComputeType = Literal[
    "float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16"
]
HeldOut = Literal["test", "validation"]
BleuTokenizer = Literal["13a", "moses", "intl", "char", "zh", "ja-mecab", "flores200", "none"]
ExtraMetric = Literal["comet"]
AttentionKind = Literal["encoder", "decoder", "cross"]
AttentionPicture = Literal["clearest", "lines", "average", "cross", "encoder", "decoder"]
ExportFormat = Literal["ctranslate2", "transformers"]
Best = Literal["bleu", "loss"]
Address = Literal["du", "ihr", "sie"]
ADDRESSES: tuple[Address, ...] = get_args(Address)
