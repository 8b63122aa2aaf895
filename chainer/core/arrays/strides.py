"""What the strides of an array tell."""

from __future__ import annotations

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
