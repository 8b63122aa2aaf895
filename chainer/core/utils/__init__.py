"""Utilities that programs and plugins use (public module ``chainer.utils``).

Only public things live here. Everything is imported at first use.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module

# Public name -> module that defines it.
_NAMES: dict[str, str] = {
    "WalkerAlias": ".walker_alias",
    "enable_final": ".meta",
    "experimental": "._experimental",
    "final": ".meta",
    "force_array": ".arrays",
    "force_type": ".arrays",
    "get_conv_outsize": ".conv",
    "get_deconv_outsize": ".conv",
    "size_of_shape": ".arrays",
}
_SUBMODULES = ("argument", "atomic_file", "conv", "conv_nd", "meta", "type_check", "walker_alias")

# Type checkers read __init__.pyi, which is made from the table.
__all__ = list(_NAMES)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy_module(globals(), _NAMES, submodules=_SUBMODULES)
