"""Updates of parameters: one launch for as many parameters as an argument list can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from chainer.backends.cupy.kernels._multi_tensor import TensorsKernel
from chainer.core.typing import Array


class UpdateKernel(TensorsKernel):
    """Base of the kernels below.

    Attributes:
        name: Name of the function in the source, which takes the scalars in their order.
    """

    name: ClassVar[str]

    def update_many(self, rows: Sequence[Sequence[Array]], scalars: tuple[Any, ...]) -> None:
        """Updates many parameters of one dtype and device at once, see the operations.

        Args:
            rows: Parameter, gradient and states of each parameter.
            scalars: Numbers of the step.
        """
        self.launch(self.name, rows, self.numbers(scalars))

    def update_copies(
        self,
        rows: Sequence[Sequence[Array]],
        copies: Sequence[Array],
        scale: float,
        scalars: tuple[Any, ...],
    ) -> None:
        """Updates float32 copies of 16-bit parameters, see the operations.

        Args:
            rows: Copy, 16-bit gradient and states of each parameter.
            copies: The 16-bit parameters, which get the rounded results.
            scale: Divisor of the gradients.
            scalars: Numbers of the step.
        """
        self.launch(self.name, rows, self.numbers(scalars), scale, copies)

    def numbers(self, scalars: tuple[Any, ...]) -> list[float]:
        """Returns the scalars as numbers in the order of the source."""
        return [float(number) for number in scalars]


class SGDKernel(UpdateKernel):
    """Kernel of ``sgd_update``."""

    name = "sgd"


class MomentumSGDKernel(UpdateKernel):
    """Kernel of ``momentum_sgd_update``."""

    name = "momentum_sgd"


class CorrectedMomentumSGDKernel(UpdateKernel):
    """Kernel of ``corrected_momentum_sgd_update``."""

    name = "corrected_momentum_sgd"


class NesterovAGKernel(UpdateKernel):
    """Kernel of ``nesterov_ag_update``."""

    name = "nesterov_ag"


class AdaGradKernel(UpdateKernel):
    """Kernel of ``ada_grad_update``."""

    name = "ada_grad"


class AdaDeltaKernel(UpdateKernel):
    """Kernel of ``ada_delta_update``."""

    name = "ada_delta"


class AdamKernel(UpdateKernel):
    """Kernel of ``adam_update``."""

    name = "adam"

    def numbers(self, scalars: tuple[Any, ...]) -> list[float]:
        """Returns the scalars as numbers: the bounds, a pair or None, are the last three."""
        *others, bounds = scalars
        limits = (0.0, 0.0, 0.0) if bounds is None else (1.0, *bounds)
        return super().numbers((*others, *limits))


class RMSpropKernel(UpdateKernel):
    """Kernel of ``rmsprop_update``."""

    name = "rmsprop"


class RMSpropGravesKernel(UpdateKernel):
    """Kernel of ``rmsprop_graves_update``."""

    name = "rmsprop_graves"


class SMORMS3Kernel(UpdateKernel):
    """Kernel of ``smorms3_update``."""

    name = "smorms3"


class MSVAGKernel(UpdateKernel):
    """Kernel of ``msvag_update``."""

    name = "msvag"
