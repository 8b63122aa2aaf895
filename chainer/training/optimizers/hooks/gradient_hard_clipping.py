"""Element-wise clipping of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends.operations.gradient_hooks import gradient_hooks
from chainer.core.arrays.backend import backend_of
from chainer.core.typing import Array
from chainer.training.optimizers.hooks._gradient_hook import GradientHook
from chainer.training.optimizers.hooks.grouping import Entry

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.update_rule import UpdateRule


class GradientHardClipping(GradientHook):
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

    Example:
        >>> model = chainer.Link()
        >>> with model.init_scope():
        ...     model.W = chainer.Parameter(np.array([0.0, 0.0]))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientHardClipping(-1, 1))
        >>> model.W.grad = np.array([3.0, -0.5])
        >>> optimizer.update()
        >>> model.W.array
        array([-1. ,  0.5])
    """

    name = "GradientHardClipping"
    can_group = True

    def __init__(self, lower_bound: float, upper_bound: float) -> None:
        if not lower_bound <= upper_bound:
            raise ValueError(
                f"lower_bound must not exceed upper_bound, got {lower_bound!r} and {upper_bound!r}"
            )
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def change_gradient(self, rule: UpdateRule | None, param: Parameter) -> None:
        """Limits the elements of the gradient of a parameter."""
        grad = param.grad
        backend_of(grad).xp.clip(grad, self.lower_bound, self.upper_bound, out=grad)

    def call_for_params(self, entries: list[Entry]) -> None:
        """Changes the gradients of parameters of one device and dtype by few calls of a kernel."""
        kernel = gradient_hooks.select(entries[0][1])
        by_scale: dict[float, list[Array]] = {}
        for _, grad, loss_scale in entries:
            by_scale.setdefault(1.0 if loss_scale is None else float(loss_scale), []).append(grad)
        for scale, grads in by_scale.items():
            # Scaling the bounds has the same effect as dividing the gradients.
            kernel.clip(grads, self.lower_bound * scale, self.upper_bound * scale)
