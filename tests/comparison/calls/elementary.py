"""Calls of elementwise mathematics and of operators."""

from __future__ import annotations

from tests.comparison.calls.draw import Source


def within(low, high):
    def generate(draw):
        return [draw.floats(low=low, high=high)], {}

    return generate


def _broadcast(draw, shape):
    part = tuple(1 if draw.maybe(0.2) else n for n in shape)
    return part if draw.maybe(0.7) else part[draw.integer(0, len(part)) :]


def two(low=-2.0, high=2.0):
    def generate(draw):
        shape = draw.shape()
        return [
            draw.floats(_broadcast(draw, shape), low=low, high=high),
            draw.floats(_broadcast(draw, shape), low=low, high=high),
        ], {}

    return generate


def add(draw):
    shape = draw.shape()
    return [draw.floats(_broadcast(draw, shape)) for _ in range(draw.integer(1, 4))], {}


def with_scalar(low=-2.0, high=2.0):
    def generate(draw):
        x = draw.floats(low=low, high=high)
        x.variable = True
        return [
            x,
            draw.choice(2, 2.0, 1.5, True, Source("np.float32(1.5)"), Source("np.float64(3)")),
        ], {}

    return generate


def refused(draw):
    x = draw.floats()
    x.variable = True
    return [x, draw.choice(None, [1.0], "a", (1, 2))], {}


def clip(draw):
    limits = draw.choice((-1.0, 1.0), (0, 1), (None, 0.5), (-0.5, None), (None, None), (1.0, -1.0))
    return [draw.floats(), *limits], {}


def fmod(draw):
    shape = draw.shape()
    return [draw.floats(shape), draw.floats(shape, low=0.4, high=2)], {}


def linear_interpolate(draw):
    shape = draw.shape()
    return [draw.floats(shape) for _ in range(3)], {}


def fft(draw):
    shape = draw.shape(1, 3)
    return [(draw.floats(shape), draw.floats(shape))], {}


def identity(draw):
    return [draw.floats() for _ in range(draw.integer(1, 2))], {}


def polygamma(draw):
    shape = draw.shape()
    return [draw.integers(*shape, high=2), draw.floats(shape, low=0.5, high=3)], {}


def zeta(draw):
    q = draw.floats(low=0.5, high=3)
    return [draw.choice(1.5, 2, 3.0), q], {}


def squared_difference(draw):
    shape = draw.shape()
    return [draw.floats(shape), draw.floats(shape)], {}


#: Operators; the names of these rows are expressions for functions.
OPERATORS = {
    "lambda x, y: x + y": two(),
    "lambda x, y: x - y": two(),
    "lambda x, y: x * y": two(),
    "lambda x, y: x / y": two(0.3, 2.0),
    "lambda x, y: x // y": two(0.3, 2.0),
    "lambda x, y: x ** y": two(0.3, 2.0),
    "lambda x: -x": within(-2, 2),
    "lambda x: abs(x)": within(-2, 2),
    "lambda x, c: x + c": with_scalar(),
    "lambda x, c: c - x": with_scalar(),
    "lambda x, c: x * c": with_scalar(),
    "lambda x, c: c / x": with_scalar(0.3, 2.0),
    "lambda x, c: x ** c": with_scalar(0.3, 2.0),
    "lambda x, c: c ** x": with_scalar(0.3, 2.0),
    "lambda x, wrong: x + wrong": refused,
    "lambda x, wrong: x * wrong": refused,
}

GENERATORS = {
    "absolute": within(-2, 2),
    "add": add,
    "arccos": within(-0.9, 0.9),
    "arcsin": within(-0.9, 0.9),
    "arctan": within(-2, 2),
    "arctan2": two(0.3, 2.0),
    "arctanh": within(-0.9, 0.9),
    "ceil": within(-2, 2),
    "clip": clip,
    "cos": within(-2, 2),
    "cosh": within(-2, 2),
    "digamma": within(0.3, 3),
    "erf": within(-2, 2),
    "erfc": within(-2, 2),
    "erfcinv": within(0.1, 1.9),
    "erfcx": within(-2, 3),
    "erfinv": within(-0.9, 0.9),
    "exp": within(-2, 2),
    "expm1": within(-2, 2),
    "fft": fft,
    "fix": within(-2, 2),
    "floor": within(-2, 2),
    "fmod": fmod,
    "identity": identity,
    "ifft": fft,
    "lgamma": within(0.3, 3),
    "linear_interpolate": linear_interpolate,
    "log": within(0.1, 3),
    "log10": within(0.1, 3),
    "log1p": within(-0.5, 3),
    "log2": within(0.1, 3),
    "log_ndtr": within(-3, 3),
    "maximum": two(),
    "minimum": two(),
    "ndtr": within(-2, 2),
    "ndtri": within(0.1, 0.9),
    "polygamma": polygamma,
    "rsqrt": within(0.2, 3),
    "sign": within(-2, 2),
    "sin": within(-2, 2),
    "sinh": within(-2, 2),
    "sqrt": within(0.2, 3),
    "square": within(-2, 2),
    "squared_difference": squared_difference,
    "tan": within(-1, 1),
    "zeta": zeta,
    **OPERATORS,
}
