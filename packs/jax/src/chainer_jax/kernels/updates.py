"""Updates of parameters, each one program: XLA compiles a dozen operations once per shape."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy
from chainer.backends.numpy.kernels import optimizer_updates as reference

from chainer_jax import boxes
from chainer_jax.tracing import Trace


@partial(jax.jit, static_argnums=(0, 3, 4))
def _compute(update: Any, natives: Any, vector: Any, structure: Any, fixed: Any) -> Any:
    wrap = update.__self__.backend.array_class
    with Trace():
        arrays = [None if native is None else wrap(native) for native in natives]
        found = iter([wrap(vector[i]) for i in range(len(vector))])
        leaves = [next(found) if value is _VARIES else value for value in fixed]
        update(*arrays, **jax.tree.unflatten(structure, leaves))
        return [None if array is None else array.native for array in arrays]


#: Hyperparameters that are inputs of the programs: those that differ from step to step.
_INPUTS = frozenset(("alpha_t", "bounds", "lr"))

#: In place of a hyperparameter that is an input of the program.
_VARIES = "varies"


def _name_of(key: Any) -> Any:
    """Returns the name in one part of a path: of a keyword argument, or of a field."""
    return getattr(key, "key", None) or getattr(key, "name", None)


class _OneProgram(reference.UpdateKernel):
    """Mixed into a reference kernel: its method ``update`` becomes one program."""

    def constants(self, param: Any, *values: Any) -> Any:
        """Returns the numbers in the dtype of the arithmetic; see the reference."""
        dtype = reference.compute_dtype(param.dtype)
        known = super().constants(param, *values)
        return tuple([v.astype(dtype) if hasattr(v, "native") else v for v in known])

    def update(self, *arrays: Any, **numbers: Any) -> None:
        """See the reference."""
        run: Any = super()
        if boxes.state.observer is not None:  # a step is recorded, and is one program itself
            run.update(*arrays, **numbers)
            return
        found, structure = jax.tree_util.tree_flatten_with_path(numbers)
        # Kernels decide by other numbers, such as a weight decay of zero.
        varies = [not _INPUTS.isdisjoint(map(_name_of, path)) for path, _ in found]
        leaves = [value for _, value in found]
        fixed = tuple([_VARIES if x else v for x, v in zip(varies, leaves, strict=True)])
        vector = numpy.array([v for x, v in zip(varies, leaves, strict=True) if x], numpy.float64)
        natives = [None if array is None else array.native for array in arrays]
        results = _compute(run.update, natives, vector, structure, fixed)
        for index, (array, native) in enumerate(zip(arrays, results, strict=True)):
            if array is not None and index != 1:  # the gradient
                self.backend.assign(array, native)


class AdaDeltaKernel(_OneProgram, reference.AdaDeltaKernel):
    """Kernel of ``ada_delta_update``."""


class AdaGradKernel(_OneProgram, reference.AdaGradKernel):
    """Kernel of ``ada_grad_update``."""


class AdamKernel(_OneProgram, reference.AdamKernel):
    """Kernel of ``adam_update``."""


class NesterovAGKernel(_OneProgram, reference.NesterovAGKernel):
    """Kernel of ``nesterov_ag_update``."""


class RMSpropKernel(_OneProgram, reference.RMSpropKernel):
    """Kernel of ``rmsprop_update``."""
