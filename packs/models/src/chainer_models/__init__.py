"""Published models in Chainer: load their files, run, fine-tune and save them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer_models.caches import Cache, GrowingStore, RingStore
    from chainer_models.errors import ModelFileError
    from chainer_models.explaining import Explanation, explain
    from chainer_models.generation.captured import CapturedDecoder
    from chainer_models.generation.generate import generate
    from chainer_models.generation.processors import (
        min_p,
        no_repeat_ngram,
        repetition_penalty,
        temperature,
        top_k,
        top_p,
    )
    from chainer_models.hub import download
    from chainer_models.loading import from_config, load_pretrained
    from chainer_models.lora import LoRALinear, add_lora, load_adapter, merge_lora, save_adapter
    from chainer_models.model import Model
    from chainer_models.names import Row
    from chainer_models.options import Options
    from chainer_models.packing import PackedEmbedding, PackedLinear, pack_weights, unpack_weights
    from chainer_models.saving import save_pretrained
    from chainer_models.tokenizing import load_tokenizer

#: Module -> public names in it, imported at first use.
MODULES = {
    "caches": ("Cache", "GrowingStore", "RingStore"),
    "errors": ("ModelFileError",),
    "explaining": ("Explanation", "explain"),
    "generation.captured": ("CapturedDecoder",),
    "generation.generate": ("generate",),
    "generation.processors": (
        "min_p",
        "no_repeat_ngram",
        "repetition_penalty",
        "temperature",
        "top_k",
        "top_p",
    ),
    "hub": ("download",),
    "loading": ("from_config", "load_pretrained"),
    "lora": ("LoRALinear", "add_lora", "load_adapter", "merge_lora", "save_adapter"),
    "model": ("Model",),
    "names": ("Row",),
    "options": ("Options",),
    "packing": ("PackedEmbedding", "PackedLinear", "pack_weights", "unpack_weights"),
    "saving": ("save_pretrained",),
    "tokenizing": ("load_tokenizer",),
}

_HOMES = {name: module for module, names in MODULES.items() for name in names}

__all__ = [
    "Cache",
    "CapturedDecoder",
    "Explanation",
    "GrowingStore",
    "LoRALinear",
    "Model",
    "ModelFileError",
    "Options",
    "PackedEmbedding",
    "PackedLinear",
    "RingStore",
    "Row",
    "add_lora",
    "download",
    "explain",
    "from_config",
    "generate",
    "load_adapter",
    "load_pretrained",
    "load_tokenizer",
    "merge_lora",
    "min_p",
    "no_repeat_ngram",
    "pack_weights",
    "repetition_penalty",
    "save_adapter",
    "save_pretrained",
    "temperature",
    "top_k",
    "top_p",
    "unpack_weights",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainer_models' has no attribute {name!r}")
    value = getattr(import_module(f"chainer_models.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
