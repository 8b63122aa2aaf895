"""The Dirichlet distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer import functions as F
from chainer.core.arrays.backend import HOST_FAMILY
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, parameter, xlogy
from chainer.distributions.distribution import register_kl


class Dirichlet(ParametricDistribution):
    r"""Dirichlet distribution.

    .. math::
        p(x;\alpha) = \frac{\Gamma(\sum_i \alpha_i)}{\prod_i \Gamma(\alpha_i)}
            \prod_i x_i^{\alpha_i-1}

    Args:
        alpha: Concentrations, of shape ``B + (k,)``.

    Example:
        >>> chainer.distributions.Dirichlet(np.array([1., 2., 1.])).mean
        variable([0.25, 0.5 , 0.25])
    """

    _event_ndim = 1

    def __init__(self, alpha: VariableLike) -> None:
        super().__init__(alpha=alpha)

    alpha = parameter("alpha", "Concentrations.")

    @cached_property
    def alpha0(self) -> Variable:
        """Sum of the concentrations, of shape ``B``."""
        return F.sum(self.alpha, axis=-1)

    @property
    def support(self) -> str:
        return "[0, 1]"

    @cached_property
    def mean(self) -> Variable:
        return self.alpha / F.expand_dims(self.alpha0, -1)

    @cached_property
    def variance(self) -> Variable:
        alpha0 = F.expand_dims(self.alpha0, -1)
        return self.alpha * (alpha0 - self.alpha) / alpha0**2 / (alpha0 + 1)

    @cached_property
    def entropy(self) -> Variable:
        alpha, alpha0 = self.alpha, self.alpha0
        return (
            _log_beta(alpha)
            + (alpha0 - alpha.shape[-1]) * F.digamma(alpha0)
            - F.sum((alpha - 1) * F.digamma(alpha), axis=-1)
        )

    def log_prob(self, x: VariableLike) -> Variable:
        # xlogy, because a concentration of 1 has 0 * log(0) where an element is 0.
        return F.sum(xlogy(self.alpha - 1, self._point(x)), axis=-1) - _log_beta(self.alpha)

    def sample_n(self, n: int) -> Variable:
        alpha = self.alpha
        device = alpha.device
        with device:
            generator: Any = device.backend.random(device)
            if device.backend.family != HOST_FAMILY:
                # Normalized gamma numbers: no loop over the batch.
                parts = generator.gamma(alpha.array, size=(n, *alpha.shape))
                values = parts / parts.sum(axis=-1, keepdims=True)
            else:
                # NumPy takes one set of concentrations at a time. The order of the draws is that
                # of release 7, so that a seed gives the same numbers.
                rows = numpy.asarray(alpha.array).reshape(
                    math.prod(self.batch_shape), alpha.shape[-1]
                )
                drawn = [generator.dirichlet(row, size=(n,)) for row in rows]
                values = numpy.stack(drawn, axis=1) if drawn else numpy.empty(0)
                values = values.reshape(n, *alpha.shape)
            return Variable(values.astype(alpha.dtype))


def _log_beta(alpha: Variable) -> Variable:
    return F.sum(F.lgamma(alpha), axis=-1) - F.lgamma(F.sum(alpha, axis=-1))


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(dist1: Dirichlet, dist2: Dirichlet) -> Variable:
    alpha1, alpha2 = dist1.alpha, dist2.alpha
    expected = F.digamma(alpha1) - F.expand_dims(F.digamma(dist1.alpha0), -1)
    return _log_beta(alpha2) - _log_beta(alpha1) + F.sum((alpha1 - alpha2) * expected, axis=-1)
