"""``concat`` and ``split``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py.compat.arguments import need_mdarray


class concat:
    """Joins mdarrays along an axis; backward takes an array apart."""

    @staticmethod
    def Forward(xs: Iterable[mdarray], axis: int, /) -> mdarray:
        """The arrays (a sequence or an ``mdarrayVector``) joined along ``axis``."""
        arrays = list(xs)
        need_mdarray(**{f"xs[{i}]": x for i, x in enumerate(arrays)})
        return ops.concat(arrays, axis)

    @staticmethod
    def Backward(grady: mdarray, offsets: Iterable[int], axis: int, /) -> tuple[mdarray, ...]:
        """Parts of ``grady``, cut along ``axis`` at the rising positions ``offsets``."""
        need_mdarray(grady=grady)
        return ops.split(grady, list(offsets), axis)


def split(
    x: mdarray | np.ndarray[Any, Any], indices_or_sections: int | Iterable[int], axis: int = 0
) -> tuple[mdarray, ...] | list[np.ndarray[Any, Any]]:
    """Cuts an array along an axis.

    Args:
        x: the array.
        indices_or_sections: number of equal parts, or the rising positions where to cut.
        axis: the axis.

    Returns:
        A tuple of mdarrays; a list of NumPy arrays if oneDNN cannot cut them (empty parts, other
        dtypes).

    Raises:
        ValueError: the parts would not be equal.
        IndexError: ``axis`` is out of range.
    """
    if not -x.ndim <= axis < x.ndim:
        raise IndexError("tuple index out of range")
    size = x.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        parts = int(indices_or_sections)
        if parts < 1 or size % parts:
            raise ValueError("array split does not result in an equal division")
        indices = [size // parts * i for i in range(1, parts)]
    else:
        indices = [int(i) for i in indices_or_sections]
    edges = [0, *indices, size]
    rising = all(a < b for a, b in pairwise(edges))
    if not indices or not rising or not ops.supports(x):
        return np.split(np.asarray(x), indices, axis)
    return ops.split(x, indices, axis)
