"""Updates of many parameters by few calls of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.parameter import Parameter
from chainer.training.kernel_rule import KernelUpdateRule
from chainer.training.update_rule import UpdateRule


@dataclass
class _Waiting:
    """Updates of one kernel, device, dtype and set of hyperparameters.

    Attributes:
        copies: Parameters of 16 bits, where their float32 copies are updated.
        scale: Scale of their gradients.
    """

    device: Any
    kernel: Any
    hyperparameters: dict[str, Any]
    scale: float
    groups: list[list[Any]] = field(default_factory=list[list[Any]])
    copies: list[Any] = field(default_factory=list[Any])

    def finish(self) -> None:
        with self.device:
            if self.copies:
                self.kernel.update_copies(
                    self.groups, self.copies, self.scale, **self.hyperparameters
                )
            else:
                self.kernel.update_many(self.groups, **self.hyperparameters)


def update_parameters(params: Iterable[Parameter]) -> None:
    """Updates parameters by their update rules.

    On accelerators, where starting a kernel costs more than a small update, kernels that can (they
    have a method ``update_many``) update all parameters of one dtype, device and set of
    hyperparameters at once. The hooks that precede these updates then precede all of them.

    Args:
        params: Parameters with gradients.
    """
    waiting: dict[Any, _Waiting] = {}
    try:
        for param in params:
            if type(param.array) is numpy.ndarray or not _begin(param, waiting):
                param.update()
    finally:  # an error in one update does not take back those before
        for updates in waiting.values():
            updates.finish()


def _begin(param: Parameter, waiting: dict[Any, _Waiting]) -> bool:
    """Returns whether the update of a parameter was made, or put to those that wait."""
    array, rule = param.array, param.update_rule
    if (
        array is None
        or not isinstance(rule, KernelUpdateRule)
        or type(param).update is not Parameter.update
    ):
        return False
    backend = backend_of(array)
    if not backend.is_accelerator:
        return False
    call = rule.begin_update(param)
    if call is None:
        return False
    kernel, arrays, hyperparameters = call
    device = backend.device_of(array)
    if not hasattr(kernel, "update_many"):
        with device:
            kernel.update(*arrays, **hyperparameters)
        return True
    is_copy = arrays[0] is not array
    scale = 1.0 if not is_copy or param.loss_scale is None else float(param.loss_scale)
    present = tuple([a is not None for a in arrays])
    key = (kernel, device, array.dtype, is_copy, scale, present, tuple(hyperparameters.items()))
    updates = waiting.get(key)
    if updates is None:
        updates = waiting[key] = _Waiting(device, kernel, hyperparameters, scale)
    updates.groups.append(arrays)
    if is_copy:
        updates.copies.append(array)
    return True


def call_for_each(hook: Callable[..., Any], params: Iterable[Parameter]) -> None:
    """Calls a hook of an optimizer for every parameter that has an update rule.

    A hook with a method ``call_for_all`` gets the parameters on accelerators at once: ``(param,
    grad, scale)`` of each, as ``gradient_hooks`` takes them, in groups of one device and dtype.
    """
    together = _call_for_all(hook)
    groups: dict[Any, list[tuple[Any, Any, float | None]]] = {}
    for param in params:
        rule = param.update_rule
        if rule is None:
            continue
        if together is None or not _can_wait(param, rule):
            rule.call_hook(hook, param)
            continue
        array, scale = param.array, None
        if rule.updates_in_float32(param):
            with param.device:
                array, scale = rule.float32_parameter(param).array, param.loss_scale
        key = (param.device, array.dtype, param.dtype)
        groups.setdefault(key, []).append((array, param.grad, scale))
    for (device, *_), entries in groups.items():
        with device:
            together(entries)  # type: ignore[misc]


def _can_wait(param: Parameter, rule: UpdateRule) -> bool:
    array = param.array
    return (
        array is not None
        and type(array) is not numpy.ndarray
        and param.grad is not None
        and type(rule).call_hook is UpdateRule.call_hook
        and backend_of(array).is_accelerator
    )


def _call_for_all(hook: Any) -> Callable[..., Any] | None:
    """Returns the method ``call_for_all``, unless a subclass has its own way to call the hook."""
    owner = next((cls for cls in type(hook).__mro__ if "__call__" in cls.__dict__), None)
    return hook.call_for_all if owner is not None and "call_for_all" in owner.__dict__ else None
