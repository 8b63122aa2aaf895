"""Reference kernel of views by strides."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.strides import may_overlap
from chainer.core.typing import Array, Shape

#: Shape, strides, and index of the first element in a buffer; in elements.
Geometry = tuple[Shape, Shape, int]


class AsStridedKernel(ReferenceKernel):
    """Views of NumPy arrays, copies of arrays of other libraries."""

    def geometry(self, x: Array) -> tuple[Shape, int, int]:
        # Also of subclasses of numpy.ndarray, which other backends may use.
        if isinstance(x, numpy.ndarray):
            start, size = _numpy_buffer(x)
            strides = tuple([stride // x.itemsize for stride in x.strides])
            return strides, (_address(x) - start) // x.itemsize, size // x.itemsize
        # Of other libraries only arrays are served that are a buffer of their own.
        flags = getattr(x, "flags", None)
        if not getattr(flags, "c_contiguous", False) or getattr(x, "base", x) is not None:
            raise TypeError(
                "as_strided needs an array whose memory layout is known: that of NumPy or CuPy, or "
                f"one that is contiguous and not a view, got {type(x).__name__}"
            )
        return contiguous_strides(x.shape), 0, x.size

    def forward(self, x: Array, shape: Shape, strides: Shape, offset: int) -> Array:
        if not isinstance(x, numpy.ndarray):
            return x.reshape(-1)[self.indices((shape, strides, offset))]
        start, _ = _numpy_buffer(x)
        # A view of one element at the offset, relative to the first element of x.
        distance = start + offset * x.itemsize - _address(x)
        view = _numpy_view(x, distance, shape, strides)
        return view if type(x) is numpy.ndarray else view.view(type(x))

    def convert(self, array: Array, source: Geometry, target: Geometry) -> Array:
        xp = self.xp
        low = min(_range(source)[0], _range(target)[0])
        size = max(_range(source)[1], _range(target)[1]) - low + 1
        source, target = _moved(source, low), _moved(target, low)
        dtype = numpy.float32 if is_half(array.dtype) else array.dtype
        buffer = xp.zeros(size, dtype)
        if xp is numpy:
            _add_to_buffer(buffer, source, array)
            return _view(buffer, target).astype(array.dtype)
        values = array.astype(dtype, copy=False).reshape(-1)
        xp.add.at(buffer, self.indices(source).reshape(-1), values)
        return buffer[self.indices(target)].astype(array.dtype, copy=False)

    def indices(self, geometry: Geometry) -> Array:
        """Returns the index of each element in the buffer."""
        xp = self.xp
        shape, strides, offset = geometry
        indices = xp.full(shape, offset, numpy.int64)
        for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
            steps = xp.arange(length) * stride
            indices += steps.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        return indices


def contiguous_strides(shape: Shape) -> Shape:
    """Returns the strides of a contiguous array of a shape, in elements."""
    strides: list[int] = []
    step = 1
    for length in reversed(shape):
        strides.insert(0, step)
        step *= max(length, 1)
    return tuple(strides)


def _range(geometry: Geometry) -> tuple[int, int]:
    """Returns the least and the largest index in the buffer; of no elements, the offset."""
    shape, strides, offset = geometry
    if 0 in shape:
        return offset, offset
    ends = [stride * (length - 1) for length, stride in zip(shape, strides, strict=True)]
    return offset + sum(e for e in ends if e < 0), offset + sum(e for e in ends if e > 0)


def _moved(geometry: Geometry, low: int) -> Geometry:
    shape, strides, offset = geometry
    return shape, strides, offset - low


def _view(buffer: Any, geometry: Geometry) -> Any:
    """Returns the view of a buffer, a NumPy array, by a geometry."""
    shape, strides, offset = geometry
    steps = [stride * buffer.itemsize for stride in strides]
    # Where there are no elements, the offset may be anywhere.
    return numpy.lib.stride_tricks.as_strided(
        buffer[offset:] if buffer.size else buffer, shape, steps
    )


def _add_to_buffer(buffer: Any, geometry: Geometry, array: Any) -> None:
    """Adds the elements of an array to a buffer, a NumPy array, which has them as a view.

    A view whose elements are all different memory is added to at once. Along the other axes, which
    are mostly short, elements come again: they are added one by one.
    """
    shape, strides, _ = geometry
    at_once: list[int] = []
    for axis in sorted(range(len(shape)), key=lambda axis: -shape[axis]):
        axes = [*at_once, axis]
        if not may_overlap([shape[a] for a in axes], [strides[a] for a in axes]):
            at_once = axes
    rest = [axis for axis in range(len(shape)) if axis not in at_once]
    order = [*rest, *sorted(at_once)]
    view, array = _view(buffer, geometry).transpose(order), array.transpose(order)
    for index in numpy.ndindex(*[shape[axis] for axis in rest]):
        part = view[(*index, ...)]
        part += array[index]


def _address(x: Any) -> int:
    return x.__array_interface__["data"][0]


def _numpy_buffer(x: Any) -> tuple[int, int]:
    """Returns address and size in bytes of the memory that a NumPy array is a view of."""
    # Views made by NumPy's as_strided have another object between them and their array.
    base = x.base
    while base is not None:
        if isinstance(base, numpy.ndarray):
            x = base
        base = getattr(base, "base", None)
    low, high = numpy.lib.array_utils.byte_bounds(x) if x.size else (_address(x), _address(x))
    return low, high - low


def _numpy_view(x: Any, distance: int, shape: Shape, strides: Shape) -> Any:
    steps = [stride * x.itemsize for stride in strides]
    # as_strided begins at the first element of its argument, which is moved by a fake view.
    first = numpy.lib.stride_tricks.as_strided(x, (2,), (distance,))[1:] if distance else x
    return numpy.lib.stride_tricks.as_strided(first, shape, steps)
