"""Base class of the kernels of this room."""

from __future__ import annotations

from math import prod
from operator import attrgetter
from typing import Any, ClassVar

from chainer.backends.cupy import compiler
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array, ArrayModule, DTypeLike

_THREADS = 256
_BLOCK = (_THREADS,)
#: Blocks beyond which threads take several elements.
_BLOCKS = 1 << 16
#: Elements from which on positions, and those a stride ahead, may not fit into 32 bits.
_WIDE = 1 << 30


def is_wide(*arrays: Array) -> bool:
    """Tells whether positions in one of the arrays need 64 bits."""
    for array in arrays:  # noqa: SIM110 - a third of the time of any()
        if array is not None and array.size >= _WIDE:
            return True
    return False


def as_argument(record: Any) -> Array:
    """Returns a structure, an array of no dimensions, as kernels take it quickest: as a scalar."""
    return record[()]


def split_axis(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """Returns the numbers of elements before, along and after an axis."""
    axis %= len(shape)
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


class CudaKernel:
    """A kernel whose work is done by functions of a CUDA source.

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
        self._ndarray: Array = self.xp.ndarray
        # CuPy makes an object of all flags each time it is asked for one.
        attribute = (
            "_c_contiguous" if hasattr(self._ndarray, "_c_contiguous") else "flags.c_contiguous"
        )
        self._is_dense = attrgetter(attribute)
        self._functions: dict[Any, Any] = {}

    def function(self, name: str, types: compiler.Types) -> Array:
        """Returns a function of the source, compiled for the given types."""
        key = (name, types)
        function = self._functions.get(key)
        if function is None:
            function = compiler.load(self.source, types).get_function(name)
            self._functions[key] = function
        return function

    def contiguous(self, array: Array) -> Array:
        """Returns an array whose elements lie side by side in memory; None stays None."""
        if array is None or self._is_dense(array):
            return array
        return self.xp.ascontiguousarray(array)

    def new(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
        """Returns an array of any content: ``xp.empty`` with less around it."""
        return self._ndarray(shape, dtype)

    def new_like(self, array: Array) -> Array:
        """Returns a contiguous array of any content, of the shape and dtype of another."""
        return self._ndarray(array.shape, array.dtype)

    def address(self, array: Array) -> int:
        """Returns where an array begins, for structures that hold addresses."""
        return array.data.ptr

    def each(self, name: str, types: compiler.Types, count: int, *args: Any) -> None:
        """Calls a function of the source with one thread for each of ``count`` elements.

        The function gets ``count`` as its last argument. Integers are passed as ``long long``,
        floats as ``double``, truth values as ``bool``, None as a null pointer. Numbers of NumPy
        must be made numbers of Python before: they would be passed with the bytes of their type.
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
            shared: Number of elements of a row that lie side by side in memory, which threads
                share; 1 where each row has one thread.
            args: Arguments.
        """
        if rows:
            width = 1
            while width < shared and width < 512:
                width *= 2
            height = 128 // width if width <= 32 else 1
            blocks = -(-rows // height)
            self.function(name, types)((blocks,), (width, height), args)
