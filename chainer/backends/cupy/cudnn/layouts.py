"""Memory layouts of arrays, in cuDNN's terms.

A kernel takes C-contiguous arrays and, with two or three spatial dimensions, arrays whose channels
are last (shape ``(N, C, H, W)``, memory ``(N, H, W, C)``). It copies all others. Results have the
layout of the input. If the input of a network has its channels last, all its convolutions work in
this layout, and cuDNN does not rearrange data for its Tensor Core kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from chainer.core.typing import Array, ArrayModule, DTypeLike

FIRST, LAST = "channels first", "channels last"

#: Addresses must be a multiple of this number of bytes. A slice may begin elsewhere.
ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Shape, strides in elements and dtype of a tensor of a graph.

    Attributes:
        dim: Shape.
        stride: Strides in elements.
        dtype: Name of the data type.
        by_value: Whether it is a number in host memory.
    """

    dim: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    by_value: bool = False


def strides_of(dim: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Returns the strides, in elements, of an array without gaps.

    Args:
        dim: Shape ``(N, C, ...)``.
        layout: ``FIRST`` or ``LAST``.
    """
    order = (
        (0, *range(2, len(dim)), 1) if layout == LAST and len(dim) > 2 else tuple(range(len(dim)))
    )
    strides = [1] * len(dim)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= dim[axis]
    return tuple(strides)


def spec(shape: tuple[int, ...], dtype: DTypeLike, layout: str) -> TensorSpec:
    """Returns the specification of an array.

    One spatial dimension becomes two, since cuDNN takes no fewer.

    Args:
        shape: Shape ``(N, C, d_1, ...)``.
        dtype: Data type.
        layout: ``FIRST`` or ``LAST``.
    """
    dim = (*shape[:2], 1, shape[2]) if len(shape) == 3 else shape
    return TensorSpec(dim, strides_of(dim, layout), str(dtype))


def layout_of(array: Array) -> str:
    """Returns the layout of an array; ``FIRST`` if it has neither of the two."""
    if array.ndim < 4 or array.flags.c_contiguous or not _is_last(array):
        return FIRST
    return LAST


def _is_last(array: Array) -> bool:
    expected = strides_of(array.shape, LAST)
    itemsize = array.itemsize
    return all(
        stride == step * itemsize
        for length, stride, step in zip(array.shape, array.strides, expected, strict=True)
        if length != 1
    )


def arranged(xp: ArrayModule, array: Array, layout: str) -> Array:
    """Returns an array in a layout and at an aligned address, a copy if need be."""
    as_it_is = array.flags.c_contiguous if layout == FIRST else _is_last(array)
    if as_it_is and array.data.ptr % ALIGNMENT == 0:
        return array
    if layout == FIRST:
        return xp.array(array, order="C")
    ndim = array.ndim
    return xp.array(array.transpose(0, *range(2, ndim), 1), order="C").transpose(
        0, ndim - 1, *range(1, ndim - 1)
    )


def empty(xp: ArrayModule, shape: tuple[int, ...], dtype: DTypeLike, layout: str) -> Array:
    """Returns an uninitialized array of a layout."""
    if layout == FIRST:
        return xp.empty(shape, dtype)
    ndim = len(shape)
    return xp.empty((shape[0], *shape[2:], shape[1]), dtype).transpose(
        0, ndim - 1, *range(1, ndim - 1)
    )
