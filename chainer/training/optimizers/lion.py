"""Lion optimizer."""

from __future__ import annotations

from typing import Any

from chainer.core.typing import Array
from chainer.training.optimizers._array_rule import ArrayRule, moment
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy


class LionRule(ArrayRule):
    """Update rule of :class:`~chainer.optimizers.Lion`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``Lion()`` by default.
        lr, beta1, beta2, weight_decay_rate (float): Hyperparameters of this rule only.
    """

    is_elementwise = True
    state_names = ("m",)

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        beta1: float | None = None,
        beta2: float | None = None,
        weight_decay_rate: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam,
            lr=lr,
            beta1=beta1,
            beta2=beta2,
            weight_decay_rate=weight_decay_rate,
        )

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state."""
        hp, state = self.hyperparam, self.state
        assert state is not None
        direction = xp.sign(hp.beta1 * state["m"] + (1 - hp.beta1) * grad)
        moment(state, "m", hp.beta2, grad)
        return param - hp.lr * (direction + hp.weight_decay_rate * param)


class Lion(RuleBasedMethod[LionRule]):
    """Lion optimizer: steps by the sign of a moving average of the gradients.

    See: `Symbolic Discovery of Optimization Algorithms <https://arxiv.org/abs/2302.06675>`_. The
    paper recommends a learning rate of a third to a tenth of that of AdamW, and a weight decay
    three to ten times as large.

    Args:
        lr (float): Learning rate, the size of each step.
        beta1 (float): Share of the average in the direction of a step.
        beta2 (float): Exponential decay rate of the average.
        weight_decay_rate (float): Weight decay, multiplied by ``lr``.
    """

    rule_class = LionRule
    lr = HyperparameterProxy("lr")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")

    def __init__(
        self,
        lr: float = 1e-4,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay_rate: float = 0.0,
    ) -> None:
        super().__init__(lr=lr, beta1=beta1, beta2=beta2, weight_decay_rate=weight_decay_rate)
