"""The vocabulary of Chainer's signatures (public module ``chainer.typing``).

Arrays of every backend have the type ``Any`` for checkers, because the framework is written against
the NumPy API and not against the stubs of one library. The names say what an argument means.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy

# For checkers only: modules that these names come from import this one.
if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.variable import Variable

Array: TypeAlias = Any
"""An array of any backend: ``numpy.ndarray``, ``cupy.ndarray``, ``ideep4py.mdarray``, ..."""

HostArray: TypeAlias = numpy.ndarray[Any, Any]
"""An array of NumPy."""

ArrayLike: TypeAlias = Any
"""An array, a number, or nested sequences of numbers: what ``xp.asarray`` takes."""

ArrayTree: TypeAlias = Any
"""An array, None, or a list, tuple or dict of such, nested to any depth."""

Scalar: TypeAlias = float | int | numpy.generic
"""A number of Python or of NumPy."""

VariableLike: TypeAlias = "Variable | Array"
"""A :class:`~chainer.Variable`, or an array, which then requires no gradient."""

Arrays: TypeAlias = tuple[Array, ...]
"""Inputs or outputs of a function, as arrays."""

ArrayGrads: TypeAlias = "tuple[Array | None, ...]"
"""Gradients as arrays; None where there is no gradient."""

Variables: TypeAlias = "tuple[Variable, ...]"
"""Inputs or outputs of a function, as Variables."""

Grads: TypeAlias = "tuple[Variable | None, ...]"
"""Gradients as Variables; None where there is no gradient."""

Indexes: TypeAlias = tuple[int, ...]
"""Positions in a tuple, such as the numbers of the inputs whose gradients are wanted."""

ArrayModule: TypeAlias = ModuleType
"""An array namespace with the NumPy API (``xp``): ``numpy``, ``cupy``, ..."""

Index: TypeAlias = Any
"""Selects elements of an array: an int, slice, None, Ellipsis, array, or tuple of them."""

Shape: TypeAlias = tuple[int, ...]
"""Shape of an array."""

ShapeLike: TypeAlias = int | Sequence[int]
"""A shape, or the length of an array of one dimension."""

Axis: TypeAlias = int | tuple[int, ...] | None
"""One axis, several axes, or all axes (None)."""

IntPair: TypeAlias = int | tuple[int, int]
"""One number for both spatial dimensions, or one for each."""

IntTuple: TypeAlias = int | tuple[int, ...]
"""One number for all spatial dimensions, or one for each."""

DType: TypeAlias = numpy.dtype[Any]
"""A data type of arrays."""

DTypeLike: TypeAlias = Any
"""An argument of ``numpy.dtype`` (``'f'``, ``numpy.float32``, ...), or ``chainer.mixed16``."""

DeviceLike: TypeAlias = "Device | str | int | tuple[str, int] | None"
"""An argument of :func:`chainer.get_device`."""

InitializerLike: TypeAlias = "Callable[[Array], None] | Array | Scalar | None"
"""An initializer, the initial array or number, or None for the default initializer."""

Reduction: TypeAlias = Literal["sum", "mean", "no"]
"""How a loss joins the losses of single elements."""

FilePath: TypeAlias = str | os.PathLike[str]
"""Path of a file."""


class DatasetLike(Protocol):
    """A dataset: a list, an array, or anything else with a length and numbered examples."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...


__all__ = [
    "Array",
    "ArrayGrads",
    "ArrayLike",
    "ArrayModule",
    "ArrayTree",
    "Arrays",
    "Axis",
    "DType",
    "DTypeLike",
    "DatasetLike",
    "DeviceLike",
    "FilePath",
    "Grads",
    "HostArray",
    "Index",
    "Indexes",
    "InitializerLike",
    "IntPair",
    "IntTuple",
    "Reduction",
    "Scalar",
    "Shape",
    "ShapeLike",
    "VariableLike",
    "Variables",
]
