"""Batch renormalization."""

from __future__ import annotations

import warnings

from chainer.backends.operations.normalizations import batch_renormalization as operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Axis, Indexes, VariableLike, Variables
from chainer.core.utils.argument import explained_keywords
from chainer.functions._callable import CallableNode
from chainer.functions.array.cast import cast
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.normalization.batch_normalization import (
    RunningStatistics,
    expanded_shape,
    fixed_batch_normalization,
    reduced_axes,
)
from chainer.functions.rules import ComposedFunction


class BatchRenormalizationFunction(CallableNode, RunningStatistics, ComposedFunction):
    """Batch renormalization.

    An instance can be called with ``x``, ``gamma`` and ``beta``; afterwards it has the updated
    running statistics.

    Args:
        eps (float): Added to variances.
        mean (array): Running mean; zeros if None.
        var (array): Running variance; zeros if None.
        decay (float): Decay rate of the running statistics.
        rmax (float): Largest correction of the scale.
        dmax (float): Largest correction of the mean.
        update_statistics (bool): Whether the running statistics are updated in place.
        axis (tuple of int): Axes to normalize over.

    Attributes:
        running_mean: Updated running mean; a new array unless it was updated in place.
        running_var: Updated running variance; a new array unless it was updated in place.
    """

    retained_inputs = (0, 1, 2)

    def __init__(
        self,
        eps: float = 2e-5,
        mean: Array | None = None,
        var: Array | None = None,
        decay: float = 0.9,
        rmax: float = 1,
        dmax: float = 0,
        update_statistics: bool = True,
        axis: Axis = None,
    ) -> None:
        if dmax < 0:
            raise ValueError(f"dmax must not be negative, got {dmax}")
        self._keep(eps, mean, var, decay, axis)
        self.rmax = rmax
        self.dmax = dmax
        self.update_statistics = update_statistics

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return None  # each sample corrects by the running statistics, and changes them

    def forward(self, inputs: Arrays) -> Arrays:
        x, gamma, beta = inputs
        xp = self.xp
        running_mean, running_var = self.running_mean, self.running_var
        # Without running averages, use zeros, as in a first call.
        if running_mean is None:
            running_mean = xp.zeros_like(gamma)
        # Zeros here, too: the first call of release 4 started from them.
        if running_var is None:
            running_var = xp.zeros_like(gamma)
        self._reduced = reduced_axes(self.axis, x.ndim, gamma.ndim)
        self._kernel = operation.select(x, gamma, beta, axis=self._reduced, eps=self.eps)
        running, limits = (running_mean, running_var), (self.rmax, self.dmax)
        y, mean, var, r, d = self._kernel.forward(
            x, gamma, beta, running, self.eps, limits, self._reduced
        )
        self._statistics = (mean, var, r, d)
        count = x.size // max(gamma.size, 1)
        # The running variance estimates the variance of the population, so it is unbiased.
        unbiased = var * (count / max(count - 1, 1))
        self.running_mean = self._averaged(running_mean, mean)
        self.running_var = self._averaged(running_var, unbiased)
        return (y,)

    def _averaged(self, running: Array, statistic: Array) -> Array:
        """Returns an updated running average: the same array if it is updated in place."""
        average = running * self.decay + statistic.reshape(running.shape) * (1 - self.decay)
        if not self.update_statistics:
            return average.astype(running.dtype, copy=False)
        running[...] = average
        return running

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, gamma, _ = self.retained_input_arrays
        gradients = self._kernel.backward(
            x, gamma, grad_outputs[0], self._statistics, self.eps, self._reduced
        )
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, x: Variable, gamma: Variable, beta: Variable) -> Variables:
        dtype = x.dtype
        _, _, r, d = self._statistics
        # The statistics are at least of single precision, and so is what is computed from them.
        x, gamma, beta = (cast(v, r.dtype) for v in (x, gamma, beta))
        axis = self._reduced
        shape = expanded_shape(x.shape, axis)
        count = max(1, x.size // max(1, gamma.size))
        centered = x - sum_axes(x, axis, keepdims=True) / count
        var = sum_axes(centered * centered, axis, keepdims=True) / count
        normalized = centered * ((var + self.eps) ** -0.5 * r.reshape(shape)) + d.reshape(shape)
        return (cast(normalized * gamma.reshape(shape) + beta.reshape(shape), dtype),)


@explained_keywords
def batch_renormalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    rmax: float,
    dmax: float,
    eps: float = 2e-5,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    decay: float = 0.9,
    update_statistics: bool = False,
    axis: Axis = None,
) -> Variable:
    """Batch renormalization function.

    This is an extension of batch normalization, which ensures that the training and inference
    models generate the same outputs that depend on individual examples rather than the entire
    minibatch.

    Contrary to :func:`batch_normalization`, the running statistics are updated in place only with
    ``update_statistics``.

    Args:
        x (~chainer.Variable or array): Input, floating point.
        gamma (~chainer.Variable or array): Scaling parameter of normalized data.
        beta (~chainer.Variable or array): Shifting parameter of scaled normalized data.
        rmax (float): Largest correction of the scale, 1 or more.
        dmax (float): Largest correction of the mean, at least 0.
        eps (float): Added to variances for numerical stability.
        running_mean (array): Running average of the mean; zeros if None.
        running_var (array): Running average of the variance; zeros if None.
        decay (float): Decay rate of the running averages.
        update_statistics (bool): Whether ``running_mean`` and ``running_var`` are updated in place,
            after they were used.
        axis (int, tuple of ints or None): Axes to average over; see :func:`batch_normalization`.

    Returns:
        ~chainer.Variable: Output with the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``dmax`` is negative.

    See: `Batch Renormalization: Towards Reducing Minibatch Dependence in Batch-Normalized Models
    <https://arxiv.org/abs/1702.03275>`_

    .. seealso:: :class:`~chainer.links.BatchRenormalization`, :func:`batch_normalization`

    Example:
        >>> x = np.array([[1, 10], [3, 30]], np.float32)
        >>> one, zero = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> y = F.batch_renormalization(
        ...     x, one, zero, rmax=1, dmax=0, running_mean=zero, running_var=one)
        >>> y.array.round(3)
        array([[-1., -1.],
               [ 1.,  1.]], dtype=float32)
    """
    node = BatchRenormalizationFunction(
        eps, running_mean, running_var, decay, rmax, dmax, update_statistics, axis
    )
    return node.apply((x, gamma, beta))[0]


@explained_keywords
def fixed_batch_renormalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    mean: VariableLike,
    var: VariableLike,
    eps: float = 2e-5,
    axis: Axis = None,
) -> Variable:
    """Batch renormalization function with fixed statistics.

    .. warning:: It is deprecated. Use :func:`fixed_batch_normalization` instead, which is the same:
       at test time no correction is left.

    Args:
        x (~chainer.Variable or array): Input, floating point.
        gamma (~chainer.Variable or array): Scaling parameter of normalized data.
        beta (~chainer.Variable or array): Shifting parameter of scaled normalized data.
        mean (~chainer.Variable or array): Shifting parameter of input.
        var (~chainer.Variable or array): Square of scaling parameter of input.
        eps (float): Added to the variance for numerical stability.
        axis (int, tuple of ints or None): Axes that the parameters do not have.

    Returns:
        ~chainer.Variable: Output with the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> x = np.array([[1., 2.], [3., 6.]], np.float32)
        >>> ones, mean = np.ones(2, np.float32), np.array([2., 4.], np.float32)
        >>> F.fixed_batch_renormalization(x, ones, 0 * ones, mean, 4 * ones, eps=0.)
        variable([[-0.5, -1. ],
                  [ 0.5,  1. ]])
    """
    warnings.warn(
        "fixed_batch_renormalization is deprecated. Use fixed_batch_normalization instead.",
        DeprecationWarning,
        stacklevel=3,  # above the decorator's call
    )
    return fixed_batch_normalization(x, gamma, beta, mean, var, eps, axis)
