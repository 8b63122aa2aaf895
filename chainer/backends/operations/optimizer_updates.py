"""Parameter updates of the optimizers.

Every implementation has the method ``update_many(rows, scalars)``. It changes parameters of one
dtype and device and their states in place, and returns nothing. A row has the arrays of one
parameter: the parameter, its gradient, and the states in the order that the operation documents;
None for a state that is not used. The arrays of a row have one shape and one dtype (float16,
float32 or float64), unless the operation says otherwise. The gradient is never changed. Updates of
float16 parameters are computed in float32, because a small step would be rounded away in float16.

``scalars`` are the numbers of the step, one named tuple for all rows. Those that the operation
names in ``varying`` may differ from step to step, and may be a
:class:`~chainer.core.arrays.recorder.VaryingNumber` in a recorded step.

One more method is optional: ``update_copies(rows, copies, scale, scalars)`` updates the float32
copies of 16-bit parameters. The rows hold float32 arrays and 16-bit gradients, which are divided by
``scale`` first. ``copies`` are the 16-bit parameters, which get the rounded results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from chainer.core.arrays.kernel import Operation, Recording
from chainer.core.arrays.protocol import Backend
from chainer.core.lazy import resolve
from chainer.core.typing import Array

_REFERENCES = "chainer.backends.numpy.kernels.optimizer_updates:"


class SGDScalars(NamedTuple):
    """The number of one step of gradient descent.

    Attributes:
        lr: Learning rate.
    """

    lr: float


class VelocityScalars(NamedTuple):
    """Numbers of one step with a velocity.

    Attributes:
        lr: Learning rate.
        momentum: Factor of the velocity of the step before.
    """

    lr: float
    momentum: float


class NormalizedScalars(NamedTuple):
    """Numbers of one step that is divided by a root mean square.

    Attributes:
        lr: Learning rate.
        eps: Number added to the denominator.
    """

    lr: float
    eps: float


class AdaDeltaScalars(NamedTuple):
    """Numbers of one step of AdaDelta.

    Attributes:
        rho: Decay rate of both means of squares.
        eps: Number added to both means of squares.
    """

    rho: float
    eps: float


class RMSpropScalars(NamedTuple):
    """Numbers of one step of RMSprop.

    Attributes:
        lr: Learning rate.
        alpha: Decay rate of the mean of squares.
        eps: Number added to the denominator.
        eps_inside_sqrt: Whether ``eps`` is added below the square root.
    """

    lr: float
    alpha: float
    eps: float
    eps_inside_sqrt: bool


class AdamScalars(NamedTuple):
    """Numbers of one step of Adam or a variant of it.

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


class RMSpropGravesScalars(NamedTuple):
    """Numbers of one step of RMSprop as A. Graves uses it.

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


class MSVAGScalars(NamedTuple):
    """Numbers of one step of M-SVAG.

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
    """Base class of the declarations below, and of updates that other distributions declare.

    Attributes:
        scalars: Named tuple of the numbers of a step.
        varying: Names of those that may differ from step to step. Recorded steps compute them anew,
            and compiled kernels take them as inputs; the others are part of the program.
        is_elementwise: Whether the update of an element depends on that element of the parameter,
            the gradient and the states only. Arrays may then be joined.
    """

    methods: ClassVar[tuple[str, ...]] = ("update_many",)
    in_place: ClassVar[bool] = True
    recording: ClassVar[Recording] = Recording.JOINED
    scalars: type[Any]
    varying: tuple[str, ...] = ("lr",)
    is_elementwise: bool = True

    def attributes(self, scalars: Any) -> dict[str, Any]:
        """Returns the attributes by which a kernel is selected besides the arrays.

        Args:
            scalars: Numbers of the step.
        """
        return {}


class FormulaUpdate(OptimizerUpdate):
    """An update that is a formula on arrays, the same for every backend.

    The states and the arithmetic of 16-bit parameters are of float32.

    Args:
        name: Name of the operation.
        step: ``step(xp, param, grad, state, scalars)`` returns the parameter after the update, and
            changes the arrays of the dictionary ``state`` in place.
        states: Names of the states.
        scalars: Named tuple of the numbers of a step.
        varying: Names of those that differ from step to step.
        is_elementwise: Whether the formula treats each element by itself.
    """

    name = "formula_update"
    # Every array call is recorded: the formula may look at shapes, so that calls are not joined.
    recording = Recording.STEPS

    def __init__(
        self,
        name: str,
        step: Callable[..., Array],
        states: tuple[str, ...],
        scalars: type[Any],
        varying: tuple[str, ...],
        is_elementwise: bool,
    ) -> None:
        super().__init__()
        vars(self).update(name=name, step=step, states=states)
        self.scalars, self.varying, self.is_elementwise = scalars, varying, is_elementwise

    step: Callable[..., Array]
    states: tuple[str, ...]

    @property
    def reference(self) -> Callable[[Backend], Any]:  # type: ignore[override]
        """Makes the kernel of the formula."""
        kernel = resolve(_REFERENCES + "FormulaKernel")
        return lambda backend: kernel(backend, self)


class SGDUpdate(OptimizerUpdate):
    """Gradient descent: ``param -= lr * grad``.

    ``update_many(rows, scalars)``; rows: ``param, grad``; scalars: ``lr``.
    """

    name = "sgd_update"
    reference = _REFERENCES + "SGDKernel"
    scalars = SGDScalars


class MomentumSGDUpdate(OptimizerUpdate):
    """Gradient descent with momentum: ``v = momentum * v - lr * grad; param += v``.

    ``update_many(rows, scalars)``; rows: ``param, grad, v``; scalars: ``lr, momentum``.
    """

    name = "momentum_sgd_update"
    reference = _REFERENCES + "MomentumSGDKernel"
    scalars = VelocityScalars


class CorrectedMomentumSGDUpdate(OptimizerUpdate):
    """Momentum whose velocity does not contain the learning rate.

    ``v = momentum * v - grad``, ``param += lr * v``.

    ``update_many(rows, scalars)``; rows: ``param, grad, v``; scalars: ``lr, momentum``.
    """

    name = "corrected_momentum_sgd_update"
    reference = _REFERENCES + "CorrectedMomentumSGDKernel"
    scalars = VelocityScalars


class NesterovAGUpdate(OptimizerUpdate):
    """Nesterov's accelerated gradient.

    ``v = momentum * v - lr * grad; param += momentum ** 2 * v - (1 + momentum) * lr * grad``.

    ``update_many(rows, scalars)``; rows: ``param, grad, v``; scalars: ``lr, momentum``.
    """

    name = "nesterov_ag_update"
    reference = _REFERENCES + "NesterovAGKernel"
    scalars = VelocityScalars


class AdaGradUpdate(OptimizerUpdate):
    """AdaGrad: ``h += grad ** 2; param -= lr * grad / (sqrt(h) + eps)``.

    ``update_many(rows, scalars)``; rows: ``param, grad, h``; scalars: ``lr, eps``.
    """

    name = "ada_grad_update"
    reference = _REFERENCES + "AdaGradKernel"
    scalars = NormalizedScalars


class AdaDeltaUpdate(OptimizerUpdate):
    """AdaDelta.

    ``msg = rho * msg + (1 - rho) * grad ** 2``, ``dx = sqrt((msdx + eps) / (msg + eps)) * grad``,
    ``msdx = rho * msdx + (1 - rho) * dx ** 2``, ``param -= dx``.

    ``update_many(rows, scalars)``; rows: ``param, grad, msg, msdx``; scalars: ``rho, eps``.
    """

    name = "ada_delta_update"
    reference = _REFERENCES + "AdaDeltaKernel"
    scalars = AdaDeltaScalars
    varying = ()


class AdamUpdate(OptimizerUpdate):
    """Adam with the variants AdamW, AMSGrad and AdaBound.

    ``m = beta1 * m + (1 - beta1) * grad``, ``v = beta2 * v + (1 - beta2) * grad ** 2``; with
    AMSGrad ``vhat = max(vhat, v)`` replaces ``v`` below. The step is
    ``alpha_t * m / (sqrt(v) + eps)``, where ``alpha_t`` is the learning rate with the bias
    correction in it; with AdaBound the factor ``alpha_t / (sqrt(v) + eps)`` is clipped to
    ``bounds`` first. ``param -= eta * (step + weight_decay_rate * param)``.

    ``update_many(rows, scalars)``; rows: ``param, grad, m, v, vhat``; ``vhat``
    is None without AMSGrad. Scalars: :class:`AdamScalars`. The attribute ``bounded`` tells whether
    there are bounds.
    """

    name = "adam_update"
    reference = _REFERENCES + "AdamKernel"
    scalars = AdamScalars
    varying = ("alpha_t", "eps", "eta", "bounds")

    def attributes(self, scalars: AdamScalars) -> dict[str, Any]:
        """Returns whether there are bounds: few kernels have them."""
        return {"bounded": scalars.bounds is not None}


class RMSpropUpdate(OptimizerUpdate):
    """RMSprop.

    ``ms = alpha * ms + (1 - alpha) * grad ** 2``, ``param -= lr * grad / (sqrt(ms) + eps)``. With
    ``eps_inside_sqrt`` the denominator is ``sqrt(ms + eps)``.

    ``update_many(rows, scalars)``; rows: ``param, grad, ms``; scalars:
    :class:`RMSpropScalars`.
    """

    name = "rmsprop_update"
    reference = _REFERENCES + "RMSpropKernel"
    scalars = RMSpropScalars
    varying = ("lr", "alpha")


class RMSpropGravesUpdate(OptimizerUpdate):
    """RMSprop as A. Graves uses it.

    ``n = alpha * n + (1 - alpha) * grad ** 2``, ``g = alpha * g + (1 - alpha) * grad``,
    ``delta = momentum * delta - lr * grad / sqrt(n - g ** 2 + eps)``, ``param += delta``.

    ``update_many(rows, scalars)``; rows: ``param, grad, n, g, delta``; scalars:
    :class:`RMSpropGravesScalars`.
    """

    name = "rmsprop_graves_update"
    reference = _REFERENCES + "RMSpropGravesKernel"
    scalars = RMSpropGravesScalars
    varying = ("lr", "alpha")


class SMORMS3Update(OptimizerUpdate):
    """SMORMS3.

    ``r = 1 / (mem + 1)``, ``g = (1 - r) * g + r * grad``, ``g2 = (1 - r) * g2 + r * grad ** 2``,
    ``x = g ** 2 / (g2 + eps)``, ``param -= grad * min(lr, x) / (sqrt(g2) + eps)``,
    ``mem = 1 + mem * (1 - x)``.

    ``update_many(rows, scalars)``; rows: ``param, grad, mem, g, g2``; scalars: ``lr, eps``.
    """

    name = "smorms3_update"
    reference = _REFERENCES + "SMORMS3Kernel"
    scalars = NormalizedScalars


class MSVAGUpdate(OptimizerUpdate):
    """M-SVAG: momentum with steps that shrink with the estimated variance of each gradient.

    ``m = beta * m + (1 - beta) * grad``, ``v = beta * v + (1 - beta) * grad ** 2``; with
    ``c = 1 - beta ** t``, ``mh = m / c``, ``vh = v / c`` the step is
    ``mh ** 3 / (mh ** 2 + rho * s)`` with ``s = (vh - mh ** 2) / (1 - rho)``, or ``mh`` where that
    is not a number. ``param -= eta * (lr * step + weight_decay_rate * param)``.

    ``update_many(rows, scalars)``; rows: ``param, grad, m, v``; scalars: :class:`MSVAGScalars`.
    """

    name = "msvag_update"
    reference = _REFERENCES + "MSVAGKernel"
    scalars = MSVAGScalars
    varying = ("lr", "correction", "rho")


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
