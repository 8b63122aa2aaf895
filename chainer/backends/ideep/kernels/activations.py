"""oneDNN kernels of activation functions."""

from __future__ import annotations

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array


class ReLUKernel(IdeepKernel):
    """Kernel of ``relu``."""

    def forward(self, x: Array) -> Array:
        return self.ops.relu(x)

    def backward(self, y: Array, gy: Array) -> Array:
        return self.ops.relu_backward(y, gy)


class LeakyReLUKernel(IdeepKernel):
    """Kernel of ``leaky_relu``."""

    def forward(self, x: Array, slope: float) -> Array:
        return self.ops.relu(x, slope)

    def backward(self, signed: Array, gy: Array, slope: float) -> Array:
        return self.ops.leaky_relu_backward(signed, gy, slope)


class SigmoidKernel(IdeepKernel):
    """Kernel of ``sigmoid``."""

    def forward(self, x: Array) -> Array:
        return self.ops.sigmoid(x)

    def backward(self, y: Array, gy: Array) -> Array:
        return self.ops.sigmoid_backward(y, gy)


class ELUKernel(IdeepKernel):
    """Kernel of ``elu`` with a positive ``alpha``."""

    def forward(self, x: Array, alpha: float) -> Array:
        return self.ops.eltwise(x, "elu", alpha)

    def backward(self, x: Array, y: Array, gy: Array, alpha: float) -> Array:
        return self.ops.eltwise_backward(y, gy, "elu", alpha, from_output=True)


class SoftmaxKernel(IdeepKernel):
    """Kernel of ``softmax``."""

    def forward(self, x: Array, axis: int) -> Array:
        return self.ops.softmax(x, axis)

    def backward(self, y: Array, gy: Array, axis: int) -> Array:
        return self.ops.softmax_backward(y, gy, axis)


class LogSoftmaxKernel(IdeepKernel):
    """Kernel of ``log_softmax``."""

    def forward(self, x: Array, axis: int) -> Array:
        return self.ops.log_softmax(x, axis)

    def backward(self, y: Array, gy: Array, axis: int) -> Array:
        return self.ops.log_softmax_backward(y, gy, axis)
