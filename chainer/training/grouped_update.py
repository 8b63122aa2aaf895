"""Updates of many parameters by few calls of kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from chainer.core.backend import backend_of
from chainer.core.parameter import Parameter
from chainer.training.kernel_rule import KernelUpdateRule


def update_parameters(params: Iterable[Parameter]) -> None:
    """Updates parameters by their update rules.

    On accelerators, where starting a kernel costs more than a small update, kernels that can (they
    have a method ``update_many``) update all parameters of one dtype, device and set of
    hyperparameters at once. The hooks that precede these updates then precede all of them.

    Args:
        params: Parameters with gradients.
    """
    waiting: dict[Any, tuple[Any, Any, dict[str, Any], list[list[Any]]]] = {}
    try:
        for param in params:
            if type(param.array) is numpy.ndarray or not _begin(param, waiting):
                param.update()
    finally:  # an error in one update does not take back those before
        for device, kernel, hyperparameters, groups in waiting.values():
            with device:
                kernel.update_many(groups, **hyperparameters)


def _begin(param: Parameter, waiting: dict[Any, Any]) -> bool:
    """Returns whether the update of a parameter was made, or put to those that wait."""
    array, rule = param.array, param.update_rule
    if (
        array is None
        or not isinstance(rule, KernelUpdateRule)
        or type(param).update is not Parameter.update
        or not backend_of(array).is_accelerator
    ):
        return False
    call = rule.begin_update(param)
    if call is None:
        return False
    kernel, arrays, hyperparameters = call
    if not hasattr(kernel, "update_many"):
        with param.device:
            kernel.update(*arrays, **hyperparameters)
        return True
    device = param.device
    present = tuple([a is not None for a in arrays])
    key = (kernel, device, array.dtype, present, tuple(hyperparameters.items()))
    if key not in waiting:
        waiting[key] = (device, kernel, hyperparameters, [])
    waiting[key][3].append(arrays)
    return True
