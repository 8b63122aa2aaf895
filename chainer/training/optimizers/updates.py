"""Updates of many parameters, and hooks for many gradients, by few calls of kernels.

On an accelerator, starting a kernel costs more than a small update. Kernels that can (they have a
method ``update_many``) therefore update all parameters of one device, dtype and set of
hyperparameters at once, and so do hooks with a method ``call_for_params``.

The reference kernels for NumPy arrays gain nothing by that, so they update one by one. Where
``chainer.config.kernels`` asks for others, which may update many parameters by one call, the time
of Python counts: parameters whose rules share their hyperparameters share what is computed of them,
too.
"""

# Asking a rule for its hooks by a method would take as long as the rest of a small update.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.parameter import Parameter
from chainer.core.config.configuration import threads
from chainer.core.typing import Array
from chainer.training.optimizers.kernel_rule import KernelUpdateRule, PreparedUpdate
from chainer.training.optimizers.update_rule import UpdateRule

#: Parameter, gradient and loss scale, as the operation of gradient hooks takes them.
Entry = tuple[Array, Array, float | None]


@dataclass(slots=True)
class PendingGroup:
    """Updates that one call of a kernel makes: one device, dtype and set of hyperparameters.

    Attributes:
        device: Device of the parameters; None for that of NumPy arrays, which is not entered.
        first: The update that was queued first; the others have the same hyperparameters.
        arrays: Arrays of each update.
        rounded: Where float32 copies are updated, the parameters of 16 bits.
    """

    device: Device | None
    first: PreparedUpdate
    arrays: list[list[Array | None]] = field(default_factory=list[list[Array | None]])
    rounded: list[Array] = field(default_factory=list[Array])

    def run(self) -> None:
        """Makes the updates."""
        kernel, hyperparameters = self.first.kernel, self.first.hyperparameters
        if self.device is None:
            kernel.update_many(self.arrays, **hyperparameters)
            return
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
    host = HostGroups(groups) if threads.state.policy.kernels else None
    try:
        for param in params:
            if param.layout is not None:
                # The array of a parameter with a memory layout is for its rule only.
                param.update()
            elif param.array.__class__ is numpy.ndarray:
                if host is None or not host.enqueue(param):
                    param.update()
            elif not _enqueue(param, groups):
                param.update()
    finally:  # The rules have counted the queued updates, so an error in another must not drop them
        for group in groups.values():
            group.run()


class HostGroups:
    """Grouped updates of parameters in host memory.

    Args:
        groups: Where groups are put, to be run later.
    """

    def __init__(self, groups: dict[Hashable, PendingGroup]) -> None:
        self._groups = groups
        #: Groups, or None where the kernel cannot group, and states by what rules have in common.
        self._known: dict[Hashable, tuple[PendingGroup | None, tuple[str | None, ...]]] = {}

    def enqueue(self, param: Parameter) -> bool:
        """Updates the parameter or queues it for a grouped update.

        Args:
            param: Parameter whose array is a plain NumPy array.

        Returns:
            bool: False if nothing was done, because the parameter must be updated individually.
        """
        rule = param.update_rule
        if (
            not isinstance(rule, KernelUpdateRule)
            or not rule.can_be_grouped()
            or type(param).update is not Parameter.update
        ):
            return False
        grad = param.grad
        if grad is None:
            return False
        hooked = rule._hooks.pre or param.loss_scale is not None
        rule.begin_update(param)
        if hooked:
            grad = param.grad
            if grad is None:  # a hook took the gradient away
                return True
        array, own = param.array, rule.hyperparam.__dict__
        key = known = None
        if len(own) == 1:  # the parent only, so that the rule has no hyperparameters of its own
            key = rule.__class__, own["_parent"], rule.t, array.dtype
            known = self._known.get(key)
        if known is None:
            known = self._add(key, rule, param)
        group, states = known
        arrays: list[Array | None] = [array, grad]
        if states:
            state: Any = rule.state
            arrays += [None if name is None else state[name] for name in states]
        if group is None or not _are_alike(arrays):
            rule.update_core(param)
        else:
            group.arrays.append(arrays)
        return True

    def _add(
        self, key: Hashable, rule: KernelUpdateRule, param: Parameter
    ) -> tuple[PendingGroup | None, tuple[str | None, ...]]:
        """Returns the group of a parameter, and the names of its states."""
        update = PreparedUpdate(*rule.kernel_call(param))
        group = None
        alike = _are_alike(update.arrays)
        # An array that is not contiguous says nothing about the next parameter.
        shared = alike and key is not None and rule.shares_arguments
        if alike and hasattr(update.kernel, "update_many"):
            # What rules share tells groups apart, too, and is made already.
            where = key if shared else (param.dtype, update.signature())
            group = self._groups.get(where)
            if group is None:
                group = self._groups[where] = PendingGroup(None, update)
        known = group, rule.used_states()
        if shared:
            self._known[key] = known
        return known


def _are_alike(arrays: list[Array | None]) -> bool:
    """Whether arrays are contiguous and of one dtype: what kernels for many parameters take."""
    first: Any = arrays[0]
    dtype = first.dtype
    for array in arrays:
        if array is not None and (array.dtype is not dtype or not array.flags.c_contiguous):
            return False
    return True


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
    :data:`Entry`. Where ``chainer.config.kernels`` asks for kernels, and nothing is recorded, it is
    called for contiguous NumPy arrays, too.

    Args:
        hook: The hook.
        params: Parameters. Those that have no rule are passed with None.
    """
    # Asked of the class: an attribute of the hook itself may be made up, as those of mocks are.
    can_group = getattr(type(hook), "can_group", False)
    on_host = can_group and bool(threads.state.policy.kernels) and threads.state.recorder is None
    groups: dict[Hashable, list[Entry]] = {}
    devices: dict[Hashable, Device] = {}
    for param in params:
        rule = param.update_rule
        if not isinstance(rule, UpdateRule):
            hook(rule, param)
        elif on_host and _is_dense_on_host(param) and not rule.updates_in_float32(param):
            array = param.array
            key = array.dtype
            if key not in groups:
                groups[key], devices[key] = [], param.device
            groups[key].append((array, param.grad, param.loss_scale))
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


def _is_dense_on_host(param: Parameter) -> bool:
    """Whether the array and the gradient are contiguous NumPy arrays of one dtype."""
    array, grad = param.array, param.grad
    return (
        type(array) is numpy.ndarray
        and type(grad) is numpy.ndarray
        and param.layout is None
        and grad.flags.writeable
        and _are_alike([array, grad])
    )


def dense_gradients(params: Iterable[Parameter]) -> list[Array] | None:
    """Returns gradients for one call of a kernel, or None where it would gain nothing.

    Args:
        params: Parameters with gradients in host memory.

    Returns:
        list of arrays: Contiguous NumPy arrays of one dtype without a loss scale. None if one is
        not of that kind, if a step is recorded, or if no kernels are asked for.
    """
    if not threads.state.policy.kernels or threads.state.recorder is not None:
        return None
    grads: list[Array] = []
    for param in params:
        if param.loss_scale is not None or not _is_dense_on_host(param):
            return None
        grads.append(param.grad)
    return grads if grads and _are_alike(list(grads)) else None
