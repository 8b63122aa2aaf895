"""Adam and its variants AdamW, AMSGrad, AdaBound and AMSBound."""

from __future__ import annotations

import math
from typing import Any

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.optimizer_updates import AdamScalars, adam_update
from chainer.core.arrays.recorder import computed
from chainer.core.typing import DType
from chainer.training.optimizers.declaration import (
    SMALLEST,
    DeclaredOptimizer,
    DeclaredRule,
    check_eps,
)
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter


def _check_started(t: int, what: str) -> None:
    if t == 0:
        raise RuntimeError(
            f"Can't determine the {what} of Adam optimizer because the update steps have not been "
            "started."
        )


def _bias_corrected(hyperparam: Hyperparameter, t: int) -> float:
    """Returns the learning rate at update ``t``, with the bias correction of both moments in it."""
    if t == 0:
        _check_started(t, "learning rate")
    correction1 = 1.0 - hyperparam.beta1**t
    correction2 = 1.0 - hyperparam.beta2**t
    # An expression, while a step is saved to a file, has no square root of its own.
    is_number = isinstance(correction2, float)
    root = math.sqrt(correction2) if is_number else computed(math.sqrt, correction2)
    return hyperparam.alpha * root / correction1


class AdamRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.Adam`."""

    #: Learning rate when the rule was made. The bounds of AdaBound are relative to it, so that they
    #: follow a schedule of ``alpha``.
    initial_alpha: float | None = None

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        *values: Any,
        **hyperparameters: Any,
    ) -> None:
        super().__init__(parent_hyperparam, *values, **hyperparameters)
        if self.hyperparam.adabound:
            self.initial_alpha = self.hyperparam.alpha

    @property
    def alpha_t(self) -> float:
        """Learning rate with the bias correction in it; RuntimeError before the first update."""
        return _bias_corrected(self.hyperparam.flat(), self.t)

    @property
    def lr(self) -> float:
        """Effective learning rate, same as :attr:`alpha_t`; set ``alpha`` to change it."""
        return self.alpha_t

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the step size of AdaBound at the present update.

        RuntimeError before the first update.
        """
        _check_started(self.t, "bounds of the step size")
        hyperparam = self.hyperparam
        # ``adabound`` may have been set after the rule was made.
        if self.initial_alpha is None:
            self.initial_alpha = hyperparam.alpha
        final = hyperparam.final_lr * hyperparam.alpha / self.initial_alpha
        progress = hyperparam.gamma * self.t
        return final * (1.0 - 1.0 / (progress + 1)), final * (1.0 + 1.0 / progress)


class Adam(DeclaredOptimizer):
    """Adam optimizer.

    See: `Adam: A Method for Stochastic Optimization <https://arxiv.org/abs/1412.6980v8>`_

    With ``weight_decay_rate`` it is AdamW, whose weight decay does not depend on ``alpha``; ``eta``
    scales both the step and the decay. See: `Fixing Weight Decay Regularization in Adam
    <https://openreview.net/forum?id=rk6qdGgCZ>`_. With the defaults ``eta = 1`` and
    ``weight_decay_rate = 0`` it is the standard Adam method.

    With ``amsgrad`` it is AMSGrad, see: `On the Convergence of Adam and Beyond
    <https://openreview.net/forum?id=ryQu7f-RZ>`_. With ``adabound`` it is AdaBound (AMSBound with
    both), see: `Adaptive Gradient Methods with Dynamic Bound of Learning Rate
    <https://openreview.net/forum?id=Bkg3g2R9FX>`_.

    Other frameworks add ``eps`` to the root of the second moment after its bias correction, and
    multiply the weight decay by ``alpha``. With ``pytorch_style`` this one does so, too, so that
    their settings give the same steps. By default ``eps`` is added before, and counts more in the
    first steps: about 32 times as much in the very first one, with ``beta2 = 0.999``.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, can be used for warm restarts.
        weight_decay_rate (float): Weight decay rate.
        amsgrad (bool): Whether to use AMSGrad variant of Adam.
        adabound (bool): Whether to use the AdaBound variant of Adam.
        final_lr (float): Final (SGD) learning rate in AdaBound.
        gamma (float): Convergence speed of the bound functions in AdaBound.
        pytorch_style (bool): Whether ``eps`` is added after the bias correction, and the weight
            decay is multiplied by ``alpha``, as in PyTorch.

    Raises:
        ValueError: At the first update, if ``eps`` is too small for the arithmetic, which is that
            of float32 for float16 parameters, or if ``pytorch_style`` is combined with
            ``adabound``.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.Adam(alpha=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.7024567 , 0.70245665]], dtype=float32)
    """

    alpha: float = hyperparameter(default=0.001, varies=True)
    beta1: float = hyperparameter(default=0.9, at_least=0, below=1)
    beta2: float = hyperparameter(default=0.999, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-8, at_least=0)
    eta: float = hyperparameter(default=1.0, at_least=0)
    weight_decay_rate: float = hyperparameter(default=0, at_least=0)
    amsgrad: bool = hyperparameter(default=False)
    adabound: bool = hyperparameter(default=False)
    final_lr: float = hyperparameter(default=0.1, at_least=0)
    gamma: float = hyperparameter(default=0.001, at_least=0)
    pytorch_style: bool = hyperparameter(default=False, optional=True)

    operation = adam_update
    states = ("m", "v", "vhat")
    rule_class = AdamRule
    alpha_t = AdamRule.alpha_t
    lr = AdamRule.lr

    @classmethod
    def scalars(cls, hyperparam: Hyperparameter, rule: Any) -> AdamScalars:
        """Returns the numbers of a step."""
        h = hyperparam
        bounds = rule.bounds if h.adabound else None
        rate = _bias_corrected(h, rule.t)
        # An optional entry; read from the dictionary, as each update asks.
        if h.__dict__.get("pytorch_style"):
            return cls._pytorch_scalars(h, rule.t)
        return AdamScalars(rate, h.beta1, h.beta2, h.eps, h.eta, h.weight_decay_rate, bounds)

    @classmethod
    def _pytorch_scalars(cls, hyperparam: Hyperparameter, t: int) -> AdamScalars:
        """Returns the numbers that place ``eps`` and the weight decay as PyTorch does."""
        h = hyperparam
        if h.adabound:
            raise ValueError("pytorch_style must be False if adabound is True: PyTorch has none")
        # The step m / c1 / (sqrt(v / c2) + eps) is sqrt(c2) / c1 * m / (sqrt(v) + sqrt(c2) * eps).
        root = math.sqrt(1.0 - h.beta2**t)
        step = root / (1.0 - h.beta1**t)
        eta = h.eta * h.alpha  # multiplies the weight decay, too
        return AdamScalars(step, h.beta1, h.beta2, h.eps * root, eta, h.weight_decay_rate, None)

    @classmethod
    def shares_scalars(cls, hyperparam: Hyperparameter) -> bool:
        """Returns False for AdaBound: its bounds depend on the first rate of each rule."""
        return not hyperparam.adabound

    @classmethod
    def used_states(cls, hyperparam: Hyperparameter) -> tuple[str | None, ...]:
        """Returns ``m``, ``v`` and, for AMSGrad, ``vhat``."""
        return cls.states if hyperparam.amsgrad else ("m", "v", None)

    @staticmethod
    def check_step(hyperparam: Hyperparameter, dtype: DType) -> None:
        """Raises ValueError if ``eps`` is zero in the dtype of the arithmetic, never of 16 bits."""
        if hyperparam.eps < SMALLEST:
            check_eps(hyperparam.eps, compute_dtype(dtype), "Adam")


class AdamW(Adam):
    """AdamW optimizer: :class:`Adam` with the arguments of decoupled weight decay only.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, can be used for warm restarts.
        weight_decay_rate (float): Weight decay rate.
        pytorch_style (bool): Whether ``eps`` is added after the bias correction, and the weight
            decay is multiplied by ``alpha``, as in PyTorch.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.AdamW(alpha=0.1, weight_decay_rate=0.01).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.6760248 , 0.67602473]], dtype=float32)
    """

    amsgrad: bool = hyperparameter(default=False, init=False)
    adabound: bool = hyperparameter(default=False, init=False)
    final_lr: float = hyperparameter(default=0.1, init=False, at_least=0)
    gamma: float = hyperparameter(default=0.001, init=False, at_least=0)


class AMSGrad(AdamW):
    """AMSGrad optimizer: :class:`Adam` with ``amsgrad=True``.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, can be used for warm restarts.
        pytorch_style (bool): Whether ``eps`` is added after the bias correction, as in PyTorch.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.AMSGrad(alpha=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.7024567 , 0.70245665]], dtype=float32)
    """

    weight_decay_rate: float = hyperparameter(default=0, init=False, at_least=0)
    amsgrad: bool = hyperparameter(default=True, init=False)


class AdaBound(Adam):
    """AdaBound optimizer: :class:`Adam` with ``adabound=True``.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        final_lr (float): Final (SGD) learning rate.
        gamma (float): Convergence speed of the bound functions.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, can be used for warm restarts.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.AdaBound(alpha=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.7024567 , 0.70245665]], dtype=float32)
    """

    adabound: bool = hyperparameter(default=True, init=False)

    # Its arguments have an order of their own.
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        final_lr: float = 0.1,
        gamma: float = 0.001,
        eps: float = 1e-8,
        eta: float = 1.0,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, final_lr=final_lr, gamma=gamma)


class AMSBound(AdaBound):
    """AMSBound optimizer: :class:`AdaBound` with ``amsgrad=True``.

    It takes the arguments of :class:`AdaBound`.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.AMSBound(alpha=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.7024567 , 0.70245665]], dtype=float32)
    """

    amsgrad: bool = hyperparameter(default=True, init=False)

    __init__ = AdaBound.__init__


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = Adam().hyperparam
