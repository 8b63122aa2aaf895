"""Attributes of nodes, and the errors about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from onnx_chainer.importing.errors import UnsupportedAttributeError
from onnx_chainer.optional import require

if TYPE_CHECKING:
    from chainer.typing import Array


class Attributes(dict[str, Any]):
    """Attributes of a node by name.

    Graphs of control flow are compiled (:class:`~onnx_chainer.importing.graph.Graph`).

    Attributes:
        operator: Name of the operator.
        opset: Version of the operator set.
        outputs: Number of outputs, those without a name at the end left out.
    """

    operator: str = ""
    opset: int = 1
    outputs: int = 1

    def refuse(self, attribute: str, value: object = None) -> NoReturn:
        """Raises the error for a value of an attribute that cannot be computed.

        Args:
            attribute: Name of the attribute, or of the input.
            value: Its value; the one that the node has if it is left out.
        """
        raise UnsupportedAttributeError(
            self.operator, attribute, self.get(attribute) if value is None else value
        )

    def axes(self, value: Array, name: str = "axes") -> tuple[int, ...] | None:
        """Returns axes, which are an attribute in old operator sets and an input in new ones.

        Args:
            value: The input, or None.
            name: Name of the attribute.
        """
        from onnx_chainer.importing.values import ints_of

        if value is not None:
            return tuple(ints_of(value))
        axes = self.get(name)
        return None if axes is None else tuple(axes)


def attributes_of(
    node: Any,
    opset: int,
    compile_graph: Callable[[Any], Any],
    references: dict[str, Any] | None = None,
) -> Attributes:
    """Returns the attributes of a node: numbers, lists, strings, arrays and compiled graphs.

    Args:
        node (onnx.NodeProto): The node.
        opset: Version of its operator set.
        compile_graph: Makes what represents a graph of control flow.
        references: Attributes (onnx.AttributeProto) of the call of a function by name, to which
            attributes of nodes of its body may refer.
    """
    values = Attributes()
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            # A reference to an attribute that the call does not have leaves the attribute out.
            found = (references or {}).get(attribute.ref_attr_name)
            if found is None:
                continue
            values[attribute.name] = _value_of(found, compile_graph)
        else:
            values[attribute.name] = _value_of(attribute, compile_graph)
    values.operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    values.opset = opset
    values.outputs = _number_of_outputs(node.output)
    return values


def _number_of_outputs(names: Sequence[str]) -> int:
    return max([i + 1 for i, name in enumerate(names) if name], default=0)


def _value_of(attribute: Any, compile_graph: Callable[[Any], Any]) -> Any:
    onnx = require("onnx")
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, onnx.SparseTensorProto):
        return dense(value)
    if isinstance(value, onnx.GraphProto):
        return compile_graph(value)
    if attribute.type in (onnx.AttributeProto.FLOATS, onnx.AttributeProto.INTS):
        return list(value)
    if attribute.type == onnx.AttributeProto.STRINGS:
        return [text.decode() for text in value]
    return value


def dense(sparse: Array) -> Any:
    """Returns the array of a sparse tensor, whose indexes are flat or of one row per element."""
    import numpy

    from onnx_chainer.importing.limits import check_shape

    check_shape("a sparse tensor", sparse.dims)
    to_array = require("onnx").numpy_helper.to_array
    values, indexes = to_array(sparse.values), to_array(sparse.indices)
    result = numpy.zeros(tuple(sparse.dims), values.dtype)
    if indexes.ndim == 1:
        result.reshape(-1)[indexes] = values
    else:
        result[tuple(indexes.T)] = values
    return result
