"""Updates of parameters: one launch for as many parameters as an argument list can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from chainer.backends.cupy.kernels._multi_tensor import TensorsKernel
from chainer.core.typing import Array


class UpdateKernel(TensorsKernel):
    """What the kernels below share.

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
            hyperparameters: Those of all.
        """
        self.launch(self.name, groups, self.numbers(hyperparameters))

    def update_copies(
        self, groups: Sequence[Sequence[Array]], copies: Sequence[Array], scale: float, **hyper: Any
    ) -> None:
        """Updates parameters of float32 that stand for others of 16 bits, see the operations.

        Args:
            groups: Arguments of :meth:`update` for each of the parameters, gradients of 16 bits.
            copies: The parameters of 16 bits, which get the rounded results.
            scale: What the gradients are to be divided by.
            hyper: Hyperparameters of all.
        """
        self.launch(self.name, groups, self.numbers(hyper), scale, copies)

    def numbers(self, hyperparameters: dict[str, Any]) -> list[float]:
        """Returns the hyperparameters as numbers in the order of the source."""
        return [float(hyperparameters[name]) for name in self.hyperparameters]


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
    hyperparameters = ("alpha_t", "beta1", "beta2", "eps", "eta", "weight_decay_rate")

    def numbers(self, hyperparameters: dict[str, Any]) -> list[float]:
        """Returns the hyperparameters as numbers in the order of the source."""
        bounds = hyperparameters["bounds"]
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
    hyperparameters = ("lr", "alpha", "momentum", "eps")


class SMORMS3Kernel(UpdateKernel):
    """Kernel of ``smorms3_update``."""

    name = "smorms3"
    hyperparameters = ("lr", "eps")


class MSVAGKernel(UpdateKernel):
    """Kernel of ``msvag_update``."""

    name = "msvag"
    hyperparameters = ("lr", "beta", "eta", "weight_decay_rate", "correction", "rho")
