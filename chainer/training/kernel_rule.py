"""Update rules whose arithmetic is a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.kernel import Operation
from chainer.training.update_rule import UpdateRule, remove_loss_scale

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

#: A kernel, and the arrays and hyperparameters its ``update`` takes.
KernelCall = tuple[Any, list[Any], dict[str, Any]]

#: What :meth:`KernelUpdateRule.begin_update` stands for.
_STEPS = ("update", "update_core", "update_core_gpu", "_update_and_call_hooks", "_update_by_kernel")


class KernelUpdateRule(UpdateRule):
    """Base of the built-in update rules: calls a kernel with arrays and hyperparameters.

    Attributes:
        operation: The operation; its ``update`` method gets the parameter, the gradient, the states
            and the hyperparameters.
        state_names: Names of the state arrays, in the order in which the kernel takes them. They
            are zeros in the beginning.
        hyperparam_names: Names of the hyperparameters that are passed on as they are.
    """

    operation: ClassVar[Operation]
    state_names: ClassVar[tuple[str, ...]] = ()
    hyperparam_names: ClassVar[tuple[str, ...]] = ()

    def init_state(self, param: Parameter) -> None:
        """Makes the state arrays, zeros of the shape and dtype of the parameter."""
        array = param.array
        xp = backend_of(array).xp
        state: Any = self.state
        for name in self.state_names:
            state[name] = xp.zeros_like(array)

    def kernel_arguments(self, param: Parameter) -> dict[str, Any]:
        """Returns the keyword arguments of the kernel's ``update`` method."""
        hyperparam = self.hyperparam.get_dict()  # one walk to the parent instead of one per entry
        return {name: hyperparam[name] for name in self.hyperparam_names}

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter in host memory by the kernel that serves its arrays."""
        self._update_by_kernel(param)

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter on an accelerator by the kernel that serves its arrays."""
        self._update_by_kernel(param)

    def kernel_call(self, param: Parameter) -> KernelCall:
        """Returns the call of a kernel that updates a parameter.

        Args:
            param (Variable): Parameter to be updated; the state is ready.

        Returns:
            tuple: The kernel, the arrays and the hyperparameters its ``update`` takes.
        """
        state: Any = self.state
        arrays = [param.array, param.grad, *[state[name] for name in self.state_names]]
        return self.operation.select(*arrays), arrays, self.kernel_arguments(param)

    def _update_by_kernel(self, param: Parameter) -> None:
        if param.grad is None:
            return
        try:
            kernel, arrays, hyperparameters = self.kernel_call(param)
            kernel.update(*arrays, **hyperparameters)
        except (TypeError, ValueError) as error:
            self._refuse_bad_hyperparameters(error)
            raise

    def _refuse_bad_hyperparameters(self, error: Exception) -> None:
        """Raises TypeError if a hyperparameter is what the arithmetic failed of."""
        for name, value in self.hyperparam.get_dict().items():
            try:
                float(value)
            except (TypeError, ValueError):
                raise TypeError(
                    f"hyperparameter {name!r} must be a number, got {value!r}"
                ) from error

    def begin_update(self, param: Parameter) -> KernelCall | None:
        """Does what comes before the kernel in :meth:`update`, if the kernel's call can wait.

        Where the rule updates a copy in float32, the arrays are those of the copy, but for the
        gradient, which is that of the parameter and still scaled.

        Returns:
            tuple: See :meth:`kernel_call`. None if nothing was done, because :meth:`update` has to
                be called: the rule updates in a way of its own, has hooks that cannot be called
                before, the kernel does not take gradients of another dtype, or there is nothing to
                update.
        """
        if (
            not self.enabled
            or not _follows_base(type(self))
            or param.grad is None
            or self._hooks.at("post")
        ):
            return None
        if self.updates_in_float32(param):
            return None if self._hooks else self._begin_float32_update(param)
        if param.loss_scale is not None:
            remove_loss_scale(param)
        for hook in self._hooks.at("pre"):
            hook(self, param)
        self.t += 1
        self._prepare(param)
        with param.device:
            return self.kernel_call(param)

    def _begin_float32_update(self, param: Parameter) -> KernelCall | None:
        with param.device:
            master = self.float32_parameter(param)
            master.cleargrad()
            if not hasattr(self.operation.select(master.array), "update_copies"):
                return None
            self.t += 1
            self._prepare(master)
            kernel, arrays, hyperparameters = self.kernel_call(master)
        arrays[1] = param.grad
        return kernel, arrays, hyperparameters

    def check_eps(self, param: Parameter, name: str) -> None:
        """Raises ValueError if the hyperparameter ``eps`` is zero in the dtype of the parameter."""
        dtype = param.array.dtype
        if dtype.itemsize >= 4:
            return
        eps = self.hyperparam.eps
        if dtype.type(eps) == 0:
            raise ValueError(
                f"eps of {name} optimizer is too small for {dtype.name} ({eps}); set a larger eps, "
                "or update in float32 by optimizer.use_fp32_update()"
            )


def _follows_base(cls: type[KernelUpdateRule]) -> bool:
    """Whether a class leaves the methods alone that ``begin_update`` stands for."""
    for name in _STEPS:  # noqa: SIM110 - a third of the time of all()
        if getattr(cls, name) is not getattr(KernelUpdateRule, name):
            return False
    return True
