"""Kernel of convolutions and deconvolutions."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep.kernels._base import IdeepKernel

Sizes = tuple[int, ...]


class ConvolutionNDKernel(IdeepKernel):
    """Kernel of ``convolution_nd`` over one to three dimensions."""

    def forward(
        self,
        x: Any,
        W: Any,
        b: Any,
        out_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        return self.ops.convolution(
            x, W, b, stride=stride, pad=pad, dilate=dilate, groups=groups, out_size=out_size
        )

    def backward_data(
        self,
        gy: Any,
        W: Any,
        b: Any,
        in_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        if b is not None:
            return self.ops.deconvolution(
                gy, W, b, stride=stride, pad=pad, dilate=dilate, groups=groups, out_size=in_size
            )
        shape = (gy.shape[0], W.shape[1] * groups, *in_size)
        return self.ops.convolution_backward_data(
            gy, W, shape, stride=stride, pad=pad, dilate=dilate, groups=groups
        )

    def backward_weight(
        self,
        x: Any,
        gy: Any,
        ksize: Sizes,
        dtype: Any,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        return self._weight_gradients(x, gy, ksize, stride, pad, dilate, groups, bias=False)[0]

    def backward_weight_and_bias(
        self,
        x: Any,
        gy: Any,
        ksize: Sizes,
        dtype: Any,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> tuple[Any, Any]:
        return self._weight_gradients(x, gy, ksize, stride, pad, dilate, groups, bias=True)

    def _weight_gradients(
        self,
        x: Any,
        gy: Any,
        ksize: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
        bias: bool,
    ) -> tuple[Any, Any]:
        shape = (gy.shape[1], x.shape[1] // groups, *ksize)
        return self.ops.convolution_backward_weights(
            x, gy, shape, stride=stride, pad=pad, dilate=dilate, groups=groups, bias=bias
        )
