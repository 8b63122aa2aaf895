"""Transfers of the arrays of variables: to a device, and from one variable to another."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from chainer.core.arrays.backend import copyto

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.autograd.parameter import Parameter
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array


def move(variable: Variable, device: Device) -> None:
    """Copies the data and gradient arrays of a variable to a device.

    Args:
        variable: The variable.
        device: The device.
    """
    variable._initial_device = device.name
    if device != variable.device:
        variable._sharing = None  # copies stay where they are
    grad: Array | None = variable._grad
    variable._gradient = None
    variable._grad_var = None
    if variable._array is not None:
        variable.array = device.send(variable._array)
    if grad is not None:
        variable._gradient = device.send(grad)


def copy_data(target: Variable, source: Variable) -> None:
    """Implements :meth:`chainer.Variable.copydata`."""
    if source._array is None:
        if target._array is None:
            return
        cast("Parameter", source).initialize(target.shape)  # only parameters have no array
    if target._array is None:
        cast("Parameter", target).initialize(source.shape)
    copyto(target._array, source._array)


def add_gradient(target: Variable, source: Variable) -> None:
    """Implements :meth:`chainer.Variable.addgrad`."""
    added = source.grad
    if added is None:
        return
    if target._array is None:
        cast("Parameter", target).initialize(source.shape)
    device = target.device
    moved = device.send(added)
    grad = target.grad
    if grad is None:
        target.grad = device.backend.copy(moved, device) if moved is added else moved
    else:
        # The sum of arrays without axes is a scalar in NumPy.
        with device:
            target.grad = device.backend.asarray(grad + moved)
