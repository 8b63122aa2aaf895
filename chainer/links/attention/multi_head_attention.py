"""Multi-head attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.attention.rotary_embedding import rotary_embedding
from chainer.functions.attention.scaled_dot_product_attention import scaled_dot_product_attention
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear


class MultiHeadAttention(Chain):
    """Multi-head attention, to the sequence itself or to another one.

    Queries, keys and values are linear functions of the inputs. They are split into heads, each of
    which attends by itself (:func:`chainer.functions.scaled_dot_product_attention`), and a linear
    function of all heads together is the output.

    Args:
        n_heads (int): Number of heads, a divisor of ``size``.
        size (int): Size of the vectors of the queries and of the output.
        key_size (int or None): Size of the vectors that keys and values are made of; if None, it is
            inferred at the first call.
        dropout (float): Ratio of the attention weights set to zero in training mode.
        rotary (bool): If True, queries and keys are rotated according to their positions
            (:func:`chainer.functions.rotary_embedding`).
        nobias (bool): If True, the linear functions have no bias.
        initialW (initializer): Initializer of the weights.
        initial_bias (initializer): Initializer of the biases; zero by default.

    Attributes:
        query (Linear): Makes the queries.
        key (Linear): Makes the keys.
        value (Linear): Makes the values.
        output (Linear): Makes the output.

    Raises:
        ValueError: If ``n_heads`` does not divide ``size``, or, with ``rotary``, ``size /
            n_heads`` is odd.

    See: `Attention Is All You Need <https://arxiv.org/abs/1706.03762>`_

    Example:
        >>> attention = L.MultiHeadAttention(2, 8)
        >>> x = np.random.randn(5, 3, 8).astype(np.float32)  # 5 sequences of 3 vectors of size 8
        >>> attention(x, causal=True).shape
        (5, 3, 8)
        >>> encoded = np.random.randn(5, 7, 8).astype(np.float32)
        >>> attention(x, encoded).shape
        (5, 3, 8)
    """

    def __init__(
        self,
        n_heads: int,
        size: int,
        key_size: int | None = None,
        dropout: float = 0.0,
        rotary: bool = False,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        super().__init__()
        if n_heads < 1 or size % n_heads:
            raise ValueError(f"n_heads must be a divisor of size, got {n_heads} and {size}")
        if rotary and size // n_heads % 2:
            raise ValueError(
                f"rotary needs an even size of the heads, got {size} / {n_heads} = "
                f"{size // n_heads}"
            )
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be in the range [0, 1), got {dropout}")
        self.n_heads = n_heads
        self.size = size
        self.dropout = dropout
        self.rotary = rotary
        with self.init_scope():
            self.query = Linear(size, size, nobias, initialW, initial_bias)
            self.key = Linear(key_size, size, nobias, initialW, initial_bias)
            self.value = Linear(key_size, size, nobias, initialW, initial_bias)
            self.output = Linear(size, size, nobias, initialW, initial_bias)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "n_heads", self.n_heads
        yield "size", self.size
        yield "dropout", self.dropout
        yield "rotary", self.rotary

    def forward(
        self,
        query: VariableLike,
        key: VariableLike | None = None,
        value: VariableLike | None = None,
        *,
        mask: VariableLike | None = None,
        causal: bool = False,
    ) -> Variable:
        """Attends.

        Args:
            query (Variable or array): What the queries are made of, shape ``(B, M, size)``.
            key (Variable or array): What the keys are made of, shape ``(B, N, key_size)``;
                ``query`` if None.
            value (Variable or array): What the values are made of, shape ``(B, N, key_size)``;
                ``key`` if None.
            mask (Variable or array): Broadcasts to ``(B, n_heads, M, N)``. Of bool: True where the
                query may look at the key. Otherwise it is added to the scores. For padded keys:
                shape ``(B, 1, 1, N)``.
            causal (bool): If True, query ``i`` looks at keys ``0`` to ``i`` only.

        Returns:
            Variable: Output of the shape of ``query``.

        Raises:
            ValueError: If an input is not a batch of sequences of vectors.
        """
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            self._heads(linear, x, name)
            for linear, x, name in (
                (self.query, query, "query"),
                (self.key, key, "key"),
                (self.value, value, "value"),
            )
        )
        if self.rotary:
            q, k = rotary_embedding(q), rotary_embedding(k)
        y = scaled_dot_product_attention(q, k, v, mask, causal=causal, dropout=self.dropout)
        return self.output(reshape(transpose(y, (0, 2, 1, 3)), query.shape), n_batch_axes=2)

    def _heads(self, linear: Linear, x: VariableLike, name: str) -> Variable:
        """Returns a linear function of the inputs as ``(B, n_heads, T, size / n_heads)``."""
        if x.ndim != 3:
            raise ValueError(f"{name} must have the shape (B, T, size), got {x.shape}")
        y = linear(x, n_batch_axes=2)
        y = reshape(y, (*y.shape[:2], self.n_heads, self.size // self.n_heads))
        return transpose(y, (0, 2, 1, 3))
