"""Batch normalization as a part of the convolution or linear function in front of it."""

from __future__ import annotations

from typing import Any

import numpy

from onnx_chainer.quantization.graph_edit import GraphEdit, attribute_of, channel_axis


def fold_normalizations(edit: GraphEdit) -> None:
    """Multiplies weights by the factors of the normalizations behind them.

    A normalization of test mode is ``y = a x + b`` for each channel. It is folded into a Conv,
    ConvTranspose or Gemm whose result has no other reader, if all numbers are in the model.

    Args:
        edit: The graph.
    """
    readers = edit.readers()
    made = {node.output[0]: node for node in edit.nodes}
    removed = set()
    for node in edit.nodes:
        conv = made.get(node.input[0]) if node.op_type == "BatchNormalization" else None
        if conv is None or not _can_fold(edit, conv, node, readers):
            continue
        _fold(edit, conv, node)
        removed.add(node.output[0])
        # The operator gets the name of the value that others read.
        conv.output[0] = node.output[0]
    kept = [
        n for n in edit.nodes if n.op_type != "BatchNormalization" or n.output[0] not in removed
    ]
    edit.replace_nodes([_copy(node) for node in kept])


def _copy(node: Any) -> Any:
    copy = type(node)()
    copy.CopyFrom(node)
    return copy


def _can_fold(edit: GraphEdit, conv: Any, norm: Any, readers: dict[str, list[Any]]) -> bool:
    weights = [*conv.input[1:], *norm.input[1:]]
    return (
        conv.op_type in ("Conv", "ConvTranspose", "Gemm")
        and attribute_of(conv, "alpha", 1.0) == attribute_of(conv, "beta", 1.0) == 1
        and attribute_of(norm, "training_mode", 0) == 0
        # With groups the channels of a transposed convolution are not one axis of the weight.
        and (conv.op_type != "ConvTranspose" or attribute_of(conv, "group", 1) == 1)
        and len(readers[conv.output[0]]) == 1
        and conv.output[0] not in edit.outputs
        and all([name in edit.weights for name in weights if name])
        # A weight of several operators cannot have several factors.
        and all([len(readers[name]) == 1 for name in conv.input[1:] if name])
    )


def _fold(edit: GraphEdit, conv: Any, norm: Any) -> None:
    gamma, beta, mean, variance = (edit.weights[name] for name in norm.input[1:5])
    epsilon = next((a.f for a in norm.attribute if a.name == "epsilon"), 1e-5)
    factor = gamma.astype("d") / numpy.sqrt(variance.astype("d") + epsilon)
    weight = edit.weights[conv.input[1]]
    bias: Any = edit.weights[conv.input[2]] if len(conv.input) > 2 and conv.input[2] else 0.0
    axis = channel_axis(conv, weight.ndim)
    column = factor.reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    edit.set_weight(conv.input[1], (weight * column).astype(weight.dtype))
    shifted = ((bias - mean) * factor + beta).astype(weight.dtype)
    if len(conv.input) > 2 and conv.input[2]:
        edit.set_weight(conv.input[2], shifted)
    else:
        name = edit.add_weight(f"{conv.input[1]}_bias", shifted)
        conv.input[:] = [*conv.input[:2], name]
