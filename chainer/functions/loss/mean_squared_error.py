"""Mean squared error (a.k.a. Euclidean loss)."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.loss._pair import check_pair


class MeanSquaredError(FunctionNode):
    """Mean of squared differences."""

    type_check_key = ()
    check_type_forward = check_pair

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        x0, x1 = inputs
        if x0.size == 0:
            return (self.xp.full((), float("nan"), dtype=x0.dtype),)
        difference = x0 - x1
        if difference.dtype.itemsize > 2:
            flat = difference.ravel()
            return (self.xp.asarray(flat.dot(flat) / flat.size, dtype=x0.dtype),)
        # A sum of float16 squares overflows long before their mean does.
        squares = difference.astype("float32") ** 2
        return (squares.mean().astype(x0.dtype),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x0, x1 = self.retained_input_arrays
        gx0 = x0 - x1
        gx0 *= grad_outputs[0] * (2.0 / max(gx0.size, 1))
        return tuple([gx0 if i == 0 else -gx0 for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        x0, x1 = self.get_retained_inputs()
        difference = x0 - x1
        factor = grad_outputs[0] * (2.0 / max(difference.size, 1))
        gx0 = broadcast_to(factor, difference.shape) * difference
        return tuple([gx0 if i == 0 else -gx0 for i in target_input_indexes])


def mean_squared_error(x0: Any, x1: Any) -> Variable:
    """Mean squared error: the mean of ``(x0 - x1)^2`` over all elements (not only over the batch).

    Args:
        x0 (Variable or array): First input, of any shape, floating point.
        x1 (Variable or array): Second input of the same shape and dtype.

    Returns:
        Variable: The mean, a scalar; NaN for empty inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.mean_squared_error(np.array([1., 2.]), np.array([3., 1.]))
        variable(2.5)
    """
    return MeanSquaredError().apply((x0, x1))[0]
