"""Models of ONNX as other exporters write them, with random weights, for the benchmark of ONNX.

They are made here, because files of this size do not belong in a repository. PyTorch's exporter
writes them in this way at opset 13: normalizations of convolutions are folded into the weights,
GELU, layer normalization and attention are spelled as several operators.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 13

#: Layers, heads, units, words and tokens of the decoder, as in the smallest GPT-2.
DECODER = {"layers": 12, "heads": 12, "units": 768, "words": 50257, "tokens": 64}


class Builder:
    """Collects nodes and weights."""

    def __init__(self):
        self.nodes = []
        self.weights = []
        self._random = np.random.RandomState(0)

    def op(self, kind, *inputs, **attributes):
        """Adds an operator and returns the name of its output."""
        name = "{}_{}".format(kind, len(self.nodes))
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def weight(self, *shape, scale=None):
        """Adds a random weight, scaled by the number of inputs, and returns its name."""
        fan_in = int(np.prod(shape[1:])) or 1
        scale = fan_in**-0.5 if scale is None else scale
        array = self._random.standard_normal(shape) * scale
        return self.constant(array.astype(np.float32))

    def constant(self, array):
        """Adds an initializer and returns its name."""
        name = "w{}".format(len(self.weights))
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def model(self, kind, shape, output, output_shape):
        """Returns the model with the input ``x``."""
        graph = helper.make_graph(
            self.nodes,
            "model",
            [helper.make_tensor_value_info("x", kind, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
            self.weights,
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8
        )


def resnet50():
    """Returns ResNet-50 for images of 224 x 224 pixels."""
    b = Builder()

    def conv(x, before, after, size, stride=1):
        pad = size // 2
        return b.op(
            "Conv",
            x,
            b.weight(after, before, size, size),
            b.weight(after, scale=0.1),
            kernel_shape=[size, size],
            strides=[stride, stride],
            pads=[pad] * 4,
        )

    h = b.op("Relu", conv("x", 3, 64, 7, 2))
    h = b.op("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = 64
    for stage, (middle, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for index in range(count):
            stride = 2 if index == 0 and stage > 0 else 1
            y = b.op("Relu", conv(h, before, middle, 1))
            y = b.op("Relu", conv(y, middle, middle, 3, stride))
            y = conv(y, middle, 4 * middle, 1)
            if index == 0:
                h = conv(h, before, 4 * middle, 1, stride)
            h = b.op("Relu", b.op("Add", y, h))
            before = 4 * middle
    h = b.op("Flatten", b.op("GlobalAveragePool", h), axis=1)
    h = b.op("Gemm", h, b.weight(1000, before), b.weight(1000, scale=0.1), transB=1)
    return b.model(TensorProto.FLOAT, [1, 3, 224, 224], h, [1, 1000])


def decoder(layers=12, heads=12, units=768, words=50257, tokens=64):
    """Returns a decoder of the size of GPT-2, which gets numbers of words."""
    b = Builder()
    def number(value):
        return b.op("Constant", value=numpy_helper.from_array(np.float32(value)))

    split = b.constant(np.array([1, tokens, heads, units // heads]))
    joined = b.constant(np.array([1, tokens, units]))
    mask = b.constant(np.tril(np.ones((1, 1, tokens, tokens), bool)))

    def norm(x):
        centered = b.op("Sub", x, b.op("ReduceMean", x, axes=[-1]))
        variance = b.op("ReduceMean", b.op("Pow", centered, number(2)), axes=[-1])
        deviation = b.op("Sqrt", b.op("Add", variance, number(1e-5)))
        gamma = b.constant(np.ones(units, np.float32))
        beta = b.constant(np.zeros(units, np.float32))
        return b.op("Add", b.op("Mul", b.op("Div", centered, deviation), gamma), beta)

    def linear(x, before, after):
        return b.op(
            "Add",
            b.op("MatMul", x, b.weight(before, after, scale=before**-0.5)),
            b.weight(after, scale=0.1),
        )

    def gelu(x):
        cube = b.op("Mul", b.op("Pow", x, number(3)), number(0.044715))
        inner = b.op("Mul", b.op("Add", x, cube), number((2 / np.pi) ** 0.5))
        return b.op(
            "Mul",
            b.op("Mul", x, number(0.5)),
            b.op("Add", b.op("Tanh", inner), number(1)),
        )

    def attention(x):
        q, k, v = (
            b.op("Transpose", b.op("Reshape", linear(x, units, units), split), perm=perm)
            for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        scores = b.op("Div", b.op("MatMul", q, k), number((units // heads) ** 0.5))
        scores = b.op("Where", mask, scores, number(np.finfo(np.float32).min))
        y = b.op("MatMul", b.op("Softmax", scores, axis=-1), v)
        y = b.op("Reshape", b.op("Transpose", y, perm=[0, 2, 1, 3]), joined)
        return linear(y, units, units)

    embedding = b.weight(words, units, scale=0.02)
    h = b.op("Add", b.op("Gather", embedding, "x"), b.weight(1, tokens, units, scale=0.02))
    for _ in range(layers):
        h = b.op("Add", h, attention(norm(h)))
        y = gelu(linear(norm(h), units, 4 * units))
        h = b.op("Add", h, linear(y, 4 * units, units))
    h = b.op("MatMul", norm(h), b.op("Transpose", embedding, perm=[1, 0]))
    return b.model(TensorProto.INT64, [1, tokens], h, [1, tokens, words])


def image():
    """Returns an input of :func:`resnet50`."""
    return np.random.RandomState(1).rand(1, 3, 224, 224).astype(np.float32)


def words():
    """Returns an input of :func:`decoder`."""
    return np.random.RandomState(1).randint(0, DECODER["words"], (1, DECODER["tokens"]))


MODELS = {
    "ResNet-50": (resnet50, image),
    "GPT-2 size": (lambda: decoder(**DECODER), words),
}
"""Name -> functions that make the model and its input."""


def summary(output):
    """Returns numbers of an output that must be equal for all peers."""
    return [float(abs(output).mean()), float(output.reshape(-1)[0])]
