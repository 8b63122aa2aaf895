"""Muon optimizer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer.core.typing import Array
from chainer.training.optimizers._array_rule import ArrayRule, moment
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import HyperparameterProxy

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

#: Coefficients of the polynomial a x + b x^3 + c x^5 that moves singular values to about one: those
#: of the author, with the steepest slope at zero.
_POLYNOMIAL = (3.4445, -4.7750, 2.0315)


def orthogonalized(xp: Any, matrix: Array, steps: int) -> Array:
    """Returns about the nearest orthogonal matrix, by a Newton-Schulz iteration.

    Args:
        xp: Array namespace.
        matrix (array): Matrix of floating point numbers.
        steps (int): Number of iterations; 5 move singular values to between about 0.7 and 1.2.
    """
    a, b, c = _POLYNOMIAL
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix  # the product below is then the smaller one
    x = x / (xp.sqrt((x * x).sum()) + 1e-7)  # no singular value is larger than one
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.T if tall else x


class MuonRule(ArrayRule):
    """Update rule of :class:`~chainer.optimizers.Muon`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``Muon()`` by default.
        hyperparameters: Hyperparameters of this rule only.
    """

    def init_state(self, param: Parameter) -> None:
        """Makes the state: the momentum, and the squares where AdamW updates the parameter.

        Args:
            param (Parameter): Parameter to be updated.
        """
        state: Any = self.state
        state["m"] = self.zeros(param, param.shape)
        state["v"] = self.zeros(param, (0,) if self._orthogonal(param) else param.shape)

    def _orthogonal(self, param: Any) -> bool:
        return param.ndim >= 2 and self.hyperparam.orthogonal

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state."""
        hp, state = self.hyperparam, self.state
        assert state is not None
        if state["v"].shape == param.shape and not self._orthogonal(param):
            return self._adam_step(xp, param, grad)
        if param.size == 0:
            return param
        momentum = state["m"]
        momentum *= hp.momentum
        momentum += grad
        direction = grad + hp.momentum * momentum if hp.nesterov else momentum
        matrix = direction.reshape(len(param), -1)
        rows, columns = matrix.shape
        update = orthogonalized(xp, matrix, hp.ns_steps).reshape(param.shape)
        update = update * math.sqrt(max(1.0, rows / columns))
        return param - hp.lr * (update + hp.weight_decay_rate * param)

    def _adam_step(self, xp: Any, param: Array, grad: Array) -> Array:
        hp, t, state = self.hyperparam, self.count(), self.state
        assert state is not None
        m = moment(state, "m", hp.beta1, grad) / (1 - hp.beta1**t)
        v = moment(state, "v", hp.beta2, grad * grad) / (1 - hp.beta2**t)
        return param - hp.adam_lr * (m / (xp.sqrt(v) + hp.eps) + hp.weight_decay_rate * param)


class Muon(RuleBasedMethod[MuonRule]):
    """Muon optimizer: momentum whose matrices are orthogonalized.

    See: `Muon: An optimizer for hidden layers in neural networks
    <https://kellerjordan.github.io/posts/muon/>`_. Parameters of two and more dimensions are
    matrices with the first axis as the rows. Those of fewer dimensions, and those with the
    hyperparameter ``orthogonal=False``, are updated as AdamW does. The author recommends that for
    embeddings and for the last layer, too: ``optimizer.group(model.out, orthogonal=False)``, before
    the first update.

    Args:
        lr (float): Learning rate of orthogonalized parameters.
        momentum (float): Exponential decay rate of the momentum.
        nesterov (bool): Whether the momentum is that of Nesterov.
        ns_steps (int): Number of Newton-Schulz iterations.
        weight_decay_rate (float): Decoupled weight decay, multiplied by the learning rate.
        orthogonal (bool): Whether matrices are orthogonalized.
        adam_lr (float): Learning rate of the other parameters.
        beta1 (float): Exponential decay rate of their first order moment.
        beta2 (float): Exponential decay rate of their second order moment.
        eps (float): Small value for the numerical stability of their update.
    """

    rule_class = MuonRule
    lr = HyperparameterProxy("lr")
    momentum = HyperparameterProxy("momentum")
    nesterov = HyperparameterProxy("nesterov")
    ns_steps = HyperparameterProxy("ns_steps")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")
    orthogonal = HyperparameterProxy("orthogonal")
    adam_lr = HyperparameterProxy("adam_lr")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")

    def __init__(
        self,
        lr: float = 0.02,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_steps: int = 5,
        weight_decay_rate: float = 0.0,
        orthogonal: bool = True,
        adam_lr: float = 3e-4,
        beta1: float = 0.9,
        beta2: float = 0.95,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(
            lr=lr,
            momentum=momentum,
            nesterov=nesterov,
            ns_steps=ns_steps,
            weight_decay_rate=weight_decay_rate,
            orthogonal=orthogonal,
            adam_lr=adam_lr,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
        )
