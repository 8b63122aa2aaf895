"""Moves of variables between devices."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import get_device
from chainer.core.autograd.variable_conversions import VariableConversions

if TYPE_CHECKING:
    import weakref

    from chainer.core.arrays.device import Device
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array, DeviceLike


class VariableMoves(VariableConversions):
    """The methods of :class:`~chainer.Variable` that copy its arrays to another device."""

    __slots__ = ()

    if TYPE_CHECKING:
        # Slots and properties of Variable.
        _array: Array
        _gradient: Any
        _grad: Any
        _grad_var: Variable | None
        _sharing: list[weakref.ref[Variable]] | None
        _initial_device: str | None
        array: Array
        grad: Array

        @property
        def device(self) -> Device:
            """See Variable."""
            ...

    def to_device(self, device: DeviceLike) -> None:
        """Copies the data and gradient arrays to a device.

        Args:
            device: Anything :func:`chainer.get_device` takes.
        """
        target = get_device(device)
        self._initial_device = target.name
        if target != self.device:
            self._sharing = None  # copies stay where they are
        grad: Array | None = self._grad
        self._gradient = None
        self._grad_var = None
        if self._array is not None:
            self.array = target.send(self._array)
        if grad is not None:
            self._gradient = target.send(grad)

    def to_cpu(self) -> None:
        """Copies the data and gradient arrays to CPU."""
        self.to_device("@numpy")

    def to_gpu(self, device: DeviceLike = None) -> None:
        """Copies the data and gradient arrays to specified GPU.

        Args:
            device: Target device specifier; the current device if omitted.

        Raises:
            RuntimeError: If there is no GPU; the message says what is missing.
        """
        self.to_device("@cupy" if device is None else device)

    def to_intel64(self) -> None:
        """Copies the data and gradient arrays to ``ideep4py.mdarray``.

        An array not suited for it becomes ``numpy.ndarray``.

        Raises:
            RuntimeError: If iDeep is not available; the message says what is missing.
        """
        self.to_device("@ideep")

    def to_chx(self) -> None:
        """Refuses: arrays of ChainerX are not supported.

        Raises:
            RuntimeError: Always, as in builds of release 7 without ChainerX.
        """
        raise RuntimeError("ChainerX is not available.")

    def from_chx(self) -> None:
        """Does nothing: no array is one of ChainerX."""
