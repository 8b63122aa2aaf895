"""Ranges of activations for calibration data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy

import chainer
from onnx_chainer.arguments import Arguments
from onnx_chainer.importing.load import ONNXModel
from onnx_chainer.importing.values import host_array
from onnx_chainer.quantization.graph_edit import GraphEdit


class Range(NamedTuple):
    """The least and the greatest value of an activation. It contains zero."""

    low: float
    high: float


def ranges_of(edit: GraphEdit, names: Sequence[str], batches: Iterable[Any]) -> dict[str, Range]:
    """Returns the ranges of activations.

    Args:
        edit: The graph.
        names: Names of the activations.
        batches: Batches of inputs: arrays, or lists, tuples or dicts of them.

    Raises:
        ValueError: If a value is not finite.
    """
    model = _with_outputs(edit.proto, names)
    # Padding is zero, so that zero has to be a number of the range.
    found = dict.fromkeys(names, Range(0.0, 0.0))
    for batch in batches:
        inputs = [x.array for x in Arguments(batch).variables.values()]
        # Values that are not finite are reported below.
        with (
            chainer.using_config("train", False),
            chainer.no_backprop_mode(),
            numpy.errstate(all="ignore"),
        ):
            results = model(*inputs)
        values = results if isinstance(results, tuple) else (results,)
        for name, value in zip(names, values, strict=True):
            array = host_array(value)
            if not numpy.isfinite(array).all():
                raise ValueError(f"calibration: the activation {name!r} is not finite")
            low, high = found[name]
            found[name] = Range(
                min(low, float(array.min(initial=0))), max(high, float(array.max(initial=0)))
            )
    return found


def _with_outputs(proto: Any, names: Sequence[str]) -> ONNXModel:
    """Returns a chain whose outputs are the activations."""
    copy = type(proto)()
    copy.CopyFrom(proto)
    del copy.graph.output[:]
    for name in names:
        copy.graph.output.add(name=name)
    return ONNXModel(copy, trainable=False)
