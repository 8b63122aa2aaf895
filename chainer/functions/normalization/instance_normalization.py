"""Instance normalization: group normalization with a group for each channel."""

from __future__ import annotations

from chainer.core.arrays.backend import get_array_module, get_device_from_array
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.normalization.group_normalization import GroupNormalization


@explained_keywords
def instance_normalization(
    x: VariableLike,
    gamma: VariableLike | None = None,
    beta: VariableLike | None = None,
    eps: float = 1e-5,
) -> Variable:
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
    array = as_variable(x).array
    channels = array.shape[1:2]
    if gamma is None or beta is None:
        xp = get_array_module(array)
        with get_device_from_array(array):
            gamma = xp.ones(channels, array.dtype) if gamma is None else gamma
            beta = xp.zeros(channels, array.dtype) if beta is None else beta
    # An input without channels is refused by the type check.
    return GroupNormalization(max([1, *channels]), eps).apply((x, gamma, beta))[0]
