"""Assertions about arrays of any backend."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.arrays.holders import array_of
from chainer.core.typing import ArrayLike, HostArray


def to_host(value: ArrayLike) -> Any:
    """Returns an array, Variable, scalar or nested sequence of numbers as a NumPy array.

    Args:
        value: Array of any backend, :class:`~chainer.Variable`, number or sequence of numbers.

    Raises:
        TypeError: If ``value`` is none of these.
    """
    value = array_of(value)
    cls = value.__class__
    backend = find_backend(cls)
    if backend is not None:
        return backend.to_host(value)
    array = numpy.asarray(value)
    if array.dtype.kind not in "biufcSUMm":
        raise TypeError(f"an array, a Variable or numbers are expected, got {type(value)}")
    return array


def assert_allclose(
    x: ArrayLike, y: ArrayLike, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True
) -> None:
    """Asserts if some corresponding element of x and y differs too much.

    An element passes if ``|x - y| <= atol + rtol * |y|``. Arrays of all backends (and Variables)
    are accepted and can be mixed.

    Args:
        x: Left-hand-side array.
        y: Right-hand-side array.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        verbose (bool): If True, it outputs verbose messages on error.

    Raises:
        AssertionError: If shapes differ or an element differs too much; the message names the worst
            element.

    Example:
        >>> from chainer import testing
        >>> testing.assert_allclose(F.exp(np.zeros(3, np.float32)), np.ones(3))
        >>> testing.assert_allclose([1.0], [1.1], atol=0.2)
    """
    x = to_host(x)
    y = to_host(y)
    try:
        numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol, verbose=verbose)
    except AssertionError as error:
        details = _describe(x, y, atol, rtol)
        if verbose:
            with numpy.printoptions(threshold=1000):
                details += f"\nx: {x}\ny: {y}"
        raise AssertionError(f"{error}\n\nassert_allclose failed:\n{details}\n") from None


def _describe(x: HostArray, y: HostArray, atol: float, rtol: float) -> str:
    lines = [f"  shape: {x.shape} {y.shape}", f"  dtype: {x.dtype} {y.dtype}"]
    numeric = x.dtype.kind in "biufc" and y.dtype.kind in "biufc"
    if numeric and x.size and (x.shape == y.shape or x.ndim == 0 or y.ndim == 0):
        wide = numpy.result_type(x.dtype, y.dtype, numpy.float64)
        a, b = numpy.broadcast_arrays(x.astype(wide), y.astype(wide))
        with numpy.errstate(all="ignore"):
            error = numpy.abs(a - b)
            tolerance = atol + rtol * numpy.abs(b)
            excess = error - tolerance
        # An element that is NaN or infinite on one side only is the worst there can be.
        same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
        excess = numpy.where(numpy.isnan(excess), numpy.where(same, -numpy.inf, numpy.inf), excess)
        index = numpy.unravel_index(int(excess.argmax()), excess.shape)
        place = tuple(map(int, index))
        with numpy.errstate(all="ignore"):
            relative = error[index] / numpy.abs(b[index])
        lines += [
            f"  i: {place}",
            f"  x[i]: {a[index]}",
            f"  y[i]: {b[index]}",
            f"  relative error[i]: {relative}",
            f"  absolute error[i]: {error[index]}",
            f"  relative tolerance * |y[i]|: {rtol * numpy.abs(b[index])}",
            f"  absolute tolerance: {atol}",
            f"  total tolerance: {tolerance[index]}",
        ]
    return "\n".join(lines)
