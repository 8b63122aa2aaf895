"""Array code in an expression of Variables that counts as a constant."""

from __future__ import annotations

from collections.abc import Callable

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays


class _Constant(FunctionNode):
    """Function of elements without a gradient."""

    is_pointwise = True

    def __init__(self, function: Callable[..., Array]) -> None:
        self._function = function

    def forward(self, inputs: Arrays) -> Arrays:
        return (self._function(*inputs),)


def constant(function: Callable[..., Array], *inputs: Variable) -> Variable:
    """Applies array code that has no derivative, or whose derivative is zero almost everywhere.

    Code that reads ``x.array`` does the same, but not in :func:`chainer.vmap`, where the values
    differ from sample to sample: there it makes the mapped function run once for each sample.

    Args:
        function: Function of arrays of one shape that works element by element.
        inputs: The Variables whose arrays it gets.

    Returns:
        Variable: Its result, which has no gradient.

    Example:
        >>> from chainer.functions.rules.constants import constant
        >>> constant(lambda x: (x < 0).astype(x.dtype), chainer.Variable(np.array([-1., 2.])))
        variable([1., 0.])
    """
    return _Constant(function).apply(inputs)[0]
