"""Activation functions whose value and slope share most of their work."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.numpy.blocks import BLOCK_SIZE, elementwise
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.functions.rules import KernelFunction, OneFloat, Ops, Value, Values
from chainer.functions.rules.array_functions import array_functions, numpy_functions

#: The value of a function and its derivative, which is computed only when it is called.
ValueAndSlope = tuple[Any, Callable[[], Any]]


class BlockwiseFunction(OneFloat, KernelFunction):
    """Elementwise function of one array, whose formula is evaluated block by block.

    A block stays in the cache, where the slope costs little beside the value. So the slope is
    computed with the value if a graph is built, and kept instead of being computed again.
    """

    is_elementwise = True
    retained_inputs = (0,)
    _slope: Array = None

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        """Computes the function and its derivative.

        Args:
            ops: The functions of ``chainer.functions``, for arrays or for Variables.
            x: The input, an array or a Variable.

        Returns:
            tuple: The value, and a function without arguments that returns the derivative.
                Augmented assignments save memory, but only on arrays that are made here.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define formula()")

    def of(self, x: VariableLike) -> Variable:
        """Applies the function, without what a function node does where there is no graph.

        Args:
            x: The input.
        """
        state = threads.state
        if state.needs_no_node() and type(x) is Variable:
            # Text is decoded by many functions of few numbers: one block, in the dtype to compute
            # in. NumPy returns numbers of another type for arrays without axes.
            array = x._array
            if type(array) is numpy.ndarray and array.size <= BLOCK_SIZE:
                dtype = array.dtype
                if dtype.char in "fd" and array.ndim:
                    with numpy.errstate(over="ignore"):  # as in elementwise()
                        y = self.formula(numpy_functions, array)[0]
                    return Variable._from_array(numpy.asarray(y, dtype), x._requires_grad)
        return self.apply((x,))[0]

    def forward(self, inputs: Arrays) -> Arrays:
        ops = array_functions(self.xp)
        if not threads.state.enable_backprop:
            return tuple(elementwise(self.xp, lambda x: (self.formula(ops, x)[0],), inputs[0]))

        def value_and_slope(x: Array) -> Arrays:
            y, slope = self.formula(ops, x)
            return y, slope()

        y, self._slope = elementwise(self.xp, value_and_slope, inputs[0])
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._slope * grad_outputs[0],)

    def gradients(self, ops: Ops, targets: Indexes, x: Value, gy: Value) -> Values:
        # Powers of exponentials overflow in 16 bits; the first order is computed in float32, too.
        _, slope = self.formula(ops, ops.cast(x, compute_dtype(x.dtype)))
        return (ops.cast(slope(), gy.dtype) * gy,)
