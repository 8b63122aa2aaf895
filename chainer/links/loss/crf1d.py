"""Linear-chain conditional random field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, InitializerLike, VariableLike
from chainer.functions.array import transpose_sequence
from chainer.functions.loss import crf1d
from chainer.links.initializers import get_initializer
from chainer.links.link import Link


class CRF1d(Link):
    """Linear-chain conditional random field loss layer.

    Wraps :func:`chainer.functions.crf1d` and holds the transition cost matrix as a parameter.

    Args:
        n_label (int): Number of labels.
        initial_cost (initializer): Initializer of the transition cost matrix; zero by default. An
            array has shape ``(n_label, n_label)``.

    Attributes:
        cost (Parameter): Transition costs, shape ``(n_label, n_label)``. The row is the label
            before the transition, the column is the label after it.

    Example:
        >>> crf = L.CRF1d(3)
        >>> xs = [np.zeros((2, 3), np.float32), np.zeros((1, 3), np.float32)]
        >>> ys = [np.array([0, 2], np.int32), np.array([1], np.int32)]
        >>> crf(xs, ys).shape
        ()
        >>> score, path = crf.argmax(xs)
        >>> score.shape, [labels.shape for labels in path]
        ((2,), [(2,), (1,)])
    """

    def __init__(self, n_label: int, initial_cost: InitializerLike = None) -> None:
        super().__init__()
        with self.init_scope():
            self.cost = Parameter(get_initializer(initial_cost, default=0), (n_label, n_label))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "n_label", self.cost.shape[0]

    def forward(
        self,
        xs: Sequence[VariableLike],
        ys: Sequence[VariableLike],
        reduce: str = "mean",
        transpose: bool = False,
    ) -> Variable:
        """Computes the negative log-likelihood of labels.

        Args:
            xs (list of Variable): Costs of the labels at each position, shapes ``(B_i, n_label)``;
                sequences are sorted by descending length, so that ``B_i`` never grows.
            ys (list of Variable): Expected labels at each position, int32 of shapes ``(B_i,)``.
            reduce (str): ``'mean'``: the mean over the sequences. ``'no'``: the loss of each.
            transpose (bool): If True, ``xs`` and ``ys`` are sequences instead, of any order of
                lengths, shapes ``(L_i, n_label)`` and ``(L_i,)``.

        Returns:
            Variable: Loss value.
        """
        if not transpose:
            return crf1d.crf1d(self.cost, xs, ys, reduce=reduce)
        # The function takes positions of sequences that are sorted by length.
        order = _by_length(xs)
        loss = crf1d.crf1d(
            self.cost,
            transpose_sequence.transpose_sequence([xs[i] for i in order]),
            transpose_sequence.transpose_sequence([ys[i] for i in order]),
            reduce=reduce,
        )
        return loss if reduce == "mean" else loss[_inverse(order)]

    def argmax(
        self, xs: Sequence[VariableLike], transpose: bool = False
    ) -> tuple[Variable, list[Array]]:
        """Computes the labels of the largest joint probability.

        Args:
            xs (list of Variable): Costs of the labels at each position; see :meth:`forward`.
            transpose (bool): If True, ``xs`` are sequences instead, and so are the returned paths.

        Returns:
            tuple: Log-likelihood of each sequence (before normalization), a variable of shape
            ``(B,)``, and the list of the labels at each position, integer arrays of shapes
            ``(B_i,)``. See :func:`chainer.functions.argmax_crf1d`.
        """
        if not transpose:
            return crf1d.argmax_crf1d(self.cost, xs)
        order = _by_length(xs)
        score, path = crf1d.argmax_crf1d(
            self.cost, transpose_sequence.transpose_sequence([xs[i] for i in order])
        )
        paths = transpose_sequence.transpose_sequence(path)
        inverse = _inverse(order)
        return score[inverse], [paths[i].array for i in inverse]


def _by_length(xs: Sequence[VariableLike]) -> list[int]:
    return sorted(range(len(xs)), key=lambda i: -len(xs[i]))


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
