"""Parameter updates of the optimizers.

Every implementation has the method ``update``, which changes the parameter and the state arrays in
place and returns nothing. The arrays come first in its signature. The hyperparameters (Python
floats) are keyword arguments; where there are many, they travel as one object, ``hyper``. All
arrays of one call have the shape and the dtype (float16, float32 or float64) of the parameter.
``grad`` is never changed. Updates of float16 parameters are computed in float32, because a small
step would be rounded away in float16.

Two more methods are optional. Optimizers call them for parameters on accelerators:

``update_many(groups, **hyperparameters)`` updates parameters of one dtype and device by one call.
``groups`` is a list; each element holds the arrays of ``update`` for one parameter.

``update_copies(groups, copies, scale, **hyperparameters)`` does so for the float32 copies of
16-bit parameters. ``groups`` holds float32 arrays and 16-bit gradients, which are divided by
``scale`` first. ``copies`` are the 16-bit parameters, which get the rounded results.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from chainer.core.arrays.kernel import Operation

_REFERENCES = "chainer.backends.numpy.kernels.optimizer_updates:"


class AdamHyperparameters(NamedTuple):
    """Hyperparameters of one update by Adam or a variant of it.

    Attributes:
        alpha_t: Learning rate with the bias correction of both moments in it.
        beta1: Decay rate of the first moment.
        beta2: Decay rate of the second moment.
        eps: Number added to the denominator.
        eta: Factor of the step and of the weight decay.
        weight_decay_rate: Rate of the decoupled weight decay.
        bounds: Bounds of the step size in AdaBound, else None.
    """

    alpha_t: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    weight_decay_rate: float
    bounds: tuple[float, float] | None


class RMSpropGravesHyperparameters(NamedTuple):
    """Hyperparameters of one update by RMSprop as A. Graves uses it.

    Attributes:
        lr: Learning rate.
        alpha: Decay rate of the moments of the gradient.
        momentum: Decay rate of the step.
        eps: Number added below the square root.
    """

    lr: float
    alpha: float
    momentum: float
    eps: float


class MSVAGHyperparameters(NamedTuple):
    """Hyperparameters of one update by M-SVAG.

    Attributes:
        lr: Learning rate.
        beta: Decay rate of both moments.
        eta: Factor of the step and of the weight decay.
        weight_decay_rate: Rate of the decoupled weight decay.
        correction: Bias correction of the moments, ``1 - beta ** t``.
        rho: Share of the squared mean in the estimated variance; 1 at the first update.
    """

    lr: float
    beta: float
    eta: float
    weight_decay_rate: float
    correction: float
    rho: float


class OptimizerUpdate(Operation):
    """Base class of the declarations below."""

    methods: ClassVar[tuple[str, ...]] = ("update",)
    in_place: ClassVar[bool] = True


class SGDUpdate(OptimizerUpdate):
    """Gradient descent: ``param -= lr * grad``.

    ``update(param, grad, *, lr)``; selected with ``select(param, grad)``.
    """

    name = "sgd_update"
    reference = _REFERENCES + "SGDKernel"


class MomentumSGDUpdate(OptimizerUpdate):
    """Gradient descent with momentum: ``v = momentum * v - lr * grad; param += v``.

    ``update(param, grad, v, *, lr, momentum)``; selected with ``select(param, grad, v)``.
    """

    name = "momentum_sgd_update"
    reference = _REFERENCES + "MomentumSGDKernel"


class CorrectedMomentumSGDUpdate(OptimizerUpdate):
    """Momentum whose velocity does not contain the learning rate.

    ``v = momentum * v - grad``, ``param += lr * v``.

    ``update(param, grad, v, *, lr, momentum)``; selected with ``select(param, grad, v)``.
    """

    name = "corrected_momentum_sgd_update"
    reference = _REFERENCES + "CorrectedMomentumSGDKernel"


class NesterovAGUpdate(OptimizerUpdate):
    """Nesterov's accelerated gradient.

    ``v = momentum * v - lr * grad; param += momentum ** 2 * v - (1 + momentum) * lr * grad``.

    ``update(param, grad, v, *, lr, momentum)``; selected with ``select(param, grad, v)``.
    """

    name = "nesterov_ag_update"
    reference = _REFERENCES + "NesterovAGKernel"


class AdaGradUpdate(OptimizerUpdate):
    """AdaGrad: ``h += grad ** 2; param -= lr * grad / (sqrt(h) + eps)``.

    ``update(param, grad, h, *, lr, eps)``; selected with ``select(param, grad, h)``.
    """

    name = "ada_grad_update"
    reference = _REFERENCES + "AdaGradKernel"


class AdaDeltaUpdate(OptimizerUpdate):
    """AdaDelta.

    ``msg = rho * msg + (1 - rho) * grad ** 2``, ``dx = sqrt((msdx + eps) / (msg + eps)) * grad``,
    ``msdx = rho * msdx + (1 - rho) * dx ** 2``, ``param -= dx``.

    ``update(param, grad, msg, msdx, *, rho, eps)``; selected with
    ``select(param, grad, msg, msdx)``.
    """

    name = "ada_delta_update"
    reference = _REFERENCES + "AdaDeltaKernel"


class AdamUpdate(OptimizerUpdate):
    """Adam with the variants AdamW, AMSGrad and AdaBound.

    ``m = beta1 * m + (1 - beta1) * grad``, ``v = beta2 * v + (1 - beta2) * grad ** 2``; with
    AMSGrad ``vhat = max(vhat, v)`` replaces ``v`` below. The step is
    ``alpha_t * m / (sqrt(v) + eps)``, where ``alpha_t`` is the learning rate with the bias
    correction in it; with AdaBound the factor ``alpha_t / (sqrt(v) + eps)`` is clipped to
    ``bounds`` first. ``param -= eta * (step + weight_decay_rate * param)``.

    ``update(param, grad, m, v, vhat, *, hyper)``; ``hyper`` is of :class:`AdamHyperparameters`, and
    ``vhat`` is None without AMSGrad. Selected with
    ``select(param, grad, m, v, vhat, bounded=hyper.bounds is not None)``.
    """

    name = "adam_update"
    reference = _REFERENCES + "AdamKernel"


class RMSpropUpdate(OptimizerUpdate):
    """RMSprop.

    ``ms = alpha * ms + (1 - alpha) * grad ** 2``, ``param -= lr * grad / (sqrt(ms) + eps)``. With
    ``eps_inside_sqrt`` the denominator is ``sqrt(ms + eps)``.

    ``update(param, grad, ms, *, lr, alpha, eps, eps_inside_sqrt)``; selected with
    ``select(param, grad, ms)``.
    """

    name = "rmsprop_update"
    reference = _REFERENCES + "RMSpropKernel"


class RMSpropGravesUpdate(OptimizerUpdate):
    """RMSprop as A. Graves uses it.

    ``n = alpha * n + (1 - alpha) * grad ** 2``, ``g = alpha * g + (1 - alpha) * grad``,
    ``delta = momentum * delta - lr * grad / sqrt(n - g ** 2 + eps)``, ``param += delta``.

    ``update(param, grad, n, g, delta, *, hyper)``; ``hyper`` is of
    :class:`RMSpropGravesHyperparameters`. Selected with ``select(param, grad, n, g, delta)``.
    """

    name = "rmsprop_graves_update"
    reference = _REFERENCES + "RMSpropGravesKernel"


class SMORMS3Update(OptimizerUpdate):
    """SMORMS3.

    ``r = 1 / (mem + 1)``, ``g = (1 - r) * g + r * grad``, ``g2 = (1 - r) * g2 + r * grad ** 2``,
    ``x = g ** 2 / (g2 + eps)``, ``param -= grad * min(lr, x) / (sqrt(g2) + eps)``,
    ``mem = 1 + mem * (1 - x)``.

    ``update(param, grad, mem, g, g2, *, lr, eps)``; selected with
    ``select(param, grad, mem, g, g2)``.
    """

    name = "smorms3_update"
    reference = _REFERENCES + "SMORMS3Kernel"


class MSVAGUpdate(OptimizerUpdate):
    """M-SVAG: momentum with steps that shrink with the estimated variance of each gradient.

    ``m = beta * m + (1 - beta) * grad``, ``v = beta * v + (1 - beta) * grad ** 2``; with
    ``c = 1 - beta ** t``, ``mh = m / c``, ``vh = v / c`` the step is
    ``mh ** 3 / (mh ** 2 + rho * s)`` with ``s = (vh - mh ** 2) / (1 - rho)``, or ``mh`` where that
    is not a number. ``param -= eta * (lr * step + weight_decay_rate * param)``.

    ``update(param, grad, m, v, *, hyper)``; ``hyper`` is of :class:`MSVAGHyperparameters`.
    Selected with ``select(param, grad, m, v)``.
    """

    name = "msvag_update"
    reference = _REFERENCES + "MSVAGKernel"


sgd_update = SGDUpdate()
momentum_sgd_update = MomentumSGDUpdate()
corrected_momentum_sgd_update = CorrectedMomentumSGDUpdate()
nesterov_ag_update = NesterovAGUpdate()
ada_grad_update = AdaGradUpdate()
ada_delta_update = AdaDeltaUpdate()
adam_update = AdamUpdate()
rmsprop_update = RMSpropUpdate()
rmsprop_graves_update = RMSpropGravesUpdate()
smorms3_update = SMORMS3Update()
msvag_update = MSVAGUpdate()
