"""Exponential linear unit."""

from __future__ import annotations

from chainer.backends.operations.activations import elu as elu_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.functions.rules import KernelFunction, OneFloat, Ops, Value, Values


class ELU(OneFloat, KernelFunction):
    """Exponential linear unit.

    Args:
        alpha: Limit for large negative values, negated.
    """

    is_pointwise = True

    accepts_opaque_arrays = True

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = float(alpha)

    def forward(self, inputs: Arrays) -> Arrays:
        if self.alpha <= 0:  # else the output has the sign of the input
            self.retain_inputs((0,))
        self.retain_outputs((0,))
        (x,) = inputs
        self._kernel = elu_operation.select(x, alpha=self.alpha)
        return (self._kernel.forward(x, self.alpha),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays or (None,)
        (y,) = self.retained_output_arrays
        return (self._kernel.backward(x, y, grad_outputs[0], self.alpha),)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        y, gy = values[-2:]
        signed = values[0].array  # the input if it is retained, else the output
        # At 0 the derivative is alpha, the limit from the left.
        negative = (signed <= 0).astype(gy.dtype)
        return (gy * ((y + self.alpha) * negative + (1 - negative)),)


def elu(x: VariableLike, alpha: float = 1.0) -> Variable:
    """Exponential Linear Unit function.

    For a parameter :math:`\\alpha`, it is expressed as

    .. math::
       f(x) = \\left \\{ \\begin{array}{ll}
       x & {\\rm if}~ x > 0 \\\\
       \\alpha (\\exp(x) - 1) & {\\rm if}~ x \\le 0,
       \\end{array} \\right.

    The derivative at 0 is :math:`\\alpha`.

    See: https://arxiv.org/abs/1511.07289

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.
        alpha (float): Parameter :math:`\\alpha`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.array([[-1, 0], [2, -3]], np.float32)
        >>> y = F.elu(x, alpha=1.)
        >>> np.round(y.array, 4)
        array([[-0.6321,  0.    ],
               [ 2.    , -0.9502]], dtype=float32)
    """
    return ELU(alpha).apply((x,))[0]
