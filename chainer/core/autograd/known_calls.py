"""Calls of functions without a graph whose inputs were checked and whose kernel was chosen before.

Text is decoded by hundreds of calls of few numbers for each token. The parameters of a call stay
the same from token to token, and so do the shapes of its other input. A function node would check
the same types and choose the same kernel each time, which takes longer than the work of many
kernels. Here both are found by the parameter.
"""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.core.arrays.kernel import Operation
    from chainer.core.typing import Array, VariableLike

_ndarray = numpy.ndarray
_ref = weakref.ref

#: Most elements of an input whose calls are remembered. The work on more takes much longer than a
#: function node.
_MOST_ELEMENTS = 1 << 14

#: Most calls that are remembered: parameters that are gone leave theirs behind.
_MOST_CALLS = 4096


class KnownCalls:
    """Kernels of the last calls of a function, by its first parameter.

    A call is known as long as nothing differs that its check or the choice of its kernel depends
    on: the arrays of the parameters and their shapes; shape, dtype and order of the other input;
    the configuration, and the kernels that are registered.

    Args:
        operation: Operation that the function calls with the input, the parameters, and attributes.
        attributes: Names of the attributes.
        parameters: Number of parameters that the operation has, 1 or 2.

    Example:
        A function of a pack that calls its operation ``scaled``::

            known_calls = KnownCalls(scaled)

            def scale(x, gamma, beta):
                kernel = known_calls.kernel(x, gamma, beta)
                if kernel is not None:
                    y = kernel.forward(x.array, gamma.array, beta.array)
                    return known_calls.output(y, x, gamma, beta)
                y = Scale().apply((x, gamma, beta))[0]
                known_calls.remember(y, x, gamma, beta)
                return y
    """

    __slots__ = ("_calls", "_names", "_operation", "_parameters")

    def __init__(self, operation: Operation, *attributes: str, parameters: int = 2) -> None:
        self._operation = operation
        self._parameters = parameters
        self._names = attributes
        # By the identity of the array of the first parameter. Another array may have the same
        # number after that one is gone, so that references tell whether it is the same.
        self._calls: dict[int, tuple[Any, ...]] = {}

    def kernel(
        self, x: VariableLike, weight: VariableLike, bias: VariableLike | None, *values: object
    ) -> Any | None:
        """Returns the kernel of a known call whose outputs enter no graph; None if it is not known.

        The kernel takes the arrays of ``x``, which is a Variable then, and of the parameters.

        Args:
            x: The input.
            weight: The first parameter, or the array that the call was remembered by.
            bias: The second parameter, or None.
            values: Values of the attributes.
        """
        state = threads.state
        if not state.needs_no_node() or type(x) is not Variable:
            return None
        array, W = x._array, weight._array if type(weight) is Parameter else weight
        known = self._calls.get(id(W))
        if known is None or type(array) is not _ndarray:
            return None
        kernel, weight_of, bias_of, shapes, dtype, known_values, policy, tables = known
        b = None if bias is None else bias._array if type(bias) is Parameter else bias
        if (
            weight_of() is W
            and (b is None if bias_of is None else bias_of() is b)
            and shapes == (array.shape, W.shape, None if b is None else b.shape)
            and array.dtype is dtype
            and array.flags.c_contiguous
            and values == known_values
            and state.policy is policy
            and self._operation._tables is tables
        ):
            return kernel
        return None

    @staticmethod
    def output(
        y: Array, x: VariableLike, weight: VariableLike, bias: VariableLike | None
    ) -> Variable:
        """Returns the output of a known call as a Variable.

        Args:
            y: The array that the kernel has returned.
            x: The input, for which :meth:`kernel` has found the kernel.
            weight: The first parameter.
            bias: The second parameter, or None.
        """
        requires_grad = x._requires_grad or (
            (type(weight) is Parameter and weight._requires_grad)
            or (type(bias) is Parameter and bias._requires_grad)
        )
        return Variable._from_array(y, requires_grad)

    def remember(
        self,
        y: Variable,
        x: VariableLike,
        weight: VariableLike,
        bias: VariableLike | None,
        *values: object,
        arguments: Sequence[Array | None] | None = None,
    ) -> None:
        """Remembers a call that has succeeded, if it is one of few numbers without a graph.

        Args:
            y: The output.
            x: The input.
            weight: The first parameter. An array, if ``arguments`` are given.
            bias: The second parameter, or None.
            values: Values of the attributes.
            arguments: Arrays that the operation has instead of the parameters. Their dtypes and
                shapes must stay the same as long as ``weight`` is the same array.
        """
        state = threads.state
        if not state.needs_no_node() or type(x) is not Variable or x.size > _MOST_ELEMENTS:
            return
        if bias is not None and type(bias) is not Parameter:
            return
        if type(weight) is not Parameter and arguments is None:
            return
        W = weight._array if type(weight) is Parameter else weight
        array, b = x._array, None if bias is None else bias._array
        # Arrays of other libraries need what a function node does with them.
        arrays = [a for a in (array, W, b, y._array) if a is not None]
        if any([type(a) is not _ndarray for a in arrays]):
            return
        if not (array.flags.c_contiguous and array.dtype.isbuiltin == 1):
            return
        attributes = dict(zip(self._names, values, strict=True))
        others = (W, b)[: self._parameters] if arguments is None else arguments
        kernel = self._operation.select(array, *others, **attributes)
        if len(self._calls) >= _MOST_CALLS:
            self._calls.clear()
        self._calls[id(W)] = (
            kernel,
            _ref(W),
            None if b is None else _ref(b),
            (array.shape, W.shape, None if b is None else b.shape),
            array.dtype,
            values,
            state.policy,
            self._operation._tables,
        )
