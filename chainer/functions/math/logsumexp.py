"""Logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._axes import (
    Axis,
    check_axes_argument,
    check_axes_exist,
    kept_shape,
    normalized_axes,
)


class LogSumExp(FunctionNode):
    """Logarithm of the sum of exponentials over given axes; nothing overflows."""

    type_check_key = ("axis",)

    def __init__(self, axis: Axis = None) -> None:
        self.axis = check_axes_argument(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        (x,) = inputs
        xp = self.xp
        if x.size == 0:
            return (xp.log(xp.exp(x).sum(axis=self.axis)),)
        m = x.max(axis=self.axis, keepdims=True)
        y = xp.exp(x - xp.where(xp.isfinite(m), m, 0))
        s = xp.log(y.sum(axis=self.axis, keepdims=True))
        s += xp.where(xp.isfinite(m), m, 0)
        return (s.reshape(self._reduced(x.shape)),)

    def _reduced(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        axes = normalized_axes(self.axis, len(shape))
        return tuple([n for i, n in enumerate(shape) if i not in axes])

    def _kept(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return kept_shape(shape, normalized_axes(self.axis, len(shape)))

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.broadcast import broadcast_to
        from chainer.functions.array.reshape import reshape
        from chainer.functions.math.exponential import exp

        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        kept = self._kept(x.shape)
        y = broadcast_to(reshape(y, kept), x.shape)
        gy = broadcast_to(reshape(grad_outputs[0], kept), x.shape)
        return (gy * exp(x - y),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        kept = self._kept(x.shape)
        gx = self.xp.exp(x - y.reshape(kept))
        gx *= grad_outputs[0].reshape(kept)
        return (gx,)


def logsumexp(x: Any, axis: Axis = None) -> Variable:
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
