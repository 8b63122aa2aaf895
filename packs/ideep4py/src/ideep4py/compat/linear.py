"""``linear``."""

from __future__ import annotations

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py.compat.arguments import need_mdarray


class linear:
    """The fully connected layer ``x @ W.T + b``, forward and backward."""

    @staticmethod
    def Forward(src: mdarray, weights: mdarray, bias: mdarray | None, /) -> mdarray:
        """The output (N, O), of ``src`` (N, I) or (N, C, H, W), ``weights`` (O, I) and ``bias``
        (O,) or None.
        """
        need_mdarray(src=src, weights=weights)
        if bias is not None:
            need_mdarray(bias=bias)
        return ops.linear(src, weights, bias)

    @staticmethod
    def BackwardData(weights: mdarray, grady: mdarray, /) -> mdarray:
        """Gradient with respect to the input, in its shape: (N, I), or (N, C, H, W) if ``weights``
        has four axes.
        """
        need_mdarray(weights=weights, grady=grady)
        gx = ops.linear_backward_data(weights, grady)
        return gx if weights.ndim == 2 else gx.reshape((gx.shape[0], *weights.shape[1:]))

    @staticmethod
    def BackwardWeights(src: mdarray, grady: mdarray, /) -> mdarray:
        """Gradient with respect to the weights."""
        need_mdarray(src=src, grady=grady)
        return _like_input(ops.linear_backward_weights(src, grady)[0], src)

    @staticmethod
    def BackwardWeightsBias(src: mdarray, grady: mdarray, /) -> tuple[mdarray, mdarray]:
        """Gradients with respect to weights and bias."""
        need_mdarray(src=src, grady=grady)
        gw, gb = ops.linear_backward_weights(src, grady, bias=True)
        assert gb is not None
        return _like_input(gw, src), gb


def _like_input(gw: mdarray, src: mdarray) -> mdarray:
    return gw if src.ndim == 2 else gw.reshape((gw.shape[0], *src.shape[1:]))
