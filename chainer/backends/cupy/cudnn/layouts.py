"""How arrays lie in memory, as cuDNN is told.

A kernel takes what lies as C does or, of arrays with two or three spatial dimensions, with the
channels last (shape ``(N, C, H, W)``, memory ``(N, H, W, C)``), and copies everything else. What
the input has, the results get: a network whose input lies channels last stays so from convolution
to convolution, and cuDNN need not rearrange data for its Tensor Core kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from chainer.core.typing import Array, ArrayModule, DTypeLike

FIRST, LAST = "channels first", "channels last"

#: What addresses must be a multiple of, in bytes; slices of arrays may lie elsewhere.
ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Shape, strides in elements and dtype of a tensor of a graph.

    Attributes:
        dim: Shape.
        stride: Strides in elements.
        dtype: Name of the data type.
        by_value: Whether it is a number in the memory of the host.
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
    """Returns the specification of an array; one spatial dimension becomes two.

    Args:
        shape: Shape ``(N, C, d_1, ...)``.
        dtype: Data type.
        layout: ``FIRST`` or ``LAST``.
    """
    dim = (*shape[:2], 1, shape[2]) if len(shape) == 3 else shape
    return TensorSpec(dim, strides_of(dim, layout), str(dtype))


def layout_of(array: Array) -> str:
    """Tells how an array lies; what fits neither layout counts as ``FIRST``."""
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
    """Returns an array in a layout, a copy if it lies otherwise or at an uneven address."""
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
    """Returns an array of a layout, its contents undefined."""
    if layout == FIRST:
        return xp.empty(shape, dtype)
    ndim = len(shape)
    return xp.empty((shape[0], *shape[2:], shape[1]), dtype).transpose(
        0, ndim - 1, *range(1, ndim - 1)
    )
