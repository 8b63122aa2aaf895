"""Scaled exponential linear unit."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation.elu import elu


def selu(
    x: VariableLike, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805
) -> Variable:
    """Scaled Exponential Linear Unit function: ``scale * elu(x, alpha)``.

    With the default parameters activations keep mean 0 and variance 1 through deep networks. See
    Self-Normalizing Neural Networks (https://arxiv.org/abs/1706.02515).

    Args:
        x (Variable or array): Input of any shape, floating point.
        alpha (float): Where the function goes for large negative ``x``, before scaling.
        scale (float): Factor of the output.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.selu(np.array([0., 1.]))
        variable([0.        , 1.05070099])
    """
    return elu(x, alpha=alpha) * scale
