"""The Gumbel distribution."""

from __future__ import annotations

import math

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import LocationScale, parameter
from chainer.distributions.distribution import register_kl

#: Euler's constant.
EULER = 0.57721566490153286060651209008240243104215933593992


class Gumbel(LocationScale):
    r"""Gumbel distribution.

    .. math::
        f(x) = \frac{1}{\eta} \exp\left\{ - \frac{x - \mu}{\eta} \right\}
            \exp\left[-\exp\left\{-\frac{x - \mu}{\eta} \right\}\right]

    Samples are differentiable functions of both parameters.

    Args:
        loc: Location of the mode, of any shape.
        scale: Scale.

    Example:
        >>> chainer.distributions.Gumbel(np.array(0.), np.array(1.)).mean
        variable(0.57721566)
    """

    loc = parameter("loc", "Location of the mode.")
    scale = parameter("scale", "Scale.")

    @cached_property
    def mean(self) -> Variable:
        return self.loc + EULER * self.scale

    @cached_property
    def variance(self) -> Variable:
        return self._full(math.pi**2 / 6 * self.scale**2)

    @cached_property
    def entropy(self) -> Variable:
        return self._full(F.log(self.scale) + (EULER + 1))

    def log_prob(self, x: VariableLike) -> Variable:
        y = (self._point(x) - self.loc) / self.scale
        return -F.log(self.scale) - y - F.exp(-y)

    def sample_n(self, n: int) -> Variable:
        return self.loc + self.scale * self._draw_floats("gumbel", n)


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(dist1: Gumbel, dist2: Gumbel) -> Variable:
    ratio = dist1.scale / dist2.scale
    shift = (dist1.loc - dist2.loc) / dist2.scale
    return (
        F.log(dist2.scale)
        - F.log(dist1.scale)
        + EULER * (ratio - 1)
        # The gamma function itself would overflow for a large ratio of the scales.
        + F.exp(F.lgamma(ratio + 1) - shift)
        - 1
        + shift
    )
