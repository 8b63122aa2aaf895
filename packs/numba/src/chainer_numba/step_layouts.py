"""The layout of the arrays of a step: each call reads and writes rows of numbers.

Threads make all steps of their own rows. So every array of a step consists of blocks of as many
rows as the state has, and a call gets the same row of one block of each array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer_numba.step_calls import PRODUCTS

if TYPE_CHECKING:
    from chainer.kernel import Recurrence, StepCall

    Arrays = Mapping[str, Sequence[Any]]
    Shape = tuple[int, ...]


class Rows(NamedTuple):
    """Rows of an array that a call reads or writes.

    Attributes:
        name: Name of the array, or a number.
        offset: Its first element.
        row: Number of elements from a row to the next one; 0 if all are the same.
        column: Number of elements from a number of a row to the next one.
    """

    name: str | float
    offset: int
    row: int
    column: int


class RowCall(NamedTuple):
    """A call on rows.

    Attributes:
        name: Name of the call.
        rows: Number of rows.
        columns: Numbers in a row of the result.
        terms: Terms of a product; 0 for elementwise calls.
        out: The result.
        operands: One or two arrays; of a product the first one alone.
    """

    name: str
    rows: int
    columns: int
    terms: int
    out: Rows
    operands: tuple[Rows, ...]


class _View(NamedTuple):
    name: str | float
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, axis: int, index: int) -> _View:
        """Returns the part at an index of an axis."""
        rest = [n for n in range(len(self.shape)) if n != axis]
        offset = self.offset + index * self.strides[axis]
        shape, strides = ([x[n] for n in rest] for x in (self.shape, self.strides))
        return _View(self.name, offset, tuple(shape), tuple(strides))

    def rows(self) -> Rows:
        (row, column) = (0, *self.strides)[-2:]
        is_one = len(self.shape) < 2 or self.shape[0] == 1
        return Rows(self.name, self.offset, 0 if is_one else row, column)


def _contiguous(shape: Shape) -> Shape:
    strides: list[int] = []
    step = 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(strides[::-1])


class Layouts:
    """The arrays of a step.

    Args:
        recurrence: The calls of a step.
        steps: The arrays of each step, or descriptions of them; None for results that no other call
            reads.

    Attributes:
        shapes: Shapes of all arrays.
        rows: Number of rows of the states.
    """

    def __init__(self, recurrence: Recurrence, steps: Arrays) -> None:
        self._recurrence = recurrence
        self.shapes: dict[str, Shape] = {}
        for name, arrays in steps.items():
            found = next((array for array in arrays if array is not None), None)
            if found is not None:
                self.shapes[name] = found.shape
        # An array that several calls write has one axis.
        made = {call.results for call in recurrence.calls}
        ends: dict[str, int] = {}
        for part in recurrence.parts.values():
            if part.of not in made and part.of not in self.shapes:
                lengths = zip(part.shape, part.strides, strict=True)
                end = part.offset + sum([(n - 1) * stride for n, stride in lengths]) + 1
                ends[part.of] = max(ends.get(part.of, 0), end)
        self.shapes.update({name: (end,) for name, end in ends.items()})
        for call in recurrence.calls:
            self._infer(call)
        products = [call for call in recurrence.calls if call.name in PRODUCTS]
        shapes = [self.view(call.names_of_results()[0]).shape for call in products]
        self.rows = shapes[0][0] if shapes and len(shapes[0]) == 2 else 0

    def view(self, name: str | float) -> _View:
        """Returns where an array lies, by its name or the name of a part; or a number."""
        if not isinstance(name, str):
            return _View(name, 0, (), ())
        if name in self._recurrence.parts:
            return _View(*self._recurrence.parts[name])
        shape = self.shapes[name]
        return _View(name, 0, shape, _contiguous(shape))

    def _infer(self, call: StepCall) -> None:
        """Notes the shape of a result that no other call reads."""
        y = call.names_of_results()[0]
        if y in self.shapes or y in self._recurrence.parts:
            return
        given = [self.view(a).shape for a in call.arguments if a is not None]
        if call.name in PRODUCTS:
            # Products of vectors and of stacks of matrices are unknown, and have no shape here.
            of_weight = given[1][::-1] if call.name == "linear.forward" else given[1]
            are_matrices = len(given[0]) == len(of_weight) == 2
            self.shapes[y] = (given[0][0], of_weight[1]) if are_matrices else ()
        else:
            self.shapes[y] = numpy.broadcast_shapes(*given)

    def weight(self, call: StepCall) -> tuple[str, str | None] | None:
        """Returns the names of the weight and the bias of a product; None if one varies."""
        W, bias = call.arguments[1], (*call.arguments, None)[2]
        out, x = (self.view(name) for name in (call.names_of_results()[0], call.arguments[0]))  # type: ignore[arg-type]
        fixed, shapes = self._recurrence.fixed, self.shapes
        if W not in fixed or len(out.shape) != 2 or len(x.shape) != 2 or not x.shape[1]:
            return None
        sizes = out.shape[1], x.shape[1]
        if shapes[str(W)] != (sizes if call.name == "linear.forward" else sizes[::-1]):
            return None
        if bias is not None and (bias not in fixed or shapes[str(bias)] != out.shape[1:]):
            return None
        return str(W), None if bias is None else str(bias)

    def row_calls(self, call: StepCall) -> list[RowCall] | None:
        """Returns the calls on rows of which a call consists; None if it has other arrays."""
        arguments = call.arguments[:1] if call.name in PRODUCTS else call.arguments
        if None in arguments:
            return None
        out = self.view(call.names_of_results()[0])
        views = [self.view(a) for a in arguments if a is not None]
        if call.name in PRODUCTS:
            x = views[0]
            is_known = len(out.shape) == len(x.shape) == 2 and out.strides == _contiguous(out.shape)
            if not is_known or x.shape[0] != self.rows or x.strides[1] != 1:
                return None
            found = [(out, views)]
        else:
            found = self._of_two_axes(out, views)
        result: list[RowCall] = []
        for y, given in found:
            if len(y.shape) != 2 or y.shape[0] != self.rows or not y.shape[1]:
                return None
            terms = given[0].shape[1] if call.name in PRODUCTS else 0
            operands = [given[0].rows()] if terms else [self._operand(v, y.shape) for v in given]
            known = [operand for operand in operands if operand is not None]
            if len(known) < len(operands):
                return None
            result.append(RowCall(call.name, *y.shape, terms, y.rows(), tuple(known)))
        return result

    def _of_two_axes(self, out: _View, views: list[_View]) -> list[tuple[_View, list[_View]]]:
        """Returns the calls with matrices of which a call with three axes consists."""
        if len(out.shape) != 3 or any([view.shape not in ((), out.shape) for view in views]):
            return [(out, views)]
        every = [view for view in (out, *views) if view.shape]
        axis = 0 if out.shape[0] != self.rows else 2
        if axis == 2 and all([v.strides[1] == v.shape[2] * v.strides[2] for v in every]):

            def joined(view: _View) -> _View:
                if not view.shape:
                    return view
                rows, a, b = view.shape
                return view._replace(shape=(rows, a * b), strides=view.strides[::2])

            return [(joined(out), [joined(view) for view in views])]

        def at(view: _View, index: int) -> _View:
            return view.at(axis, index) if view.shape else view

        return [(at(out, i), [at(v, i) for v in views]) for i in range(out.shape[axis])]

    def _operand(self, view: _View, shape: Shape) -> Rows | None:
        """Returns the rows of an operand of a call whose result has a shape; None for others."""
        if isinstance(view.name, float):
            return Rows(view.name, 0, 0, 1)  # as many as a row has
        if view.shape == shape:
            return view.rows()
        if view.shape in (shape[1:], (1, *shape[1:])) and view.name in (
            *self._recurrence.inputs,
            *self._recurrence.fixed,
        ):
            return view.rows()
        return Rows(view.name, view.offset, 0, 0) if view.shape == () else None

    def keep_rows_apart(self, calls: list[RowCall]) -> bool:
        """Returns whether each row of an array is used with the same row of others alone."""
        if self.rows == 1:
            return True
        states = {state: result for result, state in self._recurrence.carried.items()}
        lengths: dict[Any, int] = {}
        for call in calls:
            for place, array in enumerate((call.out, *call.operands)):
                if not array.row:
                    if not place:
                        return False
                    continue
                columns = call.terms if place and call.terms else call.columns
                name = states.get(str(array.name), array.name)
                if lengths.setdefault(name, array.row) != array.row:
                    return False
                block, first = divmod(array.offset, array.row)
                if block % self.rows or first + (columns - 1) * array.column >= array.row:
                    return False
        return True
