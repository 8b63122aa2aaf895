"""Properties of the memory of an array, computed from its strides."""

from __future__ import annotations

from collections.abc import Sequence

from chainer.core.typing import Array


def broadcast_axes(array: Array) -> tuple[int, ...]:
    """Returns the axes along which all elements of an array are the same memory.

    Args:
        array: An array. If it does not have the attribute ``strides`` of NumPy's arrays, the result
            is empty.
    """
    strides: tuple[int, ...] = getattr(array, "strides", ())
    # Nearly all arrays have no such axis. This test costs 30 ns.
    if 0 not in strides:
        return ()
    sizes = zip(array.shape, strides, strict=True)
    return tuple([axis for axis, (size, step) in enumerate(sizes) if step == 0 and size > 1])


def may_overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Returns whether two elements of a view may share memory.

    If the result is False, no two elements do. If it is True, they may or may not.

    Args:
        shape: Shape of the view.
        strides: Its strides.
    """
    reach = 0
    for stride, length in sorted(zip([abs(s) for s in strides], shape, strict=True)):
        if length > 1:
            if stride <= reach:
                return True
            reach += stride * (length - 1)
    return False
