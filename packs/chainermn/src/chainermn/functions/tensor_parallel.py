"""Functions between links whose weights are split over processes.

All processes compute the same loss from the same inputs, so the gradients of what all of them have
are equal in all of them, and are not added up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import FunctionNode
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from chainer.typing import Array, Grads, Indexes


class CopyToAll(FunctionNode):
    """Passes on a variable that all processes have; its gradient is the sum of theirs.

    Args:
        comm: Communicator.
    """

    def __init__(self, comm: CommunicatorBase) -> None:
        self._comm = comm

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return inputs

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        return (sum_of_all(self._comm, grad_outputs[0]),)


class SumOfAll(FunctionNode):
    """Adds up the variables of all processes; each of them gets the gradient of the sum.

    Args:
        comm: Communicator.
    """

    def __init__(self, comm: CommunicatorBase) -> None:
        self._comm = comm

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._comm.allreduce(self.xp.ascontiguousarray(inputs[0])),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        return (copy_to_all(self._comm, grad_outputs[0]),)


class JoinParts(FunctionNode):
    """Joins the variables of all processes along the last axis.

    Args:
        comm: Communicator.
    """

    def __init__(self, comm: CommunicatorBase) -> None:
        self._comm = comm

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        parts = self._comm.allgather(self.xp.ascontiguousarray(inputs[0]))
        lengths = [part.shape[-1] for part in parts]
        start = sum(lengths[: self._comm.rank])
        self._slice = slice(start, start + lengths[self._comm.rank])
        return (self.xp.concatenate(parts, axis=-1),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        (gy,) = grad_outputs
        return (None if gy is None else gy[..., self._slice],)


def copy_to_all(comm: CommunicatorBase, x: Array) -> chainer.Variable:
    """Begins a part of a model in which each process computes something else. Backward is
    collective.

    Args:
        comm (CommunicatorBase): Communicator.
        x (~chainer.Variable): Variable that is equal in all processes.

    Returns:
        ~chainer.Variable: The variable. Its gradients of all processes are added up.
    """
    return CopyToAll(comm).apply((x,))[0]


def sum_of_all(comm: CommunicatorBase, x: Array) -> chainer.Variable:
    """Ends a part of a model by adding up what the processes have computed. Collective.

    Args:
        comm (CommunicatorBase): Communicator.
        x (~chainer.Variable): Variable of the same shape in all processes.

    Returns:
        ~chainer.Variable: The sum, equal in all processes.
    """
    return SumOfAll(comm).apply((x,))[0]


def join_parts(comm: CommunicatorBase, x: Array) -> chainer.Variable:
    """Ends a part of a model by joining what the processes have computed. Collective.

    Args:
        comm (CommunicatorBase): Communicator.
        x (~chainer.Variable): Part of this process. Lengths of the last axis may differ.

    Returns:
        ~chainer.Variable: The parts in order of the ranks, joined along the last axis.
    """
    return JoinParts(comm).apply((x,))[0]


def part_of_rows(count: int, comm: CommunicatorBase) -> slice:
    """Returns the rows of this process, of ``count`` rows in nearly equal parts."""
    bounds = numpy.arange(comm.size + 1) * count // comm.size
    return slice(int(bounds[comm.rank]), int(bounds[comm.rank + 1]))
