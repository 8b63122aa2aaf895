"""Depth-wise concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Shape
from chainer.functions.array._joining import Join


class Dstack(Join):
    """Concatenation along the third axis; matrices become slices."""

    full_ndim = 3
    axis = 2

    def lifted_shape(self, shape: Shape) -> tuple[int, ...]:
        return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]


def dstack(xs: Sequence[Any]) -> Variable:
    """Concatenates variables along the third axis (depth wise).

    Args:
        xs (list of Variable or array): Variables of the same dtype and number of axes. With three
            axes or more, their shapes agree along all but the third axis; otherwise along all.

    Returns:
        Variable: Concatenation along the third axis; shapes ``(N1, N2)``, ``(N1,)`` and ``()`` give
            ``(N1, N2, n)``, ``(1, N1, n)`` and ``(1, 1, n)`` for ``n`` variables.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.dstack((np.array([1, 2]), np.array([3, 4])))
        variable([[[1, 3],
                   [2, 4]]])
    """
    return Dstack().apply(xs)[0]
