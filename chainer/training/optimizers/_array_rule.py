"""What the optimizers share whose update is an expression on arrays instead of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from chainer.backends.compute_dtypes import compute_dtype
from chainer.core.arrays.backend import backend_of
from chainer.core.typing import Array
from chainer.training.optimizers.hyperparameter_rule import HyperparameterRule

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter


class ArrayRule(HyperparameterRule):
    """Base of update rules that compute the step by array operations, on every backend.

    A subclass defines :meth:`step`. The arithmetic and the state of parameters of 16 bits are of
    float32.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values.
        hyperparameters: Hyperparameters of this rule only; None leaves one to the parent.

    Attributes:
        state_names: Names of the state arrays, which have the shape of the parameter and are zeros
            in the beginning.
    """

    state_names: ClassVar[tuple[str, ...]] = ()

    def count(self) -> float:
        """Returns the number of this update, from 1.

        :meth:`step` uses it in place of ``t``: while a step is recorded it is a
        :class:`~chainer.core.arrays.recorder.VaryingNumber`. Functions of it that are not plain
        arithmetic, such as roots, need :func:`~chainer.core.arrays.recorder.computed`.
        """
        return self.t

    def init_state(self, param: Parameter) -> None:
        """Makes the state arrays.

        Args:
            param (Parameter): Parameter to be updated.
        """
        state: Any = self.state
        for name in self.state_names:
            state[name] = self.zeros(param, param.shape)

    def zeros(self, param: Parameter, shape: tuple[int, ...]) -> Array:
        """Returns zeros of the dtype of the arithmetic, on the device of a parameter.

        Args:
            param (Parameter): The parameter.
            shape (tuple of int): Shape of the array.
        """
        return backend_of(param.array).xp.zeros(shape, compute_dtype(param.array.dtype))

    def update_core(self, param: Parameter) -> None:
        """Updates a parameter by :meth:`step`.

        Args:
            param (Parameter): Parameter to be updated.
        """
        if param.grad is None:
            return
        backend = backend_of(param.array)
        array, grad = backend.to_xp(param.array), backend.to_xp(param.grad)
        dtype = compute_dtype(array.dtype)
        with param.device:
            new = self.step(
                backend.xp, array.astype(dtype, copy=False), grad.astype(dtype, copy=False)
            )
            array[...] = new.astype(array.dtype, copy=False)
        if array is not param.array:  # a layout of its own, which xp does not know
            param.array[...] = array

    def step(self, xp: Any, param: Array, grad: Array) -> Array:
        """Returns the parameter after an update, and changes the state.

        Args:
            xp: Array namespace.
            param (array): The parameter; not to be changed.
            grad (array): Its gradient; not to be changed.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step()")


def moment(state: dict[str, Any], name: str, beta: float, value: Array) -> Array:
    """Moves a moving average of the state towards a value, in place, and returns it.

    Args:
        state (dict): The state.
        name (str): Name of the average.
        beta (float): Share of the average that is kept.
        value (array): The value.
    """
    average = state[name]
    average *= beta
    average += (1 - beta) * value
    return average
