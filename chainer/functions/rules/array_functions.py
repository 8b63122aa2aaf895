"""Array versions of ``chainer.functions``, for expressions that are evaluated on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from chainer import functions
from chainer.backends.numpy.kernels.indexing import selected
from chainer.backends.operations.activations import sigmoid
from chainer.backends.operations.reductions import axes_sum
from chainer.core.config.configuration import using_config
from chainer.core.typing import Array, ArrayModule, Axis, DTypeLike, Shape
from chainer.functions._broadcasting import broadcast_array, reduce_to_shape
from chainer.functions._matrix_products import matrix_product

#: Functions of array namespaces that have the name, the arguments and the meaning of a function of
#: ``chainer.functions``.
_SAME = frozenset(
    (
        *("absolute", "ceil", "clip", "floor", "fmod", "maximum", "minimum", "sign", "where"),
        *("exp", "expm1", "log", "log10", "log1p", "log2", "sqrt", "square", "cumprod", "cumsum"),
        *("arccos", "arcsin", "arctan", "arctan2", "arctanh", "cos", "cosh", "sin", "sinh"),
        *("tan", "tanh", "expand_dims", "flip", "fliplr", "flipud", "moveaxis", "reshape"),
        *("rollaxis", "squeeze", "stack", "swapaxes", "tile", "transpose"),
    )
)


class ArrayFunctions:
    """Functions of one array namespace under the names of ``chainer.functions``.

    A function without a counterpart here falls back to ``chainer.functions``, evaluated without a
    graph.

    Args:
        xp: The array namespace.
    """

    def __init__(self, xp: ArrayModule) -> None:
        self.xp = xp

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _SAME:
            function = getattr(self.xp, name)
        else:
            function = _without_graph(getattr(functions, name))
        # Set an attribute, so that the next access does not call this method.
        setattr(self, name, function)
        return function

    def sigmoid(self, x: Array) -> Array:
        """Logistic function."""
        x = self.xp.asarray(x)  # arithmetic on 0-dimensional arrays of NumPy gives scalars
        return sigmoid.select(x).forward(x)

    def sum(self, x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
        """Sum over axes."""
        return axes_sum.select(x).forward(x, axis, keepdims)

    def sum_to(self, x: Array, shape: Shape) -> Array:
        """Sum over the axes along which an array of ``shape`` was repeated."""
        return reduce_to_shape(x, shape)

    def broadcast_to(self, x: Array, shape: Shape) -> Array:
        """Array repeated to a shape; it may be a read-only view."""
        return broadcast_array(self.xp, x, shape)

    def cast(self, x: Array, dtype: DTypeLike) -> Array:
        """Array of another dtype; the same array if it already has that dtype."""
        return x.astype(dtype, copy=False)

    def fix(self, x: Array) -> Array:
        """Rounding towards zero; ``numpy.fix`` is slower, because it is written in Python."""
        return self.xp.trunc(x)

    def concat(self, xs: Sequence[Array], axis: int = 1) -> Array:
        """Concatenation along an axis."""
        return self.xp.concatenate(xs, axis=axis)

    def matmul(self, a: Array, b: Array, transa: bool = False, transb: bool = False) -> Array:
        """Products of matrices, or of stacks of matrices."""
        return matrix_product(self.xp, a, b, transa, transb)

    def get_item(self, x: Array, slices: Any) -> Array:
        """Selected elements."""
        return self.xp.asarray(selected(x, slices))


@functools.cache
def array_functions(xp: ArrayModule) -> Any:
    """Returns the functions for the arrays of a namespace."""
    return ArrayFunctions(xp)


#: Most expressions are evaluated on NumPy arrays. This saves the look-up for them.
numpy_functions: Any = ArrayFunctions(numpy)


def _without_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def on_arrays(*args: Any, **kwargs: Any) -> Any:
        # NumPy's arithmetic turns 0-dimensional arrays into scalars, but functions require arrays.
        arrays = [numpy.asarray(x) if isinstance(x, numpy.generic) else x for x in args]
        with using_config("enable_backprop", False):
            ys = function(*arrays, **kwargs)
        return tuple([y.array for y in ys]) if isinstance(ys, tuple) else ys.array

    return on_arrays
