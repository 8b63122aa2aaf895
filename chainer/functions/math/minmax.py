"""Maximum and minimum over axes, and where they are."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Axis, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.documentation import SharedSections
from chainer.functions._axes import (
    ReducesAxes,
    check_axes_exist,
    kept_shape,
    normalized_axes,
)
from chainer.functions._scalars import as_int
from chainer.functions.rules import Ops, UnaryFunction, Value, array_of
from chainer.functions.rules.batching import ShiftsAxes, ShiftsOneAxis

_extremum_sections = SharedSections(
    """
    The gradient goes to all elements that equal the $extremum.

    Args:
        x (:class:`~chainer.Variable` or array): Array of a floating point dtype.
        axis (None, int, or tuple of int): Axis or axes over which to compute the $extremum; all by
            default.
        keepdims (bool): If True, the axes remain as axes of length one.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        TypeError: If ``axis`` is not None, an int or a tuple of ints.
        ValueError: If an axis occurs twice, or there is no element to choose from.
        InvalidType: If ``x`` has no such axis or is not of floating point numbers.
    """
)


_index_sections = SharedSections(
    """
    Args:
        x (:class:`~chainer.Variable` or array): Array of a floating point dtype.
        axis (None or int): Axis over which to compute the $extremum. By default all axes are
            searched, and the result is an index in the flattened array.

    Returns:
        ~chainer.Variable: Output variable of dtype int32 (int64 if more than 2**31 elements are
        searched), without that axis. No gradient flows through it.

    Raises:
        TypeError: If ``axis`` is neither None nor an int.
        InvalidType: If ``x`` has no such axis or is not of floating point numbers.
    """
)


class SelectorBase(ShiftsAxes, ReducesAxes, UnaryFunction):
    """Selection of one value along axes.

    The gradient goes to every element that equals the selected one.
    """

    retained_inputs = (0,)
    retained_outputs = (0,)

    #: Name of the method of arrays that selects.
    method: ClassVar[str]

    def forward(self, inputs: Arrays) -> Arrays:
        y = getattr(inputs[0], self.method)(axis=self.axis, keepdims=self.keepdims)
        # NumPy returns a scalar where no axis is left.
        return (self.xp.asarray(y),)

    def gradient(self, ops: Ops, x: Value, y: Value, gy: Value) -> Value:
        x, y = array_of(x), array_of(y)
        kept = kept_shape(x.shape, normalized_axes(self.axis, x.ndim))
        # Which elements are selected is constant almost everywhere.
        return gy.reshape(kept) * self.xp.asarray(x == y.reshape(kept))


class Max(SelectorBase):
    """Maximum over axes."""

    method = "max"


class Min(SelectorBase):
    """Minimum over axes."""

    method = "min"


#: Number of elements whose indexes int32 can hold.
MAX_INT32_LENGTH = 2**31


class IndexSelectorBase(ShiftsOneAxis, FunctionNode):
    """Index of one value along an axis; not differentiable."""

    type_check_key = ("axis",)

    #: Name of the method of arrays that finds the index.
    method: ClassVar[str]

    def __init__(self, axis: int | None = None) -> None:
        if axis is not None:
            axis = as_int(axis, f"None or int are required as axis, got {axis!r}")
        self.axis = axis

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        index = getattr(x, self.method)(axis=self.axis)
        length = x.size if self.axis is None else x.shape[self.axis]
        dtype = "int32" if length <= MAX_INT32_LENGTH else "int64"
        return (self.xp.asarray(index).astype(dtype),)


class ArgMax(IndexSelectorBase):
    """Index of the maximum."""

    method = "argmax"


class ArgMin(IndexSelectorBase):
    """Index of the minimum."""

    method = "argmin"


@_extremum_sections(extremum="maximum")
@explained_keywords
def max(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Maximum of array elements over a given axis.

    Example:
        >>> x = np.array([[1, 2], [4, 3]], np.float32)
        >>> F.max(x, axis=1)
        variable([2., 4.])
    """
    return Max(axis, keepdims).apply((x,))[0]


@_extremum_sections(extremum="minimum")
@explained_keywords
def min(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Minimum of array elements over a given axis.

    Example:
        >>> x = np.array([[1, 2], [4, 3]], np.float32)
        >>> F.min(x, axis=1)
        variable([1., 3.])
    """
    return Min(axis, keepdims).apply((x,))[0]


@_index_sections(extremum="maximum")
@explained_keywords
def argmax(x: VariableLike, axis: int | None = None) -> Variable:
    """Returns the index which holds the maximum of array elements over a given axis.

    Example:
        >>> x = np.array([[1, 2], [4, 3]], np.float32)
        >>> F.argmax(x, axis=1).array
        array([1, 0], dtype=int32)
    """
    return ArgMax(axis).apply((x,))[0]


@_index_sections(extremum="minimum")
@explained_keywords
def argmin(x: VariableLike, axis: int | None = None) -> Variable:
    """Returns the index which holds the minimum of array elements over a given axis.

    Example:
        >>> x = np.array([[1, 2], [4, 3]], np.float32)
        >>> F.argmin(x, axis=1).array
        array([0, 1], dtype=int32)
    """
    return ArgMin(axis).apply((x,))[0]
