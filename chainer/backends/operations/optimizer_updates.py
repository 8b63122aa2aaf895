"""Parameter updates of the optimizers.

Every implementation has the method ``update``, which changes the parameter and the state arrays in
place and returns nothing. In its signature the arrays come first, and the hyperparameters (Python
floats) are keyword arguments. All arrays of one call have the shape and the dtype (float16, float32
or float64) of the parameter. ``grad`` is never changed. float16 is computed in float32: half
precision is for storage.

Two more methods are optional. Optimizers call them for parameters on accelerators:

``update_many(groups, **hyperparameters)`` updates parameters of one dtype and device by one call.
``groups`` is a list; each element holds the arrays of ``update`` for one parameter.

``update_copies(groups, copies, scale, **hyperparameters)`` does so for the float32 copies of
parameters of 16 bits. ``groups`` holds float32 arrays, except the gradients, which have 16 bits and
have to be divided by ``scale`` first. ``copies`` are the parameters of 16 bits, which get the
rounded results.
"""

from __future__ import annotations

from typing import ClassVar

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import Operation
from chainer.core.typing import DType

_FLOAT32 = numpy.dtype(numpy.float32)
_REFERENCES = "chainer.backends.numpy.kernels.optimizer_updates:"


def compute_dtype(dtype: DType) -> DType:
    """Returns the data type of the arithmetic of an update of parameters of a data type."""
    return _FLOAT32 if is_half(dtype) else dtype


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
    AMSGrad ``vhat = max(vhat, v)`` takes the place of ``v`` below. The step is
    ``alpha_t * m / (sqrt(v) + eps)``, where ``alpha_t`` is the learning rate with the bias
    correction in it; with AdaBound the factor ``alpha_t / (sqrt(v) + eps)`` is clipped to
    ``bounds`` first. ``param -= eta * (step + weight_decay_rate * param)``.

    ``update(param, grad, m, v, vhat, *, alpha_t, beta1, beta2, eps, eta, weight_decay_rate,
    bounds)``;
    ``vhat`` is None without AMSGrad and ``bounds`` is a pair of floats or None. Selected with
    ``select(param, grad, m, v, vhat, bounded=bounds is not None)``.
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

    ``update(param, grad, n, g, delta, *, lr, alpha, momentum, eps)``; selected with
    ``select(param, grad, n, g, delta)``.
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

    ``update(param, grad, m, v, *, lr, beta, eta, weight_decay_rate, correction, rho)``;
    ``correction`` is ``c``. Selected with ``select(param, grad, m, v)``.
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
