"""Updates of parameters: one launch for as many parameters as an argument list can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels.base import CudaKernel

# The sizes in the source.
_TENSORS = 48
_ARRAYS = 5
_CHUNK = 1024
_THREADS = 256

_TABLE = numpy.dtype(
    [
        ("sizes", "<i8", _TENSORS),
        ("arrays", "<u8", (_ARRAYS, _TENSORS)),
        ("blocks", "<i4", _TENSORS + 1),
        ("count", "<i4"),
    ],
    align=True,
)
_HYPERPARAMETERS = numpy.dtype([("values", "<f8", 10)])


def table_of(groups: Sequence[Sequence[Any]], addresses: Any) -> tuple[Any, int]:
    """Returns the structure Tensors of the source and the number of blocks.

    Args:
        groups: Parameter, gradient and states of each tensor; None for what is left out.
        addresses: Function that gives the address of an array.
    """
    table = numpy.zeros((), _TABLE)
    arrays = numpy.zeros((_ARRAYS, _TENSORS), numpy.uint64)
    sizes, blocks = [0] * _TENSORS, [0] * (_TENSORS + 1)
    total = 0
    for i, group in enumerate(groups):
        blocks[i] = total
        sizes[i] = group[0].size
        total += -(-sizes[i] // _CHUNK)
        for k, array in enumerate(group):
            if array is not None:
                arrays[k, i] = addresses(array)
    blocks[len(groups)] = total
    table["sizes"], table["arrays"], table["blocks"] = sizes, arrays, blocks
    table["count"] = len(groups)
    return table, total


class UpdateKernel(CudaKernel):
    """What the kernels below share.

    Attributes:
        name: Name of the function in the source.
        hyperparameters: Names of the hyperparameters, in the order of the source.
    """

    source = "optimizers.cu"
    name: ClassVar[str]
    hyperparameters: ClassVar[tuple[str, ...]]

    def update(self, *arrays: Any, **hyperparameters: Any) -> None:
        """Updates one parameter, see the operation."""
        self.update_many([arrays], **hyperparameters)

    def update_many(self, groups: Sequence[Sequence[Any]], **hyperparameters: Any) -> None:
        """Updates many parameters of one dtype and device at once.

        Args:
            groups: Arguments of :meth:`update` for each of the parameters.
            hyperparameters: Those of all.
        """
        prepared, copies = [], []
        for group in groups:
            if group[0].size == 0:
                continue
            plain = [self.contiguous(array) for array in group]
            prepared.append(plain)
            copies += [(a, b) for a, b in zip(group, plain, strict=True) if a is not b]
        values = numpy.zeros((), _HYPERPARAMETERS)
        numbers = self.numbers(hyperparameters)
        values["values"][: len(numbers)] = numbers
        for start in range(0, len(prepared), _TENSORS):
            part = prepared[start : start + _TENSORS]
            table, blocks = table_of(part, self._address)
            function = self.function(self.name, types_for(part[0][0].dtype))
            function((blocks,), (_THREADS,), (table, values))
        for array, changed in copies:
            array[...] = changed

    def numbers(self, hyperparameters: dict[str, Any]) -> list[float]:
        """Returns the hyperparameters as numbers in the order of the source."""
        return [float(hyperparameters[name]) for name in self.hyperparameters]

    def _address(self, array: Any) -> int:
        return array.data.ptr


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
