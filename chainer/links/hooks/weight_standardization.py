"""Link hook that standardizes a weight."""

from __future__ import annotations

from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.functions.array.reshape import reshape
from chainer.functions.normalization.layer_normalization import layer_normalization
from chainer.links.hooks._weights import WeightHook
from chainer.links.link import Link


class WeightStandardization(WeightHook):
    """Weight Standardization link hook implementation.

    In each call of the link, every ``W[i]`` is replaced by ``(W[i] - mean) / sqrt(var + eps)``,
    where mean and variance are over the elements of ``W[i]``. The gradients reach the parameter.

    See `Weight Standardization <https://arxiv.org/abs/1903.10520>`_.

    Args:
        eps (float): Value added to the variance for numerical stability.
        weight_name (str): Name of the weight.
        name (str): Name of the hook; ``'WeightStandardization'`` by default.

    Raises:
        ValueError: When it is added to a link that has no such weight; when the link is called and
            the weight has fewer than two axes.

    Example:
        >>> link = L.Convolution2D(3, 4, 3)
        >>> link = link.add_hook(chainer.link_hooks.WeightStandardization())
        >>> link(np.zeros((1, 3, 5, 5), np.float32)).shape
        (1, 4, 3, 3)
    """

    name = "WeightStandardization"

    def __init__(
        self, *, eps: float = 1e-5, weight_name: str = "W", name: str | None = None
    ) -> None:
        super().__init__(weight_name, name)
        self.eps = eps

    def _replacement(self, link: Link, weight: Parameter) -> Variable:
        if weight.ndim < 2:
            raise ValueError(
                f"weight {self.weight_name!r} must have at least 2 axes, got shape {weight.shape}"
            )
        # Each row of the matrix is a vector to normalize, without scale and shift.
        matrix = reshape(weight, (weight.shape[0], -1))
        device = device_of(link)
        with device.backend.use(device):
            one = device.xp.ones(matrix.shape[1], weight.dtype)
            zero = device.xp.zeros(matrix.shape[1], weight.dtype)
        return reshape(layer_normalization(matrix, one, zero, self.eps), weight.shape)
