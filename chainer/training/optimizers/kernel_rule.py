"""Update rules whose arithmetic is a kernel."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Array, DType
from chainer.training.optimizers.hyperparameter_rule import HyperparameterRule
from chainer.training.optimizers.state_memory import zeros_for_state

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

#: Methods that make up an update. Where a subclass overrides one of them, an update is more than a
#: kernel's call, so that it cannot be grouped.
_STEPS_OF_UPDATE = frozenset(("begin_update", "update", "update_core", "update_core_gpu"))


#: Methods that make the arguments of a kernel. Where a subclass overrides one of them, arguments
#: may depend on anything, so that each parameter needs its own.
_ARGUMENTS = frozenset(("kernel_arguments", "kernel_call", "used_states"))


#: A kernel, and the arrays and the hyperparameters that its method ``update`` takes.
KernelCall = tuple[Any, list[Array | None], dict[str, Any]]


class PreparedUpdate(NamedTuple):
    """An update of which only the call of a kernel is left to do.

    Attributes:
        kernel: The kernel, see :mod:`chainer.backends.operations.optimizer_updates`.
        arrays: The parameter, its gradient and the states; None for a state that is not used.
        hyperparameters: Keyword arguments of the kernel.
        rounded: If the kernel updates the float32 copy of a parameter, that parameter of 16 bits,
            to which the result is rounded. The gradient then has 16 bits, too. Otherwise None.
        loss_scale: Number to divide the gradient by where ``rounded`` is given.
    """

    kernel: Any
    arrays: list[Array | None]
    hyperparameters: dict[str, Any]
    rounded: Array | None = None
    loss_scale: float = 1.0

    def signature(self) -> Hashable:
        """Returns what updates must have in common to be made by one call."""
        present = tuple([array is not None for array in self.arrays])
        hyperparameters = tuple(self.hyperparameters.items())
        in_float32 = self.rounded is not None
        return self.kernel, in_float32, self.loss_scale, present, hyperparameters


class KernelUpdateRule(HyperparameterRule):
    """Base of the built-in update rules: calls a kernel with arrays and hyperparameters.

    A rule names its operation, its state and its hyperparameters. Where these are not passed on as
    they are, it overrides :meth:`kernel_arguments` or :meth:`kernel_call`.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values.
        hyperparameters (float): Hyperparameters of this rule only; None leaves one to the parent.

    Attributes:
        operation: The operation; its ``update`` method gets the parameter, the gradient, the states
            and the hyperparameters.
        state_names: Names of the state arrays, in the order in which the kernel takes them. They
            are zeros in the beginning.
        hyperparam_names: Names of the hyperparameters that are passed on as they are.
        can_group (bool): Whether :meth:`prepare_update` may replace :meth:`update`, so that one
            call of a kernel updates many parameters. False in a subclass that overrides a step of
            the update, unless the subclass sets it.
        shares_arguments (bool): Whether the arguments of the kernel, apart from the arrays, depend
            on nothing but the hyperparameters, :attr:`t` and the dtype. Then optimizers ask one of
            many rules for them. False in a subclass that computes the arguments itself, unless the
            subclass sets it.
    """

    is_elementwise: ClassVar[bool] = True
    operation: ClassVar[Operation]
    state_names: ClassVar[tuple[str, ...]] = ()
    hyperparam_names: ClassVar[tuple[str, ...]] = ()
    can_group: ClassVar[bool] = True
    shares_arguments: bool = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "can_group" not in cls.__dict__ and not _STEPS_OF_UPDATE.isdisjoint(cls.__dict__):
            cls.can_group = False
        if "shares_arguments" not in cls.__dict__ and not _ARGUMENTS.isdisjoint(cls.__dict__):
            cls.shares_arguments = False

    def init_state(self, param: Parameter) -> None:
        """Makes the state arrays, zeros of the shape and dtype of the parameter.

        Args:
            param (Parameter): Parameter to be updated.
        """
        state: Any = self.state
        for number, name in enumerate(self.state_names):
            state[name] = zeros_for_state(param.array, number)

    def kernel_arguments(self, param: Parameter) -> dict[str, Any]:
        """Returns the keyword arguments of the kernel's ``update`` method.

        Args:
            param (Parameter): Parameter to be updated.
        """
        hyperparam = self.hyperparam.get_dict()  # one walk to the parent instead of one per entry
        return {name: hyperparam[name] for name in self.hyperparam_names}

    def can_be_grouped(self) -> bool:
        """Whether an update is :meth:`begin_update` and one call of a kernel, at present."""
        return (
            self.enabled and self.can_group and not self._use_fp32_update and not self._hooks.post
        )

    def used_states(self) -> tuple[str | None, ...]:
        """Returns the names of the states in the order of the kernel; None for one not used."""
        return self.state_names

    def kernel_call(self, param: Parameter) -> KernelCall:
        """Returns the call of a kernel that updates a parameter.

        Args:
            param (Parameter): Parameter to be updated; the state is ready.

        Returns:
            tuple: The kernel, a list of arrays (the parameter, its gradient and the states; None
            for a state that is not used), and a dictionary of hyperparameters.
        """
        state: Any = self.state
        arrays = [param.array, param.grad, *[state[name] for name in self.state_names]]
        return self.operation.select(*arrays), arrays, self.kernel_arguments(param)

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter in host memory by the kernel that serves its arrays."""
        if param.grad is None:
            return
        try:
            kernel, arrays, hyperparameters = self.kernel_call(param)
            kernel.update(*arrays, **hyperparameters)
        except (TypeError, ValueError) as error:
            self._check_hyperparameters(error)
            raise

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter on an accelerator by the kernel that serves its arrays."""
        # By the class: a subclass may override the method for the host alone.
        KernelUpdateRule.update_core_cpu(self, param)

    def _check_hyperparameters(self, error: Exception) -> None:
        """Raises TypeError if the update failed because a hyperparameter is not a number."""
        for name, value in self.hyperparam.get_dict().items():
            try:
                float(value)
            except (TypeError, ValueError):
                raise TypeError(
                    f"hyperparameter {name!r} must be a number, got {value!r}"
                ) from error

    def prepare_update(self, param: Parameter) -> PreparedUpdate | None:
        """Does what precedes the kernel in :meth:`update` and returns the kernel's call.

        Args:
            param (Parameter): Parameter to be updated. It has an array and a gradient.

        Returns:
            PreparedUpdate: The call that completes the update. None if nothing was done, because
            only :meth:`update` can do it: the rule is disabled, is not to be grouped
            (:attr:`can_group`), has hooks that follow the update or that need a gradient of
            float32, or the kernel cannot update float32 copies.
        """
        if not self.enabled or not self.can_group or self._hooks.post:
            return None
        with param.device:
            if self.updates_in_float32(param):
                return self._prepare_float32_update(param)
            self.begin_update(param)
            return PreparedUpdate(*self.kernel_call(param))

    def _prepare_float32_update(self, param: Parameter) -> PreparedUpdate | None:
        master = self.float32_parameter(param)
        kernel = self.operation.select(master.array)
        # Hooks would need the gradient in float32, which the kernel never makes.
        if self._hooks.pre or not hasattr(kernel, "update_copies"):
            return None
        master.cleargrad()
        self.begin_update(master)
        kernel, arrays, hyperparameters = self.kernel_call(master)
        arrays[1] = param.grad
        scale = 1.0 if param.loss_scale is None else float(param.loss_scale)
        return PreparedUpdate(kernel, arrays, hyperparameters, param.array, scale)

    def check_eps(self, eps: float, dtype: DType, optimizer: str) -> None:
        """Raises ValueError if ``eps`` becomes zero in the data type of the arithmetic.

        Args:
            eps (float): The hyperparameter; zero itself is allowed.
            dtype: Data type.
            optimizer (str): Name of the optimizer, for the message.
        """
        # Almost every call ends here: comparing is faster than rounding.
        if eps >= 1e-44 and dtype.itemsize >= 4:
            return
        if eps != 0 and dtype.type(eps) == 0:
            remedy = (
                "update in float32 by optimizer.use_fp32_update()" if is_half(dtype) else "zero"
            )
            raise ValueError(
                f"eps of {optimizer} optimizer is too small for {dtype.name} ({eps}); set a larger "
                f"eps, or {remedy}"
            )
