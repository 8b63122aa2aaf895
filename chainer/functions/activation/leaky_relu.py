"""Leaky rectified linear unit."""

from __future__ import annotations

from chainer.backends.operations.activations import leaky_relu as leaky_relu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import as_number
from chainer.functions.rules import OneFloat, PiecewiseLinearFunction


class LeakyReLU(OneFloat, PiecewiseLinearFunction):
    """Leaky rectified linear unit.

    Args:
        slope: Factor of negative values.
    """

    is_pointwise = True

    accepts_opaque_arrays = True

    def __init__(self, slope: float = 0.2) -> None:
        self.slope = as_number(slope, "slope")

    def forward(self, inputs: Arrays) -> Arrays:
        if self.slope > 0:
            # The output has the sign of the input, and the functions that follow keep it anyway.
            self.retain_outputs((0,))
        else:
            self.retain_inputs((0,))
        (x,) = inputs
        self._kernel = leaky_relu_operation.select(x, slope=self.slope)
        return (self._kernel.forward(x, self.slope),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (signed,) = self.retained_output_arrays or self.retained_input_arrays
        return (self._kernel.backward(signed, grad_outputs[0], self.slope),)


@explained_keywords
def leaky_relu(x: VariableLike, slope: float = 0.2) -> Variable:
    """Leaky Rectified Linear Unit function.

    .. math::
       f(x) = \\left \\{ \\begin{array}{ll}
       x  & {\\rm if}~ x > 0 \\\\
       ax & {\\rm if}~ x \\le 0,
       \\end{array} \\right.

    where :math:`a` is a configurable slope value, which is the derivative at 0, too.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.
        slope (float): Slope value :math:`a`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.array([[-1, 0], [2, -3], [-2, 1]], np.float32)
        >>> F.leaky_relu(x, slope=0.2).array
        array([[-0.2,  0. ],
               [ 2. , -0.6],
               [-0.4,  1. ]], dtype=float32)
    """
    return LeakyReLU(slope).apply((x,))[0]
