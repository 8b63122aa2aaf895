"""Reference kernels of the cross entropy losses."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype, to_compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DType

# The largest number of float16: a sum of that many exponentials cannot overflow.
_MAX_FLOAT16_CLASSES = 65504


class SoftmaxCrossEntropyKernel(ReferenceKernel):
    """Softmax cross entropy with log-sum-exp.

    Each step of float16 is rounded to float16, in the order of release 7, so that losses and
    gradients are equal to its. bfloat16, and float16 of more than 65,504 classes, are computed in
    float32.
    """

    def forward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, keep_score: bool
    ) -> tuple[Array, Array]:
        xp = self.xp
        dtype = x.dtype
        stepwise = _rounds_each_step(dtype, x.shape[1])
        if not stepwise:
            x = to_compute_dtype(x)
        if x.size == 0:
            return xp.zeros(t.shape, dtype), (xp.zeros_like(x) if keep_score else None)
        valid = t != ignore_label
        # Ignored labels may be out of range: they look up class 0, and a factor of 0 follows.
        labels = xp.where(valid, t, 0)
        # NumPy would count from the end. A GPU would have to wait for the answer.
        if xp is numpy and labels.min() < 0:
            raise IndexError("a label is negative and not the label to ignore")
        if stepwise:
            log_score = self._log_softmax(x)
            losses = -self._pick(log_score, labels)
            score = xp.exp(log_score) if keep_score else None
        else:
            # Shifted by the maximum, no exponential overflows.
            shifted = x - x.max(axis=1, keepdims=True)
            exponentials = xp.exp(shifted)
            sums = exponentials.sum(axis=1, keepdims=True)
            losses = xp.log(sums[:, 0]) - self._pick(shifted, labels)
            if keep_score:
                exponentials /= sums
            score = exponentials if keep_score else None
        if class_weight is not None:
            losses *= class_weight[labels]
        losses *= valid
        return losses.astype(dtype, copy=False), score

    def backward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, score: Array, scale: Any
    ) -> Array:
        xp = self.xp
        dtype = x.dtype if score is None else score.dtype
        if score is None:
            if x.size == 0:
                return xp.zeros(x.shape, dtype)
            score = self._softmax(x)
        elif score.size == 0:
            return xp.zeros_like(score)
        valid = t != ignore_label
        labels = xp.where(valid, t, 0)
        if _rounds_each_step(score.dtype, score.shape[1]):
            gx = score.copy()
            self._subtract(gx, labels, xp.ones(labels.shape, gx.dtype))
            if class_weight is not None:
                gx *= class_weight[labels][:, None]
            gx *= (valid * xp.asarray(scale, gx.dtype))[:, None]
            return gx
        factors = valid * xp.asarray(scale, score.dtype)
        if class_weight is not None:
            factors *= class_weight[labels]
        gx = score * factors[:, None]
        # The gradient is the softmax, less one at the label.
        self._subtract(gx, labels, factors)
        return gx.astype(dtype, copy=False)

    def _softmax(self, x: Array) -> Array:
        xp = self.xp
        if _rounds_each_step(x.dtype, x.shape[1]):
            return xp.exp(self._log_softmax(x))
        x = to_compute_dtype(x)
        score = x - x.max(axis=1, keepdims=True)
        xp.exp(score, out=score)
        score /= score.sum(axis=1, keepdims=True)
        return score

    def _log_softmax(self, x: Array) -> Array:
        """Computes the log softmax, rounded as in release 7."""
        largest = x.max(axis=1, keepdims=True)
        sums = self.xp.exp(x - largest).sum(axis=1, keepdims=True)
        return x - (largest + self.xp.log(sums))

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


def score_dtype(dtype: DType, n_classes: int) -> DType:
    """Returns the dtype in which the softmax of scores is kept.

    Args:
        dtype: Data type of the scores.
        n_classes: Number of classes.
    """
    return dtype if _rounds_each_step(dtype, n_classes) else compute_dtype(dtype)


def _rounds_each_step(dtype: DType, n_classes: int) -> bool:
    return dtype == numpy.float16 and n_classes <= _MAX_FLOAT16_CLASSES


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
