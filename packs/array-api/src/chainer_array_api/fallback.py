"""Functions that the standard does not make up for: NumPy computes them, and that is counted."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array

if TYPE_CHECKING:
    from chainer.typing import ArrayLike

#: NumPy's functions that NumPy itself computes on these arrays.
FUNCTIONS = frozenset(
    """
    angle apply_along_axis bartlett blackman convolve corrcoef correlate cov cross
    cumulative_prod cumulative_sum digitize divmod ediff1d extract frexp gcd geomspace
    gradient hamming hanning histogram histogram2d i0 insert delete interp intersect1d kron lcm
    ldexp lexsort logspace logaddexp2 mask_indices median modf nanargmax nanargmin nancumprod
    nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
    nanvar packbits pad percentile piecewise poly polyfit polyval quantile ravel_multi_index
    resize rot90 select setdiff1d setxor1d sinc spacing trapezoid tril_indices tril_indices_from
    trim_zeros triu_indices triu_indices_from union1d unique unpackbits unwrap vander
    """.split()
)
LINALG = frozenset(
    """
    cond eig eigvals eigh eigvalsh lstsq matrix_norm matrix_power matrix_rank multi_dot norm
    pinv slogdet svdvals tensorinv tensorsolve trace vector_norm diagonal outer matmul cross
    """.split()
)
FFT = frozenset(name for name in dir(numpy.fft) if not name.startswith("_") and name != "helper")

#: Values of :data:`chainer.config.array_api_fallback`.
POLICIES = ("auto", "allow", "warn", "error")


class FallbackWarning(UserWarning):
    """A function was computed by NumPy."""


class FallbackError(RuntimeError):
    """A function would be computed by NumPy, and that is not allowed."""


_counters: list[Counter[str]] = []


@contextmanager
def count_fallbacks() -> Generator[Counter[str]]:
    """Context manager that counts the functions which NumPy computes, by name.

    Returns:
        collections.Counter: The counts.

    Example:
        >>> from chainer_array_api import count_fallbacks
        >>> xp = chainer.get_device("@array_api_strict").xp
        >>> with count_fallbacks() as counts:
        ...     _ = xp.median(xp.arange(5)), xp.mean(xp.arange(5))
        >>> dict(counts)
        {'median': 1}
    """
    counter: Counter[str] = Counter()
    _counters.append(counter)
    try:
        yield counter
    finally:
        _counters.remove(counter)


def function(b: Any, name: str, host: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of NumPy as one of arrays of a backend.

    Args:
        b: The backend.
        name: Its name.
        host: The function of NumPy.
    """

    def on_host(*args: ArrayLike, **kwargs: Any) -> Any:
        arrays = arrays_in((args, kwargs))
        _allow(b, name, arrays)
        lowered, keywords = to_host(b, args), to_host(b, kwargs)
        return lift(b, host(*lowered, **keywords), arrays)

    on_host.__name__ = name
    on_host.__doc__ = f"As ``numpy.{name}``, which computes it."
    return on_host


def _allow(b: Any, name: str, arrays: list[Array]) -> None:
    from chainer import config

    policy = getattr(config, "array_api_fallback", "auto")
    if policy not in POLICIES:
        raise ValueError(
            f"chainer.config.array_api_fallback must be one of {', '.join(POLICIES)}, "
            f"got {policy!r}"
        )
    away = [x for x in arrays if not b.in_host_memory(x.native)]
    text = f"{b.name} has no {name!r}: NumPy computes it"
    if away:
        text += f", with copies from {away[0].device} to the host and back"
    if policy == "error" or (policy == "auto" and away):
        raise FallbackError(f"{text}. chainer.config.array_api_fallback = 'allow' permits it")
    if policy == "warn":
        warnings.warn(text, FallbackWarning, stacklevel=4)
    for counter in _counters:
        counter[name] += 1


def arrays_in(value: ArrayLike) -> list[Array]:
    """Returns the arrays in nested lists, tuples and dictionaries.

    Args:
        value: The structure.
    """
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, Array) else []


def to_host(b: Any, value: ArrayLike) -> Any:
    """Returns a value with NumPy arrays in place of the backend's.

    Args:
        b: The backend.
        value: An array, or lists, tuples and dictionaries with some.
    """
    if isinstance(value, Array):
        return b.host_copy(value.native)
    if isinstance(value, dict):
        return {name: to_host(b, item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([to_host(b, item) for item in value])
    return value


def lift(b: Any, result: Any, arrays: list[Array]) -> Any:
    """Returns a result of NumPy with arrays of a backend in place of NumPy's.

    Args:
        b: The backend.
        result: Result of a function of NumPy.
        arrays: The arguments it was called with; the result comes to the device of the first.
    """
    if isinstance(result, (numpy.ndarray, numpy.generic)):
        device = b.native_device_of(arrays[0]) if arrays else b.current_native_device
        # A copy in C's order: results may be views with strides that a library does not take.
        return b.make(numpy.array(result, order="C"), device)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[lift(b, item, arrays) for item in result])
    if isinstance(result, (list, tuple)):
        return type(result)([lift(b, item, arrays) for item in result])
    return result
