"""Moving models to the device of an updater."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device_resident import DeviceResident, DeviceResidentsVisitor, device_of

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array
    from chainer.links.link import Link


class _MoveUnlessOnSibling(DeviceResidentsVisitor):
    """Moves what it visits to a device, except for what is on another device of its backend.

    Programs place the parts of a model on several GPUs, and then give the updater the device of the
    batches.

    Args:
        device: The device, on an accelerator.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.stayed = False
        # Whether the object that is being visited stays. A parameter without an array follows it.
        self._owner_stays = False

    def _is_sibling(self, device: Device) -> bool:
        return device.backend is self._device.backend and device != self._device

    def _stays(self, array: Array) -> bool:
        backend = backend_of(array)
        stays = backend is self._device.backend and self._is_sibling(backend.device_of(array))
        self.stayed = self.stayed or stays
        return stays

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        self._owner_stays = self._is_sibling(device_of(device_resident))
        if not self._owner_stays:
            device_resident._device = self._device  # pyright: ignore[reportPrivateUsage]

    def visit_array(self, arr: Array) -> Array:
        return arr if self._stays(arr) else self._device.send(arr)

    def visit_variable(self, param: Variable) -> None:
        if not (self._owner_stays if param.array is None else self._stays(param.array)):
            param.to_device(self._device)


def move_model(model: Link, device: Device) -> None:
    """Moves a model to a device; parts on another GPU stay there, with a FutureWarning.

    Args:
        model: The model.
        device: Where to.
    """
    if not device.backend.is_accelerator:
        model.to_device(device)
        return
    owners = [link for link in model.links() if any(True for _ in link.params())]
    if all(device_of(link).backend is not device.backend for link in owners):
        # Nothing can stay. This way the overridden methods of release 4, such as to_gpu(), are
        # called, too.
        model.to_device(device)
        return
    visitor = _MoveUnlessOnSibling(device)
    model.device_resident_accept(visitor)
    if visitor.stayed:
        warnings.warn(
            f"parts of the model are on other devices and stay there, although the updater was "
            f"given device {device}. Pass input_device instead: it sends the batches to a device "
            "and does not move the model.",
            FutureWarning,
            stacklevel=4,
        )
