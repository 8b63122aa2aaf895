"""Hooks for many gradients by few calls of kernels, see :class:`GradientHook`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.autograd.parameter import Parameter
from chainer.core.config.configuration import threads
from chainer.core.typing import Array
from chainer.training.optimizers.update_rule import UpdateRule

#: Parameter, gradient and loss scale, as the operation of gradient hooks takes them.
Entry = tuple[Array, Array, float | None]


def _prefers_kernels() -> bool:
    """Returns whether the configuration asks for kernels of providers on the host."""
    policy = threads.state.policy
    return bool(policy.kernels) or policy.accelerates


def call_hook_for_params(hook: Callable[..., Any], params: Iterable[Parameter]) -> None:
    """Calls a hook of an optimizer with the rule of each parameter and the parameter.

    A hook whose class sets ``can_group`` to True has a method ``call_for_params``. It is called
    instead for the parameters on accelerators, once for each device and dtype, with a list of
    :data:`Entry`. Where ``chainer.config.kernels`` or ``accelerate`` asks for kernels, and nothing
    is recorded, it is called for contiguous NumPy arrays, too.

    Args:
        hook: The hook.
        params: Parameters. Those that have no rule are passed with None.
    """
    # The class is asked, because a mock has any attribute that it is asked for.
    can_group = getattr(type(hook), "can_group", False)
    on_host = can_group and _prefers_kernels() and threads.state.recorder is None
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
    if not _prefers_kernels() or threads.state.recorder is not None:
        return None
    grads: list[Array] = []
    for param in params:
        if param.loss_scale is not None or not _is_dense_on_host(param):
            return None
        grads.append(param.grad)
    return grads if grads and _are_alike(list(grads)) else None


def _are_alike(arrays: list[Array | None]) -> bool:
    """Whether arrays are contiguous and of one dtype: what kernels for many parameters take."""
    first: Any = arrays[0]
    dtype = first.dtype
    for array in arrays:
        if array is not None and (array.dtype is not dtype or not array.flags.c_contiguous):
            return False
    return True
