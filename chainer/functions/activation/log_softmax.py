"""Logarithm of the softmax."""

from __future__ import annotations

from chainer.backends.operations.activations import log_softmax as log_softmax_operation
from chainer.core.arrays.backend import get_array_module
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Indexes, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.activation.softmax import AlongAxis, softmax_sections
from chainer.functions.rules import Ops, Value, Values


class LogSoftmax(AlongAxis):
    """Logarithm of the softmax along an axis."""

    operation = log_softmax_operation

    def gradients(self, ops: Ops, targets: Indexes, y: Value, gy: Value) -> Values:
        return (gy - ops.exp(y) * ops.sum(gy, self.axis, keepdims=True),)


def _log_softmax(x: Array, axis: int = 1) -> Array:
    """Returns the logarithm of the softmax of an array, for programs that call it on arrays."""
    return log_softmax_operation.select(x, axis=axis).forward(x, axis)


def logsumexp(x: Array, axis: int) -> Array:
    """Returns the logarithm of the sum of exponentials of an array, whose axis stays.

    Args:
        x: Array.
        axis: Axis.
    """
    xp = get_array_module(x)
    # Less the maximum, so that no exponential overflows.
    top = x.max(axis=axis, keepdims=True)
    return top + xp.log(xp.exp(x - top).sum(axis=axis, keepdims=True))


@softmax_sections()
@explained_keywords
def log_softmax(x: VariableLike, axis: int = 1) -> Variable:
    """Channel-wise log-softmax function.

    This function computes the logarithm of the softmax along an axis, the second one by default.
    Let :math:`c = (c_1, c_2, \\dots, c_D)` be the slice of ``x`` along with that axis. For each
        slice
    :math:`c`, it computes the logarithm of the function :math:`f(c)` defined as

    .. math::
       f(c) = {\\exp(c) \\over \\sum_{d} \\exp(c_d)}.

    This method is theoretically equivalent to ``log(softmax(x))`` but is more stable: where
    ``softmax(x)`` underflows to 0, ``log_softmax(x)`` is still finite.

    .. seealso:: :func:`~chainer.functions.softmax`

    Example:
        >>> x = np.array([[0, 1, 2], [0, 2, 4]], np.float32)
        >>> np.round(F.log_softmax(x).array, 4)
        array([[-2.4076, -1.4076, -0.4076],
               [-4.1429, -2.1429, -0.1429]], dtype=float32)
        >>> bool(np.allclose(F.log_softmax(x).array, F.log(F.softmax(x)).array))
        True
    """
    return LogSoftmax(axis).apply((x,))[0]
