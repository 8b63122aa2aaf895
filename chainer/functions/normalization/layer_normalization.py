"""Layer normalization."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import prod

from chainer.backends.operations.normalizations import layer_normalization as operation
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.known_calls import KnownCalls
from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.cast import cast
from chainer.functions.array.reshape import reshape
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules import ComposedFunction, expect_one_dtype

#: Normalizations of few vectors without a graph.
_known_normalizations = KnownCalls(operation, "eps")


class LayerNormalization(ComposedFunction):
    """Layer normalization.

    Args:
        eps (float): Added to the variance.
    """

    accepts_opaque_arrays = True
    type_check_key = ()
    retained_inputs = (0, 1, 2)

    def __init__(self, eps: float = 1e-5) -> None:
        self.eps = eps

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, gamma_type, beta_type = expect_one_dtype(in_types, 3)
        type_check.expect(
            x_type.ndim == 2,
            gamma_type.ndim == 1,
            beta_type.ndim == 1,
            gamma_type.shape == beta_type.shape,
            x_type.shape[1] == gamma_type.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x, gamma, beta = inputs
        self._kernel = operation.select(x, gamma, beta, eps=self.eps)
        y, *self._saved = self._kernel.forward(x, gamma, beta, self.eps)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, gamma, _ = self.retained_input_arrays
        gradients = self._kernel.backward(x, gamma, grad_outputs[0], *self._saved)
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, x: Variable, gamma: Variable, beta: Variable) -> Variables:
        dtype = x.dtype
        # Sums of halves lose too many digits.
        compute_dtype = "f" if is_half(dtype) else dtype
        x, gamma, beta = (cast(v, compute_dtype) for v in (x, gamma, beta))
        size = max(x.shape[1], 1)
        centered = x - sum_axes(x, 1, keepdims=True) / size
        var = sum_axes(centered * centered, 1, keepdims=True) / size
        return (cast(centered * (var + self.eps) ** -0.5 * gamma + beta, dtype),)


@explained_keywords
def layer_normalization(
    x: VariableLike, gamma: VariableLike, beta: VariableLike, eps: float = 1e-5
) -> Variable:
    """Layer normalization.

    It normalizes vectors along the last axis by their own mean and variance, scales and shifts
    them.

    Args:
        x (~chainer.Variable or array): Vectors, shape ``(..., unit_size)`` with at least one
            leading axis, floating point, for example the output of :func:`linear`.
        gamma (~chainer.Variable or array): Scaling vector of shape ``(unit_size,)``.
        beta (~chainer.Variable or array): Shifting vector of shape ``(unit_size,)``.
        eps (float): Added to the variance for numerical stability.

    Returns:
        ~chainer.Variable: Output which has the same shape as ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    See: `Layer Normalization <https://arxiv.org/abs/1607.06450>`_

    Example:
        >>> x = np.array([[1, 3], [10, 30]], np.float32)
        >>> gamma, beta = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> F.layer_normalization(x, gamma, beta).array.round(3)
        array([[-1.,  1.],
               [-1.,  1.]], dtype=float32)
    """
    return normalized(x, gamma, beta, eps)


def normalized(x: VariableLike, gamma: VariableLike, beta: VariableLike, eps: float) -> Variable:
    """Does the work of :func:`layer_normalization`, without the explanation of wrong keywords.

    Args:
        x: Vectors.
        gamma: Scaling vector.
        beta: Shifting vector.
        eps: Added to the variance.
    """
    # Without a function node where text is decoded, as for linear functions.
    kernel = _known_normalizations.kernel(x, gamma, beta, eps)
    if kernel is not None:
        y = kernel.forward(x._array, gamma._array, beta._array, eps)[0]
        return _known_normalizations.output(y, x, gamma, beta)
    shape = shape_of(x)
    if len(shape) <= 2:
        y = LayerNormalization(eps).apply((x, gamma, beta))[0]
        _known_normalizations.remember(y, x, gamma, beta, eps)
        return y
    # The number of rows is computed: a length of -1 is ambiguous where there are no elements.
    rows = reshape(x, (prod(shape[:-1]), shape[-1]))
    return reshape(normalized(rows, gamma, beta, eps), shape)
