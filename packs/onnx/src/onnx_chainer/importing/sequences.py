"""Sequences of tensors, which are lists, and optional values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.values import (
    Value,
    array_of,
    host_array,
    ints_of,
    is_float,
    is_variable,
    number_of,
)


def _construct(attributes: Attributes, *values: Value) -> list[Value]:
    return list(values)


def _empty(attributes: Attributes) -> list[Value]:
    return []


def _position(sequence: list[Value], position: Value, last: int) -> int:
    index = int(number_of(position))
    if not -len(sequence) <= index <= last:
        raise ValueError(f"position {index} is outside of a sequence of {len(sequence)} tensors")
    return index


def _at(attributes: Attributes, sequence: list[Value], position: Value) -> Value:
    return sequence[_position(sequence, position, len(sequence) - 1)]


def _insert(
    attributes: Attributes, sequence: list[Value], value: Value, position: Value = None
) -> list[Value]:
    # Sequences of ONNX never change: other nodes may use the old one.
    result = list(sequence)
    if position is None:
        result.append(value)
    else:
        # A tensor may also follow the last one.
        result.insert(_position(sequence, position, len(sequence)), value)
    return result


def _erase(attributes: Attributes, sequence: list[Value], position: Value = None) -> list[Value]:
    result = list(sequence)
    del result[-1 if position is None else _position(sequence, position, len(sequence) - 1)]
    return result


def _length(attributes: Attributes, sequence: list[Value]) -> Value:
    return numpy.array(len(sequence), numpy.int64)


def _concat_from_sequence(attributes: Attributes, sequence: list[Value]) -> Value:
    axis = attributes["axis"]
    join = F.stack if attributes.get("new_axis", 0) else F.concat
    if is_variable(*sequence) and is_float(sequence[0]):
        return join(sequence, axis=axis)
    arrays = [host_array(value) for value in sequence]
    return (numpy.stack if attributes.get("new_axis", 0) else numpy.concatenate)(arrays, axis)


def _split_to_sequence(attributes: Attributes, x: Value, split: Value = None) -> list[Value]:
    axis = attributes.get("axis", 0) % array_of(x).ndim
    length = array_of(x).shape[axis]
    keepdims = True
    if split is None:
        # Without sizes each element is a part. The attribute keepdims counts only then.
        sizes, keepdims = [1] * length, bool(attributes.get("keepdims", 1))
    elif array_of(split).ndim == 0:
        size = int(number_of(split))
        # One number is the size of all parts; the last one may be shorter.
        sizes = [min(size, length - start) for start in range(0, length, size)]
    else:
        sizes = ints_of(split)
    parts: list[Value] = []
    start = 0
    for size in sizes:
        index: Any = slice(start, start + size) if keepdims else start
        selected = (*[slice(None)] * axis, index)
        parts.append(F.get_item(x, selected) if is_variable(x) else array_of(x)[selected])
        start += size
    return parts


def _optional(attributes: Attributes, value: Value = None) -> Value:
    return value


def _has_element(attributes: Attributes, value: Value = None) -> Value:
    return numpy.array(value is not None)


def _get_element(attributes: Attributes, value: Value) -> Value:
    if value is None:
        raise ValueError("OptionalGetElement: the optional has no value")
    return value


OPERATORS: dict[str, Callable[..., Any]] = {
    "ConcatFromSequence": _concat_from_sequence,
    "Optional": _optional,
    "OptionalGetElement": _get_element,
    "OptionalHasElement": _has_element,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SplitToSequence": _split_to_sequence,
}
