"""RMSprop."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import rmsprop_update
from chainer.core.typing import DType
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule, check_eps
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter


class RMSpropRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.RMSprop`."""


class RMSprop(DeclaredOptimizer):
    """RMSprop optimizer.

    See: T. Tieleman and G. Hinton (2012). Lecture 6.5 - rmsprop, COURSERA: Neural Networks for
    Machine Learning.

    Args:
        lr (float): Learning rate.
        alpha (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eps_inside_sqrt (bool): Whether ``eps`` is added to the second order moment before the
            square root is taken instead of after it.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.RMSprop(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.23157588, 0.23157588]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.01, varies=True)
    alpha: float = hyperparameter(default=0.99, varies=True, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-8, at_least=0)
    eps_inside_sqrt: bool = hyperparameter(default=False)

    operation = rmsprop_update
    states = ("ms",)
    rule_class = RMSpropRule

    @staticmethod
    def check_step(hyperparam: Hyperparameter, dtype: DType) -> None:
        """Raises ValueError if ``eps`` is zero in the dtype of the parameters."""
        # As in all releases, though the kernel computes float16 in float32: programs rely on the
        # error.
        check_eps(hyperparam.eps, dtype, "RMSprop")


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = RMSprop().hyperparam
