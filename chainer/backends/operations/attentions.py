"""Attention."""

from __future__ import annotations

from typing import NamedTuple

from chainer.core.arrays.kernel import Operation


class AttentionOptions(NamedTuple):
    """Options of scaled dot-product attention.

    Attributes:
        causal: Whether a query attends to no key after its own position.
        scale: Factor of the scores.
        ratio: Dropout ratio. Weights that dropout keeps are multiplied by ``1 / (1 - ratio)``.
        offset: Position of the first query among the keys; negative if it is before the first key.
            With ``causal``, query ``i`` attends to keys ``0`` to ``i + offset`` only.
        window: Number of keys around a query: it attends to keys at a distance below ``window``
            only. None if there is no limit.
        softcap: Scores become ``softcap * tanh(score / softcap)`` before the mask; None if not.
    """

    causal: bool
    scale: float
    ratio: float
    offset: int = 0
    window: int | None = None
    softcap: float | None = None


class ScaledDotProductAttention(Operation):
    """Softmax attention: ``softmax(scale * q @ k.T + mask) @ v``.

    ``select(q, k, v, mask, keep, options=)``. All arrays have the same leading axes ``...``: ``q``
    is of shape ``(..., M, D)``, ``k`` of shape ``(..., N, D)``, ``v`` of shape ``(..., N, E)``, of
    one floating-point dtype. The last of the leading axes, the heads, may be shorter in ``k`` and
    ``v`` by a factor ``G``: head ``h`` of the queries uses head ``h // G`` of the keys. ``mask`` is
    None or broadcasts to ``(..., M, N)``. A mask of dtype bool is True where a query may attend to
    a key. A mask of the dtype of ``q`` is added to the scores, where minus infinity excludes a key.
    ``keep`` is None or an array of bool of shape ``(..., M, N)``: the weights that dropout keeps.
    ``options`` is of :class:`AttentionOptions`. The output of a query that may attend to no key is
    zero.

    Methods:
        ``forward(q, k, v, mask, keep, options, save) -> (y, residual)``: ``y`` of shape ``(..., M,
        E)``. ``save`` says whether ``backward`` may follow. The residual is opaque to the caller,
        and None without ``save``.

        ``backward(inputs, keep, y, gy, residual, options, mask_gradient) -> (gq, gk, gv, gmask)``:
        ``inputs`` is the tuple ``(q, k, v, mask)``; ``gmask``, of the shape of ``mask``, is None
        unless ``mask_gradient``.

    float16 is computed in float32. Methods change none of their arguments.
    """

    name = "scaled_dot_product_attention"
    reference = "chainer.backends.numpy.kernels.attentions:AttentionKernel"


scaled_dot_product_attention = ScaledDotProductAttention()
