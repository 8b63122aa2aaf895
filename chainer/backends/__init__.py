"""Array backends and their kernels."""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = frozenset({"cuda", "intel64"})


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
