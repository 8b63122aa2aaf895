"""Kernels of poolings."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.config.configuration import threads

Sizes = tuple[int, ...]


class MaxPoolingNDKernel(IdeepKernel):
    """Kernel of ``max_pooling_nd``.

    The residual is the layout of the input and the place of each maximum within its window.
    """

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes
    ) -> tuple[Any, Any]:
        y, workspace = self.ops.pooling(
            x,
            "max",
            ksize,
            stride=stride,
            pad=pad,
            out_size=out_size,
            training=threads.state.enable_backprop,
        )
        return y, (getattr(x, "layout", x.shape), workspace)

    def backward(
        self, x: Any, y: Any, gy: Any, residual: Any, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        layout, workspace = residual
        return self.ops.pooling_backward(
            gy, layout, "max", ksize, stride=stride, pad=pad, workspace=workspace
        )


def _kind(pad_value: int | None) -> str:
    return "average_exclude_pad" if pad_value is None else "average"


class AveragePoolingNDKernel(IdeepKernel):
    """Kernel of ``average_pooling_nd``."""

    def forward(
        self,
        x: Any,
        ksize: Sizes,
        stride: Sizes,
        pad: Sizes,
        out_size: Sizes,
        pad_value: int | None,
    ) -> Any:
        return self.ops.pooling(
            x,
            _kind(pad_value),
            ksize,
            stride=stride,
            pad=pad,
            out_size=out_size,
            training=threads.state.enable_backprop,
        )[0]

    def backward(
        self,
        gy: Any,
        in_size: Sizes,
        ksize: Sizes,
        stride: Sizes,
        pad: Sizes,
        pad_value: int | None,
    ) -> Any:
        shape = (*gy.shape[:2], *in_size)
        return self.ops.pooling_backward(gy, shape, _kind(pad_value), ksize, stride=stride, pad=pad)
