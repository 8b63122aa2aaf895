"""If, Loop and Scan as Python's control flow over compiled graphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from chainer import Variable
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import takes_scope
from onnx_chainer.importing.graph import Graph, Scope
from onnx_chainer.importing.limits import budget, size_of
from onnx_chainer.importing.values import Value, array_of, is_float, ndim_of, number_of


def _results(values: list[Value]) -> tuple[Value, ...]:
    return tuple(values)


@takes_scope
def _if(attributes: Attributes, scope: Scope, condition: Value) -> tuple[Value, ...]:
    # Only the branch of this run is evaluated, and only it gets gradients.
    branch: Graph = attributes["then_branch" if number_of(condition) else "else_branch"]
    return _results(branch.run([], scope))


@takes_scope
def _loop(
    attributes: Attributes, scope: Scope, trips: Value, condition: Value, *states: Value
) -> tuple[Value, ...]:
    body: Graph = attributes["body"]
    most = math.inf if trips is None else int(number_of(trips))
    going = True if condition is None else bool(number_of(condition))
    carried: list[Value] = list(states)
    # The body returns the condition, the states, and one element of each stacked output.
    rows: list[list[Value]] = [[] for _ in body.outputs[1 + len(states) :]]
    used, kept = budget(), 0
    count = 0
    while going and count < most:
        used.iterate("Loop")
        inputs = [numpy.array(count, numpy.int64), numpy.array(going), *carried]
        again, *found = body.run(inputs, scope)
        carried, scanned = found[: len(states)], found[len(states) :]
        kept += _append(rows, scanned, "Loop")
        going = bool(number_of(again))
        count += 1
    # The rows become one array below: they are not kept any longer.
    used.live -= kept
    return _results([*carried, *[_stacked(row, 0) for row in rows]])


@takes_scope
def _scan(attributes: Attributes, scope: Scope, *inputs: Value) -> tuple[Value, ...]:
    body: Graph = attributes["body"]
    count = attributes["num_scan_inputs"]
    if attributes.opset < 9:
        return _scan_of_opset_8(attributes, scope, body, count, inputs)
    states = len(inputs) - count
    return _results(_scanned(attributes, scope, body, list(inputs[:states]), inputs[states:]))


def _scan_of_opset_8(
    attributes: Attributes, scope: Scope, body: Graph, count: int, inputs: tuple[Value, ...]
) -> tuple[Value, ...]:
    """Scans each sequence of a batch; the first input has their lengths."""
    lengths, *values = inputs
    states = len(values) - count
    named = Attributes(attributes)
    # The loop below reads the names and axes of operator set 9.
    named.operator, named.opset, named.outputs = attributes.operator, 9, attributes.outputs
    named["scan_input_directions"] = attributes.get("directions", [0] * count)
    batch = []
    size = array_of(values[0]).shape[0]
    for i in range(size):
        rows = [F.get_item(v, i) for v in values]
        if lengths is not None:
            end = int(array_of(lengths)[i])
            rows[states:] = [F.get_item(row, slice(0, end)) for row in rows[states:]]
        batch.append(_scanned(named, scope, body, rows[:states], tuple(rows[states:])))
    return _results([_stacked(list(column), 0) for column in zip(*batch)])


def _scanned(
    attributes: Attributes,
    scope: Scope,
    body: Graph,
    states: list[Value],
    sequences: tuple[Value, ...],
) -> list[Value]:
    count = len(sequences)
    axes = attributes.get("scan_input_axes", [0] * count)
    backward = attributes.get("scan_input_directions", [0] * count)
    outputs = len(body.outputs) - len(states)
    axes_out = attributes.get("scan_output_axes", [0] * outputs)
    backward_out = attributes.get("scan_output_directions", [0] * outputs)
    steps = min([array_of(v).shape[a % ndim_of(v)] for v, a in zip(sequences, axes)], default=0)
    rows: list[list[Value]] = [[] for _ in range(outputs)]
    used, kept = budget(), 0
    for step in range(steps):
        used.iterate("Scan")
        items = []
        for value, axis, reverse in zip(sequences, axes, backward):
            # A direction of 1 reads from the end.
            at = array_of(value).shape[axis % ndim_of(value)] - 1 - step if reverse else step
            items.append(_item(value, axis % ndim_of(value), at))
        found = body.run([*states, *items], scope)
        states, scanned = found[: len(states)], found[len(states) :]
        kept += _append(rows, scanned, "Scan")
    used.live -= kept
    results = [
        _stacked(row[::-1] if reverse else row, axis)
        for row, axis, reverse in zip(rows, axes_out, backward_out)
    ]
    return [*states, *results]


def _append(rows: list[list[Value]], values: list[Value], operator: str) -> int:
    """Appends the results of an iteration, which are kept until the end of the loop.

    Returns:
        int: Their number of elements.
    """
    kept = 0
    for row, value in zip(rows, values):
        row.append(value)
        size = size_of(value)
        budget().keep(operator, size)
        kept += size
    return kept


def _item(value: Value, axis: int, index: int) -> Value:
    selected = (*[slice(None)] * axis, index)
    return F.get_item(value, selected) if isinstance(value, Variable) else array_of(value)[selected]


def _stacked(rows: list[Value], axis: int) -> Value:
    """Returns values of equal shapes as one with a further axis."""
    if not rows:
        # The shape of what was never computed is not known.
        return numpy.zeros((0,), numpy.float32)
    if any([isinstance(row, Variable) and is_float(row) for row in rows]):
        return F.stack(rows, axis)
    return numpy.stack([numpy.asarray(array_of(row)) for row in rows], axis)


@takes_scope
def _sequence_map(
    attributes: Attributes, scope: Scope, first: list[Value], *others: Value
) -> tuple[Value, ...]:
    body: Graph = attributes["body"]
    columns: list[list[Value]] = [[] for _ in body.outputs]
    # A tensor among the further inputs is the same for each element.
    streams = [v if isinstance(v, list) else itertools.repeat(v) for v in others]
    for items in zip(first, *streams):
        budget().iterate("SequenceMap")
        for column, value in zip(columns, body.run(list(items), scope)):
            column.append(value)
    return _results(list(columns))


OPERATORS: dict[str, Callable[..., Any]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
    "SequenceMap": _sequence_map,
}
