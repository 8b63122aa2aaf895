"""Utilities that programs and plugins use (public module ``chainer.utils``).

Everything here is public, and imported at its first use.
"""

from __future__ import annotations

import collections.abc as collections_abc  # chainer.utils.collections_abc is public

from chainer.core.lazy import lazy_module

# Sparse matrices contain Variables, which are above the utilities in the order of imports.
_SPARSE = "chainer.core.autograd.sparse"

# Public name -> module that defines it.
_NAMES: dict[str, str] = {
    "CooMatrix": _SPARSE,
    "WalkerAlias": ".walker_alias",
    "_check_arrays_forward_compatible": "chainer.core.autograd.input_arrays",
    "_format_array_props": ".error",
    "_raise_from": ".error",
    "_repr_with_named_data": ".error",
    "enable_final": ".meta",
    "experimental": "._experimental",
    "final": ".meta",
    "force_array": ".arrays",
    "force_type": ".arrays",
    "get_order": _SPARSE,
    "get_conv_outsize": ".conv",
    "get_deconv_outsize": ".conv",
    "install_command": "chainer.core.installation",
    "nondeterministic": "._nondeterministic",
    "seed": "chainer.core.arrays.random_states",
    "size_of_shape": ".arrays",
    "sum_to": ".arrays",
    "tempdir": "._tempdir",
    "to_coo": _SPARSE,
}
_SUBMODULES = (
    "argument",
    "array",
    "atomic_file",
    "cache",
    "conv",
    "conv_nd",
    "error",
    "imgproc",
    "meta",
    "precision",
    "sparse",
    "type_check",
    "walker_alias",
)

# Type checkers read __init__.pyi, which is made from the table.
__all__ = ["collections_abc", *(name for name in _NAMES if not name.startswith("_"))]  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy_module(globals(), _NAMES, submodules=_SUBMODULES)
