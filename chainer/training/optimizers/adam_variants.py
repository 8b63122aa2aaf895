"""Optimizers with the moments of Adam and another step: LAMB, NAdam and RAdam."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.recorder import VaryingNumber, computed, may_read_values
from chainer.core.typing import Array
from chainer.training.optimizers._array_rule import ArrayRule, moment
from chainer.training.optimizers._rule_based import R, RuleBasedMethod
from chainer.training.optimizers.hyperparameter import HyperparameterProxy

#: Base of the schedule of the momentum in NAdam, a constant of the paper.
_NADAM_SCHEDULE = 0.96


class _MomentsRule(ArrayRule):
    """Base of rules with averages of the gradient, ``m``, and of its square, ``v``."""

    state_names = ("m", "v")

    def _moments(self, grad: Array) -> tuple[Array, Array]:
        """Returns the averages after a gradient, without bias correction."""
        state = self.state
        assert state is not None
        m = moment(state, "m", self.hyperparam.beta1, grad)
        return m, moment(state, "v", self.hyperparam.beta2, grad * grad)


class _MomentsMethod(RuleBasedMethod[R]):
    """Base of optimizers with the hyperparameters of Adam with weight decay."""

    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")


class LAMBRule(_MomentsRule):
    """Update rule of :class:`~chainer.optimizers.LAMB`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``LAMB()`` by default.
        hyperparameters (float): Hyperparameters of this rule only.
    """

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state."""
        hp, t = self.hyperparam, self.count()
        m, v = self._moments(grad)
        m_hat = m / (1 - hp.beta1**t)
        v_hat = v / (1 - hp.beta2**t)
        update = m_hat / (xp.sqrt(v_hat) + hp.eps) + hp.weight_decay_rate * param
        size, norm = xp.sqrt((param * param).sum()), xp.sqrt((update * update).sum())
        # Parameters of zeros, as biases are at first, would never move: their ratio is one.
        usable = (size > 0) & (norm > 0)
        ratio = xp.where(
            usable, size / xp.where(usable, norm, xp.ones_like(norm)), xp.ones_like(norm)
        )
        return param - hp.lr * ratio * update


class LAMB(_MomentsMethod[LAMBRule]):
    """LAMB optimizer: Adam whose step is scaled to the norm of each parameter, for large batches.

    See: `Large Batch Optimization for Deep Learning: Training BERT in 76 minutes
    <https://arxiv.org/abs/1904.00962>`_, with the identity as the scaling function.

    Args:
        lr (float): Learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        weight_decay_rate (float): Weight decay, part of the step that is scaled.
    """

    rule_class = LAMBRule
    lr = HyperparameterProxy("lr")

    def __init__(
        self,
        lr: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay_rate: float = 0.01,
    ) -> None:
        super().__init__(
            lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay_rate=weight_decay_rate
        )


class RAdamRule(_MomentsRule):
    """Update rule of :class:`~chainer.optimizers.RAdam`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``RAdam()`` by default.
        hyperparameters (float): Hyperparameters of this rule only.
    """

    is_elementwise = True

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state."""
        hp, t = self.hyperparam, self.count()
        m, v = self._moments(grad)
        m_hat = m / (1 - hp.beta1**t)
        decay = hp.alpha * hp.weight_decay_rate * param
        longest = 2 / (1 - hp.beta2) - 1
        length = longest - 2 * t * hp.beta2**t / (1 - hp.beta2**t)
        # The variance of the adaptive step is not tractable for averages that are too short.
        is_long = computed(_is_tractable, length)
        is_recorded = isinstance(is_long, VaryingNumber)
        plain: Any = None
        if is_recorded or not is_long:
            plain = param - decay - hp.alpha * m_hat
        if not is_recorded and not is_long:
            return plain
        rectification = computed(
            _root, (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        )
        adaptive = computed(_root, 1 - hp.beta2**t) / (xp.sqrt(v) + hp.eps)
        rectified = param - decay - hp.alpha * rectification * m_hat * adaptive
        if not is_recorded:
            return rectified
        # A program computes both, as it serves all lengths.
        return xp.where(xp.zeros_like(param) + is_long > 0, rectified, plain)


def _is_tractable(length: float) -> float:
    return float(length > 4)


def _root(square: float) -> float:
    return math.sqrt(square) if square > 0 else 0.0


class RAdam(_MomentsMethod[RAdamRule]):
    """RAdam optimizer: Adam with a rectified variance of the adaptive learning rate.

    It needs no warm-up: the first steps are those of momentum. See: `On the Variance of the
    Adaptive Learning Rate and Beyond <https://arxiv.org/abs/1908.03265>`_.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        weight_decay_rate (float): Decoupled weight decay, multiplied by ``alpha``.
    """

    rule_class = RAdamRule
    alpha = HyperparameterProxy("alpha")

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay_rate: float = 0.0,
    ) -> None:
        super().__init__(
            alpha=alpha, beta1=beta1, beta2=beta2, eps=eps, weight_decay_rate=weight_decay_rate
        )


class NAdamRule(_MomentsRule):
    """Update rule of :class:`~chainer.optimizers.NAdam`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``NAdam()`` by default.
        hyperparameters (float): Hyperparameters of this rule only.
    """

    is_elementwise = True

    def init_state(self, param: Any) -> None:
        """Makes the averages and the product of the momentum coefficients."""
        super().init_state(param)
        state: Any = self.state
        # An array, so that a recorded step can change it; of float64, as Python's numbers are.
        state["mu_product"] = backend_of(param.array).xp.ones((), numpy.float64)

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state."""
        hp, t, state = self.hyperparam, self.count(), self.state
        assert state is not None
        m, v = self._moments(grad)

        def momentum(t: float) -> float:
            return hp.beta1 * (1 - 0.5 * _NADAM_SCHEDULE ** (t * hp.momentum_decay))

        following = momentum(t + 1)
        product = state["mu_product"]
        if may_read_values(backend_of(param)):
            value = float(product) * momentum(t)
            product[...] = value
            after, now = 1 - value * following, 1 - value
        else:
            product *= momentum(t)
            # As a Python number would be, these are rounded to the dtype of the arithmetic.
            after = (1 - product * following).astype(param.dtype)
            now = (1 - product).astype(param.dtype)
        m_hat = following * m / after + (1 - momentum(t)) * grad / now
        v_hat = v / (1 - hp.beta2**t)
        decay = hp.alpha * hp.weight_decay_rate * param
        return param - decay - hp.alpha * m_hat / (xp.sqrt(v_hat) + hp.eps)


class NAdam(_MomentsMethod[NAdamRule]):
    """NAdam optimizer: Adam with Nesterov momentum.

    See: `Incorporating Nesterov Momentum into Adam
    <https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ>`_.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        momentum_decay (float): How fast the momentum coefficient grows to ``beta1``.
        weight_decay_rate (float): Decoupled weight decay, multiplied by ``alpha``.
    """

    rule_class = NAdamRule
    alpha = HyperparameterProxy("alpha")
    momentum_decay = HyperparameterProxy("momentum_decay")

    def __init__(
        self,
        alpha: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        momentum_decay: float = 0.004,
        weight_decay_rate: float = 0.0,
    ) -> None:
        super().__init__(
            alpha=alpha,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            momentum_decay=momentum_decay,
            weight_decay_rate=weight_decay_rate,
        )
