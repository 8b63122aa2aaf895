"""Logarithm of a sum of exponentials."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Axis, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import (
    check_axes_argument,
    check_axes_exist,
    kept_shape,
    normalized_axes,
)
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes


class LogSumExp(ShiftsAxes, UnaryFunction):
    """Logarithm of the sum of exponentials over given axes, without overflow."""

    type_check_key = ("axis",)
    retained_inputs = (0,)
    retained_outputs = (0,)

    def __init__(self, axis: Axis = None) -> None:
        self.axis = check_axes_argument(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        xp = self.xp
        if x.size == 0:
            return (xp.log(xp.exp(x).sum(axis=self.axis)),)
        m = x.max(axis=self.axis, keepdims=True)
        # An infinite maximum minus itself would be NaN.
        finite = xp.where(xp.isfinite(m), m, 0)
        s = xp.log(xp.exp(x - finite).sum(axis=self.axis, keepdims=True))
        s += finite
        axes = normalized_axes(self.axis, x.ndim)
        return (s.reshape(tuple([n for i, n in enumerate(x.shape) if i not in axes])),)

    def gradient(self, ops: Ops, x: Value, y: Value, gy: Value) -> Value:
        kept = kept_shape(x.shape, normalized_axes(self.axis, x.ndim))
        gx = ops.exp(x - y.reshape(kept))
        gx *= gy.reshape(kept)
        return gx


@explained_keywords
def logsumexp(x: VariableLike, axis: Axis = None) -> Variable:
    """Logarithm of the sum of the exponentials of array elements: ``log(sum(exp(x)))``.

    It does not overflow, however large the elements are.

    Args:
        x (Variable or array): Elements, of any shape, floating point.
        axis (None, int, or tuple of int): Axis or axes along which to sum; all by default.

    Returns:
        Variable: Output without the axes that were summed over.

    Raises:
        InvalidType: If the dtype does not fit or an axis does not exist.
        TypeError: If ``axis`` is of a wrong type.
        ValueError: If an axis occurs twice.

    Example:
        >>> F.logsumexp(np.array([1000., 1000.]))
        variable(1000.69314718)
    """
    return LogSumExp(axis).apply((x,))[0]
