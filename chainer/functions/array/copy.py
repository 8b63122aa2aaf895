"""Copies between devices."""

from __future__ import annotations

from typing import Any

from chainer.backends.cuda import DummyDevice
from chainer.core.arrays.backend import backend_of, get_device
from chainer.core.arrays.device import Device
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Grads, Indexes, VariableLike, Variables
from chainer.core.utils import type_check

#: Marks an argument that was not given; None is a device specifier.
_NOT_GIVEN: Any = object()


class Copy(FunctionNode):
    """Copies an array to a device.

    Args:
        in_device: Device of the input, which is inferred from the input; or the target device, if
            it is the only argument, as in release 4.
        out_device: Target device.
    """

    is_linear = True

    type_check_key = ()

    def __init__(self, in_device: Any, out_device: Any = _NOT_GIVEN) -> None:
        self.out_device: Device = _as_device(in_device if out_device is _NOT_GIVEN else out_device)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return self.apply(inputs)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        backend = backend_of(x)
        self._in_device = backend.device_of(x)
        # No data moves, so that the memory is shared, as in earlier releases.
        if self.out_device == self._in_device:
            return (x,)
        # The only place where data moves: nothing is copied behind the user's back.
        return (self.out_device.send(x),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        # The gradient goes the way back, between the same two devices.
        return Copy(self.out_device, self._in_device).apply(grad_outputs)


def _as_device(device: Any) -> Device:
    # The object for the absence of a device always means NumPy.
    return get_device("@numpy" if device is DummyDevice else device)


def copy(x: VariableLike, dst: Any) -> Variable:
    """Copies the input variable onto the specified device.

    Gradients are copied back to the device of the input.

    Args:
        x (Variable or array): Variable to be copied, of any shape and dtype.
        dst: Target device specifier: anything :func:`chainer.get_device` takes; -1 represents the
            CPU, and so does ``chainer.backends.cuda.DummyDevice``.

    Returns:
        Variable: The copy. If ``x`` is on that device already, its memory is shared.

    Raises:
        TypeError: If ``x`` is neither a Variable nor an array.
        ValueError: If there is no device ``dst``.

    Example:
        >>> F.copy(np.zeros((2, 3), np.float32), -1).shape
        (2, 3)
    """
    return Copy(dst).apply((x,))[0]
