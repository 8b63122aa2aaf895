"""Fully-connected maxout layer."""

from __future__ import annotations

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.activation.maxout import maxout
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear


class Maxout(Chain):
    """Fully-connected maxout layer: the maximum of several linear layers.

    For an input vector ``x`` the ``i``-th output is the maximum over ``j`` of
    ``W[i, j] x + b[i, j]``.

    See Goodfellow et al., `Maxout Networks
    <http://jmlr.org/proceedings/papers/v28/goodfellow13.html>`_, ICML 2013.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of output vectors.
        pool_size (int): Number of linear layers.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(out_size, pool_size, in_size)``.
        initial_bias (initializer): Initializer of the bias; if None, there is no bias. An array has
            shape ``(out_size, pool_size)``.

    Attributes:
        linear (Linear): Linear layer with a weight of shape ``(out_size * pool_size, in_size)`` and
            a bias of shape ``(out_size * pool_size,)``.

    Raises:
        ValueError: If ``initialW`` or ``initial_bias`` are arrays of another shape.

    Example:
        >>> L.Maxout(3, 2, pool_size=4)(np.zeros((5, 3), np.float32)).shape
        (5, 2)
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        pool_size: int,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = 0,
    ) -> None:
        super().__init__()
        linear_size = out_size * pool_size
        if is_array(initialW) and initialW.ndim:
            if initialW.ndim != 3:
                raise ValueError(f"initialW.ndim should be 3, got {initialW.ndim}")
            if initialW.shape[:2] != (out_size, pool_size):
                raise ValueError(
                    f"initialW must have shape {(out_size, pool_size, in_size)}, "
                    f"got {initialW.shape}"
                )
            initialW = initialW.reshape(linear_size, initialW.shape[2])
        if is_array(initial_bias) and initial_bias.ndim:
            if initial_bias.ndim != 2:
                raise ValueError(f"initial_bias.ndim should be 2, got {initial_bias.ndim}")
            if initial_bias.shape != (out_size, pool_size):
                raise ValueError(
                    f"initial_bias must have shape {(out_size, pool_size)}, "
                    f"got {initial_bias.shape}"
                )
            initial_bias = initial_bias.reshape(linear_size)
        self.out_size = out_size
        self.pool_size = pool_size
        with self.init_scope():
            self.linear = Linear(
                in_size,
                linear_size,
                nobias=initial_bias is None,
                initialW=initialW,
                initial_bias=initial_bias,
            )

    def forward(self, x: VariableLike) -> Variable:
        """Applies the maxout layer.

        Args:
            x (Variable or array): Batch of input vectors, shape ``(B, in_size)``.

        Returns:
            Variable: Output of shape ``(B, out_size)``.
        """
        return maxout(self.linear(x), self.pool_size)
