"""The function behind batch normalization over the batches of all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import FunctionNode
from chainer.utils import type_check
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from chainer.typing import DTypeLike, Grads, Indexes


class MultiNodeBatchNormalizationFunction(FunctionNode):
    """Normalizes by the mean and variance over all processes, in training.

    Args:
        comm: Communicator.
        eps: Added to the variance.
    """

    def __init__(self, comm: CommunicatorBase, eps: float) -> None:
        self._comm, self._eps = comm, eps

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x, gamma, beta = in_types
        type_check.expect(
            x.dtype.kind == "f",
            x.ndim >= gamma.ndim + 1,
            x.shape[1 : 1 + type_check.eval(gamma.ndim)] == gamma.shape,
            gamma.dtype == beta.dtype,
            gamma.shape == beta.shape,
        )

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gamma, beta = inputs
        xp = self.xp
        self._axes = (0, *range(1 + gamma.ndim, x.ndim))
        expand = self._expand = (None, *(slice(None),) * gamma.ndim) + (None,) * (
            x.ndim - 1 - gamma.ndim
        )
        wide = numpy.promote_types(numpy.promote_types(x.dtype, gamma.dtype), numpy.float32)
        values = x.astype(wide, copy=False)
        shift = values.mean(axis=self._axes)
        deviations = values - shift[expand]
        # The moments of all processes are joined in float64: their difference is as small as the
        # square of the mean is large. Within a process, deviations are small numbers.
        rest = deviations.mean(axis=self._axes).astype(numpy.float64)
        spread = (deviations * deviations).mean(axis=self._axes).astype(numpy.float64)
        mean = shift.astype(numpy.float64) + rest
        moments = xp.stack([mean, spread - rest * rest + mean * mean])
        self._comm.mean_array(moments)
        # Rounding can make the difference negative.
        variance = xp.maximum(moments[1] - moments[0] * moments[0], 0)
        deviations -= (moments[0] - shift).astype(wide)[expand]
        self.mean, self.var = moments[0].astype(wide), variance.astype(wide)
        self._inv_std = 1 / xp.sqrt(self.var + wide_type(self._eps, wide))
        deviations *= self._inv_std[expand]
        self._x_hat = deviations
        y = gamma[expand].astype(wide) * self._x_hat + beta[expand].astype(wide)
        self.retain_inputs((1,))
        return (y.astype(x.dtype, copy=False),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        (gamma,) = self.get_retained_inputs()
        xp, expand = self.xp, self._expand
        x_node, gamma_node, beta_node = self.input_nodes
        (output_gradient,) = grad_outputs
        assert output_gradient is not None  # A node with one output runs for its gradient only.
        gy = output_gradient.array.astype(self._x_hat.dtype, copy=False)
        sums = xp.stack([gy.sum(axis=self._axes), (gy * self._x_hat).sum(axis=self._axes)])
        sums = xp.ascontiguousarray(sums)
        self._comm.mean_array(sums)
        gbeta, ggamma = sums
        count = gy.size // max(gamma.size, 1)
        scale = (gamma.array.astype(gy.dtype) * self._inv_std)[expand]
        gx = scale * (gy - (self._x_hat * ggamma[expand] + gbeta[expand]) / count)
        return (
            chainer.Variable(gx.astype(x_node.dtype, copy=False)),
            chainer.Variable(ggamma.astype(gamma_node.dtype, copy=False)),
            chainer.Variable(gbeta.astype(beta_node.dtype, copy=False)),
        )


def wide_type(value: float, dtype: DTypeLike) -> Any:
    """Returns a number of a dtype, which does not change the dtype of arrays."""
    return numpy.dtype(dtype).type(value)
