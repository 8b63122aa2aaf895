"""Group normalization layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.config.dtype import get_dtype
from chainer.core.misuse import expect_number
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.normalization import group_normalization
from chainer.links.normalization._parameters import ScaleAndShift, typed_parameter


class GroupNormalization(ScaleAndShift):
    """Group normalization layer on outputs of convolution functions.

    The channels of each sample are divided into groups. Each group is normalized by its mean and
    variance; then each channel is scaled and shifted. The link computes the same in training and in
    test mode. Wraps :func:`chainer.functions.group_normalization`.

    See `Group Normalization <https://arxiv.org/abs/1803.08494>`_.

    Args:
        groups (int): Number of groups, a divisor of the number of channels.
        size (int or None): Number of channels; inferred at the first call if None.
        eps (float): Value added to the variance for numerical stability.
        initial_gamma (initializer): Initializer of the scaling vector; one by default.
        initial_beta (initializer): Initializer of the shifting vector; zero by default.

    Attributes:
        groups (int): Number of groups.
        gamma (Parameter): Scaling parameter of shape ``(size,)``, of dtype ``chainer.config.dtype``
            (float32 if that is :data:`chainer.mixed16`).
        beta (Parameter): Shifting parameter, likewise.
        eps (float): Value added to the variance.

    Example:
        >>> x = np.array([[1, 3, 10, 30]], np.float32)
        >>> L.GroupNormalization(2)(x).array.round(3)
        array([[-1.,  1., -1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        groups: int,
        size: int | None = None,
        eps: float = 1e-5,
        initial_gamma: InitializerLike = None,
        initial_beta: InitializerLike = None,
    ) -> None:
        super().__init__()
        self.groups = groups
        expect_number("eps of GroupNormalization", eps, at_least=0)
        self.eps = eps
        dtype = get_dtype(map_mixed16=numpy.float32)
        with self.init_scope():
            self.gamma = typed_parameter(initial_gamma, 1, dtype)
            self.beta = typed_parameter(initial_beta, 0, dtype)
        if size is not None:
            self._initialize_params(size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "groups", self.groups
        yield "size", None if self.gamma.array is None else self.gamma.size
        yield "eps", self.eps

    def forward(self, x: VariableLike) -> Variable:
        """Applies group normalization to the input.

        Args:
            x (Variable or array): Batch of shape ``(B, C, ...)``.

        Returns:
            Variable: Output of the shape and dtype of ``x``.

        Raises:
            ValueError: If ``groups`` is not a divisor of ``C``, or ``x`` has no channels.
        """
        if self.gamma.array is None:
            if x.ndim < 2:
                raise ValueError(
                    "Input dimension must be at least 2, including batch size dimension (first "
                    f"dimension), got {x.ndim}."
                )
            self._initialize_params(x.shape[1])
        return group_normalization.group_normalization(
            x, self.groups, self.gamma, self.beta, self.eps
        )
