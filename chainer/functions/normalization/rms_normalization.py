"""Root mean square normalization."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.backends.operations.rms_normalizations import rms_normalization as operation
from chainer.core.autograd.known_calls import KnownCalls
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.cast import cast
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules import ComposedFunction

#: Normalizations of few vectors without a graph.
_known_normalizations = KnownCalls(operation, "eps", parameters=1)


class RMSNormalization(ComposedFunction):
    """Division of vectors by the root of their mean square.

    Args:
        eps (float): Added to the mean square.
        offset (float): Added to the scaling vector.
    """

    type_check_key = ()
    retained_inputs = (0, 1)

    def __init__(self, eps: float, offset: float = 0.0) -> None:
        self.eps = eps
        self.offset = offset

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtypes and shapes."""
        type_check.expect(in_types.size() == 2)
        x, gamma = in_types
        type_check.expect(x.dtype.kind == "f", x.ndim >= 1, gamma.ndim == 1, gamma.dtype == x.dtype)
        type_check.expect(x.shape[-1] == gamma.shape[0])

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the output."""
        x, gamma = inputs
        if self.offset:
            gamma = self._scale(gamma)
        self._kernel = operation.select(x, gamma, eps=self.eps)
        y, self._inv_rms = self._kernel.forward(x, gamma, self.eps)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Computes the gradients on arrays."""
        x, gamma = self.retained_input_arrays
        gx, ggamma = self._kernel.backward(x, self._scale(gamma), grad_outputs[0], self._inv_rms)
        gradients = gx, ggamma.astype(gamma.dtype, copy=False)
        return tuple([gradients[i] for i in target_input_indexes])

    def _scale(self, gamma: Array) -> Array:
        """Returns the factor of the vectors, which float16 would round if it were near 1."""
        return to_compute_dtype(gamma) + self.offset if self.offset else gamma

    def compose(self, x: Variable, gamma: Variable) -> Variables:
        """Computes the output with differentiable functions."""
        dtype = x.dtype
        compute_dtype = "f" if dtype.itemsize < 4 else dtype
        x, gamma = cast(x, compute_dtype), cast(gamma, compute_dtype)
        square = sum_axes(x * x, axis=-1, keepdims=True) / max(x.shape[-1], 1)
        return (cast(x * (square + self.eps) ** -0.5 * (gamma + self.offset), dtype),)


@explained_keywords
def rms_normalization(
    x: VariableLike, gamma: VariableLike, eps: float = 1e-6, offset: float = 0.0
) -> Variable:
    """Root mean square normalization.

    Vectors along the last axis are divided by the root of their mean square and scaled: layer
    normalization without the mean.

    Args:
        x (Variable or array): Vectors, shape ``(..., D)``, floating point.
        gamma (Variable or array): Scaling vector, shape ``(D,)``.
        eps (float): Added to the mean square for numerical stability.
        offset (float): Added to ``gamma``. With 1, a scaling vector of zeros is the identity, as in
            the models Gemma.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    See: `Root Mean Square Layer Normalization <https://arxiv.org/abs/1910.07467>`_

    Example:
        >>> F.rms_normalization(np.array([[1, 7]], np.float32), np.ones(2, np.float32)).array
        array([[0.2, 1.4]], dtype=float32)
    """
    return normalized(x, gamma, eps, offset)


def normalized(x: VariableLike, gamma: VariableLike, eps: float, offset: float) -> Variable:
    """Does the work of :func:`rms_normalization`, without the explanation of wrong keywords.

    Args:
        x: Vectors.
        gamma: Scaling vector.
        eps: Added to the mean square.
        offset: Added to ``gamma``.
    """
    # Without a function node where text is decoded, as for linear functions.
    kernel = None if offset else _known_normalizations.kernel(x, gamma, None, eps)
    if kernel is not None:
        y = kernel.forward(x._array, gamma._array, eps)[0]
        return _known_normalizations.output(y, x, gamma, None)
    y = RMSNormalization(eps, offset).apply((x, gamma))[0]
    if not offset:
        _known_normalizations.remember(y, x, gamma, None, eps)
    return y
