"""Tensor dot product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy

from chainer import functions
from chainer.core.autograd.variable import Variable
from chainer.core.typing import (
    Array,
    ArrayModule,
    Arrays,
    DTypeLike,
    Indexes,
    Shape,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.functions._errors import InvalidAxis
from chainer.functions._inputs import require_array
from chainer.functions._scalars import as_int
from chainer.functions.math._operand import OperandError
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values

_Axes = tuple[int, ...]


class TensorDot(ExpressionFunction):
    """Dot product along pairs of axes, which are treated as one by reshaping.

    Args:
        axes: Number of axes, or the pair of the axes of both inputs.
        a_axes: For the first input, a pair: the axes to keep, and the axes to sum over. Overrides
            ``axes``.
        b_axes: For the second input, a pair: the axes to sum over, and the axes to keep.
        c_axes: Where the remaining axes of both inputs are in the output; in order by default.
        dtype: Dtype of the output; by default the dtype of the inputs.
    """

    is_multilinear = True

    argument_names = ("a", "b")

    type_check_key = ()
    retained_inputs = (0, 1)

    def __init__(
        self,
        axes: Any = 2,
        a_axes: Any = None,
        b_axes: Any = None,
        c_axes: Any = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.axes = axes
        # Release 7 lets the caller pass resolved axes. They are used as they are.
        self._given = None if a_axes is None or b_axes is None else (a_axes, b_axes)
        self._given_order = c_axes
        self.dtype = dtype
        # Permutation of the axes of the output; None if they need no permutation.
        self._order: _Axes | None = None if c_axes is None else (*c_axes[0], *c_axes[1])
        #: Axes that are summed over, and the numbers of dimensions, once the inputs are known.
        self._a_axes: _Axes = ()
        self._b_axes: _Axes = ()
        self._ndims: tuple[int, int] | None = None

    @property
    def a_axes(self) -> Any:
        """Axes of the first input: the axes to keep, and the axes to sum over."""
        if self._given is not None or self._ndims is None:
            return None if self._given is None else self._given[0]
        return _others(self._ndims[0], self._a_axes), self._a_axes

    @property
    def b_axes(self) -> Any:
        """Axes of the second input: the axes to sum over, and the axes to keep."""
        if self._given is not None or self._ndims is None:
            return None if self._given is None else self._given[1]
        return self._b_axes, _others(self._ndims[1], self._b_axes)

    @property
    def c_axes(self) -> Any:
        """Axes of the output that come from the first and from the second input."""
        if self._given_order is not None or self._ndims is None:
            return self._given_order
        count, total = len(self.a_axes[0]), len(self.a_axes[0]) + len(self.b_axes[1])
        return tuple(range(count)), tuple(range(count, total))

    def _resolve(self, a_shape: Shape, b_shape: Shape) -> None:
        """Finds the axes that are summed over, now that the inputs are known."""
        self._ndims = len(a_shape), len(b_shape)
        if self._given is None:
            self._a_axes, self._b_axes = _normalized(self.axes, a_shape, b_shape)
        else:
            self._a_axes, self._b_axes = tuple(self._given[0][1]), tuple(self._given[1][0])

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[1].dtype.kind == "f")

    def forward(self, inputs: Arrays) -> Arrays:
        a, b = inputs
        self._resolve(a.shape, b.shape)
        y = _tensordot(self.xp, a, b, self._a_axes, self._b_axes)
        if self._order is not None:
            order = self._order
            y = y.transpose(sorted(range(len(order)), key=order.__getitem__))
        return (y if self.dtype is None else y.astype(self.dtype, copy=False),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        a, b = inputs
        a_here, b_here = are_batched
        self._resolve(a.shape[int(a_here) :], b.shape[int(b_here) :])
        a_axes = tuple([i + a_here for i in self._a_axes])
        b_axes = tuple([i + b_here for i in self._b_axes])
        if a_here and b_here:
            y = _of_samples(a, b, a_axes, b_axes)
        else:
            # The samples are one more axis that is kept.
            (y,) = TensorDot((a_axes, b_axes)).apply(inputs)
            y = functions.moveaxis(y, 0 if a_here else a.ndim - len(a_axes), 0)
        if self._order is not None:
            order = sorted(range(len(self._order)), key=self._order.__getitem__)
            y = functions.transpose(y, (0, *[i + 1 for i in order]))
        return (y if self.dtype is None else functions.cast(y, self.dtype),)

    def _plans(self) -> tuple[tuple[_Axes, _Axes], tuple[_Axes, _Axes]]:
        """Returns which axes of the inputs the axes of the gradients are, as they are computed."""
        a, b = self.input_nodes
        a_free = _others(len(a.shape), self._a_axes)
        b_free = _others(len(b.shape), self._b_axes)
        # gy x b has the axes a_free, then the axes of b that were summed over, in ascending order.
        a_axes = [self._a_axes[self._b_axes.index(i)] for i in sorted(self._b_axes)]
        # a x gy: the other way round.
        b_axes = [self._b_axes[self._a_axes.index(i)] for i in sorted(self._a_axes)]
        return (a_free, tuple(a_axes)), (tuple(b_axes), b_free)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        *inputs, gy = values
        a, b = inputs
        if self._order is not None:
            gy = gy.transpose(self._order)
        gxs: list[Any] = []
        for i in targets:
            left, right = self._plans()[i]
            if i == 0:
                count = len(left)
                axes = (tuple(range(count, gy.ndim)), _others(b.ndim, self._b_axes))
                gx = _dot(self.xp, gy, b, *axes)
            else:
                count = gy.ndim - len(right)
                axes = (_others(a.ndim, self._a_axes), tuple(range(count)))
                gx = _dot(self.xp, a, gy, *axes)
            order = left + right
            gx = gx.transpose(tuple([order.index(d) for d in range(len(order))]))
            gxs.append(ops.cast(gx, inputs[i].dtype))
        return tuple(gxs)


def _dot(xp: ArrayModule, a: Array, b: Array, a_axes: _Axes, b_axes: _Axes) -> Any:
    """Dot product of arrays or of Variables."""
    if isinstance(a, Variable):
        return TensorDot((a_axes, b_axes)).apply((a, b))[0]
    return _tensordot(xp, a, b, a_axes, b_axes)


def _of_samples(a: Variable, b: Variable, a_axes: _Axes, b_axes: _Axes) -> Variable:
    """Dot product of each sample of both inputs, as products of matrices."""
    a_free, b_free = _others(a.ndim, (0, *a_axes)), _others(b.ndim, (0, *b_axes))
    kept = [a.shape[i] for i in a_free], [b.shape[i] for i in b_free]
    size, inner = len(a), prod([a.shape[i] for i in a_axes])
    left = functions.transpose(a, (0, *a_free, *a_axes)).reshape((size, prod(kept[0]), inner))
    right = functions.transpose(b, (0, *b_axes, *b_free)).reshape((size, inner, prod(kept[1])))
    return functions.matmul(left, right).reshape((size, *kept[0], *kept[1]))


def _others(ndim: int, axes: _Axes) -> _Axes:
    return tuple([i for i in range(ndim) if i not in axes])


def _tensordot(xp: ArrayModule, a: Array, b: Array, a_axes: _Axes, b_axes: _Axes) -> Any:
    """Dot product by one matrix product; arrays are copied only where their layout demands it."""
    half = a.dtype.char == "e" and b.dtype.char == "e"
    # There is no BLAS for float16.
    if half:
        a, b = a.astype("f"), b.astype("f")
    a_free, b_free = _others(a.ndim, a_axes), _others(b.ndim, b_axes)
    shape = tuple([a.shape[i] for i in a_free]) + tuple([b.shape[i] for i in b_free])
    inner = prod([a.shape[i] for i in a_axes])
    # The pairs may be summed over in any order: take the one that suits the larger array.
    pairs = sorted(zip(a_axes, b_axes, strict=True), key=lambda p: p[0 if a.size >= b.size else 1])
    a_order = tuple([p[0] for p in pairs])
    b_order = tuple([p[1] for p in pairs])
    left = _as_matrix(a, a_free, a_order, inner)
    right = _as_matrix(b, b_free, b_order, inner).T
    y = (left @ right).reshape(shape)
    return y.astype("e") if half else y


def _as_matrix(x: Array, free: _Axes, summed: _Axes, inner: int) -> Any:
    """Arranges an array as a matrix of ``inner`` columns; as a view where that is possible."""
    rows = prod([x.shape[i] for i in free])
    # The summed axes come first in memory: the transpose of a matrix is a view.
    if summed + free == tuple(range(x.ndim)):
        return x.reshape((inner, rows)).T
    return x.transpose(free + summed).reshape((rows, inner))


def _normalized(axes: Any, a_shape: Shape, b_shape: Shape) -> tuple[_Axes, _Axes]:
    a_ndim, b_ndim = len(a_shape), len(b_shape)
    if isinstance(axes, (int, numpy.integer)):
        if axes < 0 or a_ndim < axes or b_ndim < axes:
            raise ValueError(
                f"dimension of input tensors must be greater equal to dot-axes count ({axes}), "
                f"got shapes {a_shape} and {b_shape}"
            )
        return tuple(range(a_ndim - axes, a_ndim)), tuple(range(axes))
    if isinstance(axes, str) or not isinstance(axes, Sequence) or len(axes) != 2:
        raise OperandError(
            f"axes must be a pair of sequence of integers when it is a list or tuple, got {axes!r}"
        )
    message = f"axes must be an int or a pair of ints or of sequences of ints, got {axes!r}"
    a_axes, b_axes = (
        tuple([as_int(i, message) for i in (value if isinstance(value, Iterable) else (value,))])
        for value in axes
    )
    if len(a_axes) != len(b_axes):
        raise ValueError(f"axes count mismatch: {len(a_axes)} axes of a, {len(b_axes)} axes of b")
    return _nonnegative("a", a_ndim, a_axes), _nonnegative("b", b_ndim, b_axes)


def _nonnegative(name: str, ndim: int, axes: _Axes) -> _Axes:
    """Returns the axes of an operand, counted from its first one.

    Raises:
        InvalidAxis: If the operand does not have an axis.
        ValueError: If an axis occurs twice.
    """
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise InvalidAxis(f"-{ndim} <= axis of {name} < {ndim}", f"{axis}")
    counted = tuple([axis % ndim for axis in axes])
    # Negative axes may name one that is there already, so this is checked last.
    if len(set(counted)) != len(counted):
        raise ValueError(f"an axis occurs twice in the axes {axes} of {name}")
    return counted


def tensordot(a: VariableLike, b: VariableLike, axes: int | Sequence[Any] = 2) -> Variable:
    """Returns the tensor dot product of two arrays along specified axes.

    This is equivalent to computing the dot product along the specified axes, which are treated as
    one axis by reshaping.

    Args:
        a (:class:`~chainer.Variable` or array): The first argument, of a floating point dtype.
        b (:class:`~chainer.Variable` or array): The second argument.
        axes: An integer: so many axes at the last of ``a`` and the first of ``b`` are used. Or a
            pair of sequences of integers: the axes of ``a`` and of ``b``; corresponding ones are
            paired for the sum-product.

    Returns:
        ~chainer.Variable: The tensor dot product of ``a`` and ``b`` along the axes; first the other
        axes of ``a``, then the other axes of ``b``.

    Raises:
        ValueError: If axes are missing, occur twice or do not match in number or length.
        AxisError: If there is no such axis; it is a ValueError and an IndexError.
        InvalidType: If an input is not of floating point numbers.

    .. seealso:: :func:`numpy.tensordot`

    Example:
        >>> a = np.random.rand(5, 3, 2)
        >>> b = np.random.rand(3, 2, 4)
        >>> c = F.tensordot(a, b, axes=2)
        >>> c.shape
        (5, 4)
    """
    require_array(a, b)
    a_axes, b_axes = _normalized(axes, a.shape, b.shape)
    for i, j in zip(a_axes, b_axes, strict=True):
        if a.shape[i] != b.shape[j]:
            raise ValueError(
                f"shape mismatch: axis {i} of a has length {a.shape[i]}, "
                f"axis {j} of b has length {b.shape[j]}"
            )
    return TensorDot(axes).apply((a, b))[0]
