"""Layers of Caffe for the functions of a graph."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Shape
from chainer.functions.activation.leaky_relu import LeakyReLU
from chainer.functions.activation.relu import ReLU
from chainer.functions.activation.sigmoid import Sigmoid
from chainer.functions.activation.softmax import Softmax
from chainer.functions.array.concat import Concat
from chainer.functions.array.reshape import Reshape
from chainer.functions.connection.convolution_2d import Convolution2DFunction
from chainer.functions.connection.deconvolution_2d import Deconvolution2DFunction
from chainer.functions.connection.linear import LinearFunction
from chainer.functions.math.basic_math import Add, MultiAdd
from chainer.functions.normalization.batch_normalization import FixedBatchNormalization
from chainer.functions.normalization.local_response_normalization import LocalResponseNormalization
from chainer.functions.pooling.average_pooling_2d import AveragePooling2D
from chainer.functions.pooling.max_pooling_2d import MaxPooling2D
from chainer.functions.pooling.max_pooling_nd import MaxPoolingND
from chainer.links.caffe import _schema

#: Labels by which release 7 names layers, where they are others than ours.
_LABELS = {"MaxPooling2D": "MaxPoolingND"}

Layer = dict[str, Any]
#: Function, its input arrays and the shape of its output -> type of layer and its other fields.
Conversion = Callable[[Any, Arrays, Shape], tuple[str, Layer]]


def layers_of(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    recorded: Mapping[int, tuple[FunctionNode, Arrays]],
) -> list[Layer]:
    """Returns the layers of a graph, in order of computation.

    Args:
        inputs: Variables given to the model.
        outputs: Variables it returned.
        recorded: ``id`` of a function -> the function and its input arrays.

    Returns:
        Layers as mappings of the fields of ``LayerParameter``.

    Raises:
        ValueError: If a function has no equivalent, or the outputs do not depend on the inputs.
    """
    blobs: dict[int, str] = {}
    layers: list[Layer] = []
    for i, x in enumerate(inputs, 1):
        name = "data" if i == 1 else f"data{i}"
        blobs[id(x.node)] = name
        shape = {"shape": [{"dim": list(x.shape)}]}
        layers.append({"type": "Input", "name": name, "top": [name], "input_param": shape})
    numbers: Counter[tuple[int, str]] = Counter()
    for function in _functions(inputs, outputs):
        arrays = recorded[id(function)][1]
        bottoms = [blobs[id(node)] for node in function.inputs if id(node) in blobs]
        converted = _CONVERSIONS.get(type(function))
        if converted is None:
            raise ValueError(f"Caffe has no equivalent of function {function.label!r}")
        convert, n_inputs = converted
        if len(bottoms) != (n_inputs or len(arrays)):
            raise ValueError(
                f"function {function.label!r} must get {n_inputs or len(arrays)} inputs computed "
                f"by the network, got {len(bottoms)}"
            )
        label: str = function.label
        label = _LABELS.get(label, label)
        numbers[function.rank, label] += 1
        name = f"{label}-{function.rank}-{numbers[function.rank, label]}"
        (output,) = (reference() for reference in function.outputs)
        if isinstance(function, FixedBatchNormalization):
            layers.append(_normalization(function, arrays, f"{name}_bn", bottoms))
            bottoms = [f"{name}_bn"]
        kind, fields = convert(function, arrays, output.shape)
        layers.append({"type": kind, "name": name, "bottom": bottoms, "top": [name], **fields})
        blobs[id(output)] = name
    return layers


def _functions(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[Any]:
    """Returns the functions between inputs and outputs, each after those it depends on."""
    given = {id(x.node) for x in inputs}
    found: dict[int, Any] = {}
    stack = [y.node for y in outputs]
    if any(node.creator_node is None and id(node) not in given for node in stack):
        raise ValueError("an output of the model does not depend on its inputs")
    while stack:
        node = stack.pop()
        function = None if id(node) in given else node.creator_node
        if function is not None and id(function) not in found:
            found[id(function)] = function
            stack.extend(function.inputs or ())
    # Functions of one rank do not depend on each other; the order of discovery is from behind.
    return sorted(reversed(found.values()), key=lambda function: function.rank)


def _blob(array: Array) -> dict[str, Any]:
    array = get_device_from_array(array).backend.to_host(array)
    return {"shape": {"dim": list(array.shape)}, "data": array.ravel()}


def _blobs(arrays: Sequence[Array]) -> list[dict[str, Any]]:
    return [_blob(array) for array in arrays]


def _size(ksize: Sequence[int], stride: Sequence[int], pad: Sequence[int]) -> Layer:
    (kernel_h, kernel_w), (stride_h, stride_w), (pad_h, pad_w) = ksize, stride, pad
    return {
        "pad_w": pad_w,
        "pad_h": pad_h,
        "stride_w": stride_w,
        "stride_h": stride_h,
        "kernel_w": kernel_w,
        "kernel_h": kernel_h,
    }


def _convolution(
    function: Convolution2DFunction | Deconvolution2DFunction, arrays: Arrays, shape: Shape
) -> tuple[str, Layer]:
    weight = arrays[1]
    geometry = function.geometry
    if getattr(function, "cover_all", False):
        raise ValueError("Caffe has no convolution with cover_all=True")
    param: Layer = {
        "num_output": shape[1],
        "bias_term": len(arrays) == 3,
        **_size(weight.shape[2:], geometry.stride, geometry.pad),
        "group": geometry.groups,
    }
    if any(d != 1 for d in geometry.dilate):
        param["dilation"] = list(geometry.dilate)
    transposed = isinstance(function, Deconvolution2DFunction)
    kind = "Deconvolution" if transposed else "Convolution"
    if transposed:
        # Caffe has no choice of the output size.
        for i, (length, size) in enumerate(zip(arrays[0].shape[2:], shape[2:])):
            kernel = (weight.shape[2 + i] - 1) * geometry.dilate[i] + 1
            if size != (length - 1) * geometry.stride[i] + kernel - 2 * geometry.pad[i]:
                raise ValueError(f"Caffe has no deconvolution with outsize={shape[2:]}")
    return kind, {"convolution_param": param, "blobs": _blobs(arrays[1:])}


def _linear(function: LinearFunction, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    param = {"num_output": shape[1], "bias_term": len(arrays) == 3}
    return "InnerProduct", {"inner_product_param": param, "blobs": _blobs(arrays[1:])}


def _pooling(
    function: AveragePooling2D | MaxPoolingND, arrays: Arrays, shape: Shape
) -> tuple[str, Layer]:
    if len(function.ksize) != 2:
        raise ValueError(f"Caffe has pooling over 2 axes only, got {len(function.ksize)}")
    average = isinstance(function, AveragePooling2D)
    for i, (length, size) in enumerate(zip(arrays[0].shape[2:], shape[2:])):
        covered = length + 2 * function.pad[i] - function.ksize[i]
        if size == -(-covered // function.stride[i]) + 1:
            continue
        text = (
            f"Caffe pools up to the border of images ({function.label} of {length} pixels with "
            f"ksize={function.ksize[i]}, stride={function.stride[i]}, pad={function.pad[i]})"
        )
        if not average:
            raise ValueError(text)
        # Release 7 exports it, and CaffeFunction averages over complete windows only, too.
        warnings.warn(f"{text}: its result is larger than that of the model", stacklevel=4)
    pool = _schema.POOL_AVE if average else _schema.POOL_MAX
    size = _size(function.ksize, function.stride, function.pad)
    return "Pooling", {"pooling_param": {"pool": pool, **size}}


def _normalization(
    function: FixedBatchNormalization, arrays: Arrays, name: str, bottoms: list[str]
) -> Layer:
    """Returns the first of two layers: normalization without scale and bias."""
    x, gamma, _, mean, variance = arrays
    if gamma.ndim != 1 or x.shape[1:2] != gamma.shape:
        raise ValueError("Caffe has batch normalization over the channels (axis 1) only")
    return {
        "type": "BatchNorm",
        "name": name,
        "bottom": bottoms,
        "top": [name],
        "batch_norm_param": {"use_global_stats": True, "eps": float(function.eps)},
        "blobs": _blobs([mean, variance, numpy.ones(1, numpy.float32)]),
    }


def _scale(function: FixedBatchNormalization, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    return "Scale", {
        "scale_param": {"axis": 1, "bias_term": True},
        "blobs": _blobs(arrays[1:3]),
    }


def _lrn(function: LocalResponseNormalization, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    param = {
        "norm_region": _schema.LRN_ACROSS_CHANNELS,
        "local_size": function.n,
        "k": float(function.k),
        "alpha": float(function.alpha * function.n),
        "beta": float(function.beta),
    }
    return "LRN", {"lrn_param": param}


def _relu(function: ReLU, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    return "ReLU", {}


def _leaky_relu(function: LeakyReLU, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    return "ReLU", {"relu_param": {"negative_slope": float(function.slope)}}


def _sigmoid(function: Sigmoid, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    return "Sigmoid", {}


def _softmax(function: Softmax, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    return "Softmax", {"softmax_param": {"axis": function.axis}}


def _concat(function: Concat, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    return "Concat", {"concat_param": {"axis": function.axis}}


def _reshape(function: Reshape, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    # -1 for the batch, so that the network takes batches of all sizes. Caffe's 0 would do as well,
    # but not all readers know it.
    same_batch = len(shape) > 0 and shape[:1] == arrays[0].shape[:1]
    dims = [-1, *shape[1:]] if same_batch else list(shape)
    return "Reshape", {"reshape_param": {"shape": {"dim": dims}}}


def _add(function: FunctionNode, arrays: Arrays, shape: Shape) -> tuple[str, Layer]:
    if any(array.shape != shape for array in arrays):
        raise ValueError("Caffe adds blobs of one shape only")
    return "Eltwise", {"eltwise_param": {"operation": _schema.ELTWISE_SUM}}


#: Function -> conversion, and how many of its inputs are blobs (the others are parameters); None if
#: all are.
_CONVERSIONS: dict[type, tuple[Conversion, int | None]] = {
    Add: (_add, None),
    AveragePooling2D: (_pooling, 1),
    Concat: (_concat, None),
    Convolution2DFunction: (_convolution, 1),
    Deconvolution2DFunction: (_convolution, 1),
    FixedBatchNormalization: (_scale, 1),
    LeakyReLU: (_leaky_relu, 1),
    LinearFunction: (_linear, 1),
    LocalResponseNormalization: (_lrn, 1),
    MaxPooling2D: (_pooling, 1),
    MaxPoolingND: (_pooling, 1),
    MultiAdd: (_add, None),
    ReLU: (_relu, 1),
    Reshape: (_reshape, 1),
    Sigmoid: (_sigmoid, 1),
    Softmax: (_softmax, 1),
}
