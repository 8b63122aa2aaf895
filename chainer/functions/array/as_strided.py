"""Views of the memory of arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy

from chainer.backends.operations.strided_views import as_strided as operation
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.arrays.strides import may_overlap
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    Grads,
    Indexes,
    Shape,
    VariableLike,
    Variables,
)
from chainer.functions.array.get_item import get_item
from chainer.functions.rules import LinearMap
from chainer.functions.rules.batching import flat_samples


class TensorGeometry:
    """Where the elements of an array are in its memory.

    Args:
        array: The array.

    Attributes:
        shape: Shape.
        strides: Strides in elements.
        storage_offset: Index of the first element in the memory.
        storage_size: Number of elements that fit into the memory.
        itemsize: Size of an element in bytes.
    """

    def __init__(self, array: Array) -> None:
        self.shape: Shape = array.shape
        self.itemsize: int = array.itemsize
        kernel = operation.select(array)
        self.strides, self.storage_offset, self.storage_size = kernel.geometry(array)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


class AsStrided(FunctionNode):
    """View of the memory of an array.

    Args:
        shape (tuple of int): Shape of the view.
        strides (tuple of int): Strides of the view in elements.
        storage_offset (int): Index of its first element in the memory; if None, the view begins at
            the first element of the input.

    Attributes:
        input_geometry: Geometry of the input.
    """

    def __init__(
        self, shape: Sequence[int], strides: Sequence[int], storage_offset: int | None = None
    ) -> None:
        self.shape = tuple([operator.index(length) for length in shape])
        self.strides = tuple([operator.index(stride) for stride in strides])
        if len(self.shape) != len(self.strides):
            raise ValueError(
                "strides, if given, must be the same length as shape: "
                f"{self.strides} and {self.shape}"
            )
        if min(self.shape, default=0) < 0:
            raise ValueError(f"shape must not be negative, got {self.shape}")
        self.storage_offset = None if storage_offset is None else operator.index(storage_offset)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # Each sample counts as a contiguous array in a memory of its own.
        flat = flat_samples(inputs[0])
        offset = self.storage_offset or 0
        _check_bounds(self.shape, self.strides, offset, flat.shape[1])
        index = numpy.array(offset)
        for length, stride in zip(self.shape, self.strides, strict=True):
            index = index[..., None] + stride * numpy.arange(length)
        return (get_item(flat, (slice(None), flat.device.send(index))),)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self.input_geometry = TensorGeometry(x)
        if self.storage_offset is None:
            self.storage_offset = self.input_geometry.storage_offset
        return (_stride_array(x, self.shape, self.strides, self.storage_offset),)

    def _gradient(self) -> AsStridedGrad:
        offset = self.storage_offset or 0
        return AsStridedGrad(self.input_geometry, self.shape, self.strides, offset)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        return self._gradient().apply(grad_outputs)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gradient = self._gradient()
        gradient.xp = self.xp
        return gradient.forward(grad_outputs)


class AsStridedGrad(LinearMap):
    """Gradient of a view, a linear function of the gradient of the view.

    Gradients of elements that are the same memory are summed. Where several elements of the input
    are the same memory, each gets an equal part.

    Args:
        input_geometry (TensorGeometry): Geometry of the input.
        shape (tuple of int): Shape of the view.
        strides (tuple of int): Strides of the view in elements.
        storage_offset (int): Index of its first element in the memory.
    """

    def __init__(
        self, input_geometry: TensorGeometry, shape: Shape, strides: Shape, storage_offset: int
    ) -> None:
        geometry = input_geometry
        self._input_layout = (geometry.shape, geometry.strides, geometry.storage_offset)
        self._view_layout = (shape, strides, storage_offset)

    def forward(self, inputs: Arrays) -> Arrays:
        (gy,) = inputs
        if kind_of(gy.dtype) != "f":
            raise TypeError(f"Only float is supported for back propagation, got {gy.dtype}")
        gx = operation.select(gy).convert(gy, self._view_layout, self._input_layout)
        return (self._divided(gx),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        (ggx,) = grad_outputs
        ggx = self._divided(ggx)
        return (operation.select(ggx).convert(ggx, self._input_layout, self._view_layout),)

    def _divided(self, array: Array) -> Array:
        """Divides by the number of elements of the input that are the same memory."""
        shape, strides, _ = self._input_layout
        if not may_overlap(shape, strides):
            return array
        ones = self.xp.ones(shape, "float32")
        counts = operation.select(ones).convert(ones, self._input_layout, self._input_layout)
        return (array / counts).astype(array.dtype, copy=False)


def _stride_array(array: Array, shape: Shape, strides: Shape, storage_offset: int) -> Array:
    """Returns a view of the memory of an array.

    Raises:
        ValueError: If it reaches beyond that memory.
    """
    kernel = operation.select(array)
    _check_bounds(shape, strides, storage_offset, kernel.geometry(array)[2])
    return kernel.forward(array, shape, strides, storage_offset)


def _check_bounds(shape: Shape, strides: Shape, storage_offset: int, size: int) -> None:
    """Raises ValueError if a view reaches beyond a memory of so many elements."""
    ends = [stride * (length - 1) for stride, length in zip(strides, shape, strict=True)]
    # The sign of the stride decides: an end of length 0 is on the other side.
    lowest = storage_offset + sum([e for e, s in zip(ends, strides, strict=True) if s < 0])
    highest = storage_offset + sum([e for e, s in zip(ends, strides, strict=True) if s > 0])
    if lowest < 0:
        raise ValueError(f"Out of buffer: too small index was specified: {lowest}")
    if highest >= size:
        raise ValueError(
            f"Out of buffer: too large index was specified: {highest}, of {size} elements"
        )


def as_strided(
    x: VariableLike,
    shape: Sequence[int],
    strides: Sequence[int],
    storage_offset: int | None = None,
) -> Variable:
    """Creates a view of the memory in which an array lives.

    Shape and strides of ``x`` do not matter, but its *memory* does: if ``x`` is a view, the result
    may have elements of the array it is a view of. It is differentiable with respect to the
    elements that are in ``x``, for inputs of floating point.

    Args:
        x (:class:`~chainer.Variable` or array): Array of NumPy or CuPy, of any dtype; an array of
            another library must be contiguous and not a view.
        shape (tuple of int): Shape of the output.
        strides (tuple of int): Strides of the output, in elements (not bytes). They may be zero or
            negative.
        storage_offset (int): Index of the first element of the output in the memory; by default
            the index of the first element of ``x``.

    Returns:
        ~chainer.Variable: View of the dtype of ``x``, which shares its memory.

    Raises:
        ValueError: If the output reaches beyond the memory, or shape and strides differ in length.
        TypeError: If the layout of the memory is not known, or an argument is not an int.

    .. seealso:: :func:`numpy.lib.stride_tricks.as_strided`

    Example:
        >>> x = chainer.Variable(np.arange(4, dtype=np.float32))
        >>> y = F.as_strided(x, (3, 2), (1, 1), 0)
        >>> y
        variable([[0., 1.],
                  [1., 2.],
                  [2., 3.]])
        >>> F.sum(y).backward()
        >>> x.grad
        array([1., 2., 2., 1.], dtype=float32)
    """
    return AsStrided(shape, strides, storage_offset).apply((x,))[0]
