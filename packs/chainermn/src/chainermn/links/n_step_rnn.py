"""Recurrent networks whose time steps are spread over processes."""

from __future__ import annotations

from typing import Any

import chainer
from chainer import links as L
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.functions import pseudo_connect, recv, send

#: Number of states of each kind: h and c of LSTM, h of the others.
N_CELLS = {
    "NStepLSTM": 2,
    "NStepBiLSTM": 2,
    "NStepGRU": 1,
    "NStepBiGRU": 1,
    "NStepRNNReLU": 1,
    "NStepBiRNNReLU": 1,
    "NStepRNNTanh": 1,
    "NStepBiRNNTanh": 1,
}


class _MultiNodeNStepRNN(chainer.Chain):
    """See :func:`create_multi_node_n_step_rnn`."""

    def __init__(
        self,
        link: chainer.Link,
        communicator: CommunicatorBase,
        rank_in: int | None,
        rank_out: int | None,
        n_cells: int,
    ) -> None:
        super().__init__()
        self.communicator = communicator
        self.rank_in = rank_in
        self.rank_out = rank_out
        self.n_cells = n_cells
        with self.init_scope():
            self.actual_rnn = link

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Calls the link with the states that arrive.

        Args:
            inputs: Arguments of the link without its initial states.

        Returns:
            tuple: The results of the link, and a delegate variable (None without ``rank_out``).
        """
        comm = self.communicator
        cells: list[Any] = [None] * self.n_cells
        if self.rank_in is not None:
            # Each depends on the one before, so that backward sends the gradients in a fixed order:
            # reversed, as the sender awaits them.
            before = None
            for index in range(self.n_cells):
                before = cells[index] = recv(comm, self.rank_in, delegate_variable=before)
        outputs = self.actual_rnn(*cells, *inputs)
        delegate: Any = None
        if self.rank_out is not None:
            for cell in outputs[: self.n_cells]:
                if delegate is not None:
                    (cell,) = pseudo_connect(delegate, cell)
                delegate = send(cell, comm, self.rank_out)
        return (*outputs, delegate)


def create_multi_node_n_step_rnn(
    actual_link: Any,
    communicator: CommunicatorBase,
    rank_in: int | None = None,
    rank_out: int | None = None,
) -> _MultiNodeNStepRNN:
    """Makes a recurrent network that gets its initial states from another process.

    Args:
        actual_link (~chainer.Link): One of the eight ``NStep`` links, such as
            :class:`~chainer.links.NStepLSTM`.
        communicator (CommunicatorBase): Communicator.
        rank_in (int): Rank that sends the initial states; None for zeros.
        rank_out (int): Rank to which the final states are sent; None for none.

    Returns:
        ~chainer.Chain: Link that is called like ``actual_link`` without the initial states. It
        returns what that returns and a delegate variable, from which backward starts if the process
        has no loss. The attribute ``actual_rnn`` is the link.

    Raises:
        ValueError: If the link is not an ``NStep`` link.
    """
    for name, n_cells in N_CELLS.items():
        if isinstance(actual_link, getattr(L, name)):
            return _MultiNodeNStepRNN(actual_link, communicator, rank_in, rank_out, n_cells)
    raise ValueError(
        f"actual_link must be one of {', '.join(N_CELLS)}, got {type(actual_link).__name__}"
    )
