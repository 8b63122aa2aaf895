"""Copies between devices."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import backend_of, get_device
from chainer.core.arrays.device import Device
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Grads, Indexes, VariableLike
from chainer.core.utils import type_check


class Copy(FunctionNode):
    """Copies an array to a device."""

    type_check_key = ()

    def __init__(self, out_device: Any) -> None:
        self.out_device: Device = get_device(out_device)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        backend = backend_of(x)
        self._in_device = backend.device_of(x)
        # A copy there, too: the caller may change one of the two arrays.
        if self.out_device == self._in_device:
            return (backend.copy(x, self.out_device),)
        return (self.out_device.send(x),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        # The gradient goes the way back, between the same two devices.
        return Copy(self._in_device).apply(grad_outputs)


def copy(x: VariableLike, dst: Any) -> Variable:
    """Copies the input variable onto the specified device.

    Gradients are copied back to the device of the input.

    Args:
        x (Variable or array): Variable to be copied, of any shape and dtype.
        dst: Target device specifier: anything :func:`chainer.get_device` takes; -1 represents the
            CPU.

    Returns:
        Variable: The copy.

    Raises:
        TypeError: If ``x`` is neither a Variable nor an array.
        ValueError: If there is no device ``dst``.

    Example:
        >>> F.copy(np.zeros((2, 3), np.float32), -1).shape
        (2, 3)
    """
    return Copy(dst).apply((x,))[0]
