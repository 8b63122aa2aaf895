"""Exports of functions that Chainer 7.8.1 can export too, as descriptions to compare.

``exports_of_7_8_1.json`` is what ``python earlier_release.py exports_of_7_8_1.json`` writes with
Python 3.7, chainer 7.8.1, onnx 1.6.0 and protobuf 3.20.3.
"""

import json
import sys
import warnings

import numpy as np
import onnx
import onnx_chainer

import chainer
import chainer.functions as F
import chainer.links as L

_rng = np.random.RandomState(0)


def normal(*shape):
    return _rng.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return _rng.uniform(0.1, 0.9, shape).astype(np.float32)


class Apply(chainer.Chain):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *xs):
        return self.function(*xs)


X = normal(2, 3)
IMAGE = normal(2, 4, 6, 6)
SIGNAL = normal(2, 3, 7)
LABELS = np.array([0, 1, 2, 1], np.int32)

# Name -> model or function, inputs.
CASES = {
    "clipped_relu": (lambda x: F.clipped_relu(x, 0.5), X),
    "elu": (F.elu, X),
    "leaky_relu": (F.leaky_relu, X),
    "selu": (F.selu, X),
    "hard_sigmoid": (F.hard_sigmoid, X),
    "relu": (F.relu, X),
    "sigmoid": (F.sigmoid, X),
    "tanh": (F.tanh, X),
    "softplus": (F.softplus, X),
    "softmax": (F.softmax, X),
    "log_softmax": (F.log_softmax, X),
    "softmax axis": (lambda x: F.softmax(x, axis=2), normal(2, 3, 4)),
    "prelu": (L.PReLU((3,)), X),
    "cast": (lambda x: F.cast(x, "d"), X),
    "concat": (lambda x, y: F.concat((x, y), 1), X, X),
    "copy": (lambda x: F.copy(x, -1), X),
    "identity": (F.identity, X),
    "depth2space": (lambda x: F.depth2space(x, 2), normal(2, 8, 2, 2)),
    "space2depth": (lambda x: F.space2depth(x, 2), IMAGE),
    "hstack": (lambda x, y: F.hstack((x, y)), X, X),
    "vstack": (lambda x, y: F.vstack((x, y)), X, X),
    "vstack 1": (lambda x, y: F.vstack((x, y)), normal(3), normal(3)),
    "dstack": (lambda x, y: F.dstack((x, y)), X, X),
    "stack": (lambda x, y: F.stack((x, y), -1), X, X),
    "expand_dims": (lambda x: F.expand_dims(x, -1), X),
    "squeeze": (F.squeeze, normal(1, 2, 1)),
    "reshape": (lambda x: F.reshape(x, (3, 2)), X),
    "swapaxes": (lambda x: F.swapaxes(x, 0, 1), X),
    "transpose": (F.transpose, X),
    "moveaxis": (lambda x: F.moveaxis(x, 0, 1), X),
    "rollaxis": (lambda x: F.rollaxis(x, 1), X),
    "separate": (lambda x: F.separate(x, 1), X),
    "split_axis": (lambda x: F.split_axis(x, 3, 1), X),
    "split_axis at": (lambda x: F.split_axis(x, [1], 1), X),
    "transpose_sequence": (lambda x, y: F.transpose_sequence([x, y]), normal(3, 2), normal(3, 2)),
    "get_item int": (lambda x: x[1], X),
    "get_item slice": (lambda x: x[:, 1:], X),
    "get_item new axis": (lambda x: x[None], X),
    "get_item list": (lambda x: x[[0, 1]], X),
    "get_item step": (lambda x: x[:, ::2], X),
    "get_item two lists": (lambda x: x[[0, 1], [1, 2]], X),
    "get_item ellipsis": (lambda x: x[..., 1], X),
    "pad": (lambda x: F.pad(x, ((1, 2), (0, 1)), "constant", constant_values=2), X),
    "pad reflect": (lambda x: F.pad(x, 1, "reflect"), X),
    "permutate": (lambda x: F.permutate(x, np.array([1, 0], "i")), X),
    "repeat": (lambda x: F.repeat(x, 2, 1), X),
    "resize_images": (lambda x: F.resize_images(x, (9, 4)), IMAGE),
    "select_item": (lambda x: F.select_item(x, np.array([0, 2], "i")), X),
    "tile": (lambda x: F.tile(x, 2), X),
    "where": (lambda x, y: F.where(np.eye(2, 3).astype(bool), x, y), X, X + 1),
    "convolution_2d": (L.Convolution2D(4, 5, 3, 2, 1), IMAGE),
    "convolution_2d groups": (L.Convolution2D(4, 6, 3, groups=2, dilate=2, nobias=True), IMAGE),
    "convolution_nd": (L.ConvolutionND(1, 3, 4, 2), SIGNAL),
    "deconvolution_2d": (L.Deconvolution2D(4, 5, 3, 2, 1), IMAGE),
    "deconvolution_nd": (L.DeconvolutionND(1, 3, 4, 2), SIGNAL),
    "embed_id": (L.EmbedID(5, 4), np.array([[0, 2]], "i")),
    "linear": (L.Linear(3, 4), X),
    "linear no bias": (L.Linear(3, 4, nobias=True), X),
    "linear of images": (L.Linear(144, 4), IMAGE),
    "softmax_cross_entropy": (F.softmax_cross_entropy, normal(4, 3), LABELS),
    "add": (lambda x, y: x + y, X, X),
    "sub": (lambda x, y: x - y, X, X),
    "mul": (lambda x, y: x * y, X, X),
    "div": (lambda x, y: x / y, X, X),
    "neg": (lambda x: -x, X),
    "absolute": (lambda x: abs(x), X),
    "add three": (lambda x, y, z: F.add(x, y, z), X, X, X),
    "add constant": (lambda x: x + 2, X),
    "sub from constant": (lambda x: 2 - x, X),
    "mul constant": (lambda x: x * 2, X),
    "div from constant": (lambda x: 2 / x, X),
    "div by constant": (lambda x: x / 2, X),
    "pow": (lambda x, y: x**y, positive(2, 3), X),
    "pow constant": (lambda x: x**3, X),
    "pow of constant": (lambda x: 3**x, X),
    "square": (F.square, X),
    "sqrt": (F.sqrt, positive(2, 3)),
    "rsqrt": (F.rsqrt, positive(2, 3)),
    "exp": (F.exp, X),
    "log": (F.log, positive(2, 3)),
    "sin": (F.sin, X),
    "cos": (F.cos, X),
    "tan": (F.tan, X),
    "arcsin": (F.arcsin, positive(2, 3)),
    "arccos": (F.arccos, positive(2, 3)),
    "arctan": (F.arctan, X),
    "sinh": (F.sinh, X),
    "cosh": (F.cosh, X),
    "sign": (F.sign, X),
    "sum": (F.sum, X),
    "sum axis": (lambda x: F.sum(x, 1, keepdims=True), X),
    "mean": (lambda x: F.mean(x, 1), X),
    "max": (lambda x: F.max(x, 1), X),
    "min": (F.min, X),
    "prod": (lambda x: F.prod(x, 1), X),
    "logsumexp": (lambda x: F.logsumexp(x, 1), X),
    "argmax": (lambda x: F.argmax(x, 1), X),
    "argmin": (F.argmin, X),
    "maximum": (F.maximum, X, X + 1),
    "minimum": (F.minimum, X, X + 1),
    "clip": (lambda x: F.clip(x, -0.5, 0.5), X),
    "broadcast_to": (lambda x: F.broadcast_to(x, (4, 2, 3)), X),
    "matmul": (F.matmul, X, normal(3, 2)),
    "matmul trans": (lambda x, y: F.matmul(x, y, transb=True), X, X),
    "linear_interpolate": (F.linear_interpolate, positive(2, 3), X, X + 1),
    "dropout": (F.dropout, X),
    "batch normalization": (L.BatchNormalization(4), IMAGE),
    "batch normalization of a child": (
        chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4)),
        X,
    ),
    "group normalization": (L.GroupNormalization(2, 4), IMAGE),
    "local_response_normalization": (F.local_response_normalization, IMAGE),
    "normalize": (F.normalize, X),
    "layer normalization": (L.LayerNormalization(3), X),
    "average_pooling_2d": (lambda x: F.average_pooling_2d(x, 2), IMAGE),
    "max_pooling_2d": (lambda x: F.max_pooling_2d(x, 2, cover_all=False), IMAGE),
    "max_pooling_2d cover_all": (lambda x: F.max_pooling_2d(x, 4), IMAGE),
    "average_pooling_nd": (lambda x: F.average_pooling_nd(x, 2), IMAGE),
    "max_pooling_nd": (lambda x: F.max_pooling_nd(x, 2, cover_all=False), IMAGE),
    "roi_pooling_2d": (
        lambda x, q: F.roi_pooling_2d(x, q, 2, 2, 1),
        abs(IMAGE),
        np.array([[0, 0, 0, 4, 4]], "f"),
    ),
    "unpooling_2d": (lambda x: F.unpooling_2d(x, 2, cover_all=False), IMAGE),
    "mlp": (chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2, nobias=True), F.softmax), X),
}


def _value(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "dims"):
        return None
    if isinstance(value, float):
        return round(value, 6)
    return value if isinstance(value, int) else list(value)


def describe(name, opset=11):
    """Describes an export: operators with their inputs and attributes, names and shapes."""
    model, inputs = CASES[name][0], list(CASES[name][1:])
    if not isinstance(model, chainer.Link):
        model = Apply(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = onnx_chainer.export(model, inputs, opset_version=opset).graph
    initializers = sorted([tensor.name for tensor in graph.initializer])
    return {
        "nodes": [
            [node.op_type, list(node.input), {a.name: _value(a) for a in node.attribute}]
            for node in graph.node
            if node.op_type != "Constant"
        ],
        "inputs": [
            [x.name, [d.dim_value for d in x.type.tensor_type.shape.dim]]
            for x in graph.input
            if x.name not in initializers
        ],
        "outputs": [
            [y.name, [d.dim_value for d in y.type.tensor_type.shape.dim]] for y in graph.output
        ],
        "initializers": initializers,
    }


def main(path):
    found = {}
    for name in CASES:
        try:
            found[name] = describe(name)
        except Exception as error:
            found[name] = type(error).__name__
    lines = [json.dumps(k) + ": " + json.dumps(v) for k, v in sorted(found.items())]
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
