"""Group and instance normalization."""

from __future__ import annotations

from typing import Any

import chainer
import chainer.functions as F
from chainer.utils import type_check
from chainer_modern.composition import composed_gradients
from chainer_modern.operations import group_normalization as operation


class GroupNormalization(chainer.FunctionNode):
    """Normalization of groups of channels.

    Args:
        groups (int): Number of groups; None for one channel each.
        eps (float): Added to the variance.
    """

    type_check_key = ("groups",)

    def __init__(self, groups: int | None, eps: float) -> None:
        self.groups = groups
        self.eps = eps

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtypes and shapes."""
        type_check.expect(in_types.size() == 3)
        x, gamma, beta = in_types
        type_check.expect(
            x.dtype.kind == "f",
            x.ndim >= 2,
            gamma.ndim == 1,
            beta.ndim == 1,
            gamma.dtype == x.dtype,
            beta.dtype == x.dtype,
        )
        type_check.expect(x.shape[1] == gamma.shape[0], gamma.shape == beta.shape)
        if self.groups is not None:
            type_check.expect(x.shape[1] % self.groups == 0)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Computes the output."""
        self.retain_inputs((0, 1))
        x, gamma, beta = inputs
        groups = x.shape[1] if self.groups is None else self.groups
        self._kernel = operation.select(x, gamma, beta, groups=groups, eps=self.eps)
        y, *self._saved = self._kernel.forward(x, gamma, beta, groups, self.eps)
        return (y,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Computes the gradients on arrays."""
        x, gamma = self.retained_input_arrays
        gradients = self._kernel.backward(x, gamma, grad_outputs[0], *self._saved)
        return tuple([gradients[i] for i in target_input_indexes])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Computes the gradients, differentiable again."""
        x, gamma = self.get_retained_inputs()
        # The value of beta does not matter: any array of its shape stands for it.
        inputs = (x, gamma, chainer.Variable(self.xp.zeros_like(gamma.array)))
        return composed_gradients(self._composition, inputs, target_input_indexes, grad_outputs[0])

    def _composition(self, x: Any, gamma: Any, beta: Any) -> chainer.Variable:
        dtype, shape = x.dtype, x.shape
        working = "f" if dtype.itemsize < 4 else dtype
        x, gamma, beta = (F.cast(a, working) for a in (x, gamma, beta))
        groups = shape[1] if self.groups is None else self.groups
        x = F.reshape(x, (shape[0], groups, x.size // max(shape[0] * groups, 1)))
        size = max(x.shape[2], 1)
        centered = x - F.broadcast_to(F.sum(x, axis=2, keepdims=True) / size, x.shape)
        var = F.sum(centered * centered, axis=2, keepdims=True) / size
        y = F.reshape(centered * F.broadcast_to((var + self.eps) ** -0.5, x.shape), shape)
        per_channel = (shape[1],) + (1,) * (len(shape) - 2)
        gamma = F.broadcast_to(F.reshape(gamma, per_channel), shape)
        beta = F.broadcast_to(F.reshape(beta, per_channel), shape)
        return F.cast(y * gamma + beta, dtype)


class InstanceNormalization(GroupNormalization):
    """Normalization of each channel of each sample.

    Args:
        eps (float): Added to the variance.
    """

    def __init__(self, eps: float) -> None:
        super().__init__(None, eps)


def group_normalization(
    x: Any, groups: int, gamma: Any, beta: Any, eps: float = 1e-5
) -> chainer.Variable:
    """Group normalization.

    The channels of each sample are divided into groups, each group is normalized by its mean and
    variance, then each channel is scaled and shifted.

    Args:
        x (Variable or array): Batch, shape ``(N, C, ...)``, floating point.
        groups (int): Number of groups, a divisor of ``C``.
        gamma (Variable or array): Scaling vector, shape ``(C,)``.
        beta (Variable or array): Shifting vector, shape ``(C,)``.
        eps (float): Added to the variance for numerical stability.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or ``groups`` is no divisor of ``C``.
        TypeError: If ``groups`` is no integer.
        ValueError: If ``groups`` is not positive.

    See: `Group Normalization <https://arxiv.org/abs/1803.08494>`_

    Example:
        >>> x = np.array([[1, 3, 10, 30]], np.float32)
        >>> gamma, beta = np.ones(4, np.float32), np.zeros(4, np.float32)
        >>> F.group_normalization(x, 2, gamma, beta).array.round(3)
        array([[-1.,  1., -1.,  1.]], dtype=float32)
    """
    if not isinstance(groups, int):
        raise TypeError(f"groups must be int, got {type(groups).__name__}")
    if groups < 1:
        raise ValueError(f"groups must be positive, got {groups}")
    return GroupNormalization(groups, eps).apply((x, gamma, beta))[0]


def instance_normalization(
    x: Any, gamma: Any = None, beta: Any = None, eps: float = 1e-5
) -> chainer.Variable:
    """Instance normalization.

    Each channel of each sample is normalized by its own mean and variance, then scaled and shifted.

    Args:
        x (Variable or array): Batch, shape ``(N, C, ...)``, floating point.
        gamma (Variable or array): Scaling vector, shape ``(C,)``; ones if None.
        beta (Variable or array): Shifting vector, shape ``(C,)``; zeros if None.
        eps (float): Added to the variance for numerical stability.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    See: `Instance Normalization: The Missing Ingredient for Fast Stylization
    <https://arxiv.org/abs/1607.08022>`_

    Example:
        >>> x = np.array([[[1, 3], [10, 30]]], np.float32)
        >>> F.instance_normalization(x).array.round(3)
        array([[[-1.,  1.],
                [-1.,  1.]]], dtype=float32)
    """
    if gamma is None or beta is None:
        array = x.array if isinstance(x, chainer.Variable) else x
        xp = chainer.backend.get_array_module(array)
        channels = array.shape[1:2]
        gamma = xp.ones(channels, array.dtype) if gamma is None else gamma
        beta = xp.zeros(channels, array.dtype) if beta is None else beta
    return InstanceNormalization(eps).apply((x, gamma, beta))[0]
