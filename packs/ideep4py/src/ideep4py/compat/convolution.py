"""``convolution2D``."""

from __future__ import annotations

from typing import Any

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py._params import conv2DParam
from ideep4py.compat.arguments import need_mdarray, need_shape, need_type


def _spatial(cp: conv2DParam) -> dict[str, Any]:
    return {
        "stride": (cp.sy, cp.sx),
        "pad": (cp.pad_lh, cp.pad_lw),
        "dilate": (cp.dilate_y + 1, cp.dilate_x + 1),
    }


class convolution2D:
    """Two-dimensional convolution, forward and backward.

    ``cp`` is made by :func:`ideep4py.convolution2DParam`.
    """

    @classmethod
    def Forward(
        cls, src: mdarray, weights: mdarray, bias: mdarray | None, cp: conv2DParam
    ) -> mdarray:
        """The output.

        Args:
            src: input (N, C, H, W).
            weights: filters (O, C, kh, kw).
            bias: bias (O,), or None.
            cp: parameters; ``out_dims`` is the shape of the output.

        Raises:
            TypeError, ValueError: an argument does not fit; the message names it.
        """
        need_mdarray(src=src, weights=weights)
        need_type("cp", cp, conv2DParam)
        if bias is not None:
            need_mdarray(bias=bias)
        dims = tuple(cp.out_dims)
        need_shape("cp.out_dims[:2]", dims[:2], (src.shape[0], weights.shape[0]))
        return ops.convolution(src, weights, bias, out_size=dims[2:], **_spatial(cp))

    @classmethod
    def BackwardData(cls, weights: mdarray, grady: mdarray, cp: conv2DParam) -> mdarray:
        """Gradient with respect to the input, whose shape is ``cp.out_dims``.

        Args:
            weights: filters (O, C, kh, kw).
            grady: gradient of the output (N, O, oh, ow).
            cp: parameters.

        Raises:
            TypeError, ValueError: an argument does not fit; the message names it.
        """
        need_mdarray(weights=weights, grady=grady)
        need_type("cp", cp, conv2DParam)
        return ops.convolution_backward_data(grady, weights, tuple(cp.out_dims), **_spatial(cp))

    @classmethod
    def BackwardWeights(cls, src: mdarray, grady: mdarray, cp: conv2DParam) -> mdarray:
        """Gradient with respect to the filters, whose shape is ``cp.out_dims``.

        Args:
            src: input (N, C, H, W).
            grady: gradient of the output (N, O, oh, ow).
            cp: parameters.

        Raises:
            TypeError, ValueError: an argument does not fit; the message names it.
        """
        need_mdarray(src=src, grady=grady)
        need_type("cp", cp, conv2DParam)
        dims = tuple(cp.out_dims)
        return ops.convolution_backward_weights(src, grady, dims, **_spatial(cp))[0]

    @classmethod
    def BackwardWeightsBias(
        cls, src: mdarray, grady: mdarray, cp: conv2DParam
    ) -> tuple[mdarray, mdarray]:
        """Gradients with respect to filters and bias, with arguments as :meth:`BackwardWeights`."""
        need_mdarray(src=src, grady=grady)
        need_type("cp", cp, conv2DParam)
        dims = tuple(cp.out_dims)
        gw, gb = ops.convolution_backward_weights(src, grady, dims, bias=True, **_spatial(cp))
        assert gb is not None
        return gw, gb
