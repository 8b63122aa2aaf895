"""Which dtypes meet in an operation: NumPy decides, as it does for NumPy's own arrays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from chainer.typing import ArrayLike

#: Names of the dtypes a library may have; each is looked up in its namespace.
NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)

_KINDS = (int, float, complex)


def kind_of(value: ArrayLike) -> Any:
    """Returns what decides about promotion: the dtype of a value, or the type of a number.

    Args:
        value: Something with a dtype, or a number of Python.

    Raises:
        TypeError: For other values.
    """
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return dtype
    cls = value.__class__
    if cls in _KINDS:
        return cls
    if isinstance(value, bool):
        return numpy.dtype(bool)
    for kind in _KINDS:
        if isinstance(value, kind):
            return kind
    raise TypeError(f"expected an array or a number, got {cls}")


@functools.lru_cache(4096)
def loop(ufunc: str, *kinds: Any) -> tuple[numpy.dtype[Any], ...]:
    """Returns the dtypes that a ufunc of NumPy computes with: of its inputs, then of its outputs.

    Args:
        ufunc: Name of the ufunc.
        kinds: A dtype for each input, or ``int``, ``float`` or ``complex`` for a number of Python.
    """
    function = getattr(numpy, ufunc)
    return function.resolve_dtypes((*kinds, *[None] * function.nout))


@functools.lru_cache(4096)
def common(*kinds: Any) -> numpy.dtype[Any]:
    """Returns the dtype that values are brought to when they are put together.

    Args:
        kinds: A dtype, or ``int``, ``float`` or ``complex``, for each value.
    """
    return numpy.result_type(*[kind(0) if isinstance(kind, type) else kind for kind in kinds])


@functools.lru_cache(256)
def of_sum(dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """Returns the dtype of a sum or product: small integers become the default integer.

    Args:
        dtype: Dtype of the elements.
    """
    return numpy.sum(numpy.zeros(1, dtype)).dtype


@functools.lru_cache(256)
def of_mean(dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """Returns the dtype of a mean.

    Args:
        dtype: Dtype of the elements.
    """
    return dtype if dtype.kind in "fc" else numpy.dtype(numpy.float64)


def check_castable(source: numpy.dtype[Any], target: numpy.dtype[Any], what: str) -> None:
    """Raises unless results may be written into an array, as NumPy's rule ``same_kind`` has it.

    Args:
        source: Dtype of the results.
        target: Dtype of the array.
        what: Name of the operation.

    Raises:
        TypeError: If not.
    """
    if not numpy.can_cast(source, target, "same_kind"):
        raise TypeError(
            f"cannot cast the result of {what!r} from {source} to {target} with rule 'same_kind'"
        )


def names_of(dtypes: Sequence[numpy.dtype[Any]]) -> str:
    """Returns the names of dtypes, for messages.

    Args:
        dtypes: The dtypes.
    """
    return ", ".join(dtype.name for dtype in dtypes)
