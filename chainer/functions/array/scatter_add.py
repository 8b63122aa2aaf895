"""Addition to selected elements."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.indexing import scatter_add as scatter_add_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.array.cast import cast
from chainer.functions.array.get_item import get_item, normalize_index


class ScatterAdd(FunctionNode):
    """Adds values to selected elements of a copy of an array."""

    type_check_key = ()

    def __init__(self, slices: Any) -> None:
        self.slices = slices

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b = inputs
        y = a.copy()
        expected = y[self.slices].shape
        if b.shape != expected:
            raise ValueError(
                "Chainer does not support automatic broadcasting of variables: "
                f"b has shape {b.shape}, but a[slices] has {expected}"
            )
        if b.dtype != a.dtype:
            b = b.astype(a.dtype)
        scatter_add_operation.select(y, b).add_at(y, self.slices, b)
        return (y,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        g = grad_outputs[0]
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gradients.append(g)
            else:
                gb = self.xp.asarray(g[self.slices])
                gradients.append(gb.astype(self.inputs[1].dtype, copy=False))  # type: ignore[index]
        return tuple(gradients)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        g = grad_outputs[0]
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gradients.append(g)
            else:
                gb = get_item(g, self.slices)
                gradients.append(cast(gb, self.inputs[1].dtype))  # type: ignore[index]
        return tuple(gradients)


def scatter_add(a: Any, slices: Any, b: Any) -> Variable:
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
