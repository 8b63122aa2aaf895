"""Updates of parameters: one launch for as many parameters as an argument list can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from chainer.backends.cupy.kernels._multi_tensor import TensorsKernel
from chainer.backends.operations.optimizer_updates import (
    AdamHyperparameters,
    MSVAGHyperparameters,
    RMSpropGravesHyperparameters,
)
from chainer.core.typing import Array


class UpdateKernel(TensorsKernel):
    """Base of the kernels below: one update is a grouped update with a single parameter.

    Attributes:
        name: Name of the function in the source.
        hyperparameters: Names of the hyperparameters, in the order of the source.
    """

    name: ClassVar[str]
    hyperparameters: ClassVar[tuple[str, ...]]

    def update(self, *arrays: Array, **hyperparameters: Any) -> None:
        """Updates one parameter, see the operation."""
        self.update_many([arrays], **hyperparameters)

    def update_many(self, groups: Sequence[Sequence[Array]], **hyperparameters: Any) -> None:
        """Updates many parameters of one dtype and device at once.

        Args:
            groups: Arguments of :meth:`update` for each of the parameters.
            hyperparameters: Hyperparameters that the updates have in common.
        """
        self.launch(self.name, groups, self.numbers(hyperparameters))

    def update_copies(
        self,
        groups: Sequence[Sequence[Array]],
        copies: Sequence[Array],
        scale: float,
        **hyperparameters: Any,
    ) -> None:
        """Updates float32 copies of 16-bit parameters, see the operations.

        Args:
            groups: Arguments of :meth:`update` for each of the copies, with 16-bit gradients.
            copies: The 16-bit parameters, which get the rounded results.
            scale: Divisor of the gradients.
            hyperparameters: Hyperparameters that the updates have in common.
        """
        self.launch(self.name, groups, self.numbers(hyperparameters), scale, copies)

    def numbers(self, hyperparameters: dict[str, Any]) -> list[float]:
        """Returns the hyperparameters as numbers in the order of the source."""
        hyper: NamedTuple | None = hyperparameters.get("hyper")
        named = hyperparameters if hyper is None else hyper._asdict()
        return [float(named[name]) for name in self.hyperparameters]


class SGDKernel(UpdateKernel):
    """Kernel of ``sgd_update``."""

    name = "sgd"
    hyperparameters = ("lr",)


class MomentumSGDKernel(UpdateKernel):
    """Kernel of ``momentum_sgd_update``."""

    name = "momentum_sgd"
    hyperparameters = ("lr", "momentum")


class CorrectedMomentumSGDKernel(UpdateKernel):
    """Kernel of ``corrected_momentum_sgd_update``."""

    name = "corrected_momentum_sgd"
    hyperparameters = ("lr", "momentum")


class NesterovAGKernel(UpdateKernel):
    """Kernel of ``nesterov_ag_update``."""

    name = "nesterov_ag"
    hyperparameters = ("lr", "momentum")


class AdaGradKernel(UpdateKernel):
    """Kernel of ``ada_grad_update``."""

    name = "ada_grad"
    hyperparameters = ("lr", "eps")


class AdaDeltaKernel(UpdateKernel):
    """Kernel of ``ada_delta_update``."""

    name = "ada_delta"
    hyperparameters = ("rho", "eps")


class AdamKernel(UpdateKernel):
    """Kernel of ``adam_update``."""

    name = "adam"
    # The bounds are a pair or None, which ``numbers`` passes as three numbers.
    hyperparameters = AdamHyperparameters._fields[:-1]

    def numbers(self, hyperparameters: dict[str, Any]) -> list[float]:
        """Returns the hyperparameters as numbers in the order of the source."""
        hyper: AdamHyperparameters = hyperparameters["hyper"]
        bounds = hyper.bounds
        return [
            *super().numbers(hyperparameters),
            *((0.0, 0.0, 0.0) if bounds is None else (1.0, *map(float, bounds))),
        ]


class RMSpropKernel(UpdateKernel):
    """Kernel of ``rmsprop_update``."""

    name = "rmsprop"
    hyperparameters = ("lr", "alpha", "eps", "eps_inside_sqrt")


class RMSpropGravesKernel(UpdateKernel):
    """Kernel of ``rmsprop_graves_update``."""

    name = "rmsprop_graves"
    hyperparameters = RMSpropGravesHyperparameters._fields


class SMORMS3Kernel(UpdateKernel):
    """Kernel of ``smorms3_update``."""

    name = "smorms3"
    hyperparameters = ("lr", "eps")


class MSVAGKernel(UpdateKernel):
    """Kernel of ``msvag_update``."""

    name = "msvag"
    hyperparameters = MSVAGHyperparameters._fields
