"""Operators that ONNX itself defines by other operators.

ONNX's schemas hold a function body for many operators. The body of some depends on the types of the
inputs; it is made when the operator runs, once for each combination of types.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.values import Value, array_of, dtype_of
from onnx_chainer.optional import require
from onnx_chainer.tensors import element_type

if TYPE_CHECKING:
    from onnx_chainer.importing.graph import Compiler


@functools.cache
def _schema(name: str, domain: str, opset: int) -> Any:
    defs = require("onnx").defs
    try:
        return defs.get_schema(name, opset, domain)
    except defs.SchemaError:
        return None


def has_body(name: str, domain: str, opset: int) -> bool:
    """Returns whether ONNX defines an operator by others.

    Args:
        name: Name of the operator.
        domain: Its domain.
        opset: Version of the operator set.
    """
    schema = _schema(name, domain, opset)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def function_body(
    node: Any, domain: str, opset: int, compiler: Compiler
) -> Callable[..., tuple[Value, ...]]:
    """Returns an operator that runs the body of ONNX's schema.

    Args:
        node (onnx.NodeProto): The node.
        domain: Domain of the operator.
        opset: Version of the operator set.
        compiler: Compiles the body.
    """
    schema = _schema(node.op_type, domain, opset)
    if schema.has_function:
        body = _with_opsets(schema.function_body, domain, opset)
        return compiler.inlined(body, node, _defaults(schema))
    compiled: dict[Any, Callable[..., tuple[Value, ...]]] = {}

    def call(attributes: Attributes, *inputs: Value) -> tuple[Value, ...]:
        key = tuple([_type_key(value) for value in inputs])
        if key not in compiled:
            onnx = require("onnx")
            types = [_type_of(value).SerializeToString() for value in inputs]
            # The interface of onnx to C++ takes and returns serialized messages.
            data = schema.get_context_dependent_function(node.SerializeToString(), types)
            function = onnx.FunctionProto.FromString(data)
            body = _with_opsets(function, domain, opset)
            compiled[key] = compiler.inlined(body, node, _defaults(schema))
        return compiled[key](attributes, *inputs)

    return call


def _with_opsets(function: Any, domain: str, opset: int) -> Any:
    """Returns a body that names the operator set of its node, if it names none."""
    if not function.opset_import:
        result = type(function)()
        result.CopyFrom(function)
        result.opset_import.add(domain="", version=opset if not domain else 1)
        return result
    return function


def _defaults(schema: Any) -> list[Any]:
    """Returns the attributes (``onnx.AttributeProto``) that have a default."""
    defaults = [attribute.default_value for attribute in schema.attributes.values()]
    return [value for value in defaults if value.name]


def _type_key(value: Value) -> Any:
    return None if value is None else (dtype_of(value), array_of(value).ndim)


def _type_of(value: Value) -> Any:
    """Returns the type of a value as a ``TypeProto``, empty for an input that is left out."""
    onnx = require("onnx")
    if value is None:
        return onnx.TypeProto()
    array = array_of(value)
    return onnx.helper.make_tensor_type_proto(element_type(array.dtype), array.shape)
