"""Functions that pickles of the releases 4 to 7 call to restore variables and parameters.

The pickles refer to them as ``chainer.variable._create_variable`` and ``_recover_parameter``.
"""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, DeviceLike


def create_variable(
    data: Array | None,
    name: str | None,
    grad: Array | None,
    requires_grad: bool,
    device: DeviceLike = None,
) -> Variable:
    """Restores a variable.

    Args:
        data: Its array.
        name: Its name.
        grad: Its gradient.
        requires_grad: Whether it requires a gradient.
        device: Its device (from release 7 on).
    """
    variable = Variable(data, name=name, grad=grad, requires_grad=requires_grad)
    if device is not None:
        variable.to_device(device)
    return variable


def recover_parameter(
    data: Array | None, name: str | None, grad: Array | None, *rest: Any
) -> Parameter:
    """Restores a parameter.

    Args:
        data: Its array; None if it is uninitialized.
        name: Its name.
        grad: Its gradient.
        rest: Release 4: the initializer and the update rule. Releases 5 and 6: these and the
            device. Release 7: whether the gradient is valid, and then these.
    """
    was_cleared, *values = rest if len(rest) == 4 else (False, *rest)
    initializer, update_rule, *device = values
    # If the initializer is an array, Parameter would use it as the array of the parameter.
    is_array = find_backend(initializer.__class__) is not None
    if data is None:
        parameter = Parameter(None if is_array else initializer, name=name)
    else:
        parameter = Parameter(data, name=name)
        if initializer is not None and not is_array:
            parameter.initializer = initializer
        parameter.grad = grad
    parameter.update_rule = update_rule
    if device:
        parameter.to_device(device[0])
    if data is None and was_cleared:
        # Its gradient was cleared before its initialization. Without this call the first gradient
        # would be NaN.
        parameter.cleargrad()
    return parameter
