"""Clipped ReLU."""

from __future__ import annotations

from chainer.backends.operations.activations import clipped_relu as clipped_relu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.functions._scalars import as_number
from chainer.functions.rules import OneFloat, PiecewiseLinearFunction


class ClippedReLU(OneFloat, PiecewiseLinearFunction):
    """Linear between zero and a cap."""

    is_pointwise = True

    def __init__(self, z: float) -> None:
        self.cap = as_number(z, "z")
        if self.cap <= 0:
            raise ValueError(f"z must be greater than zero, got {z}")

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._kernel = clipped_relu_operation.select(x, cap=self.cap)
        # A mask takes less memory than the input or the output.
        y, self._inside = self._kernel.forward(x, self.cap)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._kernel.backward(self._inside, grad_outputs[0]),)


def clipped_relu(x: VariableLike, z: float = 20.0) -> Variable:
    """Clipped Rectifier Unit function: ``min(max(0, x), z)``.

    Args:
        x (Variable or array): Input of any shape, floating point.
        z (float): Clipping value; positive.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.
        ValueError: If ``z`` is not positive.

    Example:
        >>> F.clipped_relu(np.array([-1., 5., 30.]))
        variable([ 0.,  5., 20.])
    """
    return ClippedReLU(z).apply((x,))[0]


def relu6(x: VariableLike) -> Variable:
    """Rectifier Unit function clipped at 6: ``min(max(0, x), 6)``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> F.relu6(np.array([-1., 5., 7.], np.float32))
        variable([0., 5., 6.])
    """
    return clipped_relu(x, 6.0)
