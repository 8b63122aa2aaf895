"""Lasso regularization."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.gradient_hooks import gradient_hooks
from chainer.core.arrays.backend import backend_of


class Lasso:
    """Optimizer/UpdateRule hook function for Lasso regularization.

    Adds the scaled sign of each weight to its gradient: ``grad += rate * sign(param)``.

    Args:
        rate (float): Coefficient for the weight decay.

    Attributes:
        rate (float): Coefficient for the weight decay.
        timing (str): When the hook is called: ``'pre'``, before the update.
        call_for_each_param (bool): True: the hook is called for each parameter.
    """

    name = "Lasso"
    call_for_each_param = True
    timing = "pre"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, rule: Any, param: Any) -> None:
        """Changes the gradient of a parameter, before its update."""
        array, grad = param.array, param.grad
        if array is None or grad is None:
            return
        with param.device:
            grad += self.rate * backend_of(array).xp.sign(array)

    def call_for_all(self, entries: list[tuple[Any, Any, float | None]]) -> None:
        """Changes the gradients of parameters of one device and dtype, see ``gradient_hooks``."""
        gradient_hooks.select(entries[0][1]).lasso(entries, self.rate)
