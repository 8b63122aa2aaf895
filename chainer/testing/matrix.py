"""Random matrices with known properties."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.typing import ArrayLike, DTypeLike


def _broadcast_to(array: ArrayLike, shape: tuple[int, ...]) -> numpy.ndarray[Any, Any]:
    # The name of release 7, for NumPy versions without the function.
    return numpy.broadcast_to(numpy.asarray(array), shape)


def generate_matrix(
    shape: tuple[int, ...], dtype: DTypeLike = float, *, singular_values: ArrayLike
) -> numpy.ndarray[Any, Any]:
    """Generates a random matrix with given singular values.

    Tests of inverses and decompositions are unstable when the matrix is close to singular; here the
    condition number is under control.

    Args:
        shape (tuple of int): Shape ``(B..., M, N)`` of the matrix or stack of matrices.
        dtype: Floating-point or complex dtype of the result.
        singular_values (array-like): Positive values, broadcastable to ``(B..., min(M, N))``.

    Returns:
        numpy.ndarray: Array of the given shape.

    Raises:
        ValueError: If the shape has fewer than two dimensions, or a singular value is negative.
        TypeError: If the dtype is not a real or complex floating-point type, or the singular values
            are not real.

    Example:
        >>> a = chainer.testing.generate_matrix((3, 3), singular_values=[1, 2, 4])
        >>> round(float(np.linalg.cond(a)), 6)
        4.0
    """
    dtype = numpy.dtype(dtype)
    if len(shape) < 2:
        raise ValueError(f"shape must have at least 2 dimensions, got {shape}")
    if dtype.kind not in "fc":
        raise TypeError(f"dtype must be a real or complex floating-point type, got {dtype}")
    given = numpy.asarray(singular_values)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"singular_values must be real, got {given.dtype}")
    values = given.astype(numpy.float64)
    if (values < 0).any():
        raise ValueError(f"singular_values must not be negative, got {values.min()}")
    rank = min(shape[-2:])
    values = _broadcast_to(values, (*shape[:-2], rank))
    sample = numpy.random.standard_normal(shape)
    if dtype.kind == "c":
        sample = sample + 1j * numpy.random.standard_normal(shape)
    u, _, vh = numpy.linalg.svd(sample, full_matrices=False)
    return numpy.matmul(u * values[..., None, :], vh).astype(dtype)
