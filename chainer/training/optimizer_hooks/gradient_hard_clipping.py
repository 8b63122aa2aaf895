"""Element-wise clipping of gradients."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.gradient_hooks import gradient_hooks
from chainer.core.arrays.backend import backend_of


class GradientHardClipping:
    """Optimizer/UpdateRule hook function for gradient clipping.

    Clips every element of the gradient to an interval.

    Args:
        lower_bound (float): The lower bound of the gradient value.
        upper_bound (float): The upper bound of the gradient value.

    Attributes:
        lower_bound (float): The lower bound of the gradient value.
        upper_bound (float): The upper bound of the gradient value.
        timing (str): When the hook is called: ``'pre'``, before the update.
        call_for_each_param (bool): True: the hook is called for each parameter.

    Raises:
        ValueError: If ``lower_bound`` exceeds ``upper_bound``.
    """

    name = "GradientHardClipping"
    call_for_each_param = True
    timing = "pre"

    def __init__(self, lower_bound: float, upper_bound: float) -> None:
        if not lower_bound <= upper_bound:
            raise ValueError(
                f"lower_bound must not exceed upper_bound, got {lower_bound!r} and {upper_bound!r}"
            )
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def __call__(self, rule: Any, param: Any) -> None:
        """Changes the gradient of a parameter, before its update."""
        grad = param.grad
        if grad is None:
            return
        with param.device:
            backend_of(grad).xp.clip(grad, self.lower_bound, self.upper_bound, out=grad)

    def call_for_all(self, entries: list[tuple[Any, Any, float | None]]) -> None:
        """Changes the gradients of parameters of one device and dtype, see ``gradient_hooks``."""
        grads = [grad for _, grad, _ in entries]
        gradient_hooks.select(grads[0]).clip(grads, self.lower_bound, self.upper_bound)
