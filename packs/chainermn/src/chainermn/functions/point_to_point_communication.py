"""Values sent from one process to another, and their gradients back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import FunctionNode
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from chainer.typing import Array, ArrayModule, Grads, Indexes

DELEGATE_NAME = "delegate_variable"


def dummy_variable(xp: ArrayModule = numpy) -> chainer.Variable:
    """Returns an empty variable that requires a gradient, to begin a graph with."""
    return chainer.Variable(xp.empty((0,), numpy.float32), requires_grad=True)


def outputs_of(arrays: Sequence[Any]) -> list[tuple[Any, Any, Any]]:
    """Returns namespace, shape and dtype of arrays, to make zero gradients of."""
    return [(chainer.backend.get_array_module(y), y.shape, y.dtype) for y in arrays]


class Send(FunctionNode):
    """Sends its inputs; its output is a delegate variable.

    Args:
        comm: Communicator.
        rank: Rank of the receiver.
        tag: Tag of the messages.
        is_tuple: Whether the values are sent as a tuple.
    """

    def __init__(self, comm: CommunicatorBase, rank: int, tag: int, is_tuple: bool) -> None:
        self._comm, self._peer, self._tag, self._is_tuple = comm, rank, tag, is_tuple

    @property
    def label(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"{type(self).__name__} (peer_rank: {self._peer})"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        # The last input is the dummy variable that keeps backward going.
        values = inputs[:-1]
        self._comm.send(values if self._is_tuple else values[0], self._peer, self._tag)
        return (self.xp.empty((0,), numpy.float32),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        gradients = self._comm.recv(self._peer, self._tag)
        if not isinstance(gradients, tuple):
            gradients = (gradients,)
        variables = [
            chainer.Variable(self.xp.asarray(g, node.dtype))
            for g, node in zip(gradients, self.input_nodes[:-1], strict=True)
        ]
        return (*variables, None)


class Recv(FunctionNode):
    """Receives values; its input is a delegate variable or a dummy.

    Args:
        comm: Communicator.
        rank: Rank of the sender.
        tag: Tag of the messages.
    """

    #: Whether a tuple was sent; known after forward.
    is_tuple = False

    def __init__(self, comm: CommunicatorBase, rank: int, tag: int) -> None:
        self._comm, self._peer, self._tag = comm, rank, tag

    @property
    def label(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"{type(self).__name__} (peer_rank: {self._peer})"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        received = self._comm.recv(self._peer, self._tag)
        self.is_tuple = isinstance(received, tuple)
        arrays = received if isinstance(received, tuple) else (received,)
        self._delegate = inputs[0].shape, inputs[0].dtype
        self._received = outputs_of(arrays)
        return tuple(arrays)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        # An output that was not used has no gradient; the sender waits for one all the same.
        arrays = tuple(
            xp.zeros(shape, dtype) if gy is None else gy.array
            for gy, (xp, shape, dtype) in zip(grad_outputs, self._received, strict=True)
        )
        self._comm.send(arrays if self.is_tuple else arrays[0], self._peer, self._tag)
        shape, dtype = self._delegate
        return (chainer.Variable(self.xp.zeros(shape, dtype)),)


def send(x: Array, communicator: CommunicatorBase, rank: int, tag: int = 0) -> chainer.Variable:
    """Sends variables to another process, which has to call :func:`recv`.

    In backward their gradients are received from it.

    Args:
        x (~chainer.Variable or tuple of them): The variables to send.
        communicator (CommunicatorBase): Communicator.
        rank (int): Rank of the receiver.
        tag (int): Number that the receiver gives as well.

    Returns:
        ~chainer.Variable: A delegate variable: an empty variable from which backward can start, or
        which is given to :func:`recv` or :func:`pseudo_connect` so that backward comes here.

    Raises:
        ValueError: If ``rank`` is the rank of this process.
    """
    _check_peer(communicator, rank, "send")
    is_tuple = isinstance(x, (tuple, list))
    values: Sequence[Any] = x if is_tuple else (x,)
    xp = chainer.backend.get_array_module(*values)
    node = Send(communicator, rank, tag, is_tuple)
    (delegate,) = node.apply((*values, dummy_variable(xp)))
    delegate.name = DELEGATE_NAME
    return delegate


def recv(
    communicator: CommunicatorBase,
    rank: int,
    delegate_variable: chainer.Variable | None = None,
    tag: int = 0,
    force_tuple: bool = False,
) -> Any:
    """Receives variables that another process sends by :func:`send`.

    In backward their gradients are sent to it.

    Args:
        communicator (CommunicatorBase): Communicator.
        rank (int): Rank of the sender.
        delegate_variable (~chainer.Variable): Result of a :func:`send` before it, if there was one
            in this process: backward comes to that after the gradient of this was sent.
        tag (int): Number that the sender gives as well.
        force_tuple (bool): Whether a tuple is returned even if a single variable was sent.

    Returns:
        ~chainer.Variable or tuple of them: The sent variables; a tuple if a tuple was sent.

    Raises:
        ValueError: If ``rank`` is the rank of this process.
    """
    _check_peer(communicator, rank, "recv")
    node = Recv(communicator, rank, tag)
    given = dummy_variable() if delegate_variable is None else delegate_variable
    outputs = node.apply((given,))
    return outputs if node.is_tuple or force_tuple else outputs[0]


def _check_peer(comm: CommunicatorBase, rank: int, name: str) -> None:
    if rank == comm.rank:
        raise ValueError(f"{name}: rank must be that of another process, got the own rank {rank}")
