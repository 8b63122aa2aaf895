"""Published models in Chainer: load their files, run, fine-tune and save them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer_models.caches import Cache, GrowingStore, RingStore
    from chainer_models.errors import ModelFileError
    from chainer_models.explaining import Explanation, explain
    from chainer_models.generation.generate import generate
    from chainer_models.generation.processors import (
        min_p,
        no_repeat_ngram,
        repetition_penalty,
        temperature,
        top_k,
        top_p,
    )
    from chainer_models.loading import from_config, load_pretrained
    from chainer_models.model import Model
    from chainer_models.names import Row
    from chainer_models.options import Options
    from chainer_models.saving import save_pretrained

#: Module -> public names in it, imported at first use.
MODULES = {
    "caches": ("Cache", "GrowingStore", "RingStore"),
    "errors": ("ModelFileError",),
    "explaining": ("Explanation", "explain"),
    "generation.generate": ("generate",),
    "generation.processors": (
        "min_p",
        "no_repeat_ngram",
        "repetition_penalty",
        "temperature",
        "top_k",
        "top_p",
    ),
    "loading": ("from_config", "load_pretrained"),
    "model": ("Model",),
    "names": ("Row",),
    "options": ("Options",),
    "saving": ("save_pretrained",),
}

_HOMES = {name: module for module, names in MODULES.items() for name in names}

__all__ = [
    "Cache",
    "Explanation",
    "GrowingStore",
    "Model",
    "ModelFileError",
    "Options",
    "RingStore",
    "Row",
    "explain",
    "from_config",
    "generate",
    "load_pretrained",
    "min_p",
    "no_repeat_ngram",
    "repetition_penalty",
    "save_pretrained",
    "temperature",
    "top_k",
    "top_p",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainer_models' has no attribute {name!r}")
    value = getattr(import_module(f"chainer_models.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
