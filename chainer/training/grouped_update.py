"""Updates of many parameters, and hooks for many gradients, by few calls of kernels.

On an accelerator, starting a kernel costs more than a small update. Kernels that can (they have a
method ``update_many``) therefore update all parameters of one device, dtype and set of
hyperparameters at once, and so do hooks with a method ``call_for_params``. In host memory nothing
is gained, so parameters there are updated one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.parameter import Parameter
from chainer.core.typing import Array
from chainer.training.kernel_rule import PreparedUpdate
from chainer.training.update_rule import UpdateRule

#: Parameter, gradient and loss scale, as the operation of gradient hooks takes them.
Entry = tuple[Array, Array, float | None]


@dataclass
class PendingGroup:
    """Updates that one call of a kernel makes: one device, dtype and set of hyperparameters.

    Attributes:
        device: Device of the parameters.
        first: The update that was queued first; the others have the same hyperparameters.
        arrays: Arrays of each update.
        rounded: Where float32 copies are updated, the parameters of 16 bits.
    """

    device: Device
    first: PreparedUpdate
    arrays: list[list[Array | None]] = field(default_factory=list[list[Array | None]])
    rounded: list[Array] = field(default_factory=list[Array])

    def run(self) -> None:
        """Makes the updates."""
        kernel, hyperparameters = self.first.kernel, self.first.hyperparameters
        with self.device:
            if self.rounded:
                kernel.update_copies(
                    self.arrays, self.rounded, self.first.loss_scale, **hyperparameters
                )
            else:
                kernel.update_many(self.arrays, **hyperparameters)


def update_parameters(params: Iterable[Parameter]) -> None:
    """Updates parameters by their update rules.

    Hooks of rules that precede grouped updates precede all of them.

    Args:
        params: Parameters.
    """
    groups: dict[Hashable, PendingGroup] = {}
    try:
        for param in params:
            # The array of a parameter with a memory layout is for its rule only.
            alone = param.layout is not None or type(param.array) is numpy.ndarray
            if alone or not _enqueue(param, groups):
                param.update()
    finally:  # The rules have counted the queued updates, so an error in another must not drop them
        for group in groups.values():
            group.run()


def _enqueue(param: Parameter, groups: dict[Hashable, PendingGroup]) -> bool:
    """Updates the parameter or queues it for a grouped update.

    Returns False if it must be updated individually.
    """
    array, rule = param.array, param.update_rule
    if array is None or not isinstance(rule, UpdateRule):
        return False
    backend = backend_of(array)
    # A parameter class with an update method of its own decides itself how to call its rule.
    if not backend.is_accelerator or type(param).update is not Parameter.update:
        return False
    update = None if param.grad is None else rule.prepare_update(param)
    if update is None:
        return False
    if update.arrays[1] is None:  # a hook took the gradient away
        return True
    device = backend.device_of(array)
    in_float32 = update.rounded is not None
    if not in_float32 and not hasattr(update.kernel, "update_many"):
        with device:
            update.kernel.update(*update.arrays, **update.hyperparameters)
        return True
    key = (device, array.dtype, update.signature())
    group = groups.get(key)
    if group is None:
        group = groups[key] = PendingGroup(device, update)
    group.arrays.append(update.arrays)
    if in_float32:
        group.rounded.append(update.rounded)
    return True


def call_hook_for_params(hook: Callable[..., Any], params: Iterable[Parameter]) -> None:
    """Calls a hook of an optimizer with the rule of each parameter and the parameter.

    A hook whose class sets ``can_group`` to True has a method ``call_for_params``. It is called
    instead for the parameters on accelerators, once for each device and dtype, with a list of
    :data:`Entry`.

    Args:
        hook: The hook.
        params: Parameters. Those that have no rule are passed with None.
    """
    # Asked of the class: an attribute of the hook itself may be made up, as those of mocks are.
    can_group = getattr(type(hook), "can_group", False)
    groups: dict[Hashable, list[Entry]] = {}
    devices: dict[Hashable, Device] = {}
    for param in params:
        rule = param.update_rule
        if not isinstance(rule, UpdateRule):
            hook(rule, param)
        elif not (can_group and _is_on_accelerator(param)):
            rule.call_hook(hook, param)
        else:
            device = param.device
            array, loss_scale = param.array, param.loss_scale
            if rule.updates_in_float32(param):
                array = rule.float32_parameter(param).array
            key = (device, array.dtype, param.dtype)
            devices[key] = device
            groups.setdefault(key, []).append((array, param.grad, loss_scale))
    for key, entries in groups.items():
        with devices[key]:
            hook.call_for_params(entries)  # type: ignore[attr-defined]


def _is_on_accelerator(param: Parameter) -> bool:
    array = param.array
    return (
        array is not None
        and type(array) is not numpy.ndarray
        and param.grad is not None
        and backend_of(array).is_accelerator
    )
