"""Decorrelated batch normalization: whitening of groups of channels."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.numpy.kernels.group_normalizations import from_groups, to_groups
from chainer.backends.operations.group_normalizations import (
    decorrelated_batch_normalization as operation,
)
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Grads, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._errors import InvalidValue, expect_as
from chainer.functions._scalars import require_int
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, once_differentiable

ONCE = "Double backward is not implemented for decorrelated batch normalization."


def _as_groups(groups: Any) -> int:
    groups = require_int(groups, "groups")
    if groups < 1:
        raise ValueError(f"groups must be positive, got {groups}")
    return groups


class DecorrelatedBatchNormalization(FunctionNode):
    """Whitening of groups of channels with the statistics of the batch.

    Args:
        groups (int): Number of groups.
        eps (float): Added to the variances.
        mean (array): Running mean, changed in place; None if there is none.
        projection (array): Running projection, changed in place; None if there is none.
        decay (float): Decay rate of the running statistics.

    Attributes:
        running_mean: Running mean.
        running_projection: Running projection.
    """

    type_check_key = ("groups",)

    def __init__(
        self,
        groups: int = 16,
        eps: float = 2e-5,
        mean: Array = None,
        projection: Array = None,
        decay: float = 0.9,
    ) -> None:
        self.groups = _as_groups(groups)
        self.eps = eps
        self.running_mean = mean
        self.running_projection = projection
        self.decay = decay

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("x",))
        (x,) = in_types
        type_check.expect(x.dtype.kind == "f", x.ndim >= 2)
        type_check.expect(x.shape[1] % self.groups == 0)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        arguments = {"groups": self.groups, "eps": float(self.eps)}
        self._kernel = operation.select(x, **arguments)
        y, mean, projection, self._residual = self._kernel.forward(x, **arguments)
        count = x.size // max(x.shape[1], 1)
        self._update(self.running_mean, mean)
        self._update(self.running_projection, projection * (count / max(count - 1, 1)))
        return (y,)

    def _update(self, running: Array, statistic: Array) -> None:
        if running is not None:
            running *= self.decay
            running += (statistic * (1 - self.decay)).astype(running.dtype, copy=False)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Any) -> Grads:
        return once_differentiable(self, target_input_indexes, grad_outputs, ONCE)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._kernel.backward(grad_outputs[0], self._residual),)


class FixedDecorrelatedBatchNormalization(ExpressionFunction):
    """Whitening of groups of channels with given statistics.

    Args:
        groups (int): Number of groups.
    """

    type_check_key = ("groups",)
    retained_inputs = (0, 1, 2)

    def __init__(self, groups: int) -> None:
        self.groups = _as_groups(groups)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("x", "mean", "projection"))
        x, mean, projection = in_types
        type_check.expect(
            x.dtype.kind == "f", mean.dtype == x.dtype, projection.dtype == x.dtype, x.ndim >= 2
        )
        type_check.expect(x.shape[1] % self.groups == 0)
        size = type_check.eval(x.shape[1]) // self.groups
        # Release 7 left it to the product of matrices, which raised ValueError.
        expect_as(
            InvalidValue,
            mean.shape == (self.groups, size),
            projection.shape == (self.groups, size, size),
        )

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        dtype = numpy.dtype(numpy.float32) if is_half(x.dtype) else x.dtype
        values, mean, projection = (a.astype(dtype, copy=False) for a in inputs)
        values = to_groups(values, self.groups) - mean[:, :, None]
        y = from_groups(self.xp.matmul(projection, values), x.shape)
        return (y.astype(x.dtype, copy=False),)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        x, mean, projection, gy = values
        gradient = to_groups(gy, self.groups)
        by_values = ops.matmul(projection, gradient, transa=True)
        gradients = []
        for i in targets:
            if i == 0:
                gradients.append(from_groups(by_values, x.shape))
            elif i == 1:
                gradients.append(-ops.sum(by_values, axis=2))
            else:
                centered = to_groups(x, self.groups)
                centered = centered - ops.broadcast_to(mean[:, :, None], centered.shape)
                gradients.append(ops.matmul(gradient, centered, transb=True))
        return tuple(gradients)


@explained_keywords
def decorrelated_batch_normalization(
    x: VariableLike,
    *,
    groups: int = 16,
    eps: float = 2e-5,
    running_mean: Array = None,
    running_projection: Array = None,
    decay: float = 0.9,
) -> Variable:
    """Decorrelated batch normalization function.

    It normalizes groups of channels over a batch so that each channel has mean 0 and variance 1,
    and channels of a group are not correlated (ZCA whitening). Unlike :func:`batch_normalization`
    it has no parameters. It is differentiable once.

    Args:
        x (:class:`~chainer.Variable` or array): Batch, shape ``(N, C, ...)``, floating point.
        groups (int): Number of groups, a divisor of ``C``; each has ``K = C / groups`` channels.
        eps (float): Added to the variances for numerical stability.
        running_mean (array): Running average of the mean, shape ``(groups, K)``, updated in place.
            None if there is none.
        running_projection (array): Running average of the projection matrices, shape ``(groups, K,
            K)``, updated in place. None if there is none.
        decay (float): Decay rate of the running averages.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit, or ``groups`` is not a divisor of ``C``.
        TypeError: If ``groups`` is not an integer.
        ValueError: If ``groups`` is not positive.

    See: `Decorrelated Batch Normalization <https://arxiv.org/abs/1804.08450>`_

    .. seealso:: :class:`~chainer.links.DecorrelatedBatchNormalization`

    Example:
        >>> x = np.array([[1., 2.], [3., 6.], [5., 1.], [7., 3.]])
        >>> y = F.decorrelated_batch_normalization(x, groups=1).array
        >>> (y.T @ y / 4).round(4)
        array([[ 1., -0.],
               [-0.,  1.]])
    """
    node = DecorrelatedBatchNormalization(groups, eps, running_mean, running_projection, decay)
    return node.apply((x,))[0]


@explained_keywords
def fixed_decorrelated_batch_normalization(
    x: VariableLike, mean: VariableLike, projection: VariableLike, groups: int = 16
) -> Variable:
    """Decorrelated batch normalization function with given statistics.

    Args:
        x (:class:`~chainer.Variable` or array): Batch, shape ``(N, C, ...)``, floating point.
        mean (:class:`~chainer.Variable` or array): Mean, shape ``(groups, K)`` with ``K = C /
            groups``, dtype of ``x``.
        projection (:class:`~chainer.Variable` or array): Projection matrices, shape ``(groups, K,
            K)``, dtype of ``x``.
        groups (int): Number of groups, a divisor of ``C``.

    Returns:
        ~chainer.Variable: Each group of channels, less its mean, times its matrix; of the shape and
        dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If ``groups`` is not an integer.
        ValueError: If ``groups`` is not positive.

    .. seealso:: :func:`decorrelated_batch_normalization`

    Example:
        >>> x, mean = np.array([[1., 2.], [3., 6.]]), np.array([[2., 4.]])
        >>> projection = np.array([[[1., 0.], [0., 0.5]]])
        >>> F.fixed_decorrelated_batch_normalization(x, mean, projection, 1)
        variable([[-1., -1.],
                  [ 1.,  1.]])
    """
    return FixedDecorrelatedBatchNormalization(groups).apply((x, mean, projection))[0]
