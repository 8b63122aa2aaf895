"""The names of ChainerX that programs for releases 6 and 7 use.

Arrays of ChainerX are not supported. The class of its devices is there for ``isinstance``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import is_array, not_an_array_message
from chainer.core.typing import Array, ArrayTree

_NOT_AVAILABLE = "ChainerX is not available."


class ChainerxDevice(Device):
    """The class of the devices of ChainerX; it has no instances.

    Args:
        device: A device of ChainerX.

    Raises:
        RuntimeError: Always: ChainerX is not available.

    Example:
        >>> isinstance(chainer.get_device("@numpy"), chainer.backend.ChainerxDevice)
        False
    """

    def __init__(self, device: object) -> None:
        raise RuntimeError(_NOT_AVAILABLE)

    @staticmethod
    def from_array(array: object) -> None:
        """Returns None: no array is one of ChainerX.

        Args:
            array: Any object.
        """

    @staticmethod
    def from_fallback_device(device: Device) -> NoReturn:
        """Refuses to return the ChainerX device that corresponds to another device.

        Args:
            device (Device): The other device.

        Raises:
            RuntimeError: Always: ChainerX is not available.
        """
        raise RuntimeError(_NOT_AVAILABLE)

    @property
    def fallback_device(self) -> Device:
        """The device that serves functions which ChainerX does not have."""
        raise RuntimeError(_NOT_AVAILABLE)


def to_chx(array: ArrayTree) -> Any:
    """Refuses to convert arrays to ChainerX.

    Args:
        array (array, None, list or tuple): Array or arrays.

    Returns:
        None, list or tuple: ``array``, if all that it contains is None.

    Raises:
        RuntimeError: If there is an array: ChainerX is not available.

    Example:
        >>> chainer.backend.to_chx([None])
        [None]
    """
    items = cast("Sequence[Any]", array) if isinstance(array, (list, tuple)) else (array,)
    if any(item is not None for item in items):
        raise RuntimeError(_NOT_AVAILABLE)
    return array


def from_chx(array: ArrayTree) -> Any:
    """Returns arrays unchanged. There are no arrays of ChainerX to convert.

    Args:
        array (array, None, list or tuple): Array or arrays.

    Returns:
        array, None, list or tuple: The same arrays, in a new list or tuple.

    Raises:
        TypeError: If something is not an array.

    Example:
        >>> chainer.backend.from_chx([np.arange(2), None])
        [array([0, 1]), None]
    """
    if not isinstance(array, (list, tuple)):
        return _checked(array)
    items = [_checked(item) for item in cast("Sequence[Any]", array)]
    return items if isinstance(array, list) else tuple(items)


def _checked(array: Array) -> Array:
    if array is not None and not is_array(array):
        raise TypeError(not_an_array_message(array))
    return array
