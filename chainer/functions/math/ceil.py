"""Rounding up."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._gradientless import apply_without_gradient


def ceil(x: VariableLike) -> Variable:
    """Elementwise ceil: the smallest integer that is not smaller.

    The gradient is zero almost everywhere; the result is not connected to the graph.

    Args:
        x (Variable or array): Input of any shape.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``x`` is neither a Variable nor an array.

    Example:
        >>> F.ceil(np.array([-1.5, 1.5]))
        variable([-1.,  2.])
    """
    return apply_without_gradient("ceil", x)
