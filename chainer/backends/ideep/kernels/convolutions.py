"""oneDNN kernel of convolutions and deconvolutions."""

from __future__ import annotations

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.typing import Array, DTypeLike, Shape


class ConvolutionNDKernel(IdeepKernel):
    """Kernel of ``convolution_nd`` over one to three dimensions."""

    def forward(
        self, x: Array, W: Array, b: Array | None, out_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        return self.ops.convolution(x, W, b, out_size=out_size, **geometry._asdict())

    def backward_data(
        self, gy: Array, W: Array, b: Array | None, in_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        options = geometry._asdict()
        if b is not None:
            return self.ops.deconvolution(gy, W, b, out_size=in_size, **options)
        shape = (gy.shape[0], W.shape[1] * geometry.groups, *in_size)
        return self.ops.convolution_backward_data(gy, W, shape, **options)

    def backward_weight(
        self, x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: ConvolutionGeometry
    ) -> Array:
        return self._weight_gradients(x, gy, ksize, geometry, bias=False)[0]

    def backward_weight_and_bias(
        self, x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: ConvolutionGeometry
    ) -> tuple[Array, Array]:
        # oneDNN sums gy by channel in the pass that computes the gradient of the weight.
        return self._weight_gradients(x, gy, ksize, geometry, bias=True)

    def _weight_gradients(
        self, x: Array, gy: Array, ksize: Shape, geometry: ConvolutionGeometry, bias: bool
    ) -> tuple[Array, Array]:
        shape = (gy.shape[1], x.shape[1] // geometry.groups, *ksize)
        options = geometry._asdict()
        return self.ops.convolution_backward_weights(x, gy, shape, bias=bias, **options)
