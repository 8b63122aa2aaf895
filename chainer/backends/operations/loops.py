"""Native loops: elementwise calls and sums of a recorded step, compiled to one function.

A recorded step of NumPy makes a pass over memory for each addition and multiplication. An
implementation of :data:`native_loops` compiles many of them to one function with the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Shape


class Loop(NamedTuple):
    """A pass over arrays, element by element.

    Values are numbered: those that are read first, in the order of ``loads``, then the results of
    ``steps``. An array that is read and written is the same memory at the same elements; other
    arrays that are written share no memory with any array of the loop.

    Values are numbers or truth values. Where an operation takes a number, a truth value is 1 or 0.
    The operations are

    - ``'add'``, ``'subtract'``, ``'multiply'``, ``'divide'``, ``'sqrt'``, ``'negative'``,
      ``'absolute'`` and ``'positive'``, which returns its operand as a number;
    - ``'maximum'`` and ``'minimum'``: NaN if an operand is NaN, and the second one of equal
      operands, which matters for zeros of different signs;
    - ``'greater'``, ``'greater_equal'``, ``'less'``, ``'less_equal'``, ``'equal'`` and
      ``'not_equal'``, which return truth values;
    - ``'where'``: the second or third operand, if the first one, a truth value, is true or false.

    Attributes:
        shape: Lengths of the nested loops, the innermost last; empty for a single element.
        dtype: ``'float32'`` or ``'float64'``, of all arrays of numbers.
        strides: For each array, the distances of elements in bytes, by axis. The innermost is the
            size of an element, or 0 for an array that repeats one.
        loads: Numbers of the arrays that are read.
        steps: Pairs of an operation and the numbers of its operands.
        stores: Pairs of a value and the array that it is written to, in their order.
        masks: Numbers of the arrays of truth values. An element is a byte: 0, or 1 for true.
    """

    shape: Shape
    dtype: str
    strides: tuple[Shape, ...]
    loads: tuple[int, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    stores: tuple[tuple[int, int], ...]
    masks: tuple[int, ...] = ()


class Sum(NamedTuple):
    """A sum over the middle one of three axes, in the order of ``numpy.add.reduce``.

    Where the last axis has one element, sums of up to 128 neighbors have eight partial sums, and
    longer ones are divided in two; elsewhere rows are added one after the other. All begin with
    zero.

    Attributes:
        shape: Lengths of the axes.
        dtype: ``'float32'`` or ``'float64'``.
        strides: Strides of the source, and of the target without the middle axis, in bytes.
    """

    shape: tuple[int, int, int]
    dtype: str
    strides: tuple[tuple[int, int, int], tuple[int, int]]


class NativeLoops(Operation):
    """Compilation of elementwise calls of recorded steps to native code.

    ``select(x)``: ``x`` any NumPy array.

    Methods:
        ``compile(parts) -> address``: ``parts`` is a tuple of :class:`Loop` and :class:`Sum`.
        ``address`` is an int, the address of a function of C that runs them in their order:
        ``int run(void **arrays)`` gets the arrays of all parts, those of each part in its order. It
        returns the floating-point errors that occurred: the sum of 1 (division by zero), 2
        (overflow), 4 (underflow) and 8 (invalid). The code stays in memory as long as the process.
        None if there is no such function. All results must have the bits of NumPy's, apart from the
        sign of NaN: no operations are contracted or rearranged.

    Optional, for steps of recurrent layers that no kernel declares:
        ``step_calls``: a set of names, such as ``'linear.forward'`` or ``'numpy.add'``: the calls
        of which such a step may consist. Each makes one array.

        ``supports_steps(recurrence, specs) -> bool | str`` and ``all_steps(recurrence, arrays) ->
        function``: as the methods that :class:`~chainer.kernel.Recurrence` names, after the
        recurrence that was found. The state is carried, its last call makes it, and arguments may
        be numbers. Results may differ by roundings.
    """

    name = "native_loops"
    methods = ("compile",)
    reference = "chainer.backends.numpy.kernels.loops:NoNativeLoops"


native_loops = NativeLoops()
