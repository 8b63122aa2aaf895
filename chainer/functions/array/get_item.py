"""Indexing."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.numpy.kernels.indexing import selected, selects_once
from chainer.backends.operations.indexing import scatter_add as scatter_add_operation
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.functions.rules import LinearMap, expect_one_array

_ndarray = numpy.ndarray

#: Indexes that need no check.
_COMMON = (int, slice)

_NUMBER = (int, numpy.integer)


class EllipsisError(IndexError, ValueError):
    """An index has two ellipses. NumPy raises IndexError, Chainer in debug mode ValueError."""


def normalize_index(slices: Any) -> Any:
    """Checks an index and turns a list that holds more than numbers into a tuple.

    A Variable of integers or booleans becomes its array: it has no gradient anyway. So a model that
    selects by an array works for a Variable, too, as which exporters pass all inputs.

    Raises:
        IndexError: If the index contains another Variable, or (in debug mode) two ellipses; then it
            is a ValueError as well.
    """
    if not isinstance(slices, tuple):
        if isinstance(slices, list) and not all(isinstance(s, _NUMBER) for s in slices):
            slices = tuple(slices)
        else:
            return _index_array(slices) if isinstance(slices, Variable) else slices
    ellipses, has_variables = 0, False
    for s in slices:
        if type(s) is slice:  # by far the most frequent
            continue
        if s is Ellipsis:
            ellipses += 1
        elif isinstance(s, Variable):
            has_variables = True
    if ellipses > 1 and threads.state.debug:
        raise EllipsisError("Only one Ellipsis is allowed in an index")
    if has_variables:
        return tuple([_index_array(s) if isinstance(s, Variable) else s for s in slices])
    return slices


def _index_array(index: Variable) -> Array:
    array = index.array
    if array is None or array.dtype.kind not in "iub":
        kind = None if array is None else array.dtype
        raise IndexError(f"a Variable as an index must be of integers or booleans, got {kind}")
    return array


class GetItem(LinearMap):
    """Selects elements of an array."""

    type_check_key = ()

    def __init__(self, slices: Any) -> None:
        self._index = slices

    @property
    def slices(self) -> tuple[Any, ...]:
        """The index as a tuple, as exporters of graphs read it."""
        return self._index if isinstance(self._index, tuple) else (self._index,)

    check_type_forward = expect_one_array

    def forward(self, inputs: Arrays) -> Arrays:
        y = selected(inputs[0], self._index)
        if type(y) is _ndarray:
            return (y,)
        # NumPy returns a scalar for a single element.
        return (self.xp.asarray(y) if isinstance(y, numpy.generic) else y,)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        index = batched_index(self.slices)
        return None if index is None else GetItem(index).apply(inputs)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        gx = self.xp.zeros(self.input_shape(0), dtype=gy.dtype)
        # Elements that are selected once can be assigned, which is much faster than adding to them.
        if selects_once(self._index):
            gx[self._index] = gy
        else:
            scatter_add_operation.select(gx, gy).add_at(gx, self._index, gy)
        return (gx,)


def batched_index(index: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Returns the index of a batch of samples for an index of one sample; None if there is none.

    Args:
        index: The index of one sample.
    """
    basic = [s is None or s is Ellipsis or isinstance(s, (slice, int)) for s in index]
    # NumPy moves the axes of arrays of indexes to the front, unless they are neighbors. Numbers
    # count as arrays beside them.
    advanced = [not b or isinstance(s, int) for b, s in zip(basic, index, strict=True)]
    if not all(basic) and True in advanced:
        first, count = advanced.index(True), advanced.count(True)
        if not all(advanced[first : first + count]):
            return None
    return (slice(None), *index)


def get_item(x: VariableLike, slices: Any) -> Variable:
    """Extracts elements from an array with specified shape, axes and offsets.

    Args:
        x (:class:`~chainer.Variable` or array): Variable to be sliced.
        slices (int, slice, Ellipsis, None, integer array-like, boolean array-like or tuple of
            them): Selection of the elements, as NumPy has it. A list that holds anything but
            integers is
            taken for a tuple.

    Returns:
        ~chainer.Variable: The selected elements; a view of ``x`` where NumPy makes one.

    Raises:
        IndexError: If ``x`` cannot be indexed that way, or the index contains a Variable.

    Example:
        >>> x = np.arange(12).reshape((2, 2, 3))
        >>> F.get_item(x, 0)
        variable([[0, 1, 2],
                  [3, 4, 5]])
        >>> F.get_item(x, (0, 0, slice(0, 2, 1)))  # equals x[0, 0, 0:2:1]
        variable([0, 1])
        >>> F.get_item(x, (Ellipsis, 2))  # equals x[..., 2]
        variable([[ 2,  5],
                  [ 8, 11]])
        >>> F.get_item(x, (1, np.newaxis, 1, 0))  # equals x[1, None, 1, 0]
        variable([9])
    """
    # The common indexes need no check.
    if not isinstance(slices, _COMMON):
        slices = normalize_index(slices)
    state = threads.state
    if state.needs_no_node() and type(x) is Variable:
        # Without a graph a node would take several times as long as the view. NumPy returns a
        # scalar for a single element, which the node makes an array of.
        array = x._array
        if type(array) is _ndarray:
            y = selected(array, slices)
            if type(y) is _ndarray:
                return Variable._from_array(y, x._requires_grad)
    return GetItem(slices).apply((x,))[0]


def install_variable_get_item() -> None:
    """Does nothing: the operators of Variable come from the registry of its methods."""
