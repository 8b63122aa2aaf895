"""Common utilities (``chainer.utils``)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.core.utils._experimental import experimental
    from chainer.core.utils.arrays import force_array, force_type, size_of_shape
    from chainer.core.utils.conv import get_conv_outsize, get_deconv_outsize
    from chainer.core.utils.meta import enable_final, final
    from chainer.core.utils.walker_alias import WalkerAlias

__all__ = [
    "WalkerAlias",
    "enable_final",
    "experimental",
    "final",
    "force_array",
    "force_type",
    "get_conv_outsize",
    "get_deconv_outsize",
    "size_of_shape",
]

_MODULES = {
    "WalkerAlias": "walker_alias",
    "enable_final": "meta",
    "experimental": "_experimental",
    "final": "meta",
    "force_array": "arrays",
    "force_type": "arrays",
    "get_conv_outsize": "conv",
    "get_deconv_outsize": "conv",
    "size_of_shape": "arrays",
}

_SUBMODULES = frozenset(
    {"argument", "atomic_file", "conv", "conv_nd", "meta", "type_check", "walker_alias"}
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
