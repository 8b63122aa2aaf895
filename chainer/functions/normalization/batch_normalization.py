"""Batch normalization."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from typing import Any

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.normalizations import (
    batch_normalization as operation,
)
from chainer.backends.operations.normalizations import (
    fixed_batch_normalization as fixed_operation,
)
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import expect_number
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    Axis,
    Indexes,
    Shape,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.core.utils.argument import REMOVED_TRAIN, explained_keywords, removed_arguments
from chainer.functions._scalars import as_int
from chainer.functions.rules import KernelFunction, Ops, Value, Values
from chainer.functions.rules.batching import shifted_axis, with_samples

Axes = tuple[int, ...]


def as_axes(axis: Any) -> Axes | None:
    """Returns the argument ``axis`` as a tuple.

    Raises:
        RuntimeError: If the axes are not in ascending order.
        TypeError: If they are not integers.
    """
    if axis is None:
        return None
    message = f"axis must be an int or a tuple of ints, got {axis!r}"
    axes = tuple([as_int(i, message) for i in (axis if isinstance(axis, Iterable) else (axis,))])
    if list(axes) != sorted(set(axes)):
        raise RuntimeError(f"numbers in axis must be sorted in ascending order, got {axis!r}")
    return axes


def reduced_axes(axis: Axes | None, ndim: int, gamma_ndim: int) -> Axes:
    """Returns the axes to normalize over; by default the first, and the last ones without gamma."""
    return (0, *range(gamma_ndim + 1, ndim)) if axis is None else axis


def expanded_shape(shape: Shape, axis: Axes) -> tuple[int, ...]:
    """Returns the shape that lets a parameter broadcast to an input of a given shape."""
    return tuple([1 if i in axis else n for i, n in enumerate(shape)])


def check_types(in_types: type_check.TypeInfoTuple, axis: Axes | None, count: int) -> None:
    """Checks input, parameters and, if ``count`` is 5, statistics."""
    type_check.expect(in_types.size() == count)
    x_type, gamma_type = in_types[:2]
    gamma_ndim = type_check.eval(gamma_type.ndim)
    type_check.expect(x_type.dtype.kind == "f")
    if axis is None:
        type_check.expect(
            x_type.ndim >= gamma_type.ndim + 1,
            x_type.shape[1 : 1 + gamma_ndim] == gamma_type.shape,
        )
    else:
        if axis:
            type_check.expect(x_type.ndim > axis[-1])
            if axis[0] < 0:
                raise type_check.InvalidType("axis >= 0", f"{axis[0]} < 0")
        kept = [i for i in range(type_check.eval(x_type.ndim)) if i not in axis]
        type_check.expect(gamma_type.ndim == len(kept))
        for i, j in enumerate(kept):
            type_check.expect(x_type.shape[j] == gamma_type.shape[i])
    # The parameters may have another dtype than x: with mixed precision they have more bits.
    type_check.expect(gamma_type.dtype.kind == "f")
    for other in in_types[2:]:
        same = type_check.eval(gamma_type.dtype) == type_check.eval(x_type.dtype)
        dtype = x_type.dtype if same else gamma_type.dtype
        type_check.expect(other.dtype == dtype)
    type_check.expect(gamma_type.shape == in_types[2].shape)
    for other in in_types[3:]:
        type_check.expect(other.shape == gamma_type.shape)


class _ReducedAxes:
    """Attributes of both nodes for the axes that are averaged over.

    Attributes:
        axis: Axes that are averaged over. After the node is applied, it is always a tuple.
    """

    axis: Axes | None
    _ndim: int | None = None

    def _reduce(self, x: Array, gamma: Array) -> Axes:
        self._ndim = x.ndim
        self.axis = reduced_axes(self.axis, x.ndim, gamma.ndim)
        return self.axis

    def batched(
        self: Any, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies a copy to parameters that have the axis of samples, too."""
        if getattr(self, "running_mean", None) is not None:
            return None  # each sample changes the running statistics
        taken = with_samples(inputs, are_batched, size)
        x, gamma = taken[:2]
        node = copy.copy(self)
        node.axis = shifted_axis(reduced_axes(self.axis, x.ndim - 1, gamma.ndim - 1), x.ndim - 1)
        return node.apply(taken)

    @property
    def key_axis(self) -> Axes | None:
        """The other axes, which the parameters have; None before the node is applied."""
        if self._ndim is None or self.axis is None:
            return None
        return tuple([i for i in range(self._ndim) if i not in self.axis])

    @property
    def expander(self) -> tuple[slice | None, ...] | None:
        """Index that lets a parameter broadcast to the input; None before the node is applied."""
        key_axis = self.key_axis
        if key_axis is None or self._ndim is None:
            return None
        return tuple([slice(None) if i in key_axis else None for i in range(self._ndim)])


class RunningStatistics:
    """Mixin for normalizations of ``x``, ``gamma`` and ``beta`` that keep running statistics."""

    type_check_key = ("axis",)
    axis: Axes | None

    def _keep(
        self, eps: float, mean: Array | None, var: Array | None, decay: float, axis: Axis
    ) -> None:
        self.eps = eps
        self.running_mean = mean
        self.running_var = var
        self.decay = decay
        self.axis = as_axes(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_types(in_types, self.axis, 3)


class BatchNormalization(_ReducedAxes, RunningStatistics, KernelFunction):
    """Batch normalization with the statistics of the batch.

    Args:
        eps (float): Added to the variance.
        mean (array): Running mean, changed in place; None if there is none.
        var (array): Running variance.
        decay (float): Decay rate of the running statistics.
        axis (tuple of int): Axes to normalize over.

    Attributes:
        mean: Mean of the batch.
        inv_std: Reciprocal of the standard deviation.
        running_mean: Running mean.
        running_var: Running variance.
    """

    keeps_layout = True

    accepts_opaque_arrays = True
    retained_inputs = (0, 1)
    mean: Array | None = None
    inv_std: Array | None = None

    def __init__(
        self,
        eps: float = 2e-5,
        mean: Array | None = None,
        var: Array | None = None,
        decay: float = 0.9,
        axis: Axis = None,
    ) -> None:
        if (mean is None) != (var is None):
            missing = "running_mean" if mean is None else "running_var"
            raise ValueError(
                f"running_mean and running_var must both be given or both None; {missing} is None"
            )
        self._keep(eps, mean, var, decay, axis)

    def forward(self, inputs: Arrays) -> Arrays:
        x, gamma, beta = inputs
        self._reduced = self._reduce(x, gamma)
        self._kernel = operation.select(x, gamma, beta, axis=self._reduced, eps=self.eps)
        running = None if self.running_mean is None else (self.running_mean, self.running_var)
        y, self.mean, self.inv_std, self._residual = self._kernel.forward(
            x, gamma, beta, running, self.eps, self.decay, self._reduced
        )
        return (y,)

    @property
    def var(self) -> Array | None:
        """Biased variance of the batch; None before the node is applied."""
        # Computed on demand, because only programs that inspect the node need it.
        return None if self.inv_std is None else self.inv_std**-2.0 - self.eps

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, gamma = self.retained_input_arrays
        gradients = self._kernel.backward(
            x, gamma, grad_outputs[0], self.mean, self.inv_std, self._residual, self._reduced
        )
        return tuple([gradients[i] for i in target_input_indexes])

    def gradients(self, ops: Ops, targets: Indexes, x: Value, gamma: Value, gy: Value) -> Values:
        dtype = compute_dtype(x.dtype, gamma.dtype)
        axis, parameter_shape = self._reduced, gamma.shape
        dtypes = (x.dtype, gamma.dtype, gamma.dtype)
        x, gamma, gy = (ops.cast(v, dtype) for v in (x, gamma, gy))
        # At least one, so that nothing is divided by zero if the batch is empty.
        count = max(1, x.size // max(1, gamma.size))
        centered = x - ops.sum(x, axis, keepdims=True) / count
        inv_std = (ops.sum(centered * centered, axis, keepdims=True) / count + self.eps) ** -0.5
        normalized = centered * inv_std
        gbeta = ops.sum(gy, axis, keepdims=True)
        ggamma = ops.sum(gy * normalized, axis, keepdims=True)
        inner = gy - (gbeta + normalized * ggamma) / count
        gx = inner * (gamma.reshape(inv_std.shape) * inv_std)
        gradients = (gx, ggamma.reshape(parameter_shape), gbeta.reshape(parameter_shape))
        return tuple([ops.cast(gradients[i], dtypes[i]) for i in targets])


class FixedBatchNormalization(_ReducedAxes, KernelFunction):
    """Batch normalization with given statistics.

    Args:
        eps (float): Added to the variance.
        axis (tuple of int): Axes to normalize over.
    """

    keeps_layout = True

    accepts_opaque_arrays = True
    type_check_key = ("axis",)
    # No gradient depends on the value of the bias.
    retained_inputs = (0, 1, 3, 4)

    def __init__(self, eps: float = 2e-5, axis: Axis = None) -> None:
        self.eps = eps
        self.axis = as_axes(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_types(in_types, self.axis, 5)

    def forward(self, inputs: Arrays) -> Arrays:
        x, gamma, beta, mean, var = inputs
        self._reduced = self._reduce(x, gamma)
        self._kernel = fixed_operation.select(
            x, gamma, beta, mean, var, axis=self._reduced, eps=self.eps
        )
        return (self._kernel.forward(x, gamma, beta, mean, var, self.eps, self._reduced),)

    @property
    def inv_var(self) -> Array:
        """Reciprocal of the variance, with ``eps`` added."""
        return 1 / (self.retained_input_arrays[3] + self.eps)

    @property
    def inv_std(self) -> Array:
        """Reciprocal of the standard deviation, with ``eps`` added to the variance."""
        return self.inv_var**0.5

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gradients = self._kernel.backward(
            *self.retained_input_arrays, grad_outputs[0], self.eps, self._reduced
        )
        return tuple([gradients[i] for i in target_input_indexes])

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        x_dtype, gamma_dtype = values[0].dtype, values[1].dtype
        dtype = compute_dtype(x_dtype, gamma_dtype)
        x, gamma, mean, var, gy = (ops.cast(v, dtype) for v in values)
        shape = expanded_shape(x.shape, self._reduced)
        inv_std = (var + self.eps) ** -0.5
        factor = gamma * inv_std
        gbeta = ops.sum(gy, self._reduced)
        ggamma = ops.sum(gy * (x - mean.reshape(shape)), self._reduced) * inv_std
        gvar = ggamma * factor * inv_std * -0.5
        gradients = (gy * factor.reshape(shape), ggamma, gbeta, -factor * gbeta, gvar)
        return tuple([ops.cast(gradients[i], gamma_dtype if i else x_dtype) for i in targets])


@removed_arguments(train=REMOVED_TRAIN)
def batch_normalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    *,
    eps: float = 2e-5,
    running_mean: VariableLike | None = None,
    running_var: VariableLike | None = None,
    decay: float = 0.9,
    axis: Axis = None,
) -> Variable:
    """Batch normalization function.

    It normalizes ``x`` by mean and variance over the batch, scales it by ``gamma`` and shifts it
    by ``beta``. The parameters have the *channel shape*: with ``axis=None`` the dimensions of
    ``x`` that follow the first one. All other dimensions are averaged over. So for an input of
    four dimensions and parameters of one, the first dimension is the batch, the second the
    channels, and the remaining two are spatial dimensions that are averaged over as well.

    Args:
        x (~chainer.Variable or array): Input, floating point.
        gamma (~chainer.Variable or array): Scaling parameter of normalized data, of any floating
            point dtype. Statistics are computed in the wider dtype of the two.
        beta (~chainer.Variable or array): Shifting parameter of scaled normalized data, of the
            dtype of ``gamma``.
        eps (float): Added to the variance for numerical stability.
        running_mean (array): Running average of the mean over several batches, updated in place by
            ``running_mean * decay + mean * (1 - decay)``. If None, there is none.
        running_var (array): Running average of the (unbiased) variance, likewise. Both are given
            or none.
        decay (float): Decay rate of the running averages.
        axis (int, tuple of ints or None): Axes of ``x`` to average over, in ascending order. The
            others make up the channel shape.

    Returns:
        ~chainer.Variable: Output with the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        RuntimeError: If ``axis`` is not in ascending order.
        ValueError: If only one of the running averages is given, or for the removed argument
            ``train``.

    Warns:
        UserWarning: If every axis that is averaged over has length one: the output is ``beta``.

    See: `Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
        Shift <https://arxiv.org/abs/1502.03167>`_

    .. seealso:: :class:`~chainer.links.BatchNormalization`

    Example:
        >>> x = np.array([[1, 10], [3, 30]], np.float32)
        >>> mean, var = np.zeros(2, np.float32), np.ones(2, np.float32)
        >>> gamma, beta = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> y = F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=var)
        >>> y.array.round(3)
        array([[-1., -1.],
               [ 1.,  1.]], dtype=float32)
        >>> mean
        array([0.2, 2. ], dtype=float32)
    """
    # Running averages are updated in place and are not part of the graph.
    if isinstance(running_mean, Variable):
        running_mean = running_mean.array
    if isinstance(running_var, Variable):
        running_var = running_var.array
    expect_number("decay of batch_normalization", decay, at_least=0, at_most=1)
    node = BatchNormalization(eps, running_mean, running_var, decay, axis)
    y = node.apply((x, gamma, beta))[0]
    # Each mean is over a single element. (An empty batch has no elements, so it is excluded.)
    if x.size == gamma.size != 0:
        _warn_of_single_samples(node.axis or ())
    return y


def _warn_of_single_samples(axis: Axes) -> None:
    """Warns that each mean is over a single element."""
    if 0 in axis:
        text = (
            "A batch with no more than one sample has been given to F.batch_normalization. "
            "F.batch_normalization will always output a zero tensor for such batches. This could "
            "be caused by incorrect configuration in your code (such as running evaluation while "
            "chainer.config.train=True), but could also happen in the last batch of training if "
            "non-repeating iterator is used."
        )
    else:
        text = (
            "F.batch_normalization received a batch with single dimensions along all axes that are "
            "used for aggregating statistics. F.batch_normalization will always output a zero "
            "tensor for such batches."
        )
    # Point to the line that called batch_normalization.
    warnings.warn(text, UserWarning, stacklevel=4)


@explained_keywords
def fixed_batch_normalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    mean: VariableLike,
    var: VariableLike,
    eps: float = 2e-5,
    axis: Axis = None,
) -> Variable:
    """Batch normalization function with fixed statistics.

    This is a variant of batch normalization where mean and variance are given. It is used for
    testing, where the statistics of the batch would make predictions depend on each other.

    Args:
        x (~chainer.Variable or array): Input, floating point.
        gamma (~chainer.Variable or array): Scaling parameter of normalized data.
        beta (~chainer.Variable or array): Shifting parameter of scaled normalized data.
        mean (~chainer.Variable or array): Shifting parameter of input.
        var (~chainer.Variable or array): Square of scaling parameter of input.
        eps (float): Added to the variance for numerical stability.
        axis (int, tuple of ints or None): Axes that the parameters do not have; see
            :func:`batch_normalization`.

    Returns:
        ~chainer.Variable: Output with the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    .. seealso:: :func:`batch_normalization`, :class:`~chainer.links.BatchNormalization`

    Example:
        >>> one = np.ones(2, np.float32)
        >>> x = np.array([[1, 2], [3, 4]], np.float32)
        >>> F.fixed_batch_normalization(x, one, one, 2 * one, 4 * one, eps=0.).array
        array([[0.5, 1. ],
               [1.5, 2. ]], dtype=float32)
    """
    return FixedBatchNormalization(eps, axis).apply((x, gamma, beta, mean, var))[0]
