"""Texts of errors (public module ``chainer.utils.error``)."""

# Programs import these names, although they begin with an underscore.
# pyright: reportUnusedFunction=false

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from chainer.core.typing import Array


def _format_array_props(arrays: Iterable[Array | None]) -> str:
    """Returns shapes and dtypes of arrays as text: ``(2, 3):float32, (4,):int64``."""
    return ", ".join("None" if x is None else f"{x.shape}:{x.dtype}" for x in arrays)


def _repr_with_named_data(inst: object, **kwargs: object) -> str:
    """Returns a text for an object: ``<module.Class name=value>``."""
    cls = type(inst)
    data = "".join(f" {name}={value}" for name, value in kwargs.items())
    return f"<{cls.__module__}.{cls.__qualname__}{data}>"


def _raise_from(exc_type: type[Exception], message: str, orig_exc: Exception) -> NoReturn:
    """Raises an exception whose text ends with class and text of its cause."""
    cause = f"{type(orig_exc).__name__}: {orig_exc}"
    raise exc_type(f"{message}\n\n(caused by)\n{cause}") from orig_exc
