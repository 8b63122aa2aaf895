"""The categorical distribution of one-hot vectors."""

from __future__ import annotations

from chainer import functions as F
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import ParametricDistribution, log, parameter, xlogy
from chainer.distributions.categorical import draw_classes, kl_of_classes
from chainer.distributions.distribution import register_kl


class OneHotCategorical(ParametricDistribution):
    """Categorical distribution whose values are one-hot vectors.

    Args:
        p: Probabilities, of shape ``B + (k,)``.

    Example:
        >>> d = chainer.distributions.OneHotCategorical(np.array([0.5, 0.25, 0.25]))
        >>> d.log_prob(np.array([1., 0., 0.]))
        variable(-0.69314718)
    """

    _event_ndim = 1

    def __init__(self, p: VariableLike) -> None:
        super().__init__(p=p)

    p = parameter("p", "Probabilities.")

    @cached_property
    def log_p(self) -> Variable:
        """Logarithms of the probabilities."""
        return log(self.p)

    @cached_property
    def mean(self) -> Variable:
        return self.p

    @cached_property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)

    def log_prob(self, x: VariableLike) -> Variable:
        # xlogy, because classes of probability 0 that do not occur count 0.
        return F.sum(xlogy(self._point(x), self.p), axis=-1)

    def sample_n(self, n: int) -> Variable:
        p = self.p
        classes = draw_classes(p, n)
        with p.device:
            return Variable(p.xp.eye(p.shape[-1], dtype=p.dtype)[classes])


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot_categorical(dist1: OneHotCategorical, dist2: OneHotCategorical) -> Variable:
    return kl_of_classes(dist1.p, dist1.log_p, dist2.log_p)
