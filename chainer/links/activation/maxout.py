"""Fully-connected maxout layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, InitializerLike, Shape, VariableLike
from chainer.functions.activation import maxout
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.initializer import Initializer


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
            ``(out_size, pool_size, in_size)``. An :class:`~chainer.Initializer` gets an array of
            shape ``(out_size * pool_size, in_size)``, any other callable one of three axes.
        initial_bias (initializer): Initializer of the bias; if None, there is no bias. An array has
            shape ``(out_size, pool_size)``, and so has that which a callable gets.

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
        if pool_size < 1:
            raise ValueError(f"pool_size must be positive, got {pool_size}")
        super().__init__()
        shape = (out_size, pool_size)
        self.out_size = out_size
        self.pool_size = pool_size
        with self.init_scope():
            # Each output is the maximum of `pool_size` neighboring outputs of one linear layer.
            self.linear = Linear(
                in_size,
                out_size * pool_size,
                nobias=initial_bias is None,
                initialW=_flattened(initialW, "initialW", shape, 3),
                initial_bias=_flattened(initial_bias, "initial_bias", shape, 2),
            )

    def forward(self, x: VariableLike) -> Variable:
        """Applies the maxout layer.

        Args:
            x (Variable or array): Batch of input vectors, shape ``(B, in_size)``.

        Returns:
            Variable: Output of shape ``(B, out_size)``.
        """
        return maxout.maxout(self.linear(x), self.pool_size)


def _flattened(initializer: InitializerLike, name: str, shape: Shape, ndim: int) -> InitializerLike:
    """Returns an initializer for arrays whose first two axes are joined to one.

    Args:
        initializer: The initializer for arrays with both axes.
        name: Name of the argument, for the messages.
        shape: Lengths of the two axes.
        ndim: Number of axes that an array must have.
    """
    if is_array(initializer):
        array: Array = initializer
        if array.ndim == 0:
            return array
        if array.ndim != ndim:
            raise ValueError(f"{name}.ndim should be {ndim}, got {array.ndim}")
        if array.shape[:2] != shape:
            raise ValueError(
                f"the first axes of {name} must have the lengths {shape}, got {array.shape}"
            )
        return array.reshape((shape[0] * shape[1], *array.shape[2:]))
    if callable(initializer) and not isinstance(initializer, Initializer):
        return _WithBothAxes(cast("Callable[[Array], None]", initializer), shape)
    return initializer


class _WithBothAxes:
    """Calls a function that fills arrays with an array whose first axis is split in two."""

    def __init__(self, function: Callable[[Array], None], shape: Shape) -> None:
        self._function = function
        self._shape = shape

    def __call__(self, array: Array) -> None:
        split = array.reshape(*self._shape, *array.shape[1:])
        self._function(split)
        # On most backends this is the same memory.
        array[...] = split.reshape(array.shape)
