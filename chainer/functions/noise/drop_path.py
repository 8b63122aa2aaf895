"""Stochastic depth."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.rules import PiecewiseLinearFunction


class DropPath(PiecewiseLinearFunction):
    """Multiplication of each sample by a factor.

    Args:
        ratio (float): Probability to drop a sample.
        mask (array): Factor of each sample, shape ``(N,)``; drawn at random if None.

    Attributes:
        mask: The factors.
        is_random: Whether they are drawn at random.
    """

    type_check_key = ()

    def __init__(self, ratio: float, mask: Array | None = None) -> None:
        self.ratio = ratio
        self.mask = mask
        self.is_random = mask is None

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtype and shape."""
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim >= 1)

    def forward(self, inputs: Arrays) -> Arrays:
        """Multiplies."""
        (x,) = inputs
        if self.mask is None:
            kept = self.xp.random.rand(len(x)) >= self.ratio
            self.mask = kept.astype(x.dtype) * x.dtype.type(1 / (1 - self.ratio))
        return (self._scaled(x),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Multiplies the gradient."""
        return (self._scaled(grad_outputs[0]),)

    def _scaled(self, x: Array) -> Array:
        mask: Array = self.mask
        return x * mask.reshape((-1,) + (1,) * (x.ndim - 1))


@explained_keywords
def drop_path(x: VariableLike, ratio: float = 0.1, *, mask: Array | None = None) -> Variable:
    """Stochastic depth: drops whole samples, in training mode.

    On the residual branch of a block it skips the block for some samples:
    ``x + F.drop_path(block(x))``.

    Args:
        x (Variable or array): Batch, shape ``(N, ...)``, floating point.
        ratio (float): Probability that a sample becomes zero; others are multiplied by ``1 / (1 -
            ratio)``.
        mask (array): Factor of each sample, shape ``(N,)`` and the dtype of ``x``; drawn at random
            by default.

    Returns:
        Variable: Output of the shape of ``x``; ``x`` itself if ``chainer.config.train`` is False.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers, or has no axis.
        ValueError: If ``ratio`` is out of range, or ``mask`` does not fit.

    See: `Deep Networks with Stochastic Depth <https://arxiv.org/abs/1603.09382>`_

    Example:
        >>> x = np.ones((4, 2), np.float32)
        >>> y = F.drop_path(x, 0.5).array
        >>> bool(np.isin(y[:, 0], [0, 2]).all()), bool((y[:, 0] == y[:, 1]).all())
        (True, True)
        >>> with chainer.using_config('train', False):
        ...     bool((F.drop_path(x, 0.5).array == x).all())
        True
    """
    if not 0.0 <= ratio < 1.0:
        raise ValueError(f"ratio must be in the range [0, 1), got {ratio}")
    if not config.train or (mask is None and ratio == 0):
        return as_variable(x)
    if mask is not None and (mask.shape != x.shape[:1] or mask.dtype != x.dtype):
        raise ValueError(
            f"mask must have the shape {x.shape[:1]} and the dtype {x.dtype}, "
            f"got {mask.shape} and {mask.dtype}"
        )
    return DropPath(ratio, mask).apply((x,))[0]
