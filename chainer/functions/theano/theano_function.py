"""A pair of compiled functions of Theano, or any two callables, as a function of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.autograd.function import Function
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike


class TheanoFunction(Function):
    """Function that calls two compiled functions, with arrays in host memory.

    Args:
        forward_func (callable): From the inputs to the list of outputs.
        backward_func (callable): From the inputs and the gradients of the outputs to the list of
            the gradients of the inputs.
    """

    def __init__(
        self,
        forward_func: Callable[..., Sequence[Array]],
        backward_func: Callable[..., Sequence[Array]],
    ) -> None:
        self.forward_func = forward_func
        self.backward_func = backward_func

    def _call(self, function: Callable[..., Sequence[Array]], arrays: tuple[Any, ...]) -> Any:
        device = get_device_from_array(arrays[0])
        host = [device.backend.to_host(x) for x in arrays]
        # A compiled function may return one of its inputs; the outputs of a node are its own.
        results = [numpy.array(y, copy=True) for y in function(*host)]
        return tuple([device.send(y) for y in results])

    def forward(self, inputs: tuple[Any, ...]) -> Any:
        outputs = self._call(self.forward_func, inputs)
        self._output_types = [(y.shape, y.dtype) for y in outputs]
        return outputs

    def backward(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> Any:
        xp = get_device_from_array(inputs[0]).xp
        # The compiled gradient takes one array for each output.
        gys = [
            xp.zeros(shape, dtype) if gy is None else gy
            for gy, (shape, dtype) in zip(grad_outputs, self._output_types, strict=True)
        ]
        gradients = self._call(self.backward_func, (*inputs, *gys))
        # Integers have no gradients.
        return tuple(
            [g if x.dtype.kind == "f" else None for x, g in zip(inputs, gradients, strict=True)]
        )


def theano_function(
    forward_func: Callable[..., Sequence[Array]],
    backward_func: Callable[..., Sequence[Array]],
    *inputs: VariableLike,
) -> Any:
    """Calls a pair of compiled functions as one function of the graph.

    Args:
        forward_func (callable): From the inputs, arrays in host memory, to the list of outputs.
        backward_func (callable): From the inputs and the gradients of the outputs to the list of
            the gradients of the inputs.
        inputs (~chainer.Variable or array): Inputs.

    Returns:
        ~chainer.Variable or tuple: The output, or a tuple if there are several.

    Example:
        >>> from chainer.functions.theano.theano_function import theano_function
        >>> x = chainer.Variable(np.array([3.]))
        >>> y = theano_function(lambda x: [x * x], lambda x, gy: [2 * x * gy], x)
        >>> y.backward()
        >>> x.grad
        array([6.])
    """
    outputs = TheanoFunction(forward_func, backward_func)(*inputs)
    return outputs if isinstance(outputs, Variable) else tuple(outputs)
