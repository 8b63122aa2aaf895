"""Change of shape."""

# The shapes of inputs are read from the graph without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.arrays.lookup import find_backend
from chainer.core.autograd.variable import Variable, as_variable, shape_of
from chainer.core.config.configuration import threads
from chainer.core.typing import ArrayGrads, Arrays, Indexes, Shape, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import output_shape


class ShapeChange(UnaryFunction):
    """Base class of functions that change the shape of their input and nothing else."""

    is_linear = True

    argument_names = ("x",)

    def gradient(self, ops: Ops, gy: Any) -> Value:
        shape = (self.inputs or self.input_nodes)[0]._type[1]
        if isinstance(gy, Variable):  # the same node, without the calls of a method in between
            return gy if gy._array.shape == shape else Reshape(shape).apply((gy,))[0]
        return gy.reshape(shape)

    # The same without the calls in between, which take longer than the change of a shape.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Any = grad_outputs[0]
        nodes = self.inputs or self.input_nodes
        return (gy.reshape(nodes[0]._type[1]),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        (x,) = inputs
        return (reshape(x, (size, *output_shape(self, x.shape[1:]))),)


class UnknownDimensionsError(ValueError, AssertionError):
    """A shape has several -1. Earlier releases assert that it has at most one."""


class Reshape(ShapeChange):
    """Reshapes an input without copy."""

    type_check_key = ("shape",)

    def __init__(self, shape: Shape) -> None:
        shape = _as_tuple(shape)
        if shape.count(-1) > 1:
            raise UnknownDimensionsError(
                f"can only specify one unknown dimension, got shape={shape}"
            )
        self.shape = shape

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        if not all([isinstance(n, (int, numpy.integer)) for n in self.shape]):
            raise _not_integers(self.shape)
        type_check.expect(in_types.size() == 1)
        (x_type,) = in_types
        size = type_check.make_variable(
            math.prod(type_check.eval(x_type.shape)), f"prod({x_type}.shape)"
        )
        if -1 not in self.shape:
            expected = math.prod(self.shape)
            type_check.expect(size == type_check.make_variable(expected, f"prod({self.shape})"))
            return
        known = math.prod(n for n in self.shape if n != -1)
        if known == 0:
            raise type_check.InvalidType(
                "the unknown dimension is determined by the others", f"shape: {self.shape}"
            )
        type_check.expect(size % type_check.make_variable(known, f"known_size(={known})") == 0)

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0].reshape(self.shape),)


def reshape(x: VariableLike, shape: Sequence[int]) -> Variable:
    """Reshapes an input variable without copy.

    Args:
        x (:class:`~chainer.Variable` or array): Input variable.
        shape (tuple of int): Expected shape of the output array. The input must have the same
            number of elements. One length can be -1; it is inferred from the others.

    Returns:
        ~chainer.Variable: Variable that holds a reshaped version of the input; ``x`` itself if it
        has that shape.

    Raises:
        InvalidType: If the numbers of elements differ.
        TypeError: If the shape is not a sequence of integers.
        ValueError: If more than one length is -1.

    Example:
        >>> x = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
        >>> F.reshape(x, (8,)).array
        array([1, 2, 3, 4, 5, 6, 7, 8])
        >>> F.reshape(x, (4, -1)).shape  # the length is inferred
        (4, 2)
    """
    if type(shape) is not tuple:
        shape = _as_tuple(shape)
    # An input that has the shape already needs no node in the graph.
    array: Any = x._array if type(x) is Variable else None
    if (shape_of(x) if array is None else array.shape) == shape:
        return as_variable(x)
    state = threads.state
    # Without a graph a node takes several times as long as the view. It is made where the shapes do
    # not fit, because it raises the documented error.
    is_plain = state.needs_no_node()
    if is_plain and array is not None and type(array) is not numpy.ndarray:
        backend = find_backend(type(array))
        # The node would get the same array. While a step is recorded, only it may ask for one.
        if backend is not None and not backend.makes_xp_arrays and state.recorder is None:
            array = backend.to_xp(array)
    if is_plain and type(array) is numpy.ndarray and _fits(shape, array.size):
        return Variable._from_array(array.reshape(shape), x._requires_grad)
    return Reshape(shape).apply((x,))[0]


def _as_tuple(shape: Sequence[int]) -> Shape:
    try:
        return tuple(shape)
    except TypeError:
        raise _not_integers(shape) from None


def _not_integers(shape: object) -> TypeError:
    return TypeError(f"reshape: shape must be a tuple of integers, got {shape!r}")


def _fits(shape: Shape, size: int) -> bool:
    """Returns whether an array of so many elements has a view of the shape."""
    try:
        known = math.prod(shape)
    except TypeError:
        return False
    if not isinstance(known, int):
        return False  # the node takes NumPy's integers, and refuses other numbers
    if -1 in shape:  # which makes the product of correct lengths negative
        return shape.count(-1) == 1 and known < 0 and min(shape) == -1 and not size % known
    return known == size and min(shape, default=0) >= 0


def reshape_method(self: Variable, *shape: Any) -> Variable:
    """Implements ``Variable.reshape``: lengths as one tuple or list, or one by one."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        (shape,) = shape
    return reshape(self, shape)
