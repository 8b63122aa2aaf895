"""Random networks of Caffe, and what a ``CaffeFunction`` computes of them.

The file runs in Python 3.7 with release 7.8.1 as well as here, and
``python -m tests.comparison --caffe`` compares both. A network is a text in the format of Caffe's
own definitions with weights in it, so that it can be printed.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import warnings

import numpy as np

from tests.comparison.answering import write_answers
from tests.comparison.draws import Draws

#: Types of layers, and their names in files until 2014.
OLD_NAMES = {
    "Convolution": "CONVOLUTION",
    "Deconvolution": "DECONVOLUTION",
    "InnerProduct": "INNER_PRODUCT",
    "Pooling": "POOLING",
    "ReLU": "RELU",
    "Sigmoid": "SIGMOID",
    "LRN": "LRN",
    "Dropout": "DROPOUT",
    "Concat": "CONCAT",
    "Eltwise": "ELTWISE",
    "Slice": "SLICE",
    "Split": "SPLIT",
    "Softmax": "SOFTMAX",
    "SoftmaxWithLoss": "SOFTMAX_LOSS",
}

#: Stands before blobs that may not fit.
MARK = "# odd\n"

#: Types that early files do not have.
NEW_TYPES = ("BatchNorm", "Scale", "Reshape")


class Generator(Draws):
    """Writes one network.

    Args:
        seed: Its number.
    """

    def __init__(self, seed):
        super().__init__(seed)
        self.is_old = self.maybe(0.2)
        #: Whether options are drawn that a loader may refuse.
        self.is_odd = self.maybe(0.2)
        self.layers = []
        #: Name of a blob -> its shape.
        self.shapes = {"x": (2, 1 + self.below(4), 4 + self.below(4), 4 + self.below(4))}
        #: Blobs that no layer changes in place: the input and the outputs of Split layers.
        self.copies = {"x"}
        #: Blobs that Split layers make. Copies of copies are an error in release 7.8.1.
        self.split = set()
        #: Blobs that no layer has used.
        self.unused = ["x"]

    def network(self):
        """Returns the text, the shapes of the inputs, and the names of the outputs."""
        for _ in range(2 + self.below(6)):
            blobs = [name for name in sorted(self.shapes) if self.is_usable(name)]
            unused = [name for name in self.unused if name in blobs]
            bottom = self.pick(unused if unused and self.maybe(0.8) else blobs)
            kinds = [*OLD_NAMES, *(() if self.is_old else NEW_TYPES)]
            getattr(self, "add_" + self.pick(kinds).lower())(bottom, self.shapes[bottom])
        inputs = {"x": (2, *self.first)}
        if "t" in self.shapes:
            inputs["t"] = (2,)
        hidden = {"x", "t"} if self.is_odd else {"x", "t", *self.split}
        outputs = [name for name in self.unused if name not in hidden]
        return "\n".join(self.layers), inputs, outputs or [next(iter(self.shapes))]

    @property
    def first(self):
        return self.shapes["x"][1:]

    def is_usable(self, name):
        """Returns whether a blob is neither a label nor a loss."""
        return name != "t" and self.shapes[name] != ()

    def numbers(self, count, low=-8):
        return " ".join("data: %g" % ((self.below(8 - low) + low) / 8.0) for _ in range(count))

    def blob(self, shape, low=-8, early=0.2):
        """Returns the text of a blob of random values, with a chance in the form of early files."""
        data = self.numbers(int(np.prod(shape)), low)
        if self.is_old or self.maybe(early):
            four = (1,) * (4 - len(shape)) + tuple(shape)
            return "blobs { num: %d channels: %d height: %d width: %d %s }" % (*four, data)
        dims = " ".join("dim: %d" % n for n in shape)
        return "blobs { shape { %s } %s }" % (dims, data)

    def layer(self, kind, bottoms, tops, rest=""):
        """Adds a layer; ``tops`` are shapes, whose blobs get names, or names with shapes."""
        names = []
        for bottom in bottoms:
            if bottom in self.unused:
                self.unused.remove(bottom)
        for top in tops:
            if top and isinstance(top[0], str):
                name, shape = top
            else:
                name, shape = "b%d" % len(self.shapes), top
            self.shapes[name] = tuple(shape)
            names.append(name)
            if name not in self.unused:
                self.unused.append(name)
        text = " ".join('bottom: "%s"' % name for name in bottoms)
        text += "".join(' top: "%s"' % name for name in names)
        word, kind = ("layers", OLD_NAMES[kind]) if self.is_old else ("layer", '"%s"' % kind)
        self.layers.append(
            '%s { name: "l%d" type: %s %s %s }' % (word, len(self.layers), kind, text, rest)
        )

    def same(self, bottom, shape):
        """Returns the top of a layer that keeps the shape: most often the blob itself."""
        if bottom not in self.copies and self.maybe(0.5):
            return (bottom, shape)
        return shape

    def sizes(self, shape, kernels):
        """Returns the texts of kernel size, stride and padding, and the three as pairs."""
        limits = [max(1, min(n, kernels)) for n in shape[2:]]
        kernel = [1 + self.below(n) for n in limits]
        stride = [1 + self.below(2), 1 + self.below(2)]
        pad = [self.below(min(2, n)) for n in kernel]
        texts = []
        for name, short, pair in (
            ("kernel_size", "kernel", kernel),
            ("stride", "stride", stride),
            ("pad", "pad", pad),
        ):
            if self.maybe(0.7):
                pair[1] = pair[0] = min(pair)
                texts.append("%s: %d" % (name, pair[0]))
            else:
                texts.append("%s_h: %d %s_w: %d" % (short, pair[0], short, pair[1]))
        return " ".join(texts), kernel, stride, pad

    def add_convolution(self, bottom, shape):
        if len(shape) != 4:
            return
        text, kernel, stride, pad = self.sizes(shape, 3)
        group = self.pick([n for n in (1, 1, 2, 3) if shape[1] % n == 0])
        outputs = group * (1 + self.below(3))
        size = [(n + 2 * p - k) // s + 1 for n, k, s, p in zip(shape[2:], kernel, stride, pad)]
        self.convolution(
            "Convolution",
            bottom,
            (shape[0], outputs, *size),
            text,
            group,
            (outputs, shape[1] // group, *kernel),
        )

    def add_deconvolution(self, bottom, shape):
        if len(shape) != 4 or max(shape[2:]) > 12:
            return
        text, kernel, stride, pad = self.sizes(shape, 3)
        outputs = 1 + self.below(3)
        size = [s * (n - 1) + k - 2 * p for n, k, s, p in zip(shape[2:], kernel, stride, pad)]
        if min(size) < 1:
            return
        self.convolution(
            "Deconvolution",
            bottom,
            (shape[0], outputs, *size),
            text,
            1,
            (shape[1], outputs, *kernel),
        )

    def convolution(self, kind, bottom, top, text, group, weight):
        """Adds a convolution or its transpose."""
        blobs = [self.blob(weight)]
        if self.maybe(0.3):
            text += " bias_term: false"
        else:
            blobs.append(self.blob((top[1],)))
        if self.is_odd and self.maybe(0.2):
            odd = [blobs[:1], blobs * 2, [self.blob((top[1], 1, 1, 2)), *blobs[1:]]]
            blobs = [MARK, *self.pick(odd)]
        if group > 1:
            text += " group: %d" % group
        param = "convolution_param { num_output: %d %s } " % (top[1], text)
        self.layer(kind, [bottom], [top], param + " ".join(blobs))

    def add_innerproduct(self, bottom, shape):
        inputs, outputs = int(np.prod(shape[1:])), 1 + self.below(5)
        text, blobs = "num_output: %d" % outputs, [self.blob((outputs, inputs))]
        if self.maybe(0.3):
            text += " bias_term: false"
        else:
            blobs.append(self.blob((outputs,)))
        if self.is_odd and self.maybe(0.2):
            text += self.pick([" axis: 2", " axis: 1", ""])
            blobs = [MARK, *self.pick([blobs, blobs[:1]])]
        param = "inner_product_param { %s } " % text
        self.layer("InnerProduct", [bottom], [(shape[0], outputs)], param + " ".join(blobs))

    def add_pooling(self, bottom, shape):
        if len(shape) != 4:
            return
        text, kernel, stride, pad = self.sizes(shape, 4)
        size = [
            max(0, -(-(n + 2 * p - k) // s)) + 1
            for n, k, s, p in zip(shape[2:], kernel, stride, pad)
        ]
        kind = self.pick(["MAX", "AVE", "MAX", "AVE", *(["STOCHASTIC"] if self.is_odd else [])])
        if kind == "AVE":
            # Its last window is left out if it is not whole, as in no case of Caffe.
            size = [(n + 2 * p - k) // s + 1 for n, k, s, p in zip(shape[2:], kernel, stride, pad)]
        if self.maybe(0.15):
            text, size = "global_pooling: true", [1, 1]
        param = "pooling_param { pool: %s %s }" % (kind, text)
        self.layer("Pooling", [bottom], [(*shape[:2], *size)], param)

    def add_relu(self, bottom, shape):
        rest = "relu_param { negative_slope: 0.25 }" if self.maybe(0.4) else ""
        self.layer("ReLU", [bottom], [self.same(bottom, shape)], rest)

    def add_sigmoid(self, bottom, shape):
        self.layer("Sigmoid", [bottom], [self.same(bottom, shape)])

    def add_lrn(self, bottom, shape):
        if len(shape) < 2:
            return
        text = "local_size: %d alpha: 0.5 beta: 0.75" % (1 + 2 * self.below(3))
        if self.maybe(0.3):
            text += " k: 2"
        if self.is_odd and self.maybe(0.3):
            text += " norm_region: WITHIN_CHANNEL"
        self.layer("LRN", [bottom], [shape], "lrn_param { %s }" % text)

    def add_dropout(self, bottom, shape):
        rest = "dropout_param { dropout_ratio: %g }" % self.pick([0.25, 0.5, 0.75])
        self.layer("Dropout", [bottom], [self.same(bottom, shape)], rest if self.maybe(0.7) else "")

    def partner(self, fits):
        """Returns another blob, or the same one, whose shape fits."""
        names = [name for name in sorted(self.shapes) if self.is_usable(name)]
        return self.pick([name for name in names if fits(self.shapes[name])])

    def add_concat(self, bottom, shape):
        axis = self.below(len(shape))

        def fits(other):
            return len(other) == len(shape) and all(
                i == axis or a == b for i, (a, b) in enumerate(zip(shape, other))
            )

        others = [self.partner(fits) for _ in range(self.below(3))]
        size = shape[axis] + sum(self.shapes[name][axis] for name in others)
        text = "concat_dim: %d" if self.is_old or self.maybe(0.3) else "axis: %d"
        param = "concat_param { %s }" % (text % axis)
        if axis == 1 and self.maybe(0.5):
            param = ""
        top = (*shape[:axis], size, *shape[axis + 1 :])
        self.layer("Concat", [bottom, *others], [top], param)

    def add_eltwise(self, bottom, shape):
        others = [self.partner(lambda other: other == shape) for _ in range(self.below(3))]
        operation = self.pick(["PROD", "SUM", "MAX", None])
        text = "operation: " + operation if operation else ""
        if operation != "PROD" and self.maybe(0.4):
            number = len(others) + 1 + (self.is_odd and self.below(3) - 1)
            text += "".join(" coeff: %g" % self.pick([0.5, -1, 2]) for _ in range(number))
        self.layer("Eltwise", [bottom, *others], [shape], "eltwise_param { %s }" % text)

    def add_slice(self, bottom, shape):
        axis = self.below(len(shape))
        size = shape[axis]
        number = self.pick([n for n in (1, 2, 3) if size % n == 0])
        points = [size // number * i for i in range(1, number)]
        text = "slice_dim: %d" if self.is_old or self.maybe(0.3) else "axis: %d"
        text %= axis
        sizes = [size // number] * number
        if size > 1 and self.maybe(0.5):
            points = [1 + self.below(size - 1)]
            sizes = [points[0], size - points[0]]
            text += " slice_point: %d" % points[0]
        tops = []
        for n in sizes:
            name = "b%d" % (len(self.shapes) + len(tops))
            tops.append((name, (*shape[:axis], n, *shape[axis + 1 :])))
        self.layer("Slice", [bottom], tops, "slice_param { %s }" % text)

    def add_split(self, bottom, shape):
        if bottom in self.split:
            return
        names = ["b%d" % (len(self.shapes) + i) for i in range(1 + self.below(2))]
        self.split.update(names)
        self.copies.update([bottom, *names])
        self.layer("Split", [bottom], [(name, shape) for name in names])
        if bottom != "x" and bottom not in self.unused:
            self.unused.append(bottom)

    def add_softmax(self, bottom, shape):
        if len(shape) < 2:
            return
        rest = self.pick(["", "", "engine: CUDNN", "engine: CAFFE", *self.odd("axis: 2")])
        param = "softmax_param { %s }" % rest if rest else ""
        self.layer("Softmax", [bottom], [self.same(bottom, shape)], param)

    def odd(self, text):
        return [text] if self.is_odd else []

    def add_softmaxwithloss(self, bottom, shape):
        if len(shape) != 2 or shape[0] != 2:
            return
        self.shapes["t"] = (2,)
        rest = self.pick(["", *self.odd("softmax_param { axis: 0 }")])
        self.layer("SoftmaxWithLoss", [bottom, "t"], [()], rest)

    def add_batchnorm(self, bottom, shape):
        if len(shape) < 2:
            return
        size = shape[1]
        blobs = [self.blob((size,)), self.blob((size,), 1), self.blob((1,), 1)]
        if self.is_odd and self.maybe(0.3):
            blobs = [MARK, *self.pick([blobs[:2], blobs[:1]])]
        # With few values the variance is of the size of its rounding.
        is_fixed = int(np.prod(shape)) // size < 6 or self.maybe(0.4)
        text = "use_global_stats: %s eps: 0.125" % ("true" if is_fixed else "false")
        if self.maybe(0.3):
            text += " moving_average_fraction: 0.75"
        param = "batch_norm_param { %s } " % text
        if self.is_old:
            return
        self.layer("BatchNorm", [bottom], [self.same(bottom, shape)], param + " ".join(blobs))

    def add_scale(self, bottom, shape):
        if len(shape) < 2:
            return
        axis = self.below(len(shape))
        end = axis + 1 + self.below(len(shape) - axis)
        size = shape[axis:end]
        text = "" if axis == 1 and self.maybe(0.5) else "axis: %d" % axis
        has_bias = self.maybe(0.5)
        text += " bias_term: true" if has_bias else ""
        bias = [self.blob(size, early=0)] if has_bias else []
        others = [name for name in sorted(self.shapes) if self.shapes[name] == size]
        others = [name for name in others if self.is_usable(name)]
        if others and self.maybe(0.5):
            bottoms, blobs = [bottom, self.pick(others)], bias
        else:
            bottoms, blobs = [bottom], [self.blob(size, early=0), *bias]
        param = "scale_param { %s } " % text
        self.layer("Scale", bottoms, [shape], param + " ".join(blobs))

    def add_reshape(self, bottom, shape):
        total = int(np.prod(shape))
        kind = self.below(4)
        if kind == 0:
            dims, top = (0, -1), (shape[0], total // shape[0])
        elif kind == 1:
            dims, top = (shape[0], -1, 1, 1), (shape[0], total // shape[0], 1, 1)
        elif kind == 2:
            dims, top = shape, shape
        else:
            dims, top = (-1, shape[-1]), (total // shape[-1], shape[-1])
        if self.is_odd and self.maybe(0.3):
            dims = self.pick([(total + 1,), (-1, -1), (0, 0, -2)])
        text = " ".join("dim: %d" % n for n in dims)
        self.layer("Reshape", [bottom], [top], "reshape_param { shape { %s } }" % text)


def network_of(seed):
    """Returns the text of a network, the shapes of its inputs and the names of its outputs.

    Args:
        seed: Its number.
    """
    return Generator(seed).network()


def values_of(array):
    """Returns dtype, shape and elements of an array in a form for JSON."""
    array = np.asarray(array)
    values = [float("%.6g" % value) for value in array.ravel().tolist()]
    return [str(array.dtype), list(array.shape), values]


def answer(chainer, seed):
    """Loads and calls a network; returns what happened in each step, by name.

    Args:
        chainer: The library.
        seed: Number of the network.

    Returns:
        dict: Name of the step -> values, or the classes of its error, after which nothing comes.
    """
    from google.protobuf import text_format

    from chainer.links.caffe import caffe_function

    text, shapes, outputs = network_of(seed)
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        message = text_format.Merge(text, caffe_function.caffe_pb.NetParameter())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            with open(path, "wb") as file:
                file.write(message.SerializeToString())
            steps = Steps(chainer, caffe_function.CaffeFunction, path, shapes, outputs)
            for name in ("load", "test", "train", "backward", "disable"):
                try:
                    found[name] = getattr(steps, name)()
                except Exception as error:
                    classes = [cls.__name__ for cls in type(error).__mro__[:-2]]
                    found[name] = {"error": classes}
                    break
    return found


class Steps:
    """A network and the calls that are made with it.

    Args:
        chainer: The library.
        kind: The class of the function.
        path: The file of the network.
        shapes: Shapes of the inputs.
        outputs: Names of the outputs.
    """

    def __init__(self, chainer, kind, path, shapes, outputs):
        self.chainer, self.kind, self.path = chainer, kind, path
        self.outputs = outputs
        rng = np.random.RandomState(len(outputs))
        self.inputs = {
            name: rng.randint(0, shape[0] and 2, shape).astype(np.int32) % 1
            if name == "t"
            else (rng.randint(-16, 17, shape) / 8).astype(np.float32)
            for name, shape in shapes.items()
        }

    def load(self):
        """Makes the function; returns its layers and parameters."""
        self.function = self.kind(self.path)
        return {
            "layers": [list(map(str, layer)) for layer in self.function.layers],
            "split_map": dict(self.function.split_map),
            "forwards": sorted(self.function.forwards),
            "parameters": self.parameters(lambda parameter: parameter.array),
            "children": [type(link).__name__ for link in self.function.children()],
        }

    def parameters(self, get):
        return {
            name: None if get(parameter) is None else values_of(get(parameter))
            for name, parameter in sorted(self.function.namedparams())
        }

    def call(self, **options):
        variables = {
            name: self.chainer.Variable(array) if name == "x" else array
            for name, array in self.inputs.items()
        }
        np.random.seed(0)
        return variables, self.function(inputs=variables, outputs=self.outputs, **options)

    def test(self):
        """Calls the function in test mode."""
        with self.chainer.using_config("train", False):
            return {name: values_of(y.array) for name, y in zip(self.outputs, self.call()[1])}

    def train(self):
        """Calls the function in training; returns the statistics, too."""
        self.variables, self.results = self.call()
        found = {name: values_of(y.array) for name, y in zip(self.outputs, self.results)}
        for child in self.function.children():
            for name in child._persistent:
                found[child.name + "." + name] = values_of(getattr(child, name))
        return found

    def backward(self):
        """Differentiates the outputs."""
        self.function.cleargrads()
        total = sum((i + 1) * self.chainer.functions.sum(y * y) for i, y in enumerate(self.results))
        total.backward()
        found = self.parameters(lambda parameter: parameter.grad)
        gradient = self.variables["x"].grad
        found["x"] = None if gradient is None else values_of(gradient)
        return found

    def disable(self):
        """Calls the function without its last layer, for the inputs of that layer."""
        last, bottoms, _ = self.function.layers[-1]
        self.outputs = [name for name in bottoms if name != "t"]
        with self.chainer.using_config("train", False):
            ys = self.call(disable=[last])[1]
        return {name: values_of(y.array) for name, y in zip(self.outputs, ys)}


def main(arguments):
    """Writes the answers of a range of networks.

    Args:
        arguments: First number and the number after the last.
    """
    import chainer

    write_answers(functools.partial(answer, chainer), arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
