"""Recalculation instead of storing intermediate results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, using_config
from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes, VariableLike
from chainer.functions.rules import once_differentiable

_NO_DOUBLE_BACKPROP = "double backpropagation in functions.forget is not allowed."


class Forget(FunctionNode):
    """Call of a function whose intermediate results are not stored.

    Args:
        func (callable): The function.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        if not callable(func):
            raise TypeError("func must be callable")
        self.func = func

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        # Links with running statistics consult _will_recompute and in_recomputing, so that they
        # update them once.
        with using_config("enable_backprop", False), using_config("_will_recompute", True):
            outputs = _call(self.func, [Variable(x) for x in inputs])
        return tuple([y.array for y in outputs])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        if config.enable_backprop:
            raise RuntimeError(_NO_DOUBLE_BACKPROP)
        return once_differentiable(self, target_input_indexes, grad_outputs, _NO_DOUBLE_BACKPROP)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        targets = set(target_input_indexes)
        inputs = [
            Variable(x, requires_grad=i in targets)
            for i, x in enumerate(self.retained_input_arrays)
        ]
        # Build a separate graph. Parameters that the function uses get their gradients when it is
        # backpropagated.
        with using_config("enable_backprop", True), using_config("in_recomputing", True):
            outputs = _call(self.func, inputs)
            start = _StartOfBackward(grad_outputs).apply(outputs)[0]
        start.backward()
        return tuple([inputs[i].grad for i in target_input_indexes])


class _StartOfBackward(FunctionNode):
    """Joins variables, so that one backward call starts at all of them with given gradients."""

    def __init__(self, gradients: tuple[Any, ...]) -> None:
        self._gradients = gradients

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.zeros((), self.xp.float32),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        return once_differentiable(self, target_input_indexes, grad_outputs, _NO_DOUBLE_BACKPROP)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return tuple([self._gradients[i] for i in target_input_indexes])


def _call(func: Callable[..., Any], inputs: list[Variable]) -> tuple[Variable, ...]:
    """Calls a function and checks what it returns."""
    outputs = func(*inputs)
    if isinstance(outputs, tuple):
        for i, y in enumerate(outputs):
            if not isinstance(y, Variable):
                n = i + 1
                suffix = {1: "st", 2: "nd", 3: "rd"}.get(0 if 10 < n % 100 < 20 else n % 10, "th")
                raise RuntimeError(
                    f"{n}{suffix} element of a returned tuple is not Variable, but is {type(y)}"
                )
        return outputs
    if isinstance(outputs, Variable):
        return (outputs,)
    raise RuntimeError(
        f"A tuple of Variables or a Variable are expected, but {type(outputs)} is returned."
    )


def forget(func: Callable[..., Any], *xs: VariableLike) -> Any:
    """Calls a function without storing intermediate results.

    On a forward propagation Chainer normally stores intermediate results as they are required on
    backward propagation. Sometimes they consume too much memory. ``F.forget`` calls a function
    without creating a computational graph, and calls it again on backward propagation to create the
    graph. It reduces memory usage and needs more time.

    Args:
        func (callable): A function to call. It needs to be called with Variables and to return a
            Variable or a tuple of Variables.
        xs (~chainer.Variable or array): Argument variables of the function. Arrays are converted to
            Variables, so that the function becomes part of the graph.

    Returns:
        ~chainer.Variable or tuple: The outputs of ``func``.

    Raises:
        TypeError: If ``func`` is not callable or an argument is neither a Variable nor an array.
        RuntimeError: If ``func`` does not return Variables, or if gradients of the gradients are
            wanted.

    .. note::
        ``func`` must give the same at both calls: no :func:`dropout`, no :func:`negative_sampling`.

    Example:
        >>> def f(a, b):
        ...     return a + b + a
        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> y = chainer.Variable(np.array([3, 4], np.float32))
        >>> z = F.forget(f, x, y)  # x + y is not stored
        >>> z.array
        array([5., 8.], dtype=float32)
    """
    outputs = Forget(func).apply(tuple([x if isinstance(x, Variable) else Variable(x) for x in xs]))
    return outputs[0] if len(outputs) == 1 else outputs
