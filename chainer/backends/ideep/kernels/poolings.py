"""oneDNN kernels of poolings."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.core.arrays.fusion import FusedCall, Fusion
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, Shape


class _PoolingKernel(IdeepKernel):
    """Base of the two kernels; ``mode`` is the mode of pooling of oneDNN."""

    def pool(
        self, x: Array, mode: str, out_size: Shape, geometry: PoolingGeometry
    ) -> tuple[Array, Array]:
        """Returns the output and the workspace, which is None where no gradient is needed."""
        ksize, stride, pad = geometry
        return self.ops.pooling(
            x,
            mode,
            ksize,
            stride=stride,
            pad=pad,
            out_size=out_size,
            # Without training, oneDNN does not record the positions of maxima.
            training=threads.state.enable_backprop,
        )


class MaxPoolingNDKernel(_PoolingKernel):
    """Kernel of ``max_pooling_nd``.

    The residual is the layout of the input and oneDNN's workspace with the position of each maximum
    within its window. In a captured step, the gradient of a relu before it looks at the maxima,
    which are fewer than the elements of its output.
    """

    fusions = (
        Fusion(
            (FusedCall("max_pooling_nd.backward"), FusedCall("relu.backward", argument=1)),
            "backward_with_relu",
            supports="has_output_of_relu",
            exact=True,
        ),
    )

    def forward(
        self, x: Array, out_size: Shape, geometry: PoolingGeometry
    ) -> tuple[Array, tuple[Array, Array]]:
        y, workspace = self.pool(x, "max", out_size, geometry)
        return y, (getattr(x, "layout", x.shape), workspace)

    def backward(
        self,
        x: Array,
        y: Array,
        gy: Array,
        residual: tuple[Array, Array],
        geometry: PoolingGeometry,
    ) -> Array:
        layout, workspace = residual
        ksize, stride, pad = geometry
        return self.ops.pooling_backward(
            gy, layout, "max", ksize, stride=stride, pad=pad, workspace=workspace
        )

    def has_output_of_relu(self, pooling: tuple[Any, ...], relu: tuple[Any, ...]) -> bool:
        """Returns whether the pooling is one of the output of the relu, see :attr:`fusions`."""
        return pooling[0] is relu[0]

    def backward_with_relu(
        self, pooling: tuple[Any, ...], relu: tuple[Any, ...]
    ) -> tuple[None, Array]:
        """Computes the gradients of max pooling and of the relu before it, see :attr:`fusions`."""
        x, y, gy, residual, geometry = pooling
        # The gradient goes to the maximum of each window, whose value is the output.
        return None, self.backward(x, y, self.ops.relu_backward(y, gy), residual, geometry)


def _mean_mode(pad_value: int | None) -> str:
    return "average_exclude_pad" if pad_value is None else "average"


class AveragePoolingNDKernel(_PoolingKernel):
    """Kernel of ``average_pooling_nd``."""

    def forward(
        self, x: Array, out_size: Shape, geometry: PoolingGeometry, pad_value: int | None
    ) -> Array:
        return self.pool(x, _mean_mode(pad_value), out_size, geometry)[0]

    def backward(
        self, gy: Array, in_size: Shape, geometry: PoolingGeometry, pad_value: int | None
    ) -> Array:
        ksize, stride, pad = geometry
        shape = (*gy.shape[:2], *in_size)
        return self.ops.pooling_backward(
            gy, shape, _mean_mode(pad_value), ksize, stride=stride, pad=pad
        )
