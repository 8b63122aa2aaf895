"""The half-normal distribution: absolute values of normal numbers with mean 0."""

from __future__ import annotations

import math

import chainer
import chainer.functions as F
from chainer.typing import Shape, VariableLike


class HalfNormal(chainer.Distribution):
    """Half-normal distribution.

    Samples are differentiable functions of the scale.

    Args:
        scale: Standard deviation of the normal numbers, an array or Variable of any shape.
    """

    # What can be computed is defined as in chainer.Distribution: properties for what needs no
    # argument. What is not defined raises NotImplementedError.

    def __init__(self, scale: VariableLike) -> None:
        # Gradients arrive at a Variable that is given. An array becomes a Variable without gradient.
        self.scale = chainer.as_variable(scale)

    @property
    def batch_shape(self) -> Shape:
        return self.scale.shape

    @property
    def event_shape(self) -> Shape:
        return ()

    @property
    def params(self) -> dict[str, chainer.Variable]:
        return {"scale": self.scale}

    @property
    def support(self) -> str:
        return "non negative"

    @property
    def mean(self) -> chainer.Variable:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> chainer.Variable:
        return self.scale**2 * (1 - 2 / math.pi)

    @property
    def stddev(self) -> chainer.Variable:
        return self.scale * math.sqrt(1 - 2 / math.pi)

    @property
    def entropy(self) -> chainer.Variable:
        return F.log(self.scale) + 0.5 * (1 + math.log(math.pi / 2))

    def log_prob(self, x: VariableLike) -> chainer.Variable:
        x = chainer.as_variable(x)
        z = x / self.scale
        values = 0.5 * math.log(2 / math.pi) - F.log(self.scale) - 0.5 * z * z
        # asarray, because NumPy compares arrays without dimensions to a scalar. F.where passes no
        # gradient to values that it does not take.
        inside = self.xp.asarray(x.array >= 0)
        return F.where(inside, values, self.xp.full_like(values.array, -math.inf))

    def prob(self, x: VariableLike) -> chainer.Variable:
        return F.exp(self.log_prob(x))

    def cdf(self, x: VariableLike) -> chainer.Variable:
        return F.erf(self._standardized(x))

    def log_cdf(self, x: VariableLike) -> chainer.Variable:
        return F.log(self.cdf(x))

    def icdf(self, x: VariableLike) -> chainer.Variable:
        return self.scale * math.sqrt(2) * F.erfinv(x)

    def survival_function(self, x: VariableLike) -> chainer.Variable:
        return F.erfc(self._standardized(x))

    def log_survival_function(self, x: VariableLike) -> chainer.Variable:
        # log(erfc(z)) would be -inf for large values.
        return math.log(2) + F.log_ndtr(-x / self.scale)

    def sample_n(self, n: int) -> chainer.Variable:
        # The generator of the device: numpy.random on the CPU, cupy.random on a GPU.
        device = self.scale.device
        with device:
            noise = device.backend.random(device).standard_normal(size=(n, *self.batch_shape))
            return self.scale * abs(noise).astype(self.scale.dtype)

    def _standardized(self, x: VariableLike) -> chainer.Variable:
        # There is no probability below 0.
        return F.relu(x / (self.scale * math.sqrt(2)))


@chainer.register_kl(HalfNormal, HalfNormal)
def _kl_half_normal(p: HalfNormal, q: HalfNormal) -> chainer.Variable:
    ratio = p.scale / q.scale
    return 0.5 * (ratio * ratio - 1) - F.log(ratio)
