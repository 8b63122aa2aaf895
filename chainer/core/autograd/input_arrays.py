"""Backends of the inputs and outputs of function nodes.

:func:`chainer.core.autograd.apply.apply` comes here unless all arrays are NumPy arrays.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# The types in annotations are checked again at run time, because users write these functions.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.array_types import is_arrays_compatible
from chainer.core.arrays.backend import (
    Backend,
    find_backend,
    get_device_from_array,
    native_copy,
    not_an_array_message,
)
from chainer.core.autograd.gradient_arrays import ONE_DEVICE

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.config.configuration import ThreadState
    from chainer.core.typing import Array, Arrays

_ndarray = numpy.ndarray
# As Any: pyright calls an instance of numpy.generic "partially unknown".
_Scalar: Any = numpy.generic


def input_array(self: FunctionNode, obj: Any) -> Array:
    """Converts an input that is not a variable to an array of the type that variables store."""
    # NumPy arrays, such as labels, are by far the most frequent. They need no search.
    if type(obj) is _ndarray:
        return obj if obj.dtype.isnative else native_copy(obj)
    if obj is None:
        return obj
    backend = find_backend(obj.__class__)
    if backend is None:
        raise TypeError(
            f"incompatible array types are mixed in the forward input ({self.label}).\n"
            f"{not_an_array_message(obj)}"
        )
    return backend.wrap(obj)


def convert_inputs(self: FunctionNode, in_data: Arrays, state: ThreadState) -> Arrays:
    """Finds backend and device of inputs that are not all NumPy arrays.

    Some backends have arrays of a type that their ``xp`` does not make, such as the arrays of
    iDeep. A function gets them unconverted if its kernels understand them and the configuration
    does not forbid these kernels. Other functions get arrays of the type that ``xp`` makes.
    """
    first = in_data[0]
    kind: Any = first.__class__
    backend = find_backend(kind)
    if backend is None or not all([array.__class__ is kind for array in in_data]):
        backend = _common_backend(self, in_data)
        if backend is None:  # no input has an array
            return in_data
        if backend.converts_inputs:
            in_data = tuple([_own_array(backend, x) for x in in_data])
    xp = backend.xp
    if xp is not numpy:
        self.xp = xp
    if backend.multi_device:
        first = next(array for array in in_data if array is not None)
        self._device = backend.device_of(first)
        # The gradients, too, have to be computed with the device made current.
        self._has_direct_rule = False
        _check_one_device(self, backend, in_data)
    if backend.makes_xp_arrays:
        return in_data
    if not self.accepts_opaque_arrays or state.policy.forbids(backend.name):
        self._converted = backend
        return tuple([None if array is None else backend.to_xp(array) for array in in_data])
    return in_data


def _check_one_device(self: FunctionNode, backend: Backend, in_data: Arrays) -> None:
    """Raises if the inputs are arrays of several devices of a backend."""
    device = self._device
    for array in in_data:
        other = device if array is None else backend.device_of(array)
        if other is not device and other != device:
            names = ", ".join([str(get_device_from_array(array)) for array in in_data])
            raise TypeError(f"inputs of {self.label} are on several devices: {names}\n{ONE_DEVICE}")


def _own_array(backend: Backend, array: Array) -> Array:
    """Returns an input of a backend that converts NumPy arrays to its own."""
    return backend.from_host(array, backend.device()) if type(array) is _ndarray else array


def _common_backend(self: FunctionNode, in_data: Arrays) -> Backend | None:
    """Returns the backend that serves inputs of several classes; None if none has an array."""
    backend: Backend | None = None
    for array in in_data:
        if array is None:  # an uninitialized variable, which some functions accept
            continue
        found = find_backend(array.__class__)
        if found is None:
            raise TypeError(not_an_array_message(array))
        if backend is None:
            backend = found
        elif backend.family != found.family:
            raise TypeError(_mixed_message(self, "input", in_data))
        elif backend.name == "numpy" or (backend.makes_xp_arrays and not found.makes_xp_arrays):
            # Arrays in layouts of their own need the backend that can read them.
            backend = found
    return backend


def check_outputs(self: FunctionNode, outputs: Arrays) -> Arrays:
    """Checks outputs that are not all NumPy arrays; converts them to what variables store."""
    checked: list[Array] = []
    families: set[str] = set()
    for y in outputs:
        if y is None:  # the variable of this output is uninitialized
            checked.append(None)
            continue
        if isinstance(y, _Scalar):  # NumPy reduces to scalars
            y = numpy.asarray(y)
        backend = find_backend(y.__class__)
        if backend is None:
            raise TypeError(
                f"forward output must be a tuple of ndarrays.\nFunction: {self.label}\n"
                f"Actual output types: {tuple(map(type, outputs))}"
            )
        families.add(backend.family)
        checked.append(backend.wrap(y))
    if len(families) > 1:
        raise TypeError(_mixed_message(self, "output", outputs))
    return tuple(checked)


def _mixed_message(self: FunctionNode, where: str, arrays: Iterable[Array]) -> str:
    types = ", ".join(str(array.__class__) for array in arrays)
    return (
        f"incompatible array types are mixed in the forward {where} ({self.label}).\n"
        f"Actual: {types}\n{ONE_DEVICE}"
    )


def _check_arrays_forward_compatible(  # pyright: ignore[reportUnusedFunction]
    arrays: Iterable[Array | None], label: str | None = None
) -> None:
    """Raises TypeError if arrays cannot be inputs of one function (``chainer.utils``).

    Args:
        arrays: The arrays; None is left out.
        label: Name of the function, for the message.
    """
    arrays = list(arrays)
    if not is_arrays_compatible(arrays):
        types = ", ".join([str(array.__class__) for array in arrays])
        name = "" if label is None else f" ({label})"
        raise TypeError(
            f"incompatible array types are mixed in the forward input{name}.\nActual: {types}"
        )
