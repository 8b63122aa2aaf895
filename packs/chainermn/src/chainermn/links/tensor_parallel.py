"""Links whose weights are split over processes (tensor parallelism).

Each is made of a plain link, of which a process keeps its part: of rank 0, so that all parts belong
together. Inputs must be equal in all processes, and the loss is computed by all of them.

See: `Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism
<https://arxiv.org/abs/1909.08053>`_
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainer
from chainer import Parameter
from chainer import functions as F
from chainer import links as L
from chainermn.communicators.communicator_base import CommunicatorBase, require_communicator
from chainermn.functions.tensor_parallel import (
    copy_to_all,
    join_parts,
    part_of_rows,
    sum_of_all,
)

if TYPE_CHECKING:
    from chainer.typing import Array


def _whole(link: chainer.Link, kind: type, comm: CommunicatorBase) -> Any:
    """Checks a link and gives it the values of rank 0."""
    require_communicator("comm", comm)
    if not isinstance(link, kind):
        raise TypeError(f"link must be a {kind.__name__}, got {type(link).__name__}")
    missing = [name for name, param in link.namedparams() if param.array is None]
    if missing:
        raise ValueError(f"link has no values yet: give the size of {missing[0]}")
    comm.bcast_data(link)
    return link


class ColumnParallelLinear(chainer.Link):
    """Linear link of which each process computes a part of the outputs.

    Args:
        link (~chainer.links.Linear): The whole link, with values.
        comm (CommunicatorBase): Communicator.
        join (bool): Whether all processes get all outputs. Otherwise each has its part, for a
            :class:`RowParallelLinear` that follows; between them nothing is sent.

    Raises:
        TypeError: If ``link`` is not a Linear.
        ValueError: If it has no values yet.
    """

    def __init__(self, link: L.Linear, comm: CommunicatorBase, join: bool = True) -> None:
        super().__init__()
        whole = _whole(link, L.Linear, comm)
        self.comm = comm
        self.join = join
        rows = part_of_rows(whole.W.shape[0], comm)
        with self.init_scope():
            # A copy: a view would keep the whole weight in memory.
            self.W = Parameter(whole.W.array[rows].copy())
            self.b = None if whole.b is None else Parameter(whole.b.array[rows].copy())

    def forward(self, x: Array, n_batch_axes: int = 1) -> chainer.Variable:
        """Computes the outputs of this process, or all of them.

        Args:
            x (~chainer.Variable): Input, equal in all processes.
            n_batch_axes (int): Number of batch axes.

        Returns:
            ~chainer.Variable: Outputs.
        """
        x = copy_to_all(self.comm, x)
        y = F.linear(x, self.W, self.b, n_batch_axes=n_batch_axes)
        return join_parts(self.comm, y) if self.join else y


class RowParallelLinear(chainer.Link):
    """Linear link of which each process has a part of the inputs.

    Args:
        link (~chainer.links.Linear): The whole link, with values.
        comm (CommunicatorBase): Communicator.

    Raises:
        TypeError: If ``link`` is not a Linear.
        ValueError: If it has no values yet.
    """

    def __init__(self, link: L.Linear, comm: CommunicatorBase) -> None:
        super().__init__()
        whole = _whole(link, L.Linear, comm)
        self.comm = comm
        columns = part_of_rows(whole.W.shape[1], comm)
        with self.init_scope():
            self.W = Parameter(whole.W.array[:, columns].copy())
            self.b = None if whole.b is None else Parameter(whole.b.array.copy())

    def forward(self, x: Array, n_batch_axes: int = 1) -> chainer.Variable:
        """Adds up the parts of all processes.

        Args:
            x (~chainer.Variable): Part of the input, such as a :class:`ColumnParallelLinear` with
                ``join=False`` gives.
            n_batch_axes (int): Number of batch axes.

        Returns:
            ~chainer.Variable: Outputs, equal in all processes.
        """
        y = sum_of_all(self.comm, F.linear(x, self.W, n_batch_axes=n_batch_axes))
        # Once, and not once for each process.
        return y if self.b is None else y + F.broadcast_to(self.b, y.shape)


class ParallelEmbedID(chainer.Link):
    """Embedding of which each process has a part of the vocabulary.

    Args:
        link (~chainer.links.EmbedID): The whole link.
        comm (CommunicatorBase): Communicator.

    Raises:
        TypeError: If ``link`` is not an EmbedID.
    """

    def __init__(self, link: L.EmbedID, comm: CommunicatorBase) -> None:
        super().__init__()
        whole = _whole(link, L.EmbedID, comm)
        self.comm = comm
        self.ignore_label = whole.ignore_label
        self._rows = part_of_rows(whole.W.shape[0], comm)
        self._count = whole.W.shape[0]
        with self.init_scope():
            self.W = Parameter(whole.W.array[self._rows].copy())

    def forward(self, x: Array) -> chainer.Variable:
        """Looks up vectors.

        Args:
            x (~chainer.Variable or array): Integers, equal in all processes.

        Returns:
            ~chainer.Variable: Vectors, equal in all processes.

        Raises:
            ValueError: If an integer is not in the vocabulary.
        """
        ids = x.array if isinstance(x, chainer.Variable) else x
        known = (ids >= 0) & (ids < self._count)
        if self.ignore_label is not None:
            known |= ids == self.ignore_label
        if not bool(known.all()):
            raise ValueError(f"each x must be from 0 to {self._count - 1}, or ignore_label")
        # -1 means the rows of other processes, and for the label that is ignored.
        is_own = (ids >= self._rows.start) & (ids < self._rows.stop)
        if self.ignore_label is not None:
            is_own &= ids != self.ignore_label
        if self._rows.start == self._rows.stop:
            # More processes than rows: a product with no columns is zero, and has a gradient.
            nothing = self.xp.zeros((ids.size, 0), self.W.dtype)
            y = F.reshape(F.matmul(nothing, self.W), (*ids.shape, self.W.shape[1]))
        else:
            own = self.xp.where(is_own, ids - self._rows.start, -1).astype(ids.dtype)
            y = F.embed_id(own, self.W, ignore_label=-1)
        return sum_of_all(self.comm, y)


class ParallelMultiHeadAttention(chainer.Chain):
    """Attention of which each process computes a part of the heads.

    Args:
        link (~chainer.links.MultiHeadAttention): The whole link, with values.
        comm (CommunicatorBase): Communicator.

    Raises:
        TypeError: If ``link`` is not a MultiHeadAttention.
        ValueError: If it has no values yet, or the number of processes does not divide the number
            of heads.
    """

    def __init__(self, link: L.MultiHeadAttention, comm: CommunicatorBase) -> None:
        super().__init__()
        whole = _whole(link, L.MultiHeadAttention, comm)
        if whole.n_heads % comm.size:
            raise ValueError(
                f"{whole.n_heads} heads cannot be split over {comm.size} processes evenly"
            )
        self.comm = comm
        self.n_heads = whole.n_heads // comm.size
        self.dropout = whole.dropout
        self.rotary = whole.rotary
        with self.init_scope():
            self.query = ColumnParallelLinear(whole.query, comm, join=False)
            self.key = ColumnParallelLinear(whole.key, comm, join=False)
            self.value = ColumnParallelLinear(whole.value, comm, join=False)
            self.output = RowParallelLinear(whole.output, comm)

    def forward(
        self,
        query: Array,
        key: Array | None = None,
        value: Array | None = None,
        *,
        mask: Array | None = None,
        causal: bool = False,
    ) -> chainer.Variable:
        """Attends; see :class:`~chainer.links.MultiHeadAttention`.

        Args:
            query (~chainer.Variable): Shape ``(B, M, size)``.
            key (~chainer.Variable): Shape ``(B, N, key_size)``; ``query`` if None.
            value (~chainer.Variable): Shape ``(B, N, key_size)``; ``key`` if None.
            mask (~chainer.Variable): Mask that broadcasts to ``(B, heads of this process, M, N)``.
            causal (bool): Whether query ``i`` looks at keys ``0`` to ``i`` only.

        Returns:
            ~chainer.Variable: Output of the shape of ``query``, equal in all processes.
        """
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            self._heads(link(x, n_batch_axes=2))
            for link, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        if self.rotary:
            q, k = F.rotary_embedding(q), F.rotary_embedding(k)
        y = F.scaled_dot_product_attention(q, k, v, mask, causal=causal, dropout=self.dropout)
        y = F.transpose(y, (0, 2, 1, 3))
        return self.output(F.reshape(y, (*y.shape[:2], -1)), n_batch_axes=2)

    def _heads(self, y: chainer.Variable) -> chainer.Variable:
        y = F.reshape(y, (*y.shape[:2], self.n_heads, y.shape[2] // self.n_heads))
        return F.transpose(y, (0, 2, 1, 3))
