"""Batching rules that many functions share (:meth:`chainer.FunctionNode.batched`)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy

from chainer import functions
from chainer.core.autograd.applied_again import not_applied
from chainer.core.autograd.batching import Level, batched_by_default, lowered, raised
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
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


def flat_samples(x: Variable) -> Variable:
    """Returns a batch of samples as a batch of vectors.

    Args:
        x: The batch, with the samples in front.
    """
    # A length of -1 is undecided where there are no samples.
    return functions.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


class ShiftsAxes:
    """Mixin of functions that only depend on the shape by axes which are attributes.

    Attributes:
        axis_attributes: Names of the attributes. None as a value means all axes.
    """

    axis_attributes: tuple[str, ...] = ("axis",)
    #: Number of axes that the function adds, which the attributes count.
    added_axes: int = 0

    def attributes_of_batch(self, ndim: int) -> dict[str, Any]:
        """Returns the attributes of the function for a batch of samples.

        Args:
            ndim: Number of axes of a sample, and of those that the function adds.
        """
        return {name: shifted_axis(getattr(self, name), ndim) for name in self.axis_attributes}

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies a copy with the attributes of the batch."""
        taken = with_samples(inputs, are_batched, size)
        node = copy.copy(self)
        for name, value in self.attributes_of_batch(taken[0].ndim - 1 + self.added_axes).items():
            setattr(node, name, value)
        return node.apply(taken)


class ShiftsOneAxis(ShiftsAxes):
    """Mixin of functions of one input along the axis ``axis``.

    If ``axis`` is None, the function works along all elements in order, as if the input had one
    axis.
    """

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies a copy whose axis is shifted, or the one of flat samples."""
        # A sample without axes is treated like a vector of one element.
        if self.axis is None or inputs[0].ndim == 1:
            node = copy.copy(self)
            node.axis = 1
            return node.apply((flat_samples(inputs[0]),))
        return super().batched(inputs, are_batched, size)


class BroadcastsInputs:
    """Mixin of functions whose inputs are broadcast against each other."""

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies the function where each sample has the axes of the output."""
        pairs = list(zip(inputs, are_batched, strict=True))
        rank = max([x.ndim - b for x, b in pairs])
        return self.apply(tuple([with_rank(x, b, rank) for x, b in pairs]))


def beside_constant(x: Variable, constant: Any) -> Variable:
    """Returns samples so that a constant is broadcast to each of them.

    Args:
        x: The samples, an axis in front.
        constant: A number, or an array that is the same for each sample.
    """
    return with_rank(x, True, max(getattr(constant, "ndim", 0), x.ndim - 1))


class SequencesFirst:
    """Mixin of functions of sequences: the first axis is time, and the others stay as they are.

    Attributes:
        added_axes: Number of axes in front of the axes of one time step in the outputs.
    """

    added_axes: int

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies the function to samples as one more axis of each time step."""
        taken = [functions.moveaxis(x, 0, 1) for x in with_samples(inputs, are_batched, size)]
        return tuple([functions.moveaxis(y, self.added_axes, 0) for y in self.apply(taken)])


class ReducesLosses:
    """Mixin of losses with an attribute ``reduce``; with ``"no"`` they are not reduced.

    The class declares :attr:`~chainer.FunctionNode.is_pointwise` or
    :attr:`~chainer.FunctionNode.batch_inputs` for the losses that are not reduced.

    Attributes:
        reduce: How losses are reduced.
    """

    reduce: str

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Computes the losses of all samples, then reduces the losses of each sample."""
        taken = with_samples(inputs, are_batched, size)
        node = copy.copy(self)
        node.reduce = "no"
        found = batched_by_default(node, taken, (True,) * len(taken), size)
        if found is None or self.reduce == "no":
            return found
        return (self.reduced(found[0], taken),)

    def reduced(self, losses: Variable, inputs: Variables) -> Variable:
        """Returns one loss for each sample; the mean over the batch of a sample by default.

        Args:
            losses: The losses, not reduced.
            inputs: The inputs of all samples.
        """
        return sums_of_samples(losses, 1 / max(losses.shape[1], 1))


def sums_of_samples(x: Variable, factor: Any) -> Variable:
    """Returns the sum over each sample, times a factor, in the dtype of the samples.

    Args:
        x: The samples, an axis in front.
        factor: A number, or a Variable with one element for each sample.
    """
    # A sum of float16 overflows long before a mean does.
    wide = functions.cast(x, "f") if x.dtype.itemsize < 4 else x
    if x.ndim > 1:
        wide = functions.sum(wide, axis=tuple(range(1, x.ndim)))
    found = wide * factor
    return found if found.dtype == x.dtype else functions.cast(found, x.dtype)


def output_shape(function: FunctionNode, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the shape that a function of the shape alone gives an input.

    Args:
        function: The function, whose ``forward`` changes the shape and nothing else.
        shape: Shape of the input.
    """
    # One byte for each element, since views of other memory may have to be copied.
    node = copy.copy(function)
    node.xp = numpy  # of this array; arrays of the samples may have another one
    return node.forward((numpy.empty(shape, numpy.int8),))[0].shape


def batched_composition(
    composition: Callable[..., Any],
    inputs: Variables,
    are_batched: tuple[bool, ...],
    size: int,
) -> tuple[Variable | None, ...]:
    """Computes a composition of functions for all samples, by the rule of each function.

    Args:
        composition: Function of Variables that returns a tuple of Variables or None.
        inputs: Its inputs.
        are_batched: Which of them have an axis of samples in front.
        size: Number of samples.
    """
    with using_config("enable_backprop", True):
        # New nodes, as one input may depend on another: the derivatives of a composition that
        # differentiates must be partial.
        taken = [_as_input(x) for x in with_samples(inputs, are_batched, size)]
    with Level(size) as level:
        outputs = composition(*[level.wrap(x) for x in taken])
        return tuple([None if y is None else level.expand(y) for y in outputs])


def _as_input(x: Variable) -> Variable:
    # In a vmap around this one, all inputs differ from sample to sample, or none does.
    raw = lowered(x)
    found: Any = functions.identity(raw) if raw.requires_grad else Variable(raw.array)
    return raised(found)


def repeated(
    function: FunctionNode, size: int
) -> tuple[tuple[Variable, ...], tuple[Variable, ...]] | None:
    """Applies a function to equal samples: the inputs that it was applied to, several times.

    Args:
        function: The function, which was applied to one sample.
        size: Number of samples.

    Returns:
        tuple: Inputs and outputs for all samples. None if the function has no batching rule, or
        needs inputs that it did not retain.
    """
    nodes = function.input_nodes
    known = {i: x.data for i, x in enumerate(nodes) if x.data is not None}
    if not function.is_linear and len(known) < len(nodes):
        return None
    xp = function.xp
    inputs: list[Variable] = []
    for i, node in enumerate(nodes):
        # The values do not matter to the derivatives of a linear function.
        one = known[i] if i in known else xp.zeros(node.shape, node.dtype)
        inputs.append(Variable(xp.array(xp.broadcast_to(one, (size, *node.shape)))))
    with using_config("enable_backprop", True):
        flags = (True,) * len(inputs)
        outputs = not_applied(function).batched(tuple(inputs), flags, size)
    return None if outputs is None else (tuple(inputs), outputs)
