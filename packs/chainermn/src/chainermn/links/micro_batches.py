"""The schedule of micro-batches in a model that is spread over processes (1F1B).

A process computes forward for as many micro-batches as there are stages after its own, and then
one backward after each forward. So it keeps the activations of at most that many micro-batches and
one, where all-forward-then-all-backward would keep all.

See: `PipeDream: Generalized Pipeline Parallelism for DNN Training
<https://arxiv.org/abs/1806.03377>`_
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chainermn.communicators.communicator_base import CommunicatorBase, Request

if TYPE_CHECKING:
    from chainer.typing import Array


class SendsInBackground:
    """A communicator whose ``send`` does not wait for the receiver.

    Two neighbors may send to each other at the same time: activations forward, gradients back.

    Args:
        comm: The communicator.
    """

    def __init__(self, comm: CommunicatorBase) -> None:
        self._comm = comm
        self._requests: list[Request] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def send(self, data: Array | Sequence[Array], dest: int, tag: int) -> None:
        """Starts to send; see :meth:`CommunicatorBase.send`."""
        self._requests = [request for request in self._requests if not request.test()]
        self._requests.append(self._comm.start_send(data, dest, tag))

    def wait(self) -> None:
        """Waits until all was received."""
        for request in self._requests:
            request.wait()
        self._requests = []


def stages_after(comm: CommunicatorBase, targets: Sequence[int]) -> int:
    """Returns the number of stages after the one of this process. Collective.

    Args:
        comm: Communicator.
        targets: Ranks to which this process sends.

    Raises:
        ValueError: If a process sends to an earlier one, so that there is no order of stages.
    """
    following = comm.allgather_obj(sorted(set(targets) - {comm.rank}))
    depths = [0] * comm.size
    for _ in range(comm.size):
        for rank, ranks in enumerate(following):
            depths[rank] = max([0, *(depths[each] + 1 for each in ranks)])
    if any(depths[rank] <= depths[each] for rank, ranks in enumerate(following) for each in ranks):
        raise ValueError("micro-batches need processes that send in one direction, got a cycle")
    return depths[comm.rank]


def schedule(number: int, after: int) -> list[tuple[str, int]]:
    """Returns what a process computes, in order.

    Args:
        number: Number of micro-batches.
        after: Number of stages after its own.

    Returns:
        list of tuples: ``("forward", i)`` or ``("backward", i)``.

    Example:
        >>> from chainermn.links.micro_batches import schedule
        >>> schedule(3, 1)[:4]
        [('forward', 0), ('forward', 1), ('backward', 0), ('forward', 2)]
    """
    steps: list[tuple[str, int]] = []
    for i in range(number + after):
        if i < number:
            steps.append(("forward", i))
        if i >= after:
            steps.append(("backward", i - after))
    return steps


def bounds(length: int, number: int) -> list[tuple[int, int]]:
    """Returns first and last index (exclusive) of nearly equal parts."""
    return [(length * i // number, length * (i + 1) // number) for i in range(number)]
