"""``linear``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py.compat.arguments import need_mdarray

if TYPE_CHECKING:
    from chainer.typing import Array


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
        return _new(ops.linear(src, weights, bias))

    @staticmethod
    def BackwardData(weights: mdarray, grady: mdarray, /) -> mdarray:
        """Gradient with respect to the input, in its shape: (N, I), or (N, C, H, W) if ``weights``
        has four axes.
        """
        need_mdarray(weights=weights, grady=grady)
        gx = _new(ops.linear_backward_data(weights, grady))
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


def _new(result: Array) -> mdarray:
    assert isinstance(result, mdarray)  # the functions return another array only if it is given
    return result


def _like_input(gradient: Array, src: mdarray) -> mdarray:
    gw = _new(gradient)
    return gw if src.ndim == 2 else gw.reshape((gw.shape[0], *src.shape[1:]))
