"""RMSprop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.backends.operations.optimizer_updates import rmsprop_update
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter


class RMSpropRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.RMSprop`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``RMSprop()`` by default.
        lr, alpha, eps, eps_inside_sqrt (float or bool): Hyperparameters of this
            rule only; by default those of the parent.
    """

    operation = rmsprop_update
    state_names = ("ms",)
    hyperparam_names = ("lr", "alpha", "eps", "eps_inside_sqrt")
    shares_arguments = True

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        eps: float | None = None,
        eps_inside_sqrt: bool | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam,
            lr=lr,
            alpha=alpha,
            eps=eps,
            eps_inside_sqrt=eps_inside_sqrt,
        )

    def kernel_arguments(self, param: Parameter) -> dict[str, Any]:
        """Returns the keyword arguments of the kernel's ``update`` method."""
        # In the dtype of the parameter, as in all releases, though the kernel computes float16 in
        # float32: programs rely on the error.
        self.check_eps(self.hyperparam.eps, param.array.dtype, "RMSprop")
        return super().kernel_arguments(param)


class RMSprop(RuleBasedMethod[RMSpropRule]):
    """RMSprop optimizer.

    See: T. Tieleman and G. Hinton (2012). Lecture 6.5 - rmsprop, COURSERA: Neural Networks for
    Machine Learning.

    Args:
        lr (float): Learning rate.
        alpha (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eps_inside_sqrt (bool): Whether ``eps`` is added to the second order moment before the
            square root is taken instead of after it.
    """

    rule_class = RMSpropRule
    lr = HyperparameterProxy("lr")
    alpha = HyperparameterProxy("alpha")
    eps = HyperparameterProxy("eps")
    eps_inside_sqrt = HyperparameterProxy("eps_inside_sqrt")

    def __init__(
        self,
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        eps_inside_sqrt: bool = False,
    ) -> None:
        super().__init__(lr=lr, alpha=alpha, eps=eps, eps_inside_sqrt=eps_inside_sqrt)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = RMSprop().hyperparam
