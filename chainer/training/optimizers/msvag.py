"""M-SVAG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.backends.operations.optimizer_updates import MSVAGHyperparameters, msvag_update
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter


class MSVAGRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.MSVAG`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``MSVAG()`` by default.
        lr, beta, eta, weight_decay_rate (float): Hyperparameters of this
            rule only; by default those of the parent.
    """

    operation = msvag_update
    shares_arguments = True
    state_names = ("m", "v")
    hyperparam_names = ("lr", "beta", "eta", "weight_decay_rate")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        beta: float | None = None,
        eta: float | None = None,
        weight_decay_rate: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam,
            lr=lr,
            beta=beta,
            eta=eta,
            weight_decay_rate=weight_decay_rate,
        )

    def kernel_arguments(self, param: Parameter) -> dict[str, Any]:
        """Returns the keyword arguments of the kernel's ``update`` method."""
        # Computed from ``t``, which snapshots contain, so that a loaded rule continues correctly.
        beta = self.hyperparam.beta
        power = beta**self.t
        rho = ((1 - beta) * (1 + power)) / ((1 + beta) * (1 - power))
        hyper = MSVAGHyperparameters(
            **super().kernel_arguments(param), correction=1 - power, rho=min(rho, 1.0)
        )
        return {"hyper": hyper}


class MSVAG(RuleBasedMethod[MSVAGRule]):
    """M-SVAG optimizer: momentum adapted to the relative variance of each gradient.

    See: `Dissecting Adam: The Sign, Magnitude and Variance of Stochastic Gradients
    <https://arxiv.org/abs/1705.07774>`_, with decoupled weight decay as in `Fixing Weight Decay
    Regularization in Adam <https://openreview.net/forum?id=rk6qdGgCZ>`_.

    Args:
        lr (float): Learning rate.
        beta (float): Exponential decay rate of the first and second order moments.
        eta (float): Schedule multiplier, can be used for warm restarts.
        weight_decay_rate (float): Weight decay rate.
    """

    rule_class = MSVAGRule
    lr = HyperparameterProxy("lr")
    beta = HyperparameterProxy("beta")
    eta = HyperparameterProxy("eta")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")

    def __init__(
        self,
        lr: float = 0.1,
        beta: float = 0.9,
        eta: float = 1.0,
        weight_decay_rate: float = 0,
    ) -> None:
        super().__init__(lr=lr, beta=beta, eta=eta, weight_decay_rate=weight_decay_rate)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = MSVAG().hyperparam
