"""Reference kernels of the cross entropy losses."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype, to_compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class SoftmaxCrossEntropyKernel(ReferenceKernel):
    """Softmax cross entropy with log-sum-exp; float16 is computed in float32."""

    def forward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, keep_score: bool
    ) -> tuple[Array, Array]:
        xp = self.xp
        dtype = x.dtype
        x = to_compute_dtype(x)
        if x.size == 0:
            return xp.zeros(t.shape, dtype), (xp.zeros_like(x) if keep_score else None)
        # Shifted by the maximum, no exponential overflows.
        shifted = x - x.max(axis=1, keepdims=True)
        exponentials = xp.exp(shifted)
        sums = exponentials.sum(axis=1, keepdims=True)
        valid = t != ignore_label
        # Ignored labels may be out of range: they look up class 0, and a factor of 0 follows.
        labels = xp.where(valid, t, 0)
        # NumPy would count from the end. A GPU would have to wait for the answer.
        if xp is numpy and labels.min() < 0:
            raise IndexError("a label is negative and not the label to ignore")
        losses = xp.log(sums[:, 0]) - self._pick(shifted, labels)
        if class_weight is not None:
            losses *= class_weight[labels]
        losses *= valid
        score = None
        if keep_score:
            exponentials /= sums
            score = exponentials
        return losses.astype(dtype, copy=False), score

    def backward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, score: Array, scale: Any
    ) -> Array:
        xp = self.xp
        dtype = x.dtype if score is None else score.dtype
        if score is None:
            x = to_compute_dtype(x)
            if x.size == 0:
                return xp.zeros(x.shape, dtype)
            score = x - x.max(axis=1, keepdims=True)
            xp.exp(score, out=score)
            score /= score.sum(axis=1, keepdims=True)
        elif score.size == 0:
            return xp.zeros_like(score)
        valid = t != ignore_label
        labels = xp.where(valid, t, 0)
        factors = valid * xp.asarray(scale, score.dtype)
        if class_weight is not None:
            factors *= class_weight[labels]
        gx = score * factors[:, None]
        # The gradient is the softmax, less one at the label.
        self._subtract(gx, labels, factors)
        return gx.astype(dtype, copy=False)

    # Two dimensions, the usual case, are indexed several times faster than take_along_axis does it.

    def _subtract(self, array: Array, labels: Array, values: Array) -> None:
        """Subtracts a value from the element of each label."""
        xp = self.xp
        if array.ndim == 2:
            array[xp.arange(len(labels)), labels] -= values
        else:
            index = labels[:, None]
            hit = xp.take_along_axis(array, index, axis=1) - values[:, None]
            xp.put_along_axis(array, index, hit, axis=1)

    def _pick(self, array: Array, labels: Array) -> Array:
        """Returns the element of each label."""
        xp = self.xp
        if array.ndim == 2:
            return array[xp.arange(len(labels)), labels]
        return xp.take_along_axis(array, labels[:, None], axis=1)[:, 0]


class LossMeanKernel(ReferenceKernel):
    """Mean of the losses of labeled samples."""

    def forward(
        self, losses: Array, t: Array, ignore_label: int, count: int | None
    ) -> tuple[Array, Array]:
        xp = self.xp
        if count is None:
            coefficient = 1.0 / xp.maximum((t != ignore_label).sum(), 1)
        else:
            coefficient = 1.0 / max(count, 1)
        total = losses.sum(dtype=compute_dtype(losses.dtype))
        return xp.asarray(total * coefficient, dtype=losses.dtype), coefficient
