"""Adam and its variants AdamW, AMSGrad, AdaBound and AMSBound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.optimizer_updates import AdamHyperparameters, adam_update
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelCall, KernelUpdateRule
from chainer.training.optimizers.state_memory import zeros_for_state

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter


def _check_started(t: int, what: str) -> None:
    if t == 0:
        raise RuntimeError(
            f"Can't determine the {what} of Adam optimizer because the update steps have not been "
            "started."
        )


def _bias_corrected(hyperparam: dict[str, Any], t: int) -> float:
    """Returns the learning rate at update ``t``, with the bias correction of both moments in it."""
    _check_started(t, "learning rate")
    correction1 = 1.0 - hyperparam["beta1"] ** t
    correction2 = 1.0 - hyperparam["beta2"] ** t
    return hyperparam["alpha"] * math.sqrt(correction2) / correction1


class AdamRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.Adam`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``Adam()`` by default.
        alpha, beta1, beta2, eps, eta, weight_decay_rate, amsgrad, adabound, final_lr, gamma (float
            or bool): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = adam_update
    state_names = ("m", "v")
    #: Learning rate when the rule was made. The bounds of AdaBound are relative to it, so that they
    #: follow a schedule of ``alpha``.
    initial_alpha: float | None = None

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        alpha: float | None = None,
        beta1: float | None = None,
        beta2: float | None = None,
        eps: float | None = None,
        eta: float | None = None,
        weight_decay_rate: float | None = None,
        amsgrad: bool | None = None,
        adabound: bool | None = None,
        final_lr: float | None = None,
        gamma: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam,
            alpha=alpha,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            eta=eta,
            weight_decay_rate=weight_decay_rate,
            amsgrad=amsgrad,
            adabound=adabound,
            final_lr=final_lr,
            gamma=gamma,
        )
        # The bounds follow alpha when an extension changes it: they are relative to this value.
        if self.hyperparam.adabound:
            self.initial_alpha = self.hyperparam.alpha

    def init_state(self, param: Parameter) -> None:
        """Makes the state arrays ``m``, ``v`` and, for AMSGrad, ``vhat``."""
        super().init_state(param)
        if self.hyperparam.amsgrad:
            state: Any = self.state
            state["vhat"] = zeros_for_state(param.array, len(self.state_names))

    @property
    def alpha_t(self) -> float:
        """Learning rate with the bias correction in it; RuntimeError before the first update."""
        return _bias_corrected(self.hyperparam._entries(), self.t)

    @property
    def lr(self) -> float:
        """Same as :attr:`alpha_t`."""
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

    def used_states(self) -> tuple[str | None, ...]:
        """Returns ``m``, ``v`` and, for AMSGrad, ``vhat``."""
        return (*self.state_names, "vhat" if self.hyperparam.amsgrad else None)

    @property
    def shares_arguments(self) -> bool:
        """Whether the arguments of the kernel are those of other rules, see the base class."""
        # The bounds of AdaBound depend on the first learning rate of each rule.
        return not self.hyperparam.adabound

    def kernel_call(self, param: Parameter) -> KernelCall:
        """Returns the call of a kernel that updates a parameter."""
        # One look-up in the parent instead of one for each entry: this runs once per parameter.
        hyperparam = self.hyperparam._entries()
        self.check_eps(hyperparam["eps"], compute_dtype(param.array.dtype), "Adam")
        state: Any = self.state
        vhat = state["vhat"] if hyperparam["amsgrad"] else None
        bounds = self.bounds if hyperparam["adabound"] else None
        arrays = [param.array, param.grad, state["m"], state["v"], vhat]
        kernel = self.operation.select(*arrays, bounded=bounds is not None)
        hyper = AdamHyperparameters(
            alpha_t=_bias_corrected(hyperparam, self.t),
            beta1=hyperparam["beta1"],
            beta2=hyperparam["beta2"],
            eps=hyperparam["eps"],
            eta=hyperparam["eta"],
            weight_decay_rate=hyperparam["weight_decay_rate"],
            bounds=bounds,
        )
        return kernel, arrays, {"hyper": hyper}


class Adam(RuleBasedMethod[AdamRule]):
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

    Raises:
        ValueError: At the first update, if ``eps`` is too small for the arithmetic, which is that
            of float32 for float16 parameters.
    """

    rule_class = AdamRule
    alpha = HyperparameterProxy("alpha")
    beta1 = HyperparameterProxy("beta1")
    beta2 = HyperparameterProxy("beta2")
    eps = HyperparameterProxy("eps")
    eta = HyperparameterProxy("eta")
    weight_decay_rate = HyperparameterProxy("weight_decay_rate")
    amsgrad = HyperparameterProxy("amsgrad")
    adabound = HyperparameterProxy("adabound")
    final_lr = HyperparameterProxy("final_lr")
    gamma = HyperparameterProxy("gamma")

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
        weight_decay_rate: float = 0,
        amsgrad: bool = False,
        adabound: bool = False,
        final_lr: float = 0.1,
        gamma: float = 0.001,
    ) -> None:
        super().__init__(
            alpha=alpha,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            eta=eta,
            weight_decay_rate=weight_decay_rate,
            amsgrad=amsgrad,
            adabound=adabound,
            final_lr=final_lr,
            gamma=gamma,
        )

    @property
    def alpha_t(self) -> float:
        """Learning rate with the bias correction in it; RuntimeError before the first update."""
        return _bias_corrected(self.hyperparam._entries(), self.t)

    @property
    def lr(self) -> float:
        """Effective learning rate, same as :attr:`alpha_t`; set :attr:`alpha` to change it."""
        return self.alpha_t


class AdamW(Adam):
    """AdamW optimizer: :class:`Adam` with the arguments of decoupled weight decay only.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, can be used for warm restarts.
        weight_decay_rate (float): Weight decay rate.
    """

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
        weight_decay_rate: float = 0,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, weight_decay_rate)


class AMSGrad(Adam):
    """AMSGrad optimizer: :class:`Adam` with ``amsgrad=True``.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        eta (float): Schedule multiplier, can be used for warm restarts.
    """

    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        eta: float = 1.0,
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, amsgrad=True)


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
    """

    # AMSBound has the same constructor.
    _amsgrad = False

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
        super().__init__(
            alpha,
            beta1,
            beta2,
            eps,
            eta,
            amsgrad=self._amsgrad,
            adabound=True,
            final_lr=final_lr,
            gamma=gamma,
        )


class AMSBound(AdaBound):
    """AMSBound optimizer: :class:`AdaBound` with ``amsgrad=True``.

    Its arguments are those of :class:`AdaBound`.
    """

    _amsgrad = True


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = Adam().hyperparam
