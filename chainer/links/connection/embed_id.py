"""Embedding of integer identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.connection import embed_id
from chainer.links.initializers import Normal, get_initializer
from chainer.links.link import Link

if TYPE_CHECKING:
    from typing import Self


class EmbedID(Link):
    """Efficient linear layer for one-hot input.

    Wraps :func:`chainer.functions.embed_id` and holds the embedding matrix as a parameter.

    Args:
        in_size (int): Number of different identifiers (a.k.a. vocabulary size).
        out_size (int): Size of embedding vectors.
        initialW (initializer): Initializer of the matrix; standard normal by default. An array has
            shape ``(in_size, out_size)``.
        ignore_label (int or None): Identifier whose embedding is zero and gets no gradient.

    Attributes:
        W (Parameter): Embedding matrix of shape ``(in_size, out_size)``.

    Example:
        >>> l = L.EmbedID(3, 2, initialW=np.array([[0, 0], [1, 1], [2, 2]], np.float32))
        >>> l(np.array([2, 1], np.int32))
        variable([[2., 2.],
                  [1., 1.]])
    """

    ignore_label: int | None = None

    def __init__(
        self,
        in_size: int,
        out_size: int,
        initialW: InitializerLike = None,
        ignore_label: int | None = None,
    ) -> None:
        super().__init__()
        self.ignore_label = ignore_label
        # Embeddings are looked up, not summed over inputs: their scale does not depend on in_size.
        with self.init_scope():
            initializer = get_initializer(initialW, default=Normal(1.0))
            self.W = Parameter(initializer, (in_size, out_size))

    @classmethod
    def from_params(cls, W: VariableLike, ignore_label: int | None = None) -> Self:
        """Creates a link whose matrix is a copy of a given array.

        Args:
            W (Variable or array): Embedding matrix of shape ``(in_size, out_size)``.
            ignore_label (int or None): Identifier whose embedding is zero.

        Returns:
            EmbedID: The link; its matrix is of dtype ``chainer.config.dtype``.

        Raises:
            ValueError: If ``W`` is not a matrix.
        """
        W = W.array if isinstance(W, Variable) else W
        in_size, out_size = W.shape
        return cls(in_size, out_size, W, ignore_label)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.W.shape[0]
        yield "out_size", self.W.shape[1]
        yield "ignore_label", self.ignore_label

    def forward(self, x: VariableLike) -> Variable:
        """Extracts the embeddings of given identifiers.

        Args:
            x (Variable or array): Integer identifiers, of any shape ``s``.

        Returns:
            Variable: Embeddings of shape ``s + (out_size,)``.
        """
        return embed_id.embed_id(x, self.W, ignore_label=self.ignore_label)
