"""NumPy functions on mdarrays: they receive and return NumPy arrays.

Inputs in blocks are copied for the call and keep their layout; outputs (``out=``) are reordered in
place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

_class: type = object
_readable: Callable[[Any], np.ndarray[Any, Any]]


def bind(mdarray: type, readable: Callable[[Any], np.ndarray[Any, Any]]) -> None:
    """Sets the array class, which cannot be imported here: its module imports this one."""
    global _class, _readable
    _class, _readable = mdarray, readable


def plain(value: AnyArray) -> Any:
    """``value`` with NumPy arrays in place of mdarrays, in tuples, lists and dicts as well."""
    if isinstance(value, _class):
        return _readable(value)
    if type(value) is tuple:
        return tuple(plain(v) for v in value)
    if type(value) is list:
        return [plain(v) for v in value]
    if type(value) is dict:
        return {k: plain(v) for k, v in value.items()}
    return value


def _writable(value: AnyArray) -> Any:
    return value._view() if isinstance(value, _class) else value


def array_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Implements ``mdarray.__array_ufunc__``."""
    out = kwargs.pop("out", None)
    if method == "at":
        return ufunc.at(_writable(inputs[0]), *plain(inputs[1:]))
    if ufunc is np.matmul and method == "__call__" and out is None and not kwargs:
        from ideep4py._matmul import numpy_matmul  # which imports this module

        return numpy_matmul(*inputs)
    inputs = plain(inputs)
    if out is None:
        return getattr(ufunc, method)(*inputs, **plain(kwargs))
    result = getattr(ufunc, method)(*inputs, out=tuple(map(_writable, out)), **plain(kwargs))
    return _given_outputs(result, out)


def _given_outputs(result: Any, out: tuple[Any, ...]) -> Any:
    """The results, with the ``out`` arguments themselves instead of their views."""
    if not isinstance(result, tuple):
        return out[0] if out[0] is not None else result
    return tuple(r if o is None else o for r, o in zip(result, out, strict=True))


def _are_matrices(arrays: tuple[Any, ...]) -> bool:
    return all(getattr(a, "ndim", 0) == 2 for a in arrays)


# Functions that write into their first argument.
_WRITES_FIRST = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}
)


def array_function(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Implements ``mdarray.__array_function__``."""
    if func is np.dot and len(args) == 2 and not kwargs and _are_matrices(args):
        return np.matmul(*args)
    out = kwargs.get("out")
    written = _writable(args[0]) if args and func in _WRITES_FIRST else None
    arguments = plain(args)
    if written is not None:
        arguments = (written, *arguments[1:])
    options = plain({k: v for k, v in kwargs.items() if k != "out"})
    if "out" not in kwargs:
        return func(*arguments, **options)
    outputs = tuple(map(_writable, out)) if isinstance(out, tuple) else _writable(out)
    result = func(*arguments, out=outputs, **options)
    return out if isinstance(out, _class) else result
