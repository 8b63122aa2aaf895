"""Instance normalization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainer
from chainer_modern.functions import instance_normalization
from chainer_modern.links.normalization._parameters import vector


class InstanceNormalization(chainer.Link):
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

    gamma: chainer.Parameter | None = None
    beta: chainer.Parameter | None = None

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-5,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: Any = None,
        initial_beta: Any = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            if use_gamma:
                self.gamma = vector(initial_gamma, 1, size)
            if use_beta:
                self.beta = vector(initial_beta, 0, size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        known = [p.size for p in (self.gamma, self.beta) if p is not None and p.array is not None]
        yield "size", known[0] if known else None
        yield "eps", self.eps
        yield "use_gamma", self.gamma is not None
        yield "use_beta", self.beta is not None

    def forward(self, x: Any) -> chainer.Variable:
        """Normalizes channels.

        Args:
            x (Variable or array): Batch, shape ``(N, size, ...)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        for parameter in (self.gamma, self.beta):
            if parameter is not None and parameter.array is None:
                parameter.initialize(x.shape[1:2])
        return instance_normalization(x, self.gamma, self.beta, self.eps)
