"""Rounding towards zero."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._gradientless import apply_without_gradient


def fix(x: VariableLike) -> Variable:
    """Elementwise fix: rounds towards zero.

    The gradient is zero almost everywhere; the result is not connected to the graph.

    Args:
        x (Variable or array): Input of any shape.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``x`` is neither a Variable nor an array.

    Example:
        >>> F.fix(np.array([-1.5, 1.5]))
        variable([-1.,  1.])
    """
    return apply_without_gradient("trunc", x)
