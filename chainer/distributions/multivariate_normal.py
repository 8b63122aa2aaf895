"""The multivariate normal distribution."""

from __future__ import annotations

import numpy

from chainer import functions as F
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Grads, Indexes, Shape, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import HALF_LOG_2PI, ParametricDistribution, parameter
from chainer.distributions.distribution import register_kl

#: Constants of the entropy and of the logarithm of the density, for each dimension.
ENTROPYC = 0.5 + HALF_LOG_2PI
LOGPROBC = -HALF_LOG_2PI


class TriangularInv(FunctionNode):
    """Inverses of triangular matrices; the other triangle of the input is not read.

    Args:
        lower: Whether the matrices are lower triangular; upper otherwise.
    """

    type_check_key = ("_lower",)

    def __init__(self, lower: bool = True) -> None:
        self._lower = lower

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        (x,) = in_types
        type_check.expect(x.dtype.kind == "f", x.ndim >= 2, x.shape[-1] == x.shape[-2])

    def _triangle(self, x: Array) -> Array:
        return self.xp.tril(x) if self._lower else self.xp.triu(x)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self.retain_outputs((0,))
        # Linear algebra of NumPy and CuPy does not take float16.
        wide = x.astype(numpy.float32) if x.dtype == numpy.float16 else x
        inverse = self.xp.linalg.inv(self._triangle(wide))
        # Rounding may leave small numbers in the other triangle.
        return (self._triangle(inverse).astype(x.dtype),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        (y,) = self.get_retained_outputs()
        (gy,) = grad_outputs
        assert gy is not None
        triangle = self._triangle(self.xp.ones(y.shape[-2:], dtype=y.dtype))
        # The other triangle is not read, so that its gradient is zero.
        gy = gy * triangle
        gx = -F.matmul(F.matmul(_transposed(y), gy), _transposed(y))
        return (gx * triangle,)


def _transposed(x: VariableLike) -> Variable:
    return F.swapaxes(x, -1, -2)


def _triangular_inv(x: VariableLike, lower: bool = True) -> Variable:
    """Computes inverses of triangular matrices; the other triangle of ``x`` is not read."""
    return TriangularInv(lower).apply((x,))[0]


class MultivariateNormal(ParametricDistribution):
    r"""Multivariate normal distribution, given by a Cholesky factor of its covariance matrix.

    .. math::
        p(x;\mu,V) = \frac{1}{\sqrt{\det(2\pi V)}}
            \exp\left(-\frac{1}{2}(x-\mu)^T V^{-1}(x-\mu)\right), \quad V = L L^T

    Samples are differentiable functions of both parameters.

    Args:
        loc: Mean, of shape ``B + (d,)``.
        scale_tril: Lower triangular matrices :math:`L`, of shape ``B + (d, d)``.

    Raises:
        ValueError: If ``scale_tril`` is not given.

    Example:
        >>> d = chainer.distributions.MultivariateNormal(np.zeros(2), scale_tril=np.eye(2))
        >>> d.log_prob(np.zeros(2))
        variable(-1.83787707)
    """

    def __init__(self, loc: VariableLike, *, scale_tril: VariableLike | None = None) -> None:
        if scale_tril is None:
            raise ValueError("`scale_tril` must have a value.")
        super().__init__(loc=loc, scale_tril=scale_tril)

    loc = parameter("loc", "Mean.")
    scale_tril = parameter("scale_tril", "Lower triangular Cholesky factor of the covariance.")

    @property
    def d(self) -> int:
        """Number of dimensions of an event."""
        return self.loc.shape[-1]

    @property
    def batch_shape(self) -> Shape:
        return numpy.broadcast_shapes(self.loc.shape[:-1], self.scale_tril.shape[:-2])

    @property
    def event_shape(self) -> Shape:
        return self.loc.shape[-1:]

    @property
    def support(self) -> str:
        return "real"

    @cached_property
    def mean(self) -> Variable:
        return self._full(self.loc)

    @property
    def covariance(self) -> Variable:
        covariance = F.matmul(self.scale_tril, _transposed(self.scale_tril))
        return F.broadcast_to(covariance, (*self.batch_shape, self.d, self.d))

    @cached_property
    def entropy(self) -> Variable:
        return self._full_batch(_log_det(self.scale_tril) + ENTROPYC * self.d)

    def log_prob(self, x: VariableLike) -> Variable:
        square = _squared_norm(self.scale_tril, self._point(x) - self.loc)
        return LOGPROBC * self.d - _log_det(self.scale_tril) - 0.5 * square

    def sample_n(self, n: int) -> Variable:
        noise = self._draw_floats("standard_normal", n, event_shape=(self.d, 1))
        # A sum of products: matmul does not broadcast the batch axes of the matrices.
        product = F.sum(self.scale_tril * _transposed(noise), axis=-1)
        return self.loc + product


def _log_det(scale_tril: Variable) -> Variable:
    """Computes the logarithm of the absolute determinant of triangular matrices."""
    return F.sum(F.log(F.absolute(F.diagonal(scale_tril, axis1=-2, axis2=-1))), axis=-1)


def _squared_norm(scale_tril: Variable, x: Variable) -> Variable:
    """Computes the squared length of ``inverse(scale_tril) x``."""
    # A product with the inverse instead of a solution of equations: it broadcasts batch axes.
    solved = F.sum(_triangular_inv(scale_tril) * F.expand_dims(x, -2), axis=-1)
    return F.sum(solved**2, axis=-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariate_normal(dist1: MultivariateNormal, dist2: MultivariateNormal) -> Variable:
    tril1, tril2 = dist1.scale_tril, dist2.scale_tril
    inverse2 = _triangular_inv(tril2)
    # inverse2 @ tril1 with broadcast batch axes
    ratio = F.sum(F.expand_dims(inverse2, -1) * F.expand_dims(tril1, -3), axis=-2)
    return (
        _log_det(tril2)
        - _log_det(tril1)
        + 0.5 * F.sum(ratio**2, axis=(-2, -1))
        + 0.5 * _squared_norm(tril2, dist1.loc - dist2.loc)
        - 0.5 * dist1.d
    )
