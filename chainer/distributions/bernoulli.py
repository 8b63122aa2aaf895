"""The Bernoulli distribution."""

from __future__ import annotations

import math

import numpy

from chainer import functions as F
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Grads, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    ParametricDistribution,
    as_point,
    either,
    log,
    mask_of,
    masked,
    only_one,
    xlogy,
)
from chainer.distributions.distribution import register_kl
from chainer.distributions.utils import _modified_xlogx  # pyright: ignore[reportPrivateUsage]


class BernoulliLogProb(FunctionNode):
    """Logarithm of the probability, given logits and values.

    Args:
        binary_check: Whether values other than 0 and 1 have the probability 0. Otherwise the
            formula, which is linear in the values, is evaluated for them.
    """

    def __init__(self, binary_check: bool = False) -> None:
        self.binary_check = binary_check

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        logit, _ = in_types
        type_check.expect(logit.dtype.kind == "f")

    def forward(self, inputs: Arrays) -> Arrays:
        logit, x = inputs
        xp = self.xp
        self.retain_inputs((0, 1))
        x = x.astype(logit.dtype)
        # Infinite logits are p = 0 and p = 1. The formula has inf - inf for them, so that they are
        # computed apart, from a finite number in their place.
        infinite = xp.isinf(logit)
        finite = xp.where(infinite, xp.zeros_like(logit), logit)
        # softplus(-l) without overflow for large negative l
        softplus = xp.maximum(-finite, 0) + xp.log1p(xp.exp(-abs(finite)))
        y = finite * (x - 1) - softplus
        with numpy.errstate(divide="ignore", invalid="ignore"):
            # Compute the logarithm of all values. The ones that are not certain are replaced below.
            certain = xp.log(xp.where(logit > 0, x, 1 - x))
        y = xp.where(infinite, certain, y)
        if self.binary_check:
            y = xp.where(_is_binary(x), y, xp.full_like(y, -math.inf))
        return (y.astype(logit.dtype),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        logit, x = self.get_retained_inputs()
        (gy,) = grad_outputs
        assert gy is not None
        xp = logit.xp
        values = x.array.astype(logit.dtype)
        undefined = xp.isinf(logit.array) | xp.zeros(gy.shape, bool)
        if self.binary_check:
            undefined = undefined | ~_is_binary(values)
        # Release 7 gives NaN, too, where the derivative does not exist.
        nan = xp.asarray(math.nan, dtype=logit.dtype)
        slope = F.where(undefined, nan, values - F.sigmoid(logit))
        return F.sum_to(slope * gy, logit.shape), None


def _is_binary(x: Array) -> Array:
    return (x == 0) | (x == 1)


def _bernoulli_log_prob(
    logit: VariableLike, x: VariableLike, binary_check: bool = False
) -> Variable:
    """Computes the logarithm of the probability, given logits and values."""
    return BernoulliLogProb(binary_check).apply((logit, x))[0]


class Bernoulli(ParametricDistribution):
    r"""Bernoulli distribution: 1 with probability ``p``, else 0.

    .. math::
        P(x = 1; p) = p

    Args:
        p: Probability of 1, of any shape.
        logit: ``log(p / (1 - p))``, instead of ``p``.
        binary_check (bool): Whether values other than 0 and 1 have the probability 0. By default
            the formula is evaluated for them, for example for gray pixels.

    Raises:
        ValueError: If not exactly one of ``p`` and ``logit`` is given.

    Example:
        >>> d = chainer.distributions.Bernoulli(np.array([0.5, 0.25]))
        >>> d.variance
        variable([0.25  , 0.1875])
    """

    def __init__(
        self,
        p: VariableLike | None = None,
        logit: VariableLike | None = None,
        binary_check: bool = False,
    ) -> None:
        super().__init__(**only_one(p=p, logit=logit))
        self.binary_check = binary_check

    # Each of the two is computed from the other one, whichever is given.
    p = either("p", "Probability of 1.", lambda self: F.sigmoid(self.logit))
    logit = either("logit", "``log(p / (1 - p))``.", lambda self: log(self.p) - log(1 - self.p))

    @property
    def params(self) -> dict[str, Variable]:
        return {"logit": self.logit}

    @property
    def support(self) -> str:
        return "{0, 1}"

    @cached_property
    def mean(self) -> Variable:
        return self.p

    @cached_property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)

    @cached_property
    def stddev(self) -> Variable:
        return F.sqrt(self.variance)

    @cached_property
    def entropy(self) -> Variable:
        return -_modified_xlogx(self.p) - _modified_xlogx(1 - self.p)

    def log_prob(self, x: VariableLike) -> Variable:
        # A Variable of any dtype is accepted: the function casts values.
        points = x if isinstance(x, Variable) else as_point(x, self._first)
        return _bernoulli_log_prob(self.logit, points, self.binary_check)

    def prob(self, x: VariableLike) -> Variable:
        points = self._point(x)
        # A formula that is linear in x, for values between 0 and 1 as well.
        values = points * self.p + (1 - points) * (1 - self.p)
        if self.binary_check:
            values = masked(values, mask_of(lambda x: ~_is_binary(x), points), 0.0)
        return values

    def sample_n(self, n: int) -> Variable:
        # Integers: there is no gradient to the parameter.
        return Variable(self._draw("binomial", n, 1, self.p.array))


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(dist1: Bernoulli, dist2: Bernoulli) -> Variable:
    logit1, logit2 = dist1.logit, dist2.logit
    isinf = dist1.xp.isinf
    if bool(mask_of(lambda l1, l2: isinf(l1).any() | isinf(l2).any(), logit1, logit2)):
        # The form in logits has inf - inf here.
        p1, p2 = dist1.p, dist2.p
        return xlogy(p1, p1) - xlogy(p1, p2) + xlogy(1 - p1, 1 - p1) - xlogy(1 - p1, 1 - p2)
    return (logit1 - logit2) * (dist1.p - 1) - F.softplus(-logit1) + F.softplus(-logit2)
