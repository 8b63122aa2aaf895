"""LSTM units for trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.functions.array import concat, split_axis
from chainer.functions.rnn import tree_lstm
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.errors import InvalidValueError
from chainer.links.rnn._state import zeros


class _TreeLSTM(Chain):
    """Base class of the units: their arguments, in which None means zeros."""

    in_size: int | None
    state_size: int
    W_x: Linear

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.W_x.in_size
        yield "out_size", self.state_size

    def _split_arguments(
        self, cshsx: tuple[VariableLike | None, ...]
    ) -> tuple[list[VariableLike | None], list[VariableLike | None], VariableLike]:
        """Returns the cell states and the outputs of the children, and the input.

        Raises:
            ValueError: If the number of arguments is even, or all of them are None.
        """
        if len(cshsx) % 2 == 0:
            raise InvalidValueError(
                f"{type(self).__name__} takes the cell states of all children, their outputs and "
                f"the input: an odd number of arguments, got {len(cshsx)}"
            )
        # Missing arguments get the batch size and the dtype of any argument that is given.
        given = next((value for value in cshsx if value is not None), None)
        if given is None:
            raise ValueError("All inputs (cs, hs, x) are None.")
        half = len(cshsx) // 2
        x = cshsx[-1]
        if x is None:
            if self.W_x.W.array is None:
                raise TypeError(
                    f"{type(self).__name__} cannot infer in_size from x=None; the first call needs "
                    "an input"
                )
            x = zeros(self, (given.shape[0], self.W_x.W.shape[1]), given.dtype)
        return list(cshsx[:half]), list(cshsx[half:-1]), x

    def _or_zeros(self, state: VariableLike | None, x: VariableLike) -> VariableLike:
        return zeros(self, (x.shape[0], self.state_size), x.dtype) if state is None else state


class ChildSumTreeLSTM(_TreeLSTM):
    """Child-Sum TreeLSTM unit: a node of a tree, with any number of children in any order.

    The unit computes the cell state and the output of a node from its children's and an input. It
    keeps no state. The link is called as ``link(c1, c2, h1, h2, x)`` if there are two children, as
    ``link(c1, c2, c3, h1, h2, h3, x)`` with three; their order does not matter.

    See `Improved Semantic Representations From Tree-Structured Long Short-Term Memory Networks
    <https://www.aclweb.org/anthology/P15-1150>`_.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of cell and output vectors.

    Attributes:
        W_x (Linear): Linear layer of connections from input vectors.
        W_h_aio (Linear): Linear layer of connections between (``a``, ``i``, ``o``) and the sum of
            children's output vectors: input compound (``u`` in the paper), input gate and output
            gate.
        W_h_f (Linear): Linear layer of connections between the forget gate and the output of each
            child.

    Example:
        >>> l = L.ChildSumTreeLSTM(3, 2)
        >>> x = np.zeros((4, 3), np.float32)
        >>> c1, h1 = l(x)
        >>> c2, h2 = l(x)
        >>> c, h = l(c1, c2, h1, h2, x)
        >>> c.shape, h.shape
        ((4, 2), (4, 2))
    """

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        self.in_size = in_size
        self.state_size = out_size
        with self.init_scope():
            self.W_x = Linear(in_size, 4 * out_size)
            self.W_h_aio = Linear(out_size, 3 * out_size, nobias=True)
            self.W_h_f = Linear(out_size, out_size, nobias=True)

    def forward(self, *cshsx: VariableLike | None) -> tuple[Variable, Variable]:
        """Returns new cell state and output of Child-Sum TreeLSTM.

        Args:
            cshsx (list of Variable): Cell states of all children, shape ``(B, out_size)`` each,
                then their outputs, likewise, then the input of shape ``(B, in_size)``. None means
                zeros.

        Returns:
            tuple of Variable: ``(c_new, h_new)``.

        Raises:
            ValueError: If the number of arguments is even, or all are None.
        """
        cs, hs, x = self._split_arguments(cshsx)
        a_i_o_f = self.W_x(x)
        if all(state is None for state in (*cs, *hs)):
            # A leaf: one child of zeros, whose forget gate does not matter.
            return tree_lstm.tree_lstm(self._or_zeros(None, x), a_i_o_f)
        a_i_o, f = split_axis.split_axis(a_i_o_f, [3 * self.state_size], axis=1)
        hs = [self._or_zeros(h, x) for h in hs]
        cs = [self._or_zeros(c, x) for c in cs]
        total = as_variable(hs[0])
        for h in hs[1:]:
            total = total + h
        a_i_o += self.W_h_aio(total)
        # Each child has its own forget gate; the part of the input is the same in all.
        forgets = [f + self.W_h_f(h) for h in hs]
        return tree_lstm.tree_lstm(*cs, concat.concat([a_i_o, *forgets], axis=1))


class NaryTreeLSTM(_TreeLSTM):
    """N-ary TreeLSTM unit: a node of a tree, with a fixed number of children in a given order.

    The unit computes the cell state and the output of a node from its children's and an input. It
    keeps no state. The link is called as ``link(c1, c2, h1, h2, x)`` if ``n_ary`` is 2, as
    ``link(c1, c2, c3, h1, h2, h3, x)`` if it is 3; the order of children matters.

    See `Improved Semantic Representations From Tree-Structured Long Short-Term Memory Networks
    <https://www.aclweb.org/anthology/P15-1150>`_ and `A Fast Unified Model for Parsing and Sentence
    Understanding <https://arxiv.org/abs/1603.06021>`_. As in the latter, the forget gate of each
    child has a separate matrix for the input.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of cell and output vectors.
        n_ary (int): Number of children of a node.

    Attributes:
        W_x (Linear): Linear layer of connections from input vectors.
        W_h1, W_h2, ... (Linear): Linear layers of connections between (``a``, ``i``, ``o``, all
            ``f``) and the output of each child: input compound (``u`` in the paper), input gate,
            output gate and forget gates.

    Raises:
        ValueError: If ``n_ary`` is not positive.

    Example:
        >>> l = L.NaryTreeLSTM(3, 2, n_ary=2)
        >>> x = np.zeros((4, 3), np.float32)
        >>> c, h = l(None, None, None, None, x)
        >>> c.shape, h.shape
        ((4, 2), (4, 2))
    """

    def __init__(self, in_size: int | None, out_size: int, n_ary: int = 2) -> None:
        if n_ary < 1:
            raise InvalidValueError(f"n_ary must be positive, got {n_ary}")
        super().__init__()
        self.in_size = in_size
        self.state_size = out_size
        self.n_ary = n_ary
        size = (3 + n_ary) * out_size
        with self.init_scope():
            self.W_x = Linear(in_size, size)
            for i in range(1, n_ary + 1):
                setattr(self, f"W_h{i}", Linear(out_size, size, nobias=True))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield from super().printable_specs
        yield "n_ary", self.n_ary

    def forward(self, *cshsx: VariableLike | None) -> tuple[Variable, Variable]:
        """Returns new cell state and output of N-ary TreeLSTM.

        Args:
            cshsx (list of Variable): As for :class:`ChildSumTreeLSTM`.

        Raises:
            ValueError: If there are not ``2 * n_ary + 1`` arguments, or all are None.
        """
        if len(cshsx) != 2 * self.n_ary + 1:
            raise InvalidValueError(
                f"NaryTreeLSTM with n_ary={self.n_ary} takes {2 * self.n_ary + 1} arguments, "
                f"got {len(cshsx)}"
            )
        cs, hs, x = self._split_arguments(cshsx)
        # A child without output adds nothing to the gates; the function needs all cell states.
        gates = self.W_x(x)
        for i, h in enumerate(hs, 1):
            if h is not None:
                gates += self[f"W_h{i}"](h)
        return tree_lstm.tree_lstm(*(self._or_zeros(c, x) for c in cs), gates)
