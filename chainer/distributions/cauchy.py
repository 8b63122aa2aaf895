"""The Cauchy distribution."""

from __future__ import annotations

import math
import warnings

from chainer import functions as F
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, parameter


class Cauchy(ParametricDistribution):
    r"""Cauchy distribution.

    .. math::
        p(x;x_0,\gamma) = \frac{1}{\pi}\frac{\gamma}{(x-x_0)^2+\gamma^2}

    Its mean and variance do not exist: they are NaN, with a warning. Samples are differentiable
    functions of both parameters.

    Args:
        loc: Location of the peak, of any shape.
        scale: Half the width at half of the maximum.

    Example:
        >>> chainer.distributions.Cauchy(np.array(0.), np.array(1.)).cdf(np.array(1.))
        variable(0.75)
    """

    def __init__(self, loc: VariableLike, scale: VariableLike) -> None:
        super().__init__(loc=loc, scale=scale)

    loc = parameter("loc", "Location of the peak.")
    scale = parameter("scale", "Half the width at half of the maximum.")

    @property
    def support(self) -> str:
        return "real"

    # Cached, so that a program is warned once for each distribution.
    @cached_property
    def mean(self) -> Variable:
        """NaN, of shape ``B``."""
        return self._undefined("Mean")

    @cached_property
    def variance(self) -> Variable:
        """NaN, of shape ``B``."""
        return self._undefined("Variance")

    def _undefined(self, what: str) -> Variable:
        # The warning names the line that reads the property: the cache is between it and this.
        warnings.warn(
            f"{what} of the cauchy distribution is undefined.", RuntimeWarning, stacklevel=4
        )
        loc = self.loc
        with loc.device:
            return as_variable(loc.xp.full(self.batch_shape, math.nan, dtype=loc.dtype))

    @cached_property
    def entropy(self) -> Variable:
        return self._full(F.log(4 * math.pi * self.scale))

    def log_prob(self, x: VariableLike) -> Variable:
        difference = self._point(x) - self.loc
        scale = self.scale
        return -math.log(math.pi) + F.log(scale) - F.log(difference**2 + scale**2)

    def cdf(self, x: VariableLike) -> Variable:
        return F.arctan((self._point(x) - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, x: VariableLike) -> Variable:
        return self.loc + self.scale * F.tan(math.pi * (self._point(x) - 0.5))

    def sample_n(self, n: int) -> Variable:
        return self.loc + self.scale * self._draw_floats("standard_cauchy", n)
