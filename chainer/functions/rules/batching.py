"""Batching rules that many functions share (:meth:`chainer.FunctionNode.batched`)."""

from __future__ import annotations

import copy
from typing import Any

import numpy

from chainer import functions
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Variables


def with_samples(
    inputs: Variables, are_batched: tuple[bool, ...], size: int
) -> tuple[Variable, ...]:
    """Returns the inputs with an axis of samples in front of each.

    Args:
        inputs: The inputs.
        are_batched: Which of them have the axis already.
        size: Number of samples.
    """
    return tuple(
        [
            x if is_here else functions.broadcast_to(x, (size, *x.shape))
            for x, is_here in zip(inputs, are_batched, strict=True)
        ]
    )


def with_rank(x: Variable, is_batched: bool, rank: int) -> Variable:
    """Returns an input with axes of length 1, so that it is broadcast sample by sample.

    Args:
        x: The input.
        is_batched: Whether its first axis is the samples.
        rank: Number of axes of the output for one sample.
    """
    if not is_batched or x.ndim - 1 == rank:
        return x
    return functions.reshape(x, (x.shape[0], *[1] * (rank - x.ndim + 1), *x.shape[1:]))


def shifted_axis(axis: Any, ndim: int) -> Any:
    """Returns an axis, or a tuple of axes, of a sample as axes of the batch of samples.

    Args:
        axis: The axis; None for all.
        ndim: Number of axes of a sample.
    """
    if axis is None:
        return tuple(range(1, ndim + 1))
    if isinstance(axis, (tuple, list)):
        return tuple([shifted_axis(each, ndim) for each in axis])
    return int(axis) % max(ndim, 1) + 1


class ShiftsAxes:
    """Mixin of functions that only depend on the shape by axes which are attributes.

    Attributes:
        axis_attributes: Names of the attributes. None as a value means all axes.
    """

    axis_attributes: tuple[str, ...] = ("axis",)
    #: Number of axes that the function adds, which the attributes count.
    added_axes: int = 0

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies a copy whose axes are shifted by one."""
        taken = with_samples(inputs, are_batched, size)
        ndim = taken[0].ndim - 1 + self.added_axes
        node = copy.copy(self)
        for name in self.axis_attributes:
            setattr(node, name, shifted_axis(getattr(self, name), ndim))
        return node.apply(taken)


def output_shape(function: FunctionNode, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the shape that a function of the shape alone gives an input.

    Args:
        function: The function, whose ``forward`` changes the shape and nothing else.
        shape: Shape of the input.
    """
    # One byte for each element, since views of other memory may have to be copied.
    return copy.copy(function).forward((numpy.empty(shape, numpy.int8),))[0].shape
