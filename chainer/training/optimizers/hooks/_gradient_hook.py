"""Base of the hooks that change the gradient of each parameter by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from chainer.training.optimizers.hooks.grouping import Entry
from chainer.training.optimizers.loss_scaling import remove_loss_scale

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.update_rule import UpdateRule


class GradientHook:
    """Base of the hooks that change the gradient of a parameter before its update.

    A subclass overrides :meth:`change_gradient`. If one call of a kernel can change the gradients
    of many parameters, it overrides :meth:`call_for_params` too and sets :attr:`can_group`.

    Attributes:
        name (str): Name under which the hook is registered.
        call_for_each_param (bool): True: the hook is called for each parameter.
        timing (str): When the hook is called: ``'pre'``, before the update.
        can_group (bool): Whether optimizers may call :meth:`call_for_params` for parameters on
            accelerators. False in a subclass that overrides the call for single parameters, unless
            the subclass sets it.
    """

    name: ClassVar[str]
    call_for_each_param = True
    timing = "pre"
    can_group: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # call_for_params() of the base would not do what the subclass does for one parameter.
        own = cls.__dict__
        if "can_group" not in own and ("__call__" in own or "change_gradient" in own):
            cls.can_group = False

    def __call__(self, rule: UpdateRule | None, param: Parameter) -> None:
        """Changes the gradient of a parameter.

        A gradient that is still multiplied by a loss scale is divided by it first. A parameter
        without array or gradient is skipped.

        Args:
            rule (UpdateRule): Update rule of the parameter.
            param (Parameter): The parameter.
        """
        if param.array is None or param.grad is None:
            return
        with param.device:
            if param.loss_scale is not None:
                remove_loss_scale(param)
            self.change_gradient(rule, param)

    def change_gradient(self, rule: UpdateRule | None, param: Parameter) -> None:
        """Changes the gradient of a parameter, see :meth:`__call__`.

        Args:
            rule (UpdateRule): Update rule of the parameter.
            param (Parameter): Parameter with an array and a true gradient; its device is current.
        """
        raise NotImplementedError(f"{type(self).__name__} must define change_gradient()")

    def call_for_params(self, entries: list[Entry]) -> None:
        """Changes the gradients of parameters of one device and dtype by few calls of a kernel.

        Args:
            entries (list of tuple): Array, gradient and loss scale (or None) of each parameter, as
                the operation ``gradient_hooks`` takes them.
        """
        raise NotImplementedError(f"{type(self).__name__} must define call_for_params()")
