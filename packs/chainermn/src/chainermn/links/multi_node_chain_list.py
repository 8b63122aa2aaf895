"""Models whose links are in several processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import chainer
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.functions import pseudo_connect, recv, send
from chainermn.links.micro_batches import SendsInBackground, bounds, schedule, stages_after

if TYPE_CHECKING:
    from chainer.typing import Array

Ranks = int | Iterable[int] | None


class MultiNodeChainList(chainer.ChainList):
    """Chain of links that receive from and send to other processes.

    Each process makes one with its own links. Both sides of a transfer have to list their transfers
    in the same order.

    Args:
        comm (CommunicatorBase): Communicator.

    Example:
        A perceptron whose hidden layer is in rank 0 and whose output is in the last rank. Each
        process makes its part; one process alone makes both:

        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> last = comm.size - 1
        >>> model = chainermn.MultiNodeChainList(comm)
        >>> if comm.rank == 0:
        ...     model.add_link(L.Linear(2, 8), rank_in=None, rank_out=last)
        >>> if comm.rank == last:
        ...     model.add_link(L.Linear(8, 1), rank_in=0, rank_out=None)
        >>> model(np.zeros((3, 2), np.float32)).shape
        (3, 1)
    """

    def __init__(self, comm: CommunicatorBase) -> None:
        super().__init__()
        self._comm = comm
        self._edges: list[tuple[list[int] | None, list[int] | None]] = []

    def add_link(
        self,
        link: chainer.Link,
        rank_in: Ranks = None,
        rank_out: Ranks = None,
    ) -> None:
        """Adds a link.

        Args:
            link (~chainer.Link): The link.
            rank_in (int or list of int): Ranks whose values are the arguments of the link, in this
                order. None: the arguments of the call of the model.
            rank_out (int or list of int): Ranks to which its result is sent, in this order. None:
                it is the result of the model. The own rank may be in both.

        Raises:
            ValueError: If another link has ``rank_out=None`` already, or a rank does not exist.
        """
        sources, targets = self._ranks(rank_in, "rank_in"), self._ranks(rank_out, "rank_out")
        if targets is None and any(out is None for _, out in self._edges):
            raise ValueError("rank_out must not be None for two links: a model has one result")
        super().add_link(link)
        self._edges.append((sources, targets))

    def _ranks(self, ranks: Ranks, name: str) -> list[int] | None:
        if ranks is None:
            return None
        given = [ranks] if isinstance(ranks, int) else [int(rank) for rank in ranks]
        for rank in given:
            if not 0 <= rank < self._comm.size:
                raise ValueError(f"{name} must have ranks below {self._comm.size}, got {rank}")
        return given

    def __call__(self, *inputs: Any) -> Any:
        """Calls the links in order.

        Args:
            inputs: Arguments for the links with ``rank_in=None``.

        Returns:
            The result of the link with ``rank_out=None``. If there is none, the delegate variable
            of the last transfer, from which backward starts.

        Raises:
            ValueError: If a value for the own rank was never taken.
        """
        own: deque[Any] = deque()
        result: Any = None
        has_result = False
        delegate: Any = None
        for index, (link, (sources, targets)) in enumerate(
            zip(self.children(), self._edges, strict=True)
        ):
            if sources is None:
                arguments: list[Any] = list(inputs)
                if delegate is not None:
                    arguments = self._tie(delegate, arguments)
                    delegate = None
            else:
                arguments = []
                before = delegate
                for source in sources:
                    if source == self._comm.rank:
                        if not own:
                            raise ValueError(
                                f"link {index} takes a value of its own process, but none was sent"
                            )
                        arguments.append(own.popleft())
                        continue
                    received = recv(self._comm, source, delegate_variable=before)
                    arguments.append(received)
                    # The next one depends on this one, so that backward sends the gradients in
                    # reversed order, as the senders await them.
                    before = received[0] if isinstance(received, tuple) else received
                    # Each edge is gone through once.
                    delegate = None
            y = link(*arguments)
            if targets is None:
                result, has_result = y, True
                continue
            for target in targets:
                if target == self._comm.rank:
                    own.append(y)
                    continue
                if delegate is not None:
                    y = self._tie_result(delegate, y)
                delegate = send(y, self._comm, target)
        if own:
            raise ValueError(f"{len(own)} values for the own process were sent and never received")
        if not has_result:
            return delegate
        # A sent variable that no later transfer has taken up is reached through the result.
        return result if delegate is None else self._tie_result(delegate, result)

    def backward_in_micro_batches(self, number: int, *inputs: Any) -> Any:
        """Computes the gradients of a batch in parts, so that the processes work at the same time.

        Collective. Forward and backward of the parts alternate (1F1B). Gradients are added to those
        that are there, as ``backward()`` does; a result that is a mean over the examples gives the
        gradients of the whole batch. Each process must send to later ones only.

        Args:
            number (int): Number of parts, the same in all processes.
            inputs: Arrays for the links with ``rank_in=None``; they are cut along the first axis.

        Returns:
            ~chainer.Variable: The mean of the results of the parts, by their lengths. None in a
            process without a result.

        Raises:
            ValueError: If ``number`` is not positive, exceeds the length of the batch or differs
                between processes, lengths differ, or processes send to each other in a cycle.

        Example:
            ::

                model.cleargrads()
                loss = model.backward_in_micro_batches(4, x, t)
                optimizer.update()
        """
        # Later processes have no inputs, but need the lengths of the parts.
        every = self._comm.allgather_obj(({len(x) for x in inputs}, number))
        lengths: set[int] = set().union(*(each for each, _ in every))
        if (
            len({each for _, each in every}) > 1
            or number < 1
            or len(lengths) > 1
            or any(number > length for length in lengths)
        ):
            raise ValueError(
                "number must be from 1 to the length of the batch, the same in all processes, and "
                f"inputs of one length, got {number} and lengths {sorted(lengths)}"
            )
        length = lengths.pop() if lengths else number
        parts = bounds(length, number)
        targets = [rank for _, ranks in self._edges for rank in ranks or ()]
        after = stages_after(self._comm, targets)
        own, background = self._comm, SendsInBackground(self._comm)
        results: dict[int, Any] = {}
        total: Any = None
        self._comm = cast(CommunicatorBase, background)
        try:
            for kind, i in schedule(number, after):
                begin, end = parts[i]
                if kind == "forward":
                    results[i] = self(*(x[begin:end] for x in inputs))
                    continue
                y = results.pop(i)
                if any(ranks is None for _, ranks in self._edges):
                    y = y * ((end - begin) / length)
                    if total is None:
                        total = y.array.copy()
                    else:
                        total += y.array
                y.backward()
        finally:
            self._comm = own
        background.wait()
        return None if total is None else chainer.Variable(total, requires_grad=False)

    def _tie(self, delegate: Any, arguments: list[Any]) -> list[Any]:
        if not arguments:
            return arguments
        return list(pseudo_connect(delegate, *arguments))

    def _tie_result(self, delegate: Any, y: Array) -> Any:
        if isinstance(y, (tuple, list)):
            return tuple(pseudo_connect(delegate, *y))
        return pseudo_connect(delegate, y)[0]
