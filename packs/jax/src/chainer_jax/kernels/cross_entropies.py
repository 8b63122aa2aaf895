"""Softmax cross entropy without indexes: comparisons are fused with the arithmetic around them."""

from __future__ import annotations

from functools import partial
from typing import Any

from chainer.backends.numpy.kernels import cross_entropies as reference

from chainer_jax.kernels.one_program import OneProgramKernel


class _Compared(reference.SoftmaxCrossEntropyKernel):
    """The reference kernel with comparisons in place of indexes."""

    def _is_label(self, array: Any, labels: Any) -> Any:
        classes = self.xp.arange(array.shape[1]).reshape((-1,) + (1,) * (array.ndim - 2))
        return labels[:, None] == classes

    def _pick(self, array: Any, labels: Any) -> Any:
        return self.xp.where(self._is_label(array, labels), array, 0).sum(axis=1)

    def _subtract(self, array: Any, labels: Any, values: Any) -> None:
        array -= self.xp.where(self._is_label(array, labels), values[:, None], 0)


SoftmaxCrossEntropyKernel = partial(OneProgramKernel, "softmax_cross_entropy", kernel=_Compared)
