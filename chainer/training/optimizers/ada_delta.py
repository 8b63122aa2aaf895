"""Zeiler's ADADELTA."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import ada_delta_update
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule


class AdaDeltaRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.AdaDelta`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``AdaDelta()`` by default.
        rho, eps (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = ada_delta_update
    state_names = ("msg", "msdx")
    hyperparam_names = ("rho", "eps")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        rho: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, rho=rho, eps=eps)


class AdaDelta(RuleBasedMethod[AdaDeltaRule]):
    """Zeiler's ADADELTA.

    See: http://www.matthewzeiler.com/pubs/googleTR2012/googleTR2012.pdf

    Args:
        rho (float): Exponential decay rate of the first and second order moments.
        eps (float): Small value for the numerical stability.
    """

    rule_class = AdaDeltaRule
    rho = HyperparameterProxy("rho")
    eps = HyperparameterProxy("eps")

    def __init__(self, rho: float = 0.95, eps: float = 1e-06) -> None:
        super().__init__(rho=rho, eps=eps)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = AdaDelta().hyperparam
