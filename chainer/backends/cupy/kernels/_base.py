"""Base class of the CUDA kernels."""

from __future__ import annotations

from math import prod
from operator import attrgetter
from typing import Any, ClassVar

from chainer.backends.cupy import compiler
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array, ArrayModule, DTypeLike, Shape

_THREADS = 256
_BLOCK = (_THREADS,)
# With more elements than these blocks have threads, each thread takes several elements: so many
# threads keep any device busy, and the grid stays within the limits of CUDA.
_BLOCKS = 1 << 16
# From this number of elements on, a position plus one stride may not fit into 32 bits.
_WIDE = 1 << 30


def is_long(count: int) -> bool:
    """Returns whether positions among a number of elements need 64 bits."""
    return count >= _WIDE


def is_wide(*arrays: Array) -> bool:
    """Returns whether positions in one of the arrays need 64 bits."""
    for array in arrays:  # noqa: SIM110 - a third of the time of any()
        if array is not None and array.size >= _WIDE:
            return True
    return False


def as_argument(record: Any) -> Any:
    """Returns a structure as a NumPy scalar, the form that CuPy passes to kernels fastest.

    Args:
        record: Array without dimensions, of a structured dtype.
    """
    return record[()]


def split_axis(shape: Shape, axis: int) -> tuple[int, int, int]:
    """Returns the numbers of elements before, along and after an axis."""
    axis %= len(shape)
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


class CudaKernel:
    """Base of kernels that call functions of a CUDA source.

    Args:
        backend: Backend of the arrays.

    Attributes:
        xp: Its array namespace.
        source: File name of the source.
    """

    source: ClassVar[str]

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.xp: ArrayModule = backend.xp
        self._ndarray: type[Array] = self.xp.ndarray
        # The property "flags" creates an object with all flags at each access.
        attribute = (
            "_c_contiguous" if hasattr(self._ndarray, "_c_contiguous") else "flags.c_contiguous"
        )
        self._is_dense = attrgetter(attribute)
        #: Name and types -> compiled function.
        self._functions: dict[tuple[str, compiler.Types], Any] = {}

    def function(self, name: str, types: compiler.Types) -> Any:
        """Returns a function of the source, compiled for the given types."""
        key = (name, types)
        function = self._functions.get(key)
        if function is None:
            function = compiler.load(self.source, types).get_function(name)
            self._functions[key] = function
        return function

    def contiguous(self, array: Array) -> Array:
        """Returns a C-contiguous array, a copy if need be; None stays None."""
        if array is None or self._is_dense(array):
            return array
        return self.xp.ascontiguousarray(array)

    def new(self, shape: int | Shape, dtype: DTypeLike) -> Array:
        """Returns an uninitialized array, with less overhead than ``xp.empty``."""
        return self._ndarray(shape, dtype)

    def new_like(self, array: Array) -> Array:
        """Returns an uninitialized contiguous array with the shape and dtype of another."""
        return self._ndarray(array.shape, array.dtype)

    def address(self, array: Array) -> int:
        """Returns the address of an array, for structures that contain addresses."""
        return array.data.ptr

    def each(self, name: str, types: compiler.Types, count: int, *args: Any) -> None:
        """Calls a function of the source with one thread for each of ``count`` elements.

        The function gets ``count`` as its last argument. CuPy passes integers as ``long long``,
        floats as ``double``, bools as ``bool`` and None as a null pointer. NumPy scalars must be
        converted to Python numbers before, because CuPy passes the bytes of their own type.
        """
        if count:
            function = self._functions.get((name, types)) or self.function(name, types)
            blocks = -(-count // _THREADS)
            function((blocks if blocks < _BLOCKS else _BLOCKS,), _BLOCK, (*args, count))

    def rows(self, name: str, types: compiler.Types, rows: int, shared: int, *args: Any) -> None:
        """Calls a function of the source whose threads share rows of a reduction.

        Args:
            name: Name of the function.
            types: Types to compile for.
            rows: Number of rows.
            shared: Number of contiguous elements of a row, which threads share; 1 if one thread
                processes a whole row.
            args: Arguments.
        """
        if rows:
            # As many threads for a row as it has elements, up to 512; short rows share a block.
            width = 1
            while width < shared and width < 512:
                width *= 2
            height = 128 // width if width <= 32 else 1
            blocks = -(-rows // height)
            self.function(name, types)((blocks,), (width, height), args)
