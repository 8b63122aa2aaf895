"""Differentiable forms of the collective methods of communicators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import FunctionNode
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.functions.point_to_point_communication import (
    DELEGATE_NAME,
    dummy_variable,
    outputs_of,
)

if TYPE_CHECKING:
    from chainer.typing import Array, Grads, Indexes


class _Collective(FunctionNode):
    """Base of functions whose forward and backward are collective.

    Args:
        comm: Communicator.
        root: Rank of the root, where there is one.
    """

    def __init__(self, comm: CommunicatorBase, root: int = 0) -> None:
        self._comm, self._root = comm, root

    @property
    def _is_root(self) -> bool:
        return self._comm.rank == self._root

    def call(self, *inputs: Any) -> tuple[chainer.Variable, ...]:
        """Applies the function.

        A dummy is added to the inputs. Without it a process whose input needs no gradient would
        not come here in backward, where the others wait for it.
        """
        xp = chainer.backend.get_array_module(*inputs)
        return self.apply((*inputs, dummy_variable(xp)))

    def _note_outputs(self, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self._outputs = outputs_of(outputs)
        return outputs

    def _gradients(self, grad_outputs: Grads) -> tuple[Any, ...]:
        """Returns arrays of gradients; zeros for outputs that were not used."""
        return tuple(
            xp.zeros(shape, dtype) if gy is None else gy.array
            for gy, (xp, shape, dtype) in zip(grad_outputs, self._outputs, strict=True)
        )

    def _sum(self, arrays: Sequence[Any]) -> chainer.Variable:
        """Returns the sum of arrays, added in float32 if they are float16."""
        dtype = arrays[0].dtype
        wide = numpy.float32 if dtype == numpy.float16 else dtype
        total = arrays[0].astype(wide)
        for array in arrays[1:]:
            total = total + array
        return chainer.Variable(self.xp.asarray(total, dtype))


class AllGather(_Collective):
    """Each process gets the inputs of all."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._note_outputs(self._comm.allgather(inputs[0]))

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        # Each process has a gradient for the input of every process. Their owners get and add them.
        return self._sum(self._comm.alltoall(self._gradients(grad_outputs))), None


class AllToAll(_Collective):
    """Input ``i`` goes to rank ``i``."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._note_outputs(self._comm.alltoall(inputs[:-1]))

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        gradients = self._comm.alltoall(self._gradients(grad_outputs))
        return (*map(chainer.Variable, gradients), None)


class Bcast(_Collective):
    """The input of the root goes to all. Elsewhere the input is a dummy."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        y = self._comm.bcast(inputs[0] if self._is_root else None, self._root)
        return self._note_outputs((y,))

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        gradients = self._comm.gather(self._gradients(grad_outputs)[0], self._root)
        inputs = self.input_nodes
        return (None,) * len(inputs) if gradients is None else (self._sum(gradients), None)


class Gather(_Collective):
    """The inputs go to the root. Elsewhere the output is a delegate variable."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        ys = self._comm.gather(inputs[0], self._root)
        if ys is None:
            # A function must have an output: backward starts from this one.
            ys = (self.xp.empty((0,), inputs[0].dtype),)
        return self._note_outputs(ys)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        gradients = self._gradients(grad_outputs) if self._is_root else None
        return chainer.Variable(self._comm.scatter(gradients, self._root)), None


class Scatter(_Collective):
    """Input ``i`` of the root goes to rank ``i``. Elsewhere the input is a dummy."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        y = self._comm.scatter(inputs[:-1] if self._is_root else None, self._root)
        return self._note_outputs((y,))

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        gradients = self._comm.gather(self._gradients(grad_outputs)[0], self._root)
        if gradients is None:
            return (None,)
        return (*map(chainer.Variable, gradients), None)


def allgather(comm: CommunicatorBase, x: Array) -> tuple[chainer.Variable, ...]:
    """Collects a variable of each process at all of them. Collective, also in backward.

    Args:
        comm (CommunicatorBase): Communicator.
        x (~chainer.Variable): Variable of this process. Shapes may differ.

    Returns:
        tuple of ~chainer.Variable: The variables in order of the ranks.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> len(chainermn.functions.allgather(comm, x))
        1
    """
    return AllGather(comm).call(x)


def alltoall(comm: CommunicatorBase, xs: Sequence[Any]) -> tuple[chainer.Variable, ...]:
    """Sends a variable to each process and receives one. Collective, also in backward.

    Args:
        comm (CommunicatorBase): Communicator.
        xs (list of ~chainer.Variable): The variable at index ``i`` goes to rank ``i``.

    Returns:
        tuple of ~chainer.Variable: The variable at index ``i`` comes from rank ``i``.

    Raises:
        ValueError: If there is not one variable for each process.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> len(chainermn.functions.alltoall(comm, [x]))
        1
    """
    if len(xs) != comm.size:
        raise ValueError(
            f"alltoall: xs must have one variable for each of {comm.size} processes, got {len(xs)}"
        )
    return AllToAll(comm).call(*xs)


def bcast(comm: CommunicatorBase, x: Array, root: int = 0) -> chainer.Variable:
    """Gives a variable of one process to all. Collective, also in backward.

    The gradient is the sum of the gradients of all processes.

    Args:
        comm (CommunicatorBase): Communicator.
        x (~chainer.Variable): Variable of the root; None elsewhere.
        root (int): Rank of the process that has it.

    Returns:
        ~chainer.Variable: The variable.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> chainermn.functions.bcast(comm, x).array
        array([1., 1.], dtype=float32)
    """
    if comm.rank == root and x is None:
        raise ValueError("bcast: x must be a variable at the root, got None")
    return Bcast(comm, root).call(*((x,) if comm.rank == root else ()))[0]


def gather(comm: CommunicatorBase, x: Array, root: int = 0) -> Any:
    """Collects a variable of each process at one of them. Collective, also in backward.

    Args:
        comm (CommunicatorBase): Communicator.
        x (~chainer.Variable): Variable of this process.
        root (int): Rank of the process that gets them.

    Returns:
        tuple of ~chainer.Variable: At the root, the variables in order of the ranks. Elsewhere a
        delegate variable, from which backward has to start.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> len(chainermn.functions.gather(comm, x))
        1
    """
    ys = Gather(comm, root).call(x)
    if comm.rank == root:
        return ys
    ys[0].name = DELEGATE_NAME
    return ys[0]


def scatter(comm: CommunicatorBase, xs: Sequence[Any] | None, root: int = 0) -> chainer.Variable:
    """Gives each process a variable of one of them. Collective, also in backward.

    Args:
        comm (CommunicatorBase): Communicator.
        xs (list of ~chainer.Variable): At the root, one variable for each process; None elsewhere.
        root (int): Rank of the process that has them.

    Returns:
        ~chainer.Variable: The variable for this process.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> chainermn.functions.scatter(comm, [x]).array
        array([1., 1.], dtype=float32)
    """
    inputs = tuple(xs or ()) if comm.rank == root else ()
    if comm.rank == root and len(inputs) != comm.size:
        raise ValueError(
            f"scatter: xs must have one variable for each of {comm.size} processes, "
            f"got {len(inputs)}"
        )
    return Scatter(comm, root).call(*inputs)[0]
