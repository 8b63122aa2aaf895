"""Instance normalization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.dtype import get_dtype
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.normalization.instance_normalization import instance_normalization
from chainer.links.link import Link
from chainer.links.normalization._parameters import typed_parameter


class InstanceNormalization(Link):
    """Instance normalization layer on outputs of convolutions.

    Wraps :func:`chainer.functions.instance_normalization` and has its parameters.

    Args:
        size (int or None): Number of channels; if None, it is inferred at the first call.
        eps (float): Value added to the variance for numerical stability.
        use_gamma (bool): Whether there is a scaling parameter.
        use_beta (bool): Whether there is a shifting parameter.
        initial_gamma (initializer): Initializer of the scaling vector; one by default.
        initial_beta (initializer): Initializer of the shifting vector; zero by default.

    Attributes:
        gamma (Parameter): Scaling parameter of shape ``(size,)``, if ``use_gamma``.
        beta (Parameter): Shifting parameter of shape ``(size,)``, if ``use_beta``.
        eps (float): Value added to the variance.

    See: `Instance Normalization: The Missing Ingredient for Fast Stylization
    <https://arxiv.org/abs/1607.08022>`_

    Example:
        >>> x = np.array([[[1, 3], [10, 30]]], np.float32)
        >>> L.InstanceNormalization()(x).array.round(3)
        array([[[-1.,  1.],
                [-1.,  1.]]], dtype=float32)
    """

    gamma: Parameter | None = None
    beta: Parameter | None = None

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-5,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerLike = None,
        initial_beta: InitializerLike = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        # Statistics are computed in float32 at least, and so are the parameters.
        dtype = get_dtype(map_mixed16=numpy.float32)
        with self.init_scope():
            if use_gamma:
                self.gamma = typed_parameter(initial_gamma, 1, dtype)
            if use_beta:
                self.beta = typed_parameter(initial_beta, 0, dtype)
        if size is not None:
            self._initialize_params(size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        known = [p.size for p in self._parameters() if p.array is not None]
        yield "size", known[0] if known else None
        yield "eps", self.eps
        yield "use_gamma", self.gamma is not None
        yield "use_beta", self.beta is not None

    def _parameters(self) -> list[Parameter]:
        return [p for p in (self.gamma, self.beta) if p is not None]

    def _initialize_params(self, size: int) -> None:
        for parameter in self._parameters():
            parameter.initialize(size)

    def forward(self, x: VariableLike) -> Variable:
        """Normalizes channels.

        Args:
            x (Variable or array): Batch, shape ``(N, size, ...)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        if any(p.array is None for p in self._parameters()):
            if x.ndim < 2:
                raise ValueError(f"x must have the shape (N, size, ...), got {x.shape}")
            self._initialize_params(x.shape[1])
        return instance_normalization(x, self.gamma, self.beta, self.eps)
