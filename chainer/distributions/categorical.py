"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer import functions as F
from chainer.core.arrays.backend import HOST_FAMILY
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Shape, VariableLike
from chainer.core.utils.cache import cached_property
from chainer.distributions._parametric import (
    ParametricDistribution,
    either,
    log,
    mask_of,
    masked,
    only_one,
)
from chainer.distributions.distribution import register_kl
from chainer.distributions.utils import _modified_xlogx  # pyright: ignore[reportPrivateUsage]


class Categorical(ParametricDistribution):
    r"""Categorical distribution: one of ``k`` numbers, from 0 on.

    .. math::
        P(x = i; p) = p_i

    Args:
        p: Probabilities, of shape ``B + (k,)``.
        logit: Logarithms of the probabilities but for a constant, instead of ``p``.

    Raises:
        ValueError: If not exactly one of ``p`` and ``logit`` is given.

    Example:
        >>> d = chainer.distributions.Categorical(np.array([0.5, 0.25, 0.25]))
        >>> d.log_prob(np.array([0, 1]))
        variable([-0.69314718, -1.38629436])
    """

    _event_ndim = 1

    def __init__(self, p: VariableLike | None = None, *, logit: VariableLike | None = None) -> None:
        super().__init__(**only_one(p=p, logit=logit))

    # log_p comes from logits by log_softmax: the logarithm of a softmax would lose small
    # probabilities.
    p = either("p", "Probabilities.", lambda self: F.exp(self.log_p))
    log_p = either(
        "log_p",
        "Logarithms of the probabilities.",
        lambda self: (
            log(self.p) if "p" in self._given else F.log_softmax(self._parameter("logit"), axis=-1)
        ),
    )

    @property
    def params(self) -> dict[str, Variable]:
        return {"p": self.p}

    @property
    def event_shape(self) -> Shape:
        return ()

    @cached_property
    def entropy(self) -> Variable:
        return -F.sum(_modified_xlogx(self.p), axis=-1)

    def log_prob(self, x: VariableLike) -> Variable:
        log_p = self.log_p
        k = log_p.shape[-1]
        array = x.array if isinstance(x, Variable) else x
        with log_p.device:
            # Samples are int64, labels usually int32; select_item takes int32.
            chosen = log_p.xp.asarray(array).astype("int32")
            shape = numpy.broadcast_shapes(chosen.shape, self.batch_shape)
            if bool(((chosen < -k) | (chosen >= k)).any()):
                raise IndexError(f"x must be in [{-k}, {k}), as there are {k} classes")
            # Negative numbers count from the end, as in an index.
            chosen = log_p.xp.broadcast_to(chosen % max(k, 1), shape).ravel()
        rows = F.broadcast_to(log_p, (*shape, k)).reshape(math.prod(shape), k)
        return F.select_item(rows, chosen).reshape(shape)

    def sample_n(self, n: int) -> Variable:
        return Variable(draw_classes(self.p, n))


def draw_classes(p: Variable, n: int) -> Array:
    """Draws class numbers.

    Args:
        p: Probabilities, of shape ``B + (k,)``.
        n: Number of samples.

    Returns:
        Array: Integers, of shape ``(n,) + B``.
    """
    device = p.device
    batch_shape = p.shape[:-1]
    with device:
        generator: Any = device.backend.random(device)
        if device.backend.family != HOST_FAMILY:
            # The largest of log p plus Gumbel noise is a sample: no loop over the batch.
            noise = generator.gumbel(size=(n, *p.shape))
            with numpy.errstate(divide="ignore"):
                return (p.xp.log(p.array) + noise).argmax(axis=-1)
        rows = numpy.asarray(p.array).reshape(math.prod(batch_shape), p.shape[-1])
        drawn = [generator.choice(len(row), size=(n,), p=_normalized(row)) for row in rows]
        classes = numpy.stack(drawn, axis=-1) if drawn else numpy.empty((n, 0), numpy.int64)
        return classes.reshape(n, *batch_shape)


def _normalized(p: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Returns probabilities in float64, normalized to remove rounding errors of their sum."""
    wide = p.astype(numpy.float64)
    total = wide.sum()
    if abs(total - 1) < math.sqrt(numpy.finfo(p.dtype).eps):
        return wide / total
    return wide  # the generator refuses them


def kl_of_classes(p: Variable, log_p1: Variable, log_p2: Variable) -> Variable:
    """Computes ``sum(p * (log_p1 - log_p2))`` over the last axis; classes with p = 0 count 0."""
    impossible = mask_of(lambda p: p == 0, p)
    zero_free = masked(log_p1, impossible, 0.0) - masked(log_p2, impossible, 0.0)
    return F.sum(p * zero_free, axis=-1)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(dist1: Categorical, dist2: Categorical) -> Variable:
    return kl_of_classes(dist1.p, dist1.log_p, dist2.log_p)
