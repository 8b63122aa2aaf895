"""Softmax cross entropy without indexes: comparisons are fused with the arithmetic around them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from chainer.backends.numpy.kernels import cross_entropies as reference

from chainer_jax.kernels.one_program import OneProgramKernel

if TYPE_CHECKING:
    from chainer.typing import Array


class _Compared(reference.SoftmaxCrossEntropyKernel):
    """The reference kernel with comparisons in place of indexes."""

    def _is_label(self, array: Array, labels: Array) -> Any:
        classes = self.xp.arange(array.shape[1]).reshape((-1,) + (1,) * (array.ndim - 2))
        return labels[:, None] == classes

    def _pick(self, array: Array, labels: Array) -> Any:
        return self.xp.where(self._is_label(array, labels), array, 0).sum(axis=1)

    def _subtract(self, array: Array, labels: Array, values: Array) -> None:
        array -= self.xp.where(self._is_label(array, labels), values[:, None], 0)


SoftmaxCrossEntropyKernel = partial(OneProgramKernel, "softmax_cross_entropy", kernel=_Compared)
