"""Vertical concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Shape
from chainer.functions.array._joining import Join


class Vstack(Join):
    """Concatenation along the first axis; vectors become rows."""

    full_ndim = 2
    axis = 0

    def lifted_shape(self, shape: Shape) -> tuple[int, ...]:
        return (1, shape[0] if shape else 1)


def vstack(xs: Sequence[Any]) -> Variable:
    """Concatenates variables vertically (row wise).

    Args:
        xs (list of Variable or array): Variables of the same dtype and number of axes. With two
            axes or more, their shapes agree along all but the first axis; vectors have the same
            length.

    Returns:
        Variable: Concatenation along the first axis; vectors of length ``N`` become rows of
            ``(len(xs), N)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.vstack((np.array([1, 2]), np.array([3, 4])))
        variable([[1, 2],
                  [3, 4]])
    """
    return Vstack().apply(xs)[0]
