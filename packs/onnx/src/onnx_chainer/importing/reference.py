"""Operators without a gradient, computed by the reference implementation of the package onnx.

Strings, quantized arithmetic, selections such as NonMaxSuppression: the reference implementation is
exact, and the package is there anyway. Operators with a gradient do not go this way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.values import Value, array_of, host_array, on_device_of
from onnx_chainer.optional import require
from onnx_chainer.tensors import as_numpy

NAMES = frozenset(
    [
        *("BitCast", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"),
        *("ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "EyeLike", "ImageDecoder"),
        *("IsInf", "IsNaN", "MatMulInteger", "MelWeightMatrix", "NonMaxSuppression", "NonZero"),
        *("QLinearConv", "QLinearMatMul", "QuantizeLinear", "RegexFullMatch", "Round"),
        *("StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer", "Unique", "Xor"),
        *("ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.Binarizer", "ai.onnx.ml.LabelEncoder"),
        "ai.onnx.ml.TreeEnsemble",
        *(f"ai.onnx.preview.training.{name}" for name in ("Adagrad", "Adam", "Momentum")),
    ]
)
"""Operators whose results have no gradient, or whose gradient is zero."""


def reference_operator(node: Any, domain: str, opset: int) -> Callable[..., Any] | None:
    """Returns an operator that runs the reference implementation; None where there is none.

    Args:
        node (onnx.NodeProto): The node.
        domain: Its domain.
        opset: Version of the operator set.
    """
    name = f"{domain}.{node.op_type}" if domain else node.op_type
    if name not in NAMES:
        return None
    onnx = require("onnx")
    # Names by position, since one value may be several inputs.
    inputs = [f"i{k}" if x else "" for k, x in enumerate(node.input)]
    outputs = [f"o{k}" if y else "" for k, y in enumerate(node.output)]
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[:], copy.output[:] = inputs, outputs
    empty = onnx.TypeProto()
    graph = onnx.helper.make_graph(
        [copy],
        "node",
        [onnx.helper.make_value_info(x, empty) for x in inputs if x],
        [onnx.helper.make_value_info(y, empty) for y in outputs if y],
    )
    evaluator = _evaluator(graph, domain, opset)

    @constants()
    def compute(attributes: Attributes, *values: Value) -> tuple[Value, ...]:
        feeds = {x: host_array(v) for x, v in zip(inputs, values) if x}
        try:
            results = iter(evaluator.run(None, feeds))
        except RuntimeError as error:
            # The reference implementation has this class for inputs that it cannot compute.
            raise ValueError(str(error)) from error
        found = [next(results) if y else None for y in outputs]
        first = next((v for v in values if v is not None and array_of(v).dtype.kind != "O"), None)
        return tuple([_like(first, y) for y in found])

    return compute


def _evaluator(graph: Any, domain: str, opset: int) -> Any:
    """Returns the reference implementation of a graph of one node.

    It lacks old versions of some operators, such as QuantizeLinear before operator set 19. The next
    version computes the same: later ones of these operators only add types and attributes.
    """
    from onnx.reference import ReferenceEvaluator

    onnx = require("onnx")
    newest = onnx.defs.onnx_opset_version()
    for version in range(opset, max(opset, newest) + 1):
        opsets = [onnx.helper.make_opsetid(domain, version)]
        if domain:
            opsets.append(onnx.helper.make_opsetid("", newest))
        try:
            return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opsets))
        except RuntimeError:
            if version >= newest:
                raise


def _like(first: Value, result: Any) -> Value:
    """Returns a result on the device of the inputs; strings are arrays of NumPy."""
    if result is None:
        return None
    array = as_numpy(result)
    return array if first is None or array.dtype.kind in "OUS" else on_device_of(first, array)
