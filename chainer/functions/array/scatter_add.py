"""Addition to selected elements."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.operations.indexing import scatter_add as scatter_add_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Indexes, Shape, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.array.get_item import batched_index, normalize_index
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values
from chainer.functions.rules.batching import with_samples


class ScatterAdd(ExpressionFunction):
    """Adds values to selected elements of a copy of an array."""

    is_linear = True

    type_check_key = ("indexed_ndim",)

    def __init__(self, slices: Any) -> None:
        self.slices = slices if isinstance(slices, tuple) else (slices,)
        self.indexed_ndim = sum(map(_indexed_ndim, slices)) if isinstance(slices, tuple) else 0

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        type_check.expect(in_types[0].ndim >= self.indexed_ndim)

    def forward(self, inputs: Arrays) -> Arrays:
        a, b = inputs
        # The input must not change: it may be used elsewhere in the graph.
        y = a.copy()
        expected = _selected_shape(y, self.slices)
        if b.shape != expected:
            raise ValueError(
                "Chainer does not support automatic broadcasting of variables: "
                f"b has shape {b.shape}, but a[slices] has {expected}"
            )
        if b.dtype != a.dtype:
            b = b.astype(a.dtype)
        scatter_add_operation.select(y, b).add_at(y, self.slices, b)
        return (y,)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        index = batched_index(self.slices)
        return (
            None
            if index is None
            else ScatterAdd(index).apply(with_samples(inputs, are_batched, size))
        )

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        gxs: list[Any] = []
        for i in targets:
            if i == 0:
                gxs.append(gy)
            else:
                gb = ops.get_item(gy, self.slices)
                dtype = self.input_nodes[1].dtype
                gxs.append(gb if gb.dtype == dtype else ops.cast(gb, dtype))
        return tuple(gxs)


def _indexed_ndim(index: Any) -> int:
    """Returns how many dimensions one element of an index selects from."""
    if index is None or index is Ellipsis:
        return 0
    # A mask has the dimensions that it selects from; other arrays index one dimension.
    dtype = getattr(index, "dtype", None)
    return index.ndim if dtype == numpy.bool else 1


def _selected_shape(y: Array, slices: tuple[Any, ...]) -> Shape:
    """Returns the shape of the selected elements."""
    index: Any = slices[0] if len(slices) == 1 else None
    if getattr(getattr(index, "dtype", None), "kind", "") in ("i", "u") and y.ndim:
        # Selecting rows only to know their shape takes as long as adding them. A recording would
        # repeat it in each call.
        return *index.shape, *y.shape[1:]
    return y[slices].shape


def scatter_add(a: VariableLike, slices: Any, b: VariableLike) -> Variable:
    """Adds given values to specified elements of an array.

    The value of the original ``a`` is not changed; the elements of ``b`` are added to a copy. An
    element that is selected several times gets all its values added.

    Args:
        a (:class:`~chainer.Variable` or array): Array to add to.
        slices (int, slice, Ellipsis, None, integer array-like, boolean array-like or tuple of
            them): Selection of the elements; see :func:`get_item`.
        b (:class:`~chainer.Variable` or array): Values to add, of the shape of ``a[slices]``.

    Returns:
        ~chainer.Variable: Result of the addition, of the shape and dtype of ``a``.

    Raises:
        ValueError: If ``b`` does not have the shape of ``a[slices]``.
        IndexError: If ``a`` cannot be indexed that way.

    Example:
        >>> a = np.zeros(3, np.float32)
        >>> F.scatter_add(a, [0, 0, 2], np.array([1, 2, 3], np.float32))
        variable([3., 0., 3.])
    """
    return ScatterAdd(normalize_index(slices)).apply((a, b))[0]
