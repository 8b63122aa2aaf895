"""Attributes of nodes."""

from __future__ import annotations

from typing import Any

from onnx_chainer.optional import require


class Attributes(dict[str, Any]):
    """Attributes of a node by name.

    Attributes:
        opset: Version of the operator set.
        outputs: Number of outputs.
    """

    opset: int = 1
    outputs: int = 1


def attributes_of(node: Any, opset: int) -> Attributes:
    """Returns the attributes of a node: numbers, lists, strings and arrays."""
    onnx = require("onnx")
    values = Attributes()
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode()
        elif isinstance(value, onnx.TensorProto):
            value = onnx.numpy_helper.to_array(value)
        elif isinstance(value, list):
            value = [v.decode() if isinstance(v, bytes) else v for v in value]
        values[attribute.name] = value
    values.opset = opset
    values.outputs = len(node.output)
    return values
