"""Launches that process many arrays, whose addresses are arguments of the launch.

A model has many small parameters. One launch for all of them costs about as much as a launch for
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy

from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, as_argument
from chainer.core.typing import Array

# The CUDA source has the same sizes. With 48 arrays of six kinds the arguments of a launch stay
# below the 4 KiB that CUDA allows.
_TENSORS = 48
_ARRAYS = 6
_CHUNK = 1024
#: Threads of a block.
THREADS = 256

_TABLE = numpy.dtype(
    [
        ("sizes", "<i8", _TENSORS),
        ("arrays", "<u8", (_ARRAYS, _TENSORS)),
        ("blocks", "<i4", _TENSORS + 1),
        ("count", "<i4"),
    ],
    align=True,
)

_HYPERPARAMETERS = numpy.dtype([("values", "<f8", 10), ("scale", "<f8")])


def blocks_of(array: Array) -> int:
    """Returns the number of blocks of threads that process an array."""
    return -(-array.size // _CHUNK)


class TensorsKernel(CudaKernel):
    """Base of the kernels on functions of ``optimizers.cu``."""

    source = "optimizers.cu"

    def launch(
        self,
        name: str,
        groups: Sequence[Sequence[Array]],
        values: Sequence[float] = (),
        scale: float = 1.0,
        copies: Sequence[Array] | None = None,
    ) -> None:
        """Calls a function that changes the arrays of groups, with hyperparameters.

        Args:
            name: Name of the function.
            groups: For each parameter: the parameter, its gradient and states; None for an array
                that is left out.
            values: Hyperparameters in the order of the source.
            scale: Divisor of the gradients.
            copies: For each parameter an array of the type of the gradients, which gets the rounded
                parameter.
        """
        numbers = numpy.zeros((), _HYPERPARAMETERS)
        numbers["values"][: len(values)] = values
        numbers["scale"] = scale
        if copies is not None:
            groups = [
                (*group, *[None] * (_ARRAYS - 1 - len(group)), copy)
                for group, copy in zip(groups, copies, strict=True)
            ]
        prepared = [[self.contiguous(array) for array in group] for group in groups]
        for types, table, blocks in self.tables(prepared):
            self.function(name, types)((blocks,), (THREADS,), (table, as_argument(numbers)))
        # Arrays that are not contiguous get the results from their copies.
        for group, copied in zip(groups, prepared, strict=True):
            for array, changed in zip(group, copied, strict=True):
                if array is not changed:
                    array[...] = changed

    def tables(self, groups: Sequence[Sequence[Array]]) -> Iterator[tuple[Types, Array, int]]:
        """Yields what launches take: types, the structure Tensors, and the number of blocks.

        Args:
            groups: As for :meth:`launch`, contiguous.
        """
        groups = [group for group in groups if group[0].size]
        for start in range(0, len(groups), _TENSORS):
            part = groups[start : start + _TENSORS]
            dtype = part[0][0].dtype
            gradient = next((group[1] for group in part if group[1] is not None), None)
            types = types_for(dtype, G=dtype if gradient is None else gradient.dtype)
            yield types, *self._table(part)

    def _table(self, groups: Sequence[Sequence[Array]]) -> tuple[Array, int]:
        table = numpy.zeros((), _TABLE)
        arrays = numpy.zeros((_ARRAYS, _TENSORS), numpy.uint64)
        sizes, blocks = [0] * _TENSORS, [0] * (_TENSORS + 1)
        total = 0
        for i, group in enumerate(groups):
            blocks[i] = total
            sizes[i] = group[0].size
            total += blocks_of(group[0])
            for k, array in enumerate(group):
                if array is not None:
                    arrays[k, i] = self.address(array)
        blocks[len(groups)] = total
        table["sizes"], table["arrays"], table["blocks"] = sizes, arrays, blocks
        table["count"] = len(groups)
        return as_argument(table), total


class CopyKernel(TensorsKernel):
    """Copies many arrays of one dtype and device in few launches.

    Not the kernel of an operation: the backend calls it for initial values.
    """

    def copy(self, outs: Sequence[Array], sources: Sequence[Array]) -> None:
        """Copies arrays.

        Args:
            outs: Arrays that are written.
            sources: Their new values, arrays of the same shapes; None for zeros.
        """
        self.launch("copy_tensors", list(zip(outs, sources, strict=True)))
