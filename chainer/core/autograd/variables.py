"""The names of the public module ``chainer.variable``.

A module of its own, because :class:`Parameter` derives from :class:`Variable`: ``variable.py``
cannot import it. Pickles that releases 4 to 7 wrote refer to the functions below.
"""

# Nothing here calls the functions: pickles name them.
# pyright: reportUnusedFunction=false

from __future__ import annotations

from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable, as_array, as_variable
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.typing import Array, DeviceLike

__all__ = ["Parameter", "Variable", "VariableNode", "as_array", "as_variable"]


def _create_variable(
    data: Array | None,
    name: str | None,
    grad: Array | None,
    requires_grad: bool,
    device: DeviceLike = None,
) -> Variable:
    """Restores a variable from a pickle of an earlier release."""
    variable = Variable(data, name=name, grad=grad, requires_grad=requires_grad)
    if device is not None:
        variable.to_device(device)
    return variable


def _recover_parameter(*args: Any) -> Parameter:
    """Restores a parameter from a pickle of an earlier release.

    Args:
        *args: Array or None, name, gradient or None, initializer and update rule (release 4), then
            the device (5 and 6); in release 7 the gradient is followed by whether it is valid,
            which means that it was cleared, zeroed or computed.
    """
    if len(args) == 7:
        data, name, grad, grad_valid, initializer, update_rule, device = args
    else:
        (data, name, grad, initializer, update_rule), (device,) = args[:5], args[5:] or (None,)
        grad_valid = data is not None
    parameter = Parameter(initializer if data is None else data, name=name)
    parameter.initializer = initializer
    parameter.update_rule = update_rule
    if data is not None:
        parameter.grad = grad
    elif grad_valid:
        parameter.cleargrad()
    if device is not None:
        parameter.to_device(device)
    return parameter
