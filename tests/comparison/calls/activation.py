"""Calls of activation functions."""

from __future__ import annotations


def elementwise(draw):
    return [draw.floats()], {}


def along_axis(draw):
    x = draw.floats(draw.shape(1, 3))
    return [x], draw.choice({}, {"axis": draw.axis(x.array.ndim)})


def with_number(low, high):
    def generate(draw):
        return [draw.floats(), *draw.choice([], [draw.number(low, high)])], {}

    return generate


def maxout(draw):
    pool, channels = draw.integer(1, 3), draw.size()
    wrong = draw.maybe(0.1)
    axis = draw.choice(1, 1, 2, -1)
    shape = [draw.size(), draw.size(), draw.size()]
    shape[axis] = pool * channels + wrong
    return [draw.floats(tuple(shape)), pool], draw.choice({"axis": axis}, {"axis": axis}, {})


def prelu(draw):
    x = draw.floats(draw.shape(1, 4))
    length = draw.integer(0, x.array.ndim - 1)
    return [x, draw.floats(x.array.shape[1 : 1 + length])], {}


def rrelu(draw):
    x = draw.floats()
    limits = draw.choice([], [0.1, 0.4], [0.1, 0.1], [0.1, 1.0], [-0.1, 0.2])
    r = draw.floats(x.array.shape, low=0.1, high=0.3, variable=False)
    # Without given slopes the results are random.
    return [x, *limits], {"r": r, "return_r": draw.maybe(0.5)}


def selu(draw):
    return [draw.floats(), *draw.choice([], [draw.number(0.5, 2), draw.number(0.5, 2)])], {}


def swish(draw):
    x = draw.floats(draw.shape(1, 3))
    length = draw.integer(0, x.array.ndim - 1)
    return [x, draw.floats(x.array.shape[1 : 1 + length])], {}


def lstm(draw):
    batch, size = draw.size(), draw.integer(1, 3)
    rest = draw.choice((), (), (2,))
    return [
        draw.floats((batch, size, *rest)),
        draw.floats((max(batch - draw.choice(0, 0, 1), 0), 4 * size, *rest)),
    ], {}


def slstm(draw):
    batch, size = draw.size(), draw.integer(1, 3)
    return [draw.floats(batch, size) for _ in range(2)] + [
        draw.floats(batch, 4 * size) for _ in range(2)
    ], {}


def tree_lstm(draw):
    batch, size, children = draw.size(), draw.integer(1, 3), draw.integer(1, 3)
    cells = [draw.floats(batch, size) for _ in range(children)]
    return [*cells, draw.floats(batch, (3 + children) * size)], {}


GENERATORS = {
    "clipped_relu": with_number(0.5, 2),
    "crelu": along_axis,
    "elu": with_number(-1, 2),
    "hard_sigmoid": elementwise,
    "leaky_relu": with_number(-0.5, 0.5),
    "log_softmax": along_axis,
    "lstm": lstm,
    "maxout": maxout,
    "prelu": prelu,
    "relu": elementwise,
    "relu6": elementwise,
    "rrelu": rrelu,
    "selu": selu,
    "sigmoid": elementwise,
    "slstm": slstm,
    "softmax": along_axis,
    "softplus": with_number(0.5, 2),
    "swish": swish,
    "tanh": elementwise,
    "tree_lstm": tree_lstm,
}
