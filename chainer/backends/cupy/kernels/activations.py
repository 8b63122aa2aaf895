"""CUDA kernels of activation functions."""

from __future__ import annotations

from math import prod
from typing import ClassVar

import numpy

from chainer.backends.cupy.compiler import compute_dtype
from chainer.backends.cupy.kernels._base import CudaKernel, split_axis
from chainer.backends.cupy.kernels._elementwise import ElementwiseKernel, element_types
from chainer.backends.numpy.kernels.activations import reduce_to_parameter
from chainer.core.typing import Array


class ReLUKernel(ElementwiseKernel):
    """Kernel of ``relu``."""

    def forward(self, x: Array) -> Array:
        return self.map("relu_forward", x)

    def backward(self, y: Array, gy: Array) -> Array:
        return self.map("relu_backward", y, gy)


class LeakyReLUKernel(ElementwiseKernel):
    """Kernel of ``leaky_relu``."""

    def forward(self, x: Array, slope: float) -> Array:
        return self.map("leaky_relu_forward", x, scalars=(float(slope),))

    def backward(self, signed: Array, gy: Array, slope: float) -> Array:
        return self.map("leaky_relu_backward", signed, gy, scalars=(float(slope),))


class SigmoidKernel(ElementwiseKernel):
    """Kernel of ``sigmoid``."""

    def forward(self, x: Array) -> Array:
        return self.map("sigmoid_forward", x)

    def backward(self, y: Array, gy: Array) -> Array:
        return self.map("sigmoid_backward", y, gy)


class ELUKernel(ElementwiseKernel):
    """Kernel of ``elu``."""

    def forward(self, x: Array, alpha: float) -> Array:
        return self.map("elu_forward", x, scalars=(float(alpha),))

    def backward(self, x: Array, y: Array, gy: Array, alpha: float) -> Array:
        return self.map("elu_backward", x, y, gy, scalars=(float(alpha),))


class TanhKernel(ElementwiseKernel):
    """Kernel of ``tanh``."""

    def backward(self, y: Array, gy: Array) -> Array:
        return self.map("tanh_backward", y, gy)


class SoftplusKernel(ElementwiseKernel):
    """Kernel of ``softplus``."""

    def forward(self, x: Array, beta: float) -> Array:
        return self.map("softplus_forward", x, scalars=(float(beta),))

    def backward(self, x: Array, gy: Array, beta: float) -> Array:
        return self.map("softplus_backward", x, gy, scalars=(float(beta),))


class ClippedReLUKernel(ElementwiseKernel):
    """Kernel of ``clipped_relu``."""

    def forward(self, x: Array, cap: float) -> tuple[Array, Array]:
        x = self.contiguous(x)
        y, inside = self.new_like(x), self.new(x.shape, numpy.bool_)
        self.each("clipped_relu_forward", element_types(x), x.size, x, y, inside, float(cap))
        return y, inside

    def backward(self, inside: Array, gy: Array) -> Array:
        return self.map("clipped_relu_backward", inside, gy)


class HardSigmoidKernel(ElementwiseKernel):
    """Kernel of ``hard_sigmoid``."""

    def forward(self, x: Array) -> Array:
        return self.map("hard_sigmoid_forward", x)

    def backward(self, x: Array, gy: Array) -> Array:
        return self.map("hard_sigmoid_backward", x, gy)


class RReLUKernel(ElementwiseKernel):
    """Kernel of ``rrelu``."""

    def forward(self, x: Array, r: Array) -> Array:
        return self.map("rrelu_forward", x, r)

    def backward(self, x: Array, r: Array, gy: Array) -> Array:
        return self.map("rrelu_backward", x, r, gy)


class _WithParameter(ElementwiseKernel):
    """Functions whose parameter is shared along the first axis and the last ones.

    Attributes:
        name: Name of the functions in the source.
    """

    name: ClassVar[str]

    def forward(self, x: Array, w: Array) -> Array:
        x, w = self.contiguous(x), self.contiguous(w)
        y = self.new_like(x)
        inner = prod(x.shape[1 + w.ndim :])
        self.each(f"{self.name}_forward", element_types(x), x.size, x, w, y, w.size, inner)
        return y

    def backward(self, x: Array, w: Array, gy: Array, wants_parameter: bool) -> tuple[Array, Array]:
        x, w, gy = map(self.contiguous, (x, w, gy))
        gx, products = self.new_like(x), None
        if wants_parameter:
            products = self.new(x.shape, compute_dtype(x.dtype))
        arrays = (x, w, gy, gx, products)
        inner = prod(x.shape[1 + w.ndim :])
        self.each(f"{self.name}_backward", element_types(x), x.size, *arrays, w.size, inner)
        if products is None:
            return gx, None
        return gx, reduce_to_parameter(products, w).astype(w.dtype, copy=False)


class PReLUKernel(_WithParameter):
    """Kernel of ``prelu``."""

    name = "prelu"


class SwishKernel(_WithParameter):
    """Kernel of ``swish``."""

    name = "swish"


class CReLUKernel(ElementwiseKernel):
    """Kernel of ``crelu``."""

    def forward(self, x: Array, axis: int) -> Array:
        x = self.contiguous(x)
        axis %= x.ndim
        y = self.new((*x.shape[:axis], 2 * x.shape[axis], *x.shape[axis + 1 :]), x.dtype)
        self.each("crelu_forward", element_types(y), x.size, x, y, prod(x.shape[axis:]))
        return y

    def backward(self, x: Array, gy: Array, axis: int) -> Array:
        x, gy = self.contiguous(x), self.contiguous(gy)
        gx = self.new_like(x)
        row = prod(x.shape[axis % x.ndim :])
        self.each("crelu_backward", element_types(gy), x.size, x, gy, gx, row)
        return gx


class _SoftmaxBase(CudaKernel):
    source = "softmax.cu"
    logarithm: bool

    def forward(self, x: Array, axis: int) -> Array:
        x = self.contiguous(x)
        y = self.new_like(x)
        self._call("softmax_forward", x, axis, x, y)
        return y

    def backward(self, y: Array, gy: Array, axis: int) -> Array:
        y, gy = self.contiguous(y), self.contiguous(gy)
        gx = self.new_like(y)
        self._call("softmax_backward", y, axis, y, gy, gx)
        return gx

    def _call(self, name: str, x: Array, axis: int, *arrays: Array) -> None:
        outer, n, inner = split_axis(x.shape, axis)
        if x.size:
            shared = n if inner == 1 else 1
            rows = outer * inner
            self.rows(name, element_types(x), rows, shared, *arrays, rows, n, inner, self.logarithm)


class SoftmaxKernel(_SoftmaxBase):
    """Kernel of ``softmax``."""

    logarithm = False


class LogSoftmaxKernel(_SoftmaxBase):
    """Kernel of ``log_softmax``."""

    logarithm = True
