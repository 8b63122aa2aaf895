"""Layers of Transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.activation.gelu import gelu
from chainer.functions.noise.dropout import dropout
from chainer.links.attention.multi_head_attention import MultiHeadAttention
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.link import Link
from chainer.links.normalization.layer_normalization import LayerNormalization
from chainer.links.normalization.rms_normalization import RMSNormalization


def _layer_normalization(size: int) -> LayerNormalization:
    # The value of published Transformers and of PyTorch; the default of the link is 1e-6.
    return LayerNormalization(size, eps=1e-5)


_NORMALIZATIONS: dict[str, Callable[[int], Link]] = {
    "layer": _layer_normalization,
    "rms": RMSNormalization,
}


class _Layer(Chain):
    """Base of both layers: residual branches with normalization, and two linear functions.

    See :class:`TransformerEncoderLayer` for the arguments.
    """

    def __init__(
        self,
        size: int,
        hidden_size: int | None,
        dropout: float,
        activation: Callable[[Any], Any],
        norm_first: bool,
        normalization: str,
        initialW: InitializerLike,
    ) -> None:
        super().__init__()
        if normalization not in _NORMALIZATIONS:
            known = ", ".join(map(repr, _NORMALIZATIONS))
            raise ValueError(f"normalization must be one of {known}, got {normalization!r}")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be in the range [0, 1), got {dropout}")
        self.dropout = dropout
        self.activation = activation
        self.norm_first = norm_first
        hidden_size = 4 * size if hidden_size is None else hidden_size
        with self.init_scope():
            self.linear1 = Linear(size, hidden_size, initialW=initialW)
            self.linear2 = Linear(hidden_size, size, initialW=initialW)

    def _branch(
        self, x: VariableLike, norm: Callable[[Any], Any], function: Callable[[Any], Any]
    ) -> Variable:
        """Adds a function of ``x`` to ``x``, with normalization before it, or after the sum."""
        if self.norm_first:
            return x + dropout(function(norm(x)), self.dropout)
        return norm(x + dropout(function(x), self.dropout))

    def _feed_forward(self, x: VariableLike) -> Variable:
        hidden = self.activation(self.linear1(x, n_batch_axes=2))
        return self.linear2(dropout(hidden, self.dropout), n_batch_axes=2)


class TransformerEncoderLayer(_Layer):
    """Layer of a Transformer's encoder: attention to itself, then a network for each vector.

    With ``causal=True`` it is a layer of a language model (a decoder without encoder).

    Args:
        size (int): Size of the vectors.
        n_heads (int): Number of heads of the attention, a divisor of ``size``.
        hidden_size (int or None): Size of the hidden layer of the network; ``4 * size`` if None.
        dropout (float): Dropout ratio: of the attention weights, the hidden layer, and both
            branches.
        activation (callable): Activation function of the network; :func:`chainer.functions.gelu` by
            default.
        norm_first (bool): If True, the branches begin with a normalization. If False, it comes
            after adding the branch, as in the paper.
        normalization (str): ``'layer'`` or ``'rms'``.
        rotary (bool): Whether attention rotates queries and keys (:class:`MultiHeadAttention`).
        initialW (initializer): Initializer of the weights.

    Attributes:
        attention (MultiHeadAttention): The attention.
        norm1 (Link): Normalization at the attention.
        linear1 (Linear): First layer of the network.
        linear2 (Linear): Second layer of the network.
        norm2 (Link): Normalization at the network.

    Raises:
        ValueError: If an argument is out of range.

    See: `Attention Is All You Need <https://arxiv.org/abs/1706.03762>`_, `On Layer Normalization in
    the Transformer Architecture <https://arxiv.org/abs/2002.04745>`_

    Example:
        >>> layer = L.TransformerEncoderLayer(8, n_heads=2)
        >>> layer(np.random.randn(5, 3, 8).astype(np.float32)).shape
        (5, 3, 8)
    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None = None,
        dropout: float = 0.1,
        activation: Callable[[Any], Any] = gelu,
        norm_first: bool = True,
        normalization: str = "layer",
        rotary: bool = False,
        initialW: InitializerLike = None,
    ) -> None:
        super().__init__(
            size, hidden_size, dropout, activation, norm_first, normalization, initialW
        )
        with self.init_scope():
            self.attention = MultiHeadAttention(
                n_heads, size, size, dropout, rotary, initialW=initialW
            )
            self.norm1 = _NORMALIZATIONS[normalization](size)
            self.norm2 = _NORMALIZATIONS[normalization](size)

    def forward(
        self, x: VariableLike, *, mask: VariableLike | None = None, causal: bool = False
    ) -> Variable:
        """Applies the layer.

        Args:
            x (Variable or array): Sequences, shape ``(B, T, size)``.
            mask (Variable or array): See :meth:`MultiHeadAttention.forward`.
            causal (bool): If True, vectors look at themselves and earlier ones only.

        Returns:
            Variable: Sequences, shape ``(B, T, size)``.
        """
        x = self._branch(x, self.norm1, lambda x: self.attention(x, mask=mask, causal=causal))
        return self._branch(x, self.norm2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Layer of a Transformer's decoder: attention to itself and to the encoder, then a network.

    Args:
        size (int): Size of the vectors.
        n_heads (int): Number of heads of both attentions, a divisor of ``size``.
        hidden_size (int or None): Size of the hidden layer of the network; ``4 * size`` if None.
        dropout (float): Dropout ratio: of the attention weights, the hidden layer, and all
            branches.
        activation (callable): Activation function of the network; :func:`chainer.functions.gelu` by
            default.
        norm_first (bool): If True, the branches begin with a normalization. If False, it comes
            after adding the branch, as in the paper.
        normalization (str): ``'layer'`` or ``'rms'``.
        rotary (bool): Whether attention to itself rotates queries and keys.
        encoder_size (int or None): Size of the vectors of the encoder; ``size`` if None.
        initialW (initializer): Initializer of the weights.

    Attributes:
        attention (MultiHeadAttention): The attention to the sequence itself.
        cross_attention (MultiHeadAttention): The attention to the encoder's sequence.
        norm1 (Link): Normalization at the attention.
        norm2 (Link): Normalization at the attention to the encoder.
        linear1 (Linear): First layer of the network.
        linear2 (Linear): Second layer of the network.
        norm3 (Link): Normalization at the network.

    Raises:
        ValueError: If an argument is out of range.

    See: `Attention Is All You Need <https://arxiv.org/abs/1706.03762>`_

    Example:
        >>> layer = L.TransformerDecoderLayer(8, n_heads=2)
        >>> x = np.random.randn(5, 3, 8).astype(np.float32)
        >>> encoded = np.random.randn(5, 7, 8).astype(np.float32)
        >>> layer(x, encoded).shape
        (5, 3, 8)
    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None = None,
        dropout: float = 0.1,
        activation: Callable[[Any], Any] = gelu,
        norm_first: bool = True,
        normalization: str = "layer",
        rotary: bool = False,
        encoder_size: int | None = None,
        initialW: InitializerLike = None,
    ) -> None:
        super().__init__(
            size, hidden_size, dropout, activation, norm_first, normalization, initialW
        )
        encoder_size = size if encoder_size is None else encoder_size
        with self.init_scope():
            self.attention = MultiHeadAttention(
                n_heads, size, size, dropout, rotary, initialW=initialW
            )
            self.cross_attention = MultiHeadAttention(
                n_heads, size, encoder_size, dropout, initialW=initialW
            )
            self.norm1 = _NORMALIZATIONS[normalization](size)
            self.norm2 = _NORMALIZATIONS[normalization](size)
            self.norm3 = _NORMALIZATIONS[normalization](size)

    def forward(
        self,
        x: VariableLike,
        encoded: VariableLike,
        *,
        mask: VariableLike | None = None,
        encoded_mask: VariableLike | None = None,
        causal: bool = True,
    ) -> Variable:
        """Applies the layer.

        Args:
            x (Variable or array): Sequences, shape ``(B, M, size)``.
            encoded (Variable or array): Output of the encoder, shape ``(B, N, encoder_size)``.
            mask (Variable or array): Mask of the attention to ``x``; see
                :meth:`MultiHeadAttention.forward`.
            encoded_mask (Variable or array): Mask of the attention to ``encoded``.
            causal (bool): If True, vectors look at themselves and earlier ones of ``x`` only.

        Returns:
            Variable: Sequences, shape ``(B, M, size)``.
        """
        x = self._branch(x, self.norm1, lambda x: self.attention(x, mask=mask, causal=causal))
        x = self._branch(
            x, self.norm2, lambda x: self.cross_attention(x, encoded, mask=encoded_mask)
        )
        return self._branch(x, self.norm3, self._feed_forward)
