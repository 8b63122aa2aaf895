"""Objects that own arrays and move between devices (public module ``chainer.device_resident``).

A transfer is a visit: :meth:`DeviceResident.to_device` makes a visitor and sends it through
:meth:`DeviceResident.device_resident_accept` of the object and of all objects below it.
"""

from __future__ import annotations

import abc
import threading
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from chainer.core.arrays.backend import backend_of, get_device
from chainer.core.arrays.device import Device
from chainer.core.final_methods import FinalMeta, final
from chainer.core.typing import Array, DeviceLike

if TYPE_CHECKING:
    from typing import Self

    from chainer.core.autograd.variable import Variable

#: Methods of release 4 that subclasses override to move arrays that are not registered, by the
#: name of the backend to whose devices they move them.
_METHODS = {"numpy": "to_cpu", "cupy": "to_gpu", "ideep": "to_intel64"}


class DeviceResidentsVisitor:
    """Base class of visitors of device residents.

    :meth:`DeviceResident.device_resident_accept` shows a visitor the object, its arrays and its
    variables.
    """

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        """Visits an object.

        Args:
            device_resident (DeviceResident): The object.
        """
        raise NotImplementedError(f"{type(self).__name__} must define visit_device_resident()")

    def visit_array(self, arr: Array) -> Array:
        """Visits an array.

        Args:
            arr (array): An array that the object owns.

        Returns:
            array: The array that takes its place.
        """
        raise NotImplementedError(f"{type(self).__name__} must define visit_array()")

    def visit_variable(self, param: Variable) -> None:
        """Visits a variable or parameter; changes are made in place.

        Args:
            param (Variable): A variable that the object owns.
        """
        raise NotImplementedError(f"{type(self).__name__} must define visit_variable()")


class _ActiveTransfer(threading.local):
    """The transfer that a thread is in; None outside."""

    transfer: _Transfer | None = None


_active = _ActiveTransfer()


class _Transfer(DeviceResidentsVisitor):
    """Moves what it visits to a device.

    Args:
        device: The device.
        entered_by: The object whose ``to_cpu``, ``to_gpu`` or ``to_intel64`` started the transfer;
            None if :meth:`DeviceResident.to_device` did.
        stay_on_accelerator: Whether arrays that are on some device of the backend stay there.
    """

    def __init__(
        self,
        device: Device,
        entered_by: DeviceResident | None = None,
        stay_on_accelerator: bool = False,
    ) -> None:
        self.device = device
        self._stay = stay_on_accelerator and device.backend.is_accelerator
        self._method = _METHODS.get(device.backend.name, "")
        # An overridden method runs once for each object. It calls the method of the base class,
        # which starts a second transfer inside this one. The two share their records.
        outer = _active.transfer
        same = outer is not None and outer.device == device
        self._called: set[int] = outer._called if outer is not None and same else set()
        if entered_by is not None:
            self._called.add(id(entered_by))

    def run(self, resident: DeviceResident) -> None:
        """Visits an object and everything below it."""
        outer, _active.transfer = _active.transfer, self
        try:
            resident.device_resident_accept(self)
        finally:
            _active.transfer = outer

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        device_resident._device = self.device  # pyright: ignore[reportPrivateUsage]
        overridden = device_resident._overridden_transfers  # pyright: ignore[reportPrivateUsage]
        if self._method in overridden and id(device_resident) not in self._called:
            self._called.add(id(device_resident))
            method = getattr(device_resident, self._method)
            if self._method == "to_gpu":
                method(device=self.device.index)
            else:
                method()

    def visit_array(self, arr: Array) -> Array:
        return arr if self._stays(arr) else self.device.send(arr)

    def visit_variable(self, param: Variable) -> None:
        if param.raw_array is None or not self._stays(param.raw_array):
            param.to_device(self.device)

    def _stays(self, array: Array) -> bool:
        if not self._stay or backend_of(array) is not self.device.backend:
            return False
        own = self.device.backend.device_of(array)
        if own != self.device:
            warnings.warn(
                f"to_gpu: an array is on {own} and stays there, although {self.device} was asked "
                "for; to_device() moves arrays between GPUs",
                RuntimeWarning,
                stacklevel=2,
            )
        return True


class HostToDevice(DeviceResidentsVisitor):
    """Moves what is in host memory to a device; what is on an accelerator stays there.

    Args:
        device: The device.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        # Whether the arrays of the visited object stay where they are. An uninitialized parameter
        # has no array from which this could be found.
        self._stays = False

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        """Notes the device, unless the object is on an accelerator."""
        self._stays = device_of(device_resident).backend.is_accelerator
        if not self._stays:
            device_resident._device = self._device  # pyright: ignore[reportPrivateUsage]

    def visit_array(self, arr: Array) -> Array:
        """Returns the array on the device; one on an accelerator as it is."""
        return arr if backend_of(arr).is_accelerator else self._device.send(arr)

    def visit_variable(self, param: Variable) -> None:
        """Moves the variable to the device, unless it is on an accelerator."""
        array = param.raw_array
        if not (self._stays if array is None else backend_of(array).is_accelerator):
            param.to_device(self._device)


class _DeviceResidentMeta(FinalMeta, abc.ABCMeta):
    """Metaclass of device residents: abstract methods, and methods that must not be overridden."""


class DeviceResident(metaclass=_DeviceResidentMeta):
    """Base class of objects that own arrays and can be moved to a device.

    A subclass calls ``super().__init__()`` and overrides :meth:`device_resident_accept` to show
    visitors its arrays. :class:`~chainer.Link` is a subclass.

    Example:
        >>> class Table(chainer.DeviceResident):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.values = np.zeros(3, np.float32)
        ...     def device_resident_accept(self, visitor):
        ...         super().device_resident_accept(visitor)
        ...         self.values = visitor.visit_array(self.values)
        >>> Table().to_device("@numpy").device.xp is np
        True
    """

    # Objects restored from pickles of older releases have no such attribute of their own.
    _device: Device | None = None
    _overridden_transfers: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        # Nothing to do: the class has all defaults, so an object is valid without this call.
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._overridden_transfers = frozenset(
            name
            for name in _METHODS.values()
            if getattr(cls, name) is not getattr(DeviceResident, name)
        )

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor this object and what it owns.

        Overriding methods call ``super()`` first. Then they pass each array to
        ``visitor.visit_array`` and keep the array that it returns, each variable to
        ``visitor.visit_variable``, and the visitor to this method of each object below.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        visitor.visit_device_resident(self)

    @property
    def device(self) -> Device:
        """Device of the object (:class:`chainer.backend.Device`).

        In release 4 links had no such attribute. Programs written for it may use the name for a
        value of theirs, such as ``self.device = -1``. Then :func:`device_of` returns the device.
        """
        own = vars(self)
        return own["device"] if "device" in own else device_of(self)

    @device.setter
    def device(self, value: Device) -> None:
        vars(self)["device"] = value

    @property
    def xp(self) -> ModuleType:
        """Array module of the device: ``numpy``, ``cupy`` or another backend's module."""
        return device_of(self).xp

    @final
    def to_device(self, device: DeviceLike) -> Self:
        """Copies all arrays of the object to a device.

        Args:
            device: Any device specifier that :func:`chainer.get_device` accepts.

        Returns:
            DeviceResident: This object.
        """
        _Transfer(get_device(device)).run(self)
        return self

    @final(action=DeprecationWarning)
    def to_cpu(self) -> Self:
        """Copies all arrays of the object to the CPU.

        Deprecated since v7.0.0; use ``to_device('@numpy')``.

        Returns:
            DeviceResident: This object.
        """
        return self._transfer(get_device("@numpy"), "to_cpu", "@numpy")

    @final(action=DeprecationWarning)
    def to_gpu(self, device: DeviceLike = None) -> Self:
        """Copies the arrays of the object to a GPU. Arrays that are on a GPU already stay there.

        So the parts of a model that were sent to several GPUs stay on these GPUs.

        Deprecated since v7.0.0; use ``to_device('@cupy:N')``.

        Args:
            device: Target device specifier; the current device if omitted.

        Returns:
            DeviceResident: This object.

        Raises:
            RuntimeError: If there is no GPU; the message says what is missing.
            ValueError: If ``device`` is not a GPU.
        """
        target = get_device("@cupy" if device is None else device)
        if not target.backend.is_accelerator:
            get_device("@cupy")  # a missing GPU is reported first
            raise ValueError(f"device must be a GPU, got {device!r}")
        return self._transfer(target, "to_gpu", "@cupy:N")

    @final(action=DeprecationWarning)
    def to_intel64(self) -> Self:
        """Copies arrays of the object to ``ideep4py.mdarray`` where they are suited for it.

        Deprecated since v7.0.0; use ``to_device('@intel64')``.

        Returns:
            DeviceResident: This object.

        Raises:
            RuntimeError: If iDeep is not available; the message says what is missing.
        """
        return self._transfer(get_device("@intel64"), "to_intel64", "@intel64")

    def _transfer(self, target: Device, method: str, successor: str) -> Self:
        warnings.warn(
            f"{method} is deprecated. Please use to_device('{successor}') instead.",
            DeprecationWarning,
            stacklevel=3,
        )
        _Transfer(target, entered_by=self, stay_on_accelerator=method == "to_gpu").run(self)
        return self

    @final
    def to_chx(self) -> Self:
        """Raises RuntimeError: this release has no ChainerX arrays.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("ChainerX is not available.")

    @final
    def from_chx(self) -> Self:
        """Has no effect: no array of the object is a ChainerX array.

        Returns:
            DeviceResident: This object.
        """
        return self


def device_of(resident: DeviceResident) -> Device:
    """Returns the device of an object, also if a program gave it an attribute ``device``."""
    device = resident._device  # pyright: ignore[reportPrivateUsage]
    return get_device(None) if device is None else device
