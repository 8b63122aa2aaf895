"""Reference kernels of sums over axes and of means of losses."""

from __future__ import annotations

from typing import Any

from chainer.core.kernel import ReferenceKernel


class AxesSumKernel(ReferenceKernel):
    """Sum over axes."""

    def forward(self, x: Any, axis: Any, keepdims: bool) -> Any:
        return self.xp.asarray(x.sum(axis=axis, keepdims=keepdims))


class LossMeanKernel(ReferenceKernel):
    """Mean of the losses of labelled samples."""

    def forward(self, losses: Any, t: Any, ignore_label: int, count: int | None) -> tuple[Any, Any]:
        xp = self.xp
        if count is None:
            coefficient = 1.0 / xp.maximum((t != ignore_label).sum(), 1)
        else:
            coefficient = 1.0 / max(count, 1)
        total = losses.sum(dtype=losses.dtype if losses.dtype.itemsize > 2 else "float32")
        return xp.asarray(total * coefficient, dtype=losses.dtype), coefficient
