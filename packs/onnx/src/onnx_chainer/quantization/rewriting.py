"""QuantizeLinear and DequantizeLinear around operators that runtimes compute with integers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy

from onnx_chainer.optional import require
from onnx_chainer.quantization.calibration import Range
from onnx_chainer.quantization.graph_edit import GraphEdit, attribute_of, channel_axis

OPERATORS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
"""Operators that are quantized by default. Their second input is a weight, if it is constant."""

#: A bias is int32; its numbers stay below a half of the largest one, since products are added.
_LARGEST_BIAS = 2**30


#: The largest weight of 7 bits. CPUs with AVX2 or AVX-512 but without VNNI add two products of an
#: activation, up to 255, and a weight in 16 bits: 2 * 255 * 64 fits, and 2 * 255 * 127 does not.
_REDUCED = 64


def quantized_inputs(
    edit: GraphEdit, operators: Collection[str], reduce_range: bool = True
) -> list[str]:
    """Returns the names of the activations that become integers.

    Args:
        edit: The graph.
        operators: Names of operators.
        reduce_range: See :func:`onnx_chainer.export_quantized`.
    """
    floats = _float_values(edit)
    found: dict[str, None] = {}
    for node in edit.nodes:
        if is_quantized(edit, node, operators, reduce_range):
            found.update(dict.fromkeys([name for name in _activations(edit, node, floats)]))
    return list(found)


def is_quantized(
    edit: GraphEdit, node: Any, operators: Collection[str], reduce_range: bool
) -> bool:
    """Returns whether an operator is computed with integers.

    Args:
        edit: The graph.
        node: The operator.
        operators: Names of operators.
        reduce_range: See :func:`onnx_chainer.export_quantized`.
    """
    if node.op_type not in operators:
        return False
    # An activation in the place of a weight may leave the range of 7 bits.
    return node.op_type not in OPERATORS or not reduce_range or node.input[1] in edit.weights


def _activations(edit: GraphEdit, node: Any, floats: Collection[str]) -> list[str]:
    # The third input of Conv, ConvTranspose and Gemm is a bias.
    most = 2 if node.op_type in OPERATORS else len(node.input)
    return [x for x in node.input[:most] if x in floats and x not in edit.weights]


def _float_values(edit: GraphEdit) -> set[str]:
    """Returns the names of the values of dtype float32."""
    onnx = require("onnx")
    graph = onnx.shape_inference.infer_shapes(edit.proto).graph
    values = [*graph.value_info, *graph.input, *graph.output]
    return {v.name for v in values if v.type.tensor_type.elem_type == onnx.TensorProto.FLOAT}


class Rewriting:
    """Makes the form QDQ of a graph.

    Args:
        edit: The graph.
        operators: Names of the operators.
        ranges: Ranges of the activations.
        reduce_range: See :func:`onnx_chainer.export_quantized`.
    """

    def __init__(
        self,
        edit: GraphEdit,
        operators: Collection[str],
        ranges: Mapping[str, Range],
        reduce_range: bool = True,
    ) -> None:
        self._reduce_range = reduce_range
        self._edit = edit
        self._operators = operators
        self._ranges = ranges
        self._nodes: list[Any] = []
        self._activations: dict[str, str] = {}
        self._weights: dict[tuple[str, int | None], tuple[str, Any]] = {}
        self._scales: dict[str, float] = {}

    def run(self) -> None:
        """Changes the graph."""
        for node in list(self._edit.nodes):
            copy = type(node)()
            copy.CopyFrom(node)
            if is_quantized(self._edit, node, self._operators, self._reduce_range):
                self._quantize(copy)
            self._nodes.append(copy)
        self._edit.replace_nodes(self._nodes)

    def _add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        helper = require("onnx").helper
        name = self._edit.free_name(f"{operator}_{output}")
        self._nodes.append(helper.make_node(operator, inputs, [output], name=name, **attributes))
        return output

    def _quantize(self, node: Any) -> None:
        names = [*node.input]
        most = 2 if node.op_type in OPERATORS else len(names)
        for i, name in enumerate(names[:most]):
            if name in self._ranges:
                node.input[i] = self._activation(name)
        if node.op_type not in OPERATORS:
            return
        weight = self._edit.weights.get(names[1])
        if weight is None or weight.dtype != numpy.float32:
            return
        bias_name = names[2] if len(names) > 2 else ""
        bias = self._edit.weights.get(bias_name)
        axis = channel_axis(node, weight.ndim)
        node.input[1], scales = self._weight(names[1], weight, axis, names[0], bias)
        plain = attribute_of(node, "alpha", 1.0) == attribute_of(node, "beta", 1.0) == 1
        if bias is not None and bias.ndim == 1 and plain and names[0] in self._scales:
            node.input[2] = self._bias(bias_name, bias, self._scales[names[0]] * scales)

    def _activation(self, name: str) -> str:
        """Returns the name of an activation after quantization."""
        if name in self._activations:
            return self._activations[name]
        low, high = self._ranges[name]
        # An activation that is always zero has any scale.
        scale = numpy.float32((high - low) / 255 or 1.0)
        zero = numpy.int8(numpy.clip(round(-128 - low / float(scale)), -128, 127))
        edit = self._edit
        parameters = [
            edit.add_weight(f"{name}_scale", numpy.asarray(scale)),
            edit.add_weight(f"{name}_zero_point", numpy.asarray(zero)),
        ]
        quantized = self._add(
            "QuantizeLinear", [name, *parameters], edit.free_name(f"{name}_quantized")
        )
        result = self._add(
            "DequantizeLinear", [quantized, *parameters], edit.free_name(f"{name}_dequantized")
        )
        self._activations[name] = result
        self._scales[name] = float(scale)
        return result

    def _weight(
        self, name: str, weight: Any, axis: int | None, x: str, bias: Any
    ) -> tuple[str, Any]:
        """Returns the name of a weight after quantization, and its scales."""
        if (name, axis) in self._weights:
            return self._weights[name, axis]
        largest = _REDUCED if self._reduce_range else 127
        scales = scales_of(weight, axis, largest)
        if bias is not None and bias.shape == scales.shape and x in self._scales:
            # A channel of tiny weights would have a scale that the bias does not fit.
            least = numpy.abs(bias) / (self._scales[x] * _LARGEST_BIAS)
            scales = numpy.maximum(scales, least).astype(numpy.float32)
        integers = quantized(weight, scales, axis, largest)
        result = self._dequantized(name, integers, scales, axis)
        self._weights[name, axis] = result, scales
        return result, scales

    def _bias(self, name: str, bias: Any, scales: Any) -> str:
        scales = numpy.broadcast_to(scales, bias.shape).astype(numpy.float32)
        integers = numpy.rint(bias / scales.astype("d"))
        if (numpy.abs(integers) > 2 * _LARGEST_BIAS).any():
            # A weight with one scale for all channels: the bias stays as it is.
            return name
        return self._dequantized(name, integers.astype(numpy.int32), scales, 0)

    def _dequantized(self, name: str, integers: Any, scales: Any, axis: int | None) -> str:
        edit = self._edit
        inputs = [
            edit.add_weight(f"{name}_quantized", integers),
            edit.add_weight(f"{name}_scale", scales),
            edit.add_weight(f"{name}_zero_point", numpy.zeros(scales.shape, integers.dtype)),
        ]
        attributes = {} if axis is None else {"axis": axis}
        return self._add(
            "DequantizeLinear", inputs, edit.free_name(f"{name}_dequantized"), **attributes
        )


def scales_of(weight: Any, axis: int | None, largest: int = 127) -> Any:
    """Returns the scales of a weight: the largest absolute values divided by the largest integer.

    Args:
        weight: Array of float32.
        axis: Axis of the channels; None for one scale.
        largest: The largest integer.
    """
    others = tuple([i for i in range(weight.ndim) if i != axis])
    most = numpy.abs(weight).max(axis=others if axis is not None else None, initial=0)
    scales = numpy.asarray(most, numpy.float32) / numpy.float32(largest)
    # A channel of zeros has any scale. The largest one of the others is also good for its bias.
    return numpy.where(scales > 0, scales, scales.max(initial=0) or 1).astype(numpy.float32)


def quantized(weight: Any, scales: Any, axis: int | None, largest: int = 127) -> Any:
    """Returns a weight as int8, rounded to the nearest number.

    Args:
        weight: Array of float32.
        scales: The scales, see :func:`scales_of`.
        axis: Axis of the channels; None for one scale.
        largest: The largest integer.
    """
    shape = [-1 if i == axis else 1 for i in range(weight.ndim)] if axis is not None else []
    rounded = numpy.rint(weight / scales.reshape(shape))
    return numpy.clip(rounded, -largest, largest).astype(numpy.int8)
