"""Group normalization."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer import functions
from chainer.backends.operations.group_normalizations import group_normalization as operation
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.rules import ComposedFunction, KernelFunction, Ops, Value, Values
from chainer.functions.rules.batching import with_samples


class GroupNormalization(KernelFunction):
    """Normalization of groups of channels.

    Args:
        groups (int): Number of groups.
        eps (float): Added to the variance.

    Attributes:
        mean: Mean of each group of each sample, in one row.
        inv_std: Reciprocal of the standard deviation of each.
    """

    batch_inputs = (0,)

    type_check_key = ("groups",)
    retained_inputs = (0, 1)
    mean: Array = None
    inv_std: Array = None

    def __init__(self, groups: int, eps: float = 1e-5) -> None:
        # bool is an int, but numbers of NumPy are not.
        if not isinstance(groups, (int, numpy.integer)):
            raise TypeError(
                f"Argument: 'groups' type must be (int), got {type(groups).__name__}: {groups!r}"
            )
        if groups < 1:
            raise ValueError(f"groups must be positive, got {groups}")
        self.groups = int(groups)
        self.eps = eps

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("x", "gamma", "beta"))
        x, gamma, beta = in_types
        type_check.expect(
            x.dtype.kind == "f",
            x.ndim >= 2,
            gamma.ndim == 1,
            beta.ndim == 1,
            gamma.dtype.kind == "f",
            gamma.dtype == beta.dtype,
            x.shape[1] == gamma.shape[0],
            gamma.shape == beta.shape,
        )
        channels = type_check.eval(x.shape[1])
        if channels % self.groups:
            raise ValueError(
                f"The number of channels {channels} is not divisible by 'groups' argument "
                f"{self.groups}."
            )

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        if not any(are_batched[1:]):
            return super().batched(inputs, are_batched, size)
        # Each sample has its own scale and shift, which follow the normalization.
        x, *parameters = with_samples(inputs, are_batched, size)
        dtype, channels = parameters[0].dtype, x.shape[2]
        with x.device:
            plain = self.xp.ones(channels, dtype), self.xp.zeros(channels, dtype)
        found = super().batched((x, *map(Variable, plain)), (True, False, False), size)
        assert found is not None  # the class declares batch_inputs
        y = found[0]
        shape = (size, 1, channels, *[1] * (x.ndim - 3))
        gamma, beta = (functions.cast(functions.reshape(p, shape), y.dtype) for p in parameters)
        return (y * gamma + beta,)

    def forward(self, inputs: Arrays) -> Arrays:
        arguments = {"groups": self.groups, "eps": self.eps}
        self._kernel = operation.select(*inputs, **arguments)
        # One statistic for each group of each sample, in a flat array as in earlier releases.
        y, mean, inv_std = self._kernel.forward(*inputs, **arguments)
        self.mean, self.inv_std = mean.reshape(-1), inv_std.reshape(-1)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, gamma = self.retained_input_arrays
        shape = (x.shape[0], self.groups)
        statistics = self.mean.reshape(shape), self.inv_std.reshape(shape)
        gradients = self._kernel.backward(x, gamma, grad_outputs[0], *statistics)
        return tuple([gradients[i] for i in target_input_indexes])

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        x, gamma, gy = values
        shape, dtypes = x.shape, (x.dtype, gamma.dtype, gamma.dtype)
        wide = numpy.result_type(x.dtype, gamma.dtype)
        # Sums of halves lose most of their digits.
        wide = numpy.dtype(numpy.float32) if is_half(wide) else wide
        x, gamma, gy = (ops.cast(a, wide) for a in (x, gamma, gy))
        # Groups of a sample are rows.
        rows = (shape[0] * self.groups, prod(shape[1:]) // self.groups)
        # At least one, as nothing is to be divided by zero if there are no elements.
        count = max(rows[1], 1)

        def spread(per_row: Any) -> Any:
            return ops.broadcast_to(ops.reshape(per_row, (rows[0], 1)), rows)

        flat = ops.reshape(x, rows)
        centered = flat - spread(ops.sum(flat, axis=1) / count)
        inv_std = (ops.sum(centered * centered, axis=1) / count + self.eps) ** -0.5
        normalized = centered * spread(inv_std)
        per_channel = (1, shape[1], *[1] * (len(shape) - 2))
        others = (0, *range(2, len(shape)))
        scaled = ops.reshape(gy * ops.broadcast_to(ops.reshape(gamma, per_channel), shape), rows)
        # The gradient less its part along the mean, and less that along the deviation.
        gx = scaled - spread(ops.sum(scaled, axis=1) / count)
        gx -= normalized * spread(ops.sum(scaled * normalized, axis=1) / count)
        gradients = (
            ops.reshape(gx * spread(inv_std), shape),
            ops.sum(gy * ops.reshape(normalized, shape), axis=others),
            ops.sum(gy, axis=others),
        )
        return tuple([ops.cast(gradients[i], dtypes[i]) for i in targets])


class _MulInvStd(ComposedFunction):
    """Product of rows and the reciprocal standard deviations of the rows of another array.

    The inputs are ``x`` and ``y``, of shape ``(rows, n)``. ``mean`` and ``inv_std`` are computed
    from the rows of ``x``, and the gradient takes this dependence into account.
    """

    def __init__(self, eps: float, mean: Array, inv_std: Array, dummy_gamma: Array = None) -> None:
        self.eps = eps
        self.mean = mean
        self.inv_std = inv_std
        self.dummy_gamma = dummy_gamma

    def compose(self, *inputs: Variable) -> Variables:
        from chainer import functions as ops

        x, y = inputs
        count = max(x.shape[1], 1)
        centered = x - ops.broadcast_to(ops.sum(x, axis=1, keepdims=True) / count, x.shape)
        var = ops.sum(centered * centered, axis=1, keepdims=True) / count
        return (y * ops.broadcast_to((var + self.eps) ** -0.5, y.shape),)

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs((0, 1))
        # The statistic that is given is used; the gradient treats it as a function of x.
        return (inputs[1] * self.inv_std[:, None],)


@explained_keywords
def group_normalization(
    x: VariableLike,
    groups: int,
    gamma: VariableLike,
    beta: VariableLike,
    eps: float = 1e-5,
) -> Variable:
    """Group normalization function.

    The channels of each sample are divided into groups, each group is normalized by its mean and
    variance, then each channel is scaled and shifted.

    Args:
        x (:class:`~chainer.Variable` or array): Batch, shape ``(N, C, ...)``, floating point.
        groups (int): Number of groups, a divisor of ``C``.
        gamma (:class:`~chainer.Variable` or array): Scaling vector, shape ``(C,)``, floating point.
            Its dtype may differ from the dtype of ``x``.
        beta (:class:`~chainer.Variable` or array): Shifting vector, shape ``(C,)`` and the dtype of
            ``gamma``.
        eps (float): Added to the variance for numerical stability.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``groups`` is not a divisor of ``C``, or not positive.
        TypeError: If ``groups`` is not an integer.

    See: `Group Normalization <https://arxiv.org/abs/1803.08494>`_

    .. seealso:: :class:`~chainer.links.GroupNormalization`

    Example:
        >>> x = np.array([[1, 3, 10, 30]], np.float32)
        >>> gamma, beta = np.ones(4, np.float32), np.zeros(4, np.float32)
        >>> F.group_normalization(x, 2, gamma, beta).array.round(3)
        array([[-1.,  1., -1.,  1.]], dtype=float32)
    """
    return GroupNormalization(groups, eps).apply((x, gamma, beta))[0]
