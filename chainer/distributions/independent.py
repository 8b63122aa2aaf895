"""Distributions whose batch axes are axes of an event."""

from __future__ import annotations

import math

from chainer import functions as F
from chainer.core.arguments import require_attribute
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayModule, Shape, VariableLike
from chainer.distributions.distribution import Distribution, kl_divergence, register_kl


class Independent(Distribution):
    """Distribution that takes the last batch axes of another one as axes of an event.

    Args:
        distribution (Distribution): The other distribution.
        reinterpreted_batch_ndims (int): Number of these axes; by default all batch axes but the
            first.

    Raises:
        ValueError: If the distribution has fewer batch axes.

    Example:
        >>> normal = chainer.distributions.Normal(np.zeros((4, 3)), np.ones((4, 3)))
        >>> d = chainer.distributions.Independent(normal)
        >>> d.batch_shape, d.event_shape, d.log_prob(np.zeros((4, 3))).shape
        ((4,), (3,), (4,))
    """

    def __init__(
        self, distribution: Distribution, reinterpreted_batch_ndims: int | None = None
    ) -> None:
        require_attribute("distribution", distribution, "batch_shape", "a Distribution")
        ndim = len(distribution.batch_shape)
        if reinterpreted_batch_ndims is None:
            # The first axis is usually the batch of examples.
            reinterpreted_batch_ndims = max(0, ndim - 1)
        elif reinterpreted_batch_ndims > ndim:
            raise ValueError(
                "reinterpreted_batch_ndims must be less than or equal to the number of dimensions "
                "of `distribution.batch_shape`."
            )
        self._distribution = distribution
        self._reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def distribution(self) -> Distribution:
        """The other distribution."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """Number of batch axes of the other distribution that are axes of an event."""
        return self._reinterpreted_batch_ndims

    @property
    def _split(self) -> int:
        """Number of batch axes."""
        return len(self.distribution.batch_shape) - self.reinterpreted_batch_ndims

    @property
    def batch_shape(self) -> Shape:
        return self.distribution.batch_shape[: self._split]

    @property
    def event_shape(self) -> Shape:
        return self.distribution.batch_shape[self._split :] + self.distribution.event_shape

    @property
    def params(self) -> dict[str, Variable]:
        return self.distribution.params

    @property
    def support(self) -> str:
        return self.distribution.support

    @property
    def xp(self) -> ArrayModule:
        return self.distribution.xp

    # -- properties -------------------------------------------------------------------------------

    @property
    def mean(self) -> Variable:
        return self.distribution.mean

    @property
    def mode(self) -> Variable:
        return self.distribution.mode

    @property
    def variance(self) -> Variable:
        return self.distribution.variance

    @property
    def stddev(self) -> Variable:
        return self.distribution.stddev

    @property
    def covariance(self) -> Variable:
        inner = self._inner_covariance()
        if not self.reinterpreted_batch_ndims:
            return inner
        count = math.prod(self.distribution.batch_shape[self._split :])
        d = inner.shape[-1]
        blocks = inner.reshape(*self.batch_shape, count, d, 1, d)
        # Block (i, j) is zero unless i = j.
        with blocks.device:
            diagonal = self.xp.eye(count, dtype=inner.dtype).reshape(count, 1, count, 1)
        return (blocks * diagonal).reshape(*self.batch_shape, count * d, count * d)

    def _inner_covariance(self) -> Variable:
        """Returns the covariance matrices of the inner distribution."""
        inner = self.distribution
        if inner.event_shape:
            return inner.covariance
        try:
            return inner.covariance
        except NotImplementedError:  # numbers have variances
            return inner.variance.reshape(*inner.batch_shape, 1, 1)

    @property
    def entropy(self) -> Variable:
        return self._sum(self.distribution.entropy)

    # -- functions --------------------------------------------------------------------------------

    def _sum(self, values: Variable) -> Variable:
        return _sum_last(values, self.reinterpreted_batch_ndims)

    def _product(self, values: Variable) -> Variable:
        ndim = self.reinterpreted_batch_ndims
        return F.prod(values, axis=tuple(range(-ndim, 0))) if ndim else values

    def log_prob(self, x: VariableLike) -> Variable:
        return self._sum(self.distribution.log_prob(x))

    def prob(self, x: VariableLike) -> Variable:
        return self._product(self.distribution.prob(x))

    def cdf(self, x: VariableLike) -> Variable:
        return self._product(self.distribution.cdf(x))

    def log_cdf(self, x: VariableLike) -> Variable:
        return self._sum(self.distribution.log_cdf(x))

    def icdf(self, x: VariableLike) -> Variable:
        """Refuses: the inverse of a multivariate distribution function is not a function.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(
            "Cumulative distribution function for multivariate variable is not invertible."
        )

    def survival_function(self, x: VariableLike) -> Variable:
        # As in release 7: the probability that all elements are beyond x.
        return self._product(self.distribution.survival_function(x))

    def log_survival_function(self, x: VariableLike) -> Variable:
        return self._sum(self.distribution.log_survival_function(x))

    def perplexity(self, x: VariableLike) -> Variable:
        return self._product(self.distribution.perplexity(x))

    def sample_n(self, n: int) -> Variable:
        return self.distribution.sample_n(n)


def _sum_last(values: Variable, ndim: int) -> Variable:
    return F.sum(values, axis=tuple(range(-ndim, 0))) if ndim else values


@register_kl(Independent, Independent)
def _kl_independent_independent(dist1: Independent, dist2: Independent) -> Variable:
    inner1, inner2 = dist1.distribution, dist2.distribution
    if dist1.event_shape != dist2.event_shape:
        raise ValueError(
            f"Event shapes do not match.\nActual: {dist1.event_shape} and {dist2.event_shape}"
        )
    if inner1.event_shape != inner2.event_shape:
        raise NotImplementedError(
            "the divergence of independent distributions is defined for inner distributions of "
            f"one event shape, got {inner1.event_shape} and {inner2.event_shape}"
        )
    # Not reinterpreted_batch_ndims: the batch shapes may differ in length and broadcast.
    ndim = len(dist1.event_shape) - len(inner1.event_shape)
    return _sum_last(kl_divergence(inner1, inner2), ndim)
