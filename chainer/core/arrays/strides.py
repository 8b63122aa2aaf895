"""What the strides of an array tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def broadcast_axes(array: Any) -> tuple[int, ...]:
    """Returns the axes along which all elements of an array are the same memory.

    Args:
        array: Array with ``shape`` and ``strides`` like those of NumPy's.
    """
    if 0 not in array.strides:
        return ()
    sizes = zip(array.shape, array.strides, strict=True)
    return tuple([axis for axis, (size, step) in enumerate(sizes) if step == 0 and size > 1])


def may_overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tells whether two elements of a view may be the same memory; False is certain.

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
