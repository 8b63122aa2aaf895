"""Adafactor optimizer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.recorder import computed
from chainer.core.typing import Array
from chainer.training.optimizers._array_rule import ArrayRule, moment
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import HyperparameterProxy

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

#: Largest relative step of the paper's schedule, min(1e-2, 1 / sqrt(t)).
_MAX_RELATIVE_STEP = 1e-2


class AdafactorRule(ArrayRule):
    """Update rule of :class:`~chainer.optimizers.Adafactor`, which describes the hyperparameters.

    The state is ``rows`` and ``columns``, the means of the squared gradients of a matrix; for a
    vector ``rows`` is the mean of each element, and ``columns`` is empty.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``Adafactor()`` by default.
        hyperparameters (float): Hyperparameters of this rule only.
    """

    def init_state(self, param: Parameter) -> None:
        """Makes the state arrays.

        Args:
            param (Parameter): Parameter to be updated.
        """
        state: Any = self.state
        shape = param.shape
        if len(shape) < 2:
            state["rows"], state["columns"] = self.zeros(param, shape), self.zeros(param, (0,))
        else:
            state["rows"] = self.zeros(param, (shape[0],))
            state["columns"] = self.zeros(param, (math.prod(shape[1:]),))

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state."""
        hp, t, state = self.hyperparam, self.count(), self.state
        assert state is not None
        if param.size == 0:
            return param
        beta = 1.0 - t**-hp.decay_rate
        square = grad * grad + hp.eps1
        if param.ndim < 2:
            mean_square = moment(state, "rows", beta, square)
        else:
            square = square.reshape(len(square), -1)
            rows = moment(state, "rows", beta, square.mean(axis=1))
            columns = moment(state, "columns", beta, square.mean(axis=0))
            # Means instead of sums: the quotient is the same, and no sum overflows.
            mean_square = (rows[:, None] / rows.mean() * columns[None]).reshape(grad.shape)
        update = grad / xp.sqrt(mean_square)
        update = update / xp.maximum(_rms(xp, update) / hp.clipping_threshold, 1.0)
        rate = computed(_scheduled_rate, t) if hp.lr is None else hp.lr
        if hp.scale_parameter:
            rate = rate * xp.maximum(_rms(xp, param), hp.eps2)
        return param - rate * update - rate * hp.weight_decay_rate * param


def _scheduled_rate(t: float) -> float:
    return min(_MAX_RELATIVE_STEP, 1 / math.sqrt(t))


def _rms(xp: Any, array: Array) -> Array:
    return xp.sqrt((array * array).mean())


class Adafactor(RuleBasedMethod[AdafactorRule]):
    """Adafactor optimizer: adaptive steps whose state of a matrix is one row and one column.

    See: `Adafactor: Adaptive Learning Rates with Sublinear Memory Cost
    <https://arxiv.org/abs/1804.04235>`_. Parameters of more than two dimensions, such as filters,
    are matrices with the first axis as the rows.

    Args:
        lr (float): Learning rate; None for the schedule of the paper, ``min(0.01, 1 / sqrt(t))``.
        eps1 (float): Small value that is added to squared gradients.
        eps2 (float): Smallest root mean square by which the step of a parameter is scaled.
        clipping_threshold (float): Largest root mean square of an update.
        decay_rate (float): The average of squares keeps the share ``1 - t ** -decay_rate``.
        scale_parameter (bool): Whether the step is scaled by the root mean square of the parameter.
        weight_decay_rate (float): Decoupled weight decay, multiplied by the size of the step.
    """

    rule_class = AdafactorRule
    lr = HyperparameterProxy("lr")
    eps1 = HyperparameterProxy("eps1")
    eps2 = HyperparameterProxy("eps2")
    clipping_threshold = HyperparameterProxy("clipping_threshold")
    decay_rate = HyperparameterProxy("decay_rate")
    scale_parameter = HyperparameterProxy("scale_parameter")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")

    def __init__(
        self,
        lr: float | None = None,
        eps1: float = 1e-30,
        eps2: float = 1e-3,
        clipping_threshold: float = 1.0,
        decay_rate: float = 0.8,
        scale_parameter: bool = True,
        weight_decay_rate: float = 0.0,
    ) -> None:
        super().__init__(
            lr=lr,
            eps1=eps1,
            eps2=eps2,
            clipping_threshold=clipping_threshold,
            decay_rate=decay_rate,
            scale_parameter=scale_parameter,
            weight_decay_rate=weight_decay_rate,
        )
