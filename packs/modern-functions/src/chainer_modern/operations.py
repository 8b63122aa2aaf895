"""Array-level operations of this distribution.

Each class documents what every implementation has to do. Whoever knows a faster way registers a
:class:`chainer.kernel.Kernel` under the operation's name.
"""

from __future__ import annotations

from chainer.kernel import Operation


class ScaledDotProductAttention(Operation):
    """Softmax attention: ``softmax(scale * q @ k.T + mask) @ v``.

    ``select(q, k, v, mask, keep, causal=, scale=)``. With leading axes ``...`` that are the same
    for all: ``q`` of shape ``(..., M, D)``, ``k`` of shape ``(..., N, D)``, ``v`` of shape ``(...,
    N, E)``, of one floating-point dtype. ``mask`` is None, or broadcasts to ``(..., M, N)``: of
    bool, it says which keys each query may look at; of the dtype of ``q``, it is added to the
    scores, where minus infinity forbids. ``keep`` is None or bool of shape ``(..., M, N)``: the
    weights which dropout keeps. With ``causal``, query ``i`` looks at keys ``0`` to ``i`` only.
    Where a query may look at nothing the output is zero.

    Methods:
        ``forward(q, k, v, mask, keep, causal, scale, ratio, save) -> (y, residual)``: ``y`` of
        shape ``(..., M, E)``. ``ratio`` is the dropout ratio; what is kept is multiplied by ``1 /
        (1 - ratio)``. ``save`` says whether ``backward`` may follow; the residual is opaque, and
        None if not.

        ``backward(q, k, v, mask, keep, y, gy, residual, causal, scale, ratio, mask_gradient) ->
        (gq, gk, gv, gmask)``: ``gmask``, of the shape of ``mask``, is None unless
        ``mask_gradient``.

    float16 is computed in float32. Methods change none of their arguments.
    """

    name = "modern.scaled_dot_product_attention"
    reference = "chainer_modern.kernels.attention:AttentionKernel"


class RMSNormalization(Operation):
    """Division of vectors by the root of their mean square.

    ``select(x, gamma, eps=)``: ``x`` of shape ``(..., D)``, ``gamma`` of shape ``(D,)``. ``y = x /
    sqrt(mean(x ** 2) + eps) * gamma``.

    Methods:
        ``forward(x, gamma, eps) -> (y, inv_rms)``: ``inv_rms`` of shape ``(..., 1)``, in the dtype
        computed in.

        ``backward(x, gamma, gy, inv_rms) -> (gx, ggamma)``.

    float16 is computed in float32. Methods change none of their arguments.
    """

    name = "modern.rms_normalization"
    reference = "chainer_modern.kernels.normalizations:RMSNormalizationKernel"


scaled_dot_product_attention = ScaledDotProductAttention()
rms_normalization = RMSNormalization()
