"""Updates of parameters, each one program: XLA compiles a dozen operations once per shape."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy
from chainer.backends.operations.optimizer_updates import OptimizerUpdate

from chainer_jax import boxes
from chainer_jax.backend import HostReadError
from chainer_jax.tracing import Trace

if TYPE_CHECKING:
    from chainer.typing import Array

#: Errors that JAX and the backend raise where a traced kernel reads a value.
_READS = (HostReadError, jax.errors.JAXTypeError, jax.errors.JAXIndexError)

#: In place of a number that is an input of the program.
_VARIES = "varies"


@partial(jax.jit, static_argnums=(0, 3, 4))
def _compute(kernel: Any, natives: Array, vector: Array, structure: Any, fixed: Any) -> Any:
    wrap = kernel.backend.array_class
    with Trace():
        row = [None if native is None else wrap(native) for native in natives]
        found = iter([wrap(vector[i]) for i in range(len(vector))])
        leaves = [next(found) if value is _VARIES else value for value in fixed]
        kernel.update_many([row], jax.tree.unflatten(structure, leaves))
        return [None if array is None else array.native for array in row]


class OneProgramUpdate:
    """A reference kernel whose updates are compiled, for any operation that updates parameters.

    Args:
        kernel: The reference kernel.
        operation: Its operation, which declares the numbers that are inputs of the programs.
    """

    def __init__(self, kernel: Any, operation: OptimizerUpdate) -> None:
        self._kernel = kernel
        self._varying = operation.varying
        #: Whether the kernel looks at numbers that vary, which a program cannot.
        self._reads_values = False

    def update_many(self, rows: Any, scalars: Any) -> None:
        """See the operation."""
        # A recorded step is one program itself.
        if self._reads_values or boxes.state.observer is not None:
            self._kernel.update_many(rows, scalars)
            return
        try:
            self._update_many(rows, scalars)
        except _READS:
            self._reads_values = True
            self._kernel.update_many(rows, scalars)

    def _update_many(self, rows: Any, scalars: Any) -> None:
        leaves: list[Any] = []
        fixed: list[Any] = []
        # Kernels decide by the other numbers, such as a weight decay of zero.
        for name, value in zip(scalars._fields, scalars, strict=True):
            parts = jax.tree.leaves(value)
            leaves += parts
            fixed += [_VARIES] * len(parts) if name in self._varying else parts
        varying = [v for x, v in zip(fixed, leaves, strict=True) if x is _VARIES]
        vector = numpy.array(varying, numpy.float64)
        structure = jax.tree.structure(scalars)
        for row in rows:
            natives = [None if array is None else array.native for array in row]
            results = _compute(self._kernel, natives, vector, structure, tuple(fixed))
            for index, (array, native) in enumerate(zip(row, results, strict=True)):
                if array is not None and index != 1:  # the gradient
                    self._kernel.backend.assign(array, native)
