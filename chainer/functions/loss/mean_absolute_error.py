"""Mean absolute error."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.loss._pair import check_pair


class MeanAbsoluteError(FunctionNode):
    """Mean of absolute differences."""

    type_check_key = ()
    check_type_forward = check_pair

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        x0, x1 = inputs
        if x0.size == 0:
            return (self.xp.full((), float("nan"), dtype=x0.dtype),)
        return (abs(x0 - x1).mean(),)

    def _sign(self) -> Any:
        x0, x1 = self.retained_input_arrays
        sign = self.xp.sign(x0 - x1)
        sign /= max(sign.size, 1)
        return sign

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        gx0 = self._sign()
        gx0 *= grad_outputs[0]
        return tuple([gx0 if i == 0 else -gx0 for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        sign = self._sign()
        gx0 = broadcast_to(grad_outputs[0], sign.shape) * sign
        return tuple([gx0 if i == 0 else -gx0 for i in target_input_indexes])


def mean_absolute_error(x0: Any, x1: Any) -> Variable:
    """Mean absolute error: the mean of ``|x0 - x1|`` over all elements.

    Args:
        x0 (Variable or array): First input, of any shape, floating point.
        x1 (Variable or array): Second input of the same shape and dtype.

    Returns:
        Variable: The mean, a scalar; NaN for empty inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.mean_absolute_error(np.array([1., 2.]), np.array([3., 1.]))
        variable(1.5)
    """
    return MeanAbsoluteError().apply((x0, x1))[0]
