"""Local response normalization."""

from __future__ import annotations

from chainer.backends.operations.response_normalizations import (
    ResponseParameters,
)
from chainer.backends.operations.response_normalizations import (
    local_response_normalization as operation,
)
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import expect_number
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.rules import ComposedFunction, LinearMap


class LocalResponseNormalization(ComposedFunction):
    """Local response normalization.

    Args:
        n (int): Width of the window.
        k (float): Smoothing parameter.
        alpha (float): Scaling parameter.
        beta (float): Power parameter.
    """

    accepts_opaque_arrays = True
    type_check_key = ()
    retained_inputs = (0,)
    retained_outputs = (0,)

    def __init__(self, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75) -> None:
        expect_number("n of local_response_normalization", n, at_least=1)
        self.n = n
        self.k = k
        self.alpha = alpha
        self.beta = beta

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim >= 2)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        parameters = ResponseParameters(self.n, self.k, self.alpha, self.beta)
        self._kernel = operation.select(x, parameters=parameters)
        y, self._residual = self._kernel.forward(x, parameters)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,), (y,) = self.retained_input_arrays, self.retained_output_arrays
        parameters = ResponseParameters(self.n, self.k, self.alpha, self.beta)
        return (self._kernel.backward(x, y, grad_outputs[0], self._residual, parameters),)

    def compose(self, x: Variable) -> Variables:
        # The formula of the kernels in Variables, for gradients of gradients.
        sums = NeighborSums(self.n).apply((x * x,))[0]
        return (x * (sums * self.alpha + self.k) ** -self.beta,)


class NeighborSums(LinearMap):
    """Sums over neighboring channels; a symmetric linear function, so its own gradient.

    Args:
        n (int): Width of the window.
    """

    batch_inputs = (0,)

    def __init__(self, n: int) -> None:
        self.n = n

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        sums = x.copy()
        # Whole slices are added instead of windows; further shifts move everything out.
        for shift in range(1, min(self.n // 2, x.shape[1] - 1) + 1):
            sums[:, shift:] += x[:, :-shift]
            sums[:, :-shift] += x[:, shift:]
        return (sums,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        # Windows are symmetric, so the map is its own adjoint.
        return self.forward((grad_outputs[0],))


def local_response_normalization(
    x: VariableLike, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75
) -> Variable:
    r"""Local response normalization across neighboring channels.

    With :math:`N` channels it computes

    .. math::

        y_i = {x_i \over \left( k + \alpha \sum_{j=\max{1, i - n/2}}^{\min{N, i + n/2}}
        x_j^2 \right)^\beta}.

    Args:
        x (~chainer.Variable or array): Input of shape ``(batch, N, ...)``, floating point.
        n (int): Normalization window width.
        k (float): Smoothing parameter.
        alpha (float): Normalizer scaling parameter.
        beta (float): Normalizer power parameter.

    Returns:
        ~chainer.Variable: Output with the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` has less than two dimensions or is not of floating point numbers.

    See: Section 3.3 of `ImageNet Classification with Deep Convolutional Neural Networks
    <https://papers.nips.cc/paper/4824-imagenet-classification-with-deep-convolutional-neural-networks>`_

    Example:
        >>> x = np.ones((1, 3), np.float32)
        >>> F.local_response_normalization(x, n=3, k=1, alpha=1, beta=1).array
        array([[0.33333334, 0.25      , 0.33333334]], dtype=float32)
    """
    return LocalResponseNormalization(n, k, alpha, beta).apply((x,))[0]
