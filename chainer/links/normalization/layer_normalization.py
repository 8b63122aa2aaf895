"""Layer normalization layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import expect_number
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.normalization import layer_normalization
from chainer.links.initializers import get_initializer
from chainer.links.normalization._parameters import ScaleAndShift
from chainer.links.size_inference import infer_last_axis


class LayerNormalization(ScaleAndShift):
    """Layer normalization layer on outputs of linear functions, whatever the axes before the last.

    Each input vector is normalized by the mean and variance of its elements, then scaled and
    shifted. Wraps :func:`chainer.functions.layer_normalization`.

    See `Layer Normalization <https://arxiv.org/abs/1607.06450>`_.

    Args:
        size (int or None): Size of input vectors; inferred at the first call if None.
        eps (float): Value added to the variance for numerical stability.
        initial_gamma (initializer): Initializer of the scaling vector; one by default.
        initial_beta (initializer): Initializer of the shifting vector; zero by default.

    Attributes:
        gamma (Parameter): Scaling parameter of shape ``(size,)``.
        beta (Parameter): Shifting parameter of shape ``(size,)``.
        eps (float): Value added to the variance.

    Example:
        >>> x = np.array([[1, 3], [10, 30]], np.float32)
        >>> L.LayerNormalization()(x).array.round(3)
        array([[-1.,  1.],
               [-1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitializerLike = None,
        initial_beta: InitializerLike = None,
    ) -> None:
        super().__init__()
        expect_number("eps of LayerNormalization", eps, at_least=0)
        self.eps = eps
        with self.init_scope():
            self.gamma = Parameter(get_initializer(initial_gamma, default=1))
            self.beta = Parameter(get_initializer(initial_beta, default=0))
        if size is not None:
            self._initialize_params(size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "size", None if self.gamma.array is None else self.gamma.size
        yield "eps", self.eps

    def forward(self, x: VariableLike) -> Variable:
        """Applies layer normalization to given input.

        Args:
            x (Variable or array): Vectors, shape ``(..., size)`` with one leading axis or more.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        # gamma and beta are initialized together, so that one of them tells.
        if self.gamma._array is None:
            self._initialize_params(infer_last_axis(self, x, 2))
        return layer_normalization.normalized(x, self.gamma, self.beta, self.eps)
