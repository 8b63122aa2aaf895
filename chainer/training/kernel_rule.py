"""Update rules whose arithmetic is a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from chainer.core.backend import backend_of
from chainer.core.kernel import Operation
from chainer.training.update_rule import UpdateRule

if TYPE_CHECKING:
    from chainer.core.parameter import Parameter


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

    def _update_by_kernel(self, param: Parameter) -> None:
        grad = param.grad
        if grad is None:
            return
        state: Any = self.state
        arrays = [param.array, grad, *[state[name] for name in self.state_names]]
        kernel = self.operation.select(*arrays)
        kernel.update(*arrays, **self.kernel_arguments(param))

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
