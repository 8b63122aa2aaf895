"""Flattening."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.functions.array.reshape import reshape


def flatten(x: VariableLike) -> Variable:
    """Flattens an array into one dimension.

    Args:
        x (Variable or array): Input of any shape; a scalar gives a vector of length 1.

    Returns:
        Variable: Vector of all elements, in C order.

    Raises:
        TypeError: If ``x`` is neither a Variable nor an array.

    Example:
        >>> F.flatten(np.array([[1, 2], [3, 4]]))
        variable([1, 2, 3, 4])
    """
    x = as_variable(x)
    return reshape(x, (x.size,))
