"""Kernels of activation functions, dropout and error functions."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels.base import CudaKernel, is_wide, split_axis


def _types(x: Any) -> Types:
    return types_for(x.dtype, wide=is_wide(x))


class _Elementwise(CudaKernel):
    source = "activations.cu"

    def map(self, name: str, *arrays: Any, scalars: tuple[Any, ...] = ()) -> Any:
        """Calls a function of arrays of one shape; the result is a new array."""
        arrays = tuple([self.contiguous(array) for array in arrays])
        y = self.xp.empty(arrays[-1].shape, arrays[-1].dtype)
        self.each(name, _types(y), y.size, *arrays, y, *scalars)
        return y


class ReLUKernel(_Elementwise):
    """Kernel of ``relu``."""

    def forward(self, x: Any) -> Any:
        return self.map("relu_forward", x)

    def backward(self, y: Any, gy: Any) -> Any:
        return self.map("relu_backward", y, gy)


class LeakyReLUKernel(_Elementwise):
    """Kernel of ``leaky_relu``."""

    def forward(self, x: Any, slope: float) -> Any:
        return self.map("leaky_relu_forward", x, scalars=(float(slope),))

    def backward(self, signed: Any, gy: Any, slope: float) -> Any:
        return self.map("leaky_relu_backward", signed, gy, scalars=(float(slope),))


class SigmoidKernel(_Elementwise):
    """Kernel of ``sigmoid``."""

    def forward(self, x: Any) -> Any:
        return self.map("sigmoid_forward", x)

    def backward(self, y: Any, gy: Any) -> Any:
        return self.map("sigmoid_backward", y, gy)


class ELUKernel(_Elementwise):
    """Kernel of ``elu``."""

    def forward(self, x: Any, alpha: float) -> Any:
        return self.map("elu_forward", x, scalars=(float(alpha),))

    def backward(self, x: Any, y: Any, gy: Any, alpha: float) -> Any:
        return self.map("elu_backward", x, y, gy, scalars=(float(alpha),))


class ErfKernel(_Elementwise):
    """Kernel of ``erf``."""

    def forward(self, x: Any) -> Any:
        return self.map("erf_forward", x)


class ErfcKernel(_Elementwise):
    """Kernel of ``erfc``."""

    def forward(self, x: Any) -> Any:
        return self.map("erfc_forward", x)


class DropoutKernel(_Elementwise):
    """Kernel of ``dropout``: random numbers of the backend, then mask and product at once."""

    def forward(self, x: Any, ratio: float) -> tuple[Any, Any]:
        x = self.contiguous(x)
        numbers = self.xp.random.random_sample(x.shape, dtype=numpy.float32)
        y, mask = self.xp.empty_like(x), self.xp.empty_like(x)
        scale = 1.0 / (1 - ratio)
        self.each("dropout_forward", _types(x), x.size, x, numbers, y, mask, float(ratio), scale)
        return y, mask

    def backward(self, gy: Any, mask: Any) -> Any:
        return gy * mask


class _SoftmaxBase(CudaKernel):
    source = "softmax.cu"
    logarithm: bool

    def forward(self, x: Any, axis: int) -> Any:
        x = self.contiguous(x)
        y = self.xp.empty_like(x)
        self._call("softmax_forward", x, axis, x, y)
        return y

    def backward(self, y: Any, gy: Any, axis: int) -> Any:
        y, gy = self.contiguous(y), self.contiguous(gy)
        gx = self.xp.empty_like(y)
        self._call("softmax_backward", y, axis, y, gy, gx)
        return gx

    def _call(self, name: str, x: Any, axis: int, *arrays: Any) -> None:
        outer, n, inner = split_axis(x.shape, axis)
        if x.size:
            shared = n if inner == 1 else 1
            rows = outer * inner
            self.rows(name, _types(x), rows, shared, *arrays, rows, n, inner, self.logarithm)


class SoftmaxKernel(_SoftmaxBase):
    """Kernel of ``softmax``."""

    logarithm = False


class LogSoftmaxKernel(_SoftmaxBase):
    """Kernel of ``log_softmax``."""

    logarithm = True
