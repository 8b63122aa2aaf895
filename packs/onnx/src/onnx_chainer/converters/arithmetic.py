"""Converters of arithmetic and elementary functions."""

from __future__ import annotations

import math

import numpy

from chainer.typing import Array
from onnx_chainer.converters.rules import along_axes, operator, rule
from onnx_chainer.nodes import Nodes, array_of

Absolute = operator("Abs")
Add = operator("Add")
Arccos = operator("Acos")
Arcsin = operator("Asin")
Arctan = operator("Atan")
Arctanh = operator("Atanh")
Ceil = operator("Ceil")
Cos = operator("Cos")
Cosh = operator("Cosh")
Div = operator("Div")
Erf = operator("Erf")
Exp = operator("Exp")
Floor = operator("Floor")
Log = operator("Log")
Mul = operator("Mul")
Neg = operator("Neg")
PowVarVar = operator("Pow")
Sign = operator("Sign")
Sin = operator("Sin")
Sinh = operator("Sinh")
Sqrt = operator("Sqrt")
Sub = operator("Sub")
Tan = operator("Tan")

LogSumExp = along_axes("ReduceLogSumExp")
Max = along_axes("ReduceMax")
Mean = along_axes("ReduceMean")
Min = along_axes("ReduceMin")
Prod = along_axes("ReduceProd")
Sum = along_axes("ReduceSum")


def _constant(g: Nodes) -> str:
    """Returns the constant of an operator with a number or an array, in the dtype of x."""
    g.warn_if_frozen("value", "its constant")
    value = array_of(g.func.value)
    if g.twin is not None:
        other = array_of(g.twin.value)
        # The second run had other lengths: a constant that differs was computed from them.
        if value.size == 1 and other.size == 1 and value.item() != other.item():
            # Such as one over the number of elements, of which F.average makes a mean.
            name = g.number(value.item(), other.item())
            if name is not None:
                return name
            g.warn(f"its constant {value} depends on axes that have names")
        elif value.shape != other.shape:
            return g.dynamic_constant(value, other)
        elif not numpy.array_equal(value, other, equal_nan=True):
            name = _scaled(g, value, other)
            if name is not None:
                return name
            g.warn("its constant array depends on axes that have names")
    return g.const(value, name="value")


def _scaled(g: Nodes, value: Array, other: Array) -> str | None:
    """Returns an array of which all elements are proportional to the same lengths.

    Args:
        g: The nodes.
        value: The array in the sample.
        other: The array in the second run.
    """
    used = other != 0
    if value.dtype.kind != "f" or not numpy.array_equal(used, value != 0):
        return None
    ratios = value[used] / other[used]
    if not numpy.allclose(ratios, ratios[0], rtol=1e-5, atol=0):
        return None
    # The first element is as good as any: all ratios are equal.
    first = value[used][0]
    factor = g.number(first, other[used][0])
    return None if factor is None else g("Mul", g.const(value / first), factor)


@rule()
def AddConstant(g: Nodes, x: str) -> str:
    """Adds a constant."""
    return g("Add", x, _constant(g))


@rule()
def SubFromConstant(g: Nodes, x: str) -> str:
    """Subtracts from a constant."""
    return g("Sub", _constant(g), x)


@rule()
def MulConstant(g: Nodes, x: str) -> str:
    """Multiplies by a constant."""
    return g("Mul", x, _constant(g))


@rule()
def DivFromConstant(g: Nodes, x: str) -> str:
    """Divides a constant."""
    return g("Div", _constant(g), x)


@rule()
def PowVarConst(g: Nodes, x: str) -> str:
    """Power with a constant exponent."""
    return g("Pow", x, _constant(g))


@rule()
def PowConstVar(g: Nodes, x: str) -> str:
    """Power of a constant."""
    return g("Pow", _constant(g), x)


@rule()
def MultiAdd(g: Nodes, *xs: str) -> str:
    """Sums arrays; the operator for many of them takes floating-point types only."""
    if g.dtype().kind == "f" and len(xs) > 1:
        return g("Sum", *xs)
    y, *others = list(xs)
    for x in others:
        y = g("Add", y, x)
    return y


@rule()
def Arctan2(g: Nodes, y: str, x: str) -> str:
    """The angle of a point: the angle of the slope, plus half a turn where x is negative."""
    zero, pi = g.const(0), g.const(math.pi)
    quarter = g.const(math.pi / 2)
    upper = g("Not", g("Less", y, zero))
    left = g("Less", x, zero)
    on_axis = g.equal(x, zero)
    # Nothing is divided by zero, so that no NaN has to be selected away.
    slope = g("Atan", g("Div", y, g("Where", on_axis, g.const(1), x)))
    turn = g("Where", left, g("Where", upper, pi, g("Neg", pi)), zero)
    vertical = g("Mul", g("Sign", y), quarter)
    return g("Where", on_axis, vertical, g("Add", slope, turn))


@rule()
def Clip(g: Nodes, x: str) -> str:
    """Limits elements."""
    return g.clip(x, g.func.x_min, g.func.x_max)


@rule()
def Erfc(g: Nodes, x: str) -> str:
    """1 - erf(x)."""
    return g("Sub", g.const(1), g("Erf", x))


@rule()
def Ndtr(g: Nodes, x: str) -> str:
    """Distribution function of the normal distribution."""
    erf = g("Erf", g("Mul", x, g.const(math.sqrt(0.5))))
    return g("Mul", g.const(0.5), g("Add", g.const(1), erf))


@rule()
def Expm1(g: Nodes, x: str) -> str:
    """exp(x) - 1 as 2 tanh(x / 2) / (1 - tanh(x / 2)), which is exact near zero."""
    half = g("Tanh", g("Mul", x, g.const(0.5)))
    near = g("Div", g("Mul", g.const(2), half), g("Sub", g.const(1), half))
    # For large x the tangent is 1, and the quotient above is divided by 0.
    far = g("Sub", g("Exp", x), g.const(1))
    return g("Where", g("Less", g("Abs", x), g.const(1)), near, far)


@rule()
def Log1p(g: Nodes, x: str) -> str:
    """log(1 + x), with the rounding error of the sum taken out."""
    one = g.const(1)
    total = g("Add", one, x)
    rounded = g("Sub", total, one)
    is_small = g.equal(rounded, g.const(0))
    # x / (total - 1) is near one: it corrects what the addition lost.
    ratio = g("Div", x, g("Where", is_small, one, rounded))
    # An infinite x makes the ratio NaN.
    is_large = g("Less", g.const(1e4), g("Abs", x))
    ratio = g("Where", is_large, one, ratio)
    return g("Where", is_small, x, g("Mul", g("Log", total), ratio))


@rule()
def Fix(g: Nodes, x: str) -> str:
    """Rounds towards zero."""
    # ONNX has Floor, Ceil and Round, and no operator that rounds toward zero.
    return g("Mul", g("Sign", x), g("Floor", g("Abs", x)))


@rule()
def Fmod(g: Nodes, x: str, y: str) -> str:
    """Remainder with the sign of x."""
    # Mod is an operator since set 10.
    if g.opset >= 10:
        return g("Mod", x, y, fmod=1)
    quotient = g("Div", x, y)
    whole = g("Mul", g("Sign", quotient), g("Floor", g("Abs", quotient)))
    return g("Sub", x, g("Mul", whole, y))


@rule()
def Log2(g: Nodes, x: str) -> str:
    """Logarithm to the base 2."""
    return g("Div", g("Log", x), g.const(math.log(2)))


@rule()
def Log10(g: Nodes, x: str) -> str:
    """Logarithm to the base 10."""
    return g("Div", g("Log", x), g.const(math.log(10)))


@rule()
def Square(g: Nodes, x: str) -> str:
    """A product, which is faster than a power."""
    return g("Mul", x, x)


@rule()
def Rsqrt(g: Nodes, x: str) -> str:
    """1 / sqrt(x)."""
    return g("Reciprocal", g("Sqrt", x))


RsqrtGPU = Rsqrt


def _extremum(name: str) -> object:
    @rule()
    def convert(g: Nodes, a: str, b: str) -> str:
        return g(name, a, b)

    return convert


Maximum = _extremum("Max")
Minimum = _extremum("Min")


@rule()
def Identity(g: Nodes, *xs: str) -> tuple[str, ...]:
    """Inputs as they are."""
    return xs


@rule()
def SumTo(g: Nodes, x: str) -> str:
    """Sums the axes that broadcasting had repeated."""
    shape, target = g.shape(), g.out_shape
    extra = len(shape) - len(target)
    axes = [extra + i for i, n in enumerate(target) if n == 1 and shape[extra + i] != 1]
    if g.func.is_negative:  # in the gradient of a difference
        x = g("Neg", x)
    if axes:
        x = g.reduce("ReduceSum", x, axes, keepdims=True)
    return g.reduce("ReduceSum", x, list(range(extra))) if extra else x


def _index(name: str) -> object:
    @rule()
    def convert(g: Nodes, x: str) -> str:
        axis = g.func.axis
        if axis is None:
            x, axis = g.reshape(x, [-1]), 0
        else:
            axis = g.axis(axis)
        return g.cast(g(name, x, axis=axis, keepdims=0), g.out_dtype)

    return convert


ArgMax = _index("ArgMax")
ArgMin = _index("ArgMin")


@rule()
def Cumsum(g: Nodes, x: str) -> str:
    """Sums of all elements before and at each place."""
    axis = g.func.axis
    if axis is None:
        x, axis = g.reshape(x, [-1]), 0
    # CumSum is an operator since set 11.
    g.require_opset(11)
    ndim = 1 if g.func.axis is None else g.ndim()
    return g("CumSum", x, g.const(g.axis(axis, ndim), numpy.int64))


@rule()
def Cumprod(g: Nodes, x: str) -> str:
    """Products of all elements before and at each place.

    ONNX has no operator for it. Products with the array moved by 1, 2, 4, ... places include all
    elements after a few steps. Where the length is not known, all products are computed.
    """
    shape = list(g.shape())
    axis = g.func.axis
    twin = g.params.application.twin
    other = shape if twin is None else list(twin.inputs[0].shape)
    if axis is None:
        x, axis = g.reshape(x, [-1]), 0
        shape, other = [math.prod(shape)], [math.prod(other)]
    axis = g.axis(axis, len(shape))
    if other[axis] != shape[axis]:
        return _products_of_any_length(g, x, axis, len(shape))
    moved = 1
    while moved < shape[axis]:
        before = [moved if i == axis else 0 for i in range(len(shape))]
        padded = g.pad(x, before, [0] * len(shape), 1)
        x = g("Mul", x, g.slice(padded, [0], [shape[axis]], [axis]))
        moved *= 2
    return x


def _products_of_any_length(g: Nodes, x: str, axis: int, ndim: int) -> str:
    """Returns cumulative products: with a matrix of copies, where later elements are one."""
    g.require_opset(14, "along axes that have names")
    last = ndim - 1
    perm = [i for i in range(ndim) if i != axis] + [axis]
    rows = g.unsqueeze(g.transpose(x, perm), [last])
    length = g.axis_length(x, axis)
    square = g("ConstantOfShape", g("Concat", length, length, axis=0))
    # ConstantOfShape makes zeros of float32.
    past = g.cast(g("Trilu", g("Add", square, g.const(1, numpy.float32)), upper=0), bool)
    y = g.reduce("ReduceProd", g("Where", past, rows, g.const(1)), [last + 1])
    return g.transpose(y, [perm.index(i) for i in range(ndim)])


@rule()
def BatchL2NormSquared(g: Nodes, x: str) -> str:
    """Sum of the squares of each sample."""
    axes = list(range(1, g.ndim()))
    return g.reduce("ReduceSum", g("Mul", x, x), axes)


@rule()
def LinearInterpolate(g: Nodes, p: str, x: str, y: str) -> str:
    """Interpolates: p x + (1 - p) y."""
    rest = g("Sub", g.const(1, name="one"), p)
    return g("Add", g("Mul", p, x), g("Mul", rest, y))


@rule()
def BatchDet(g: Nodes, x: str) -> str:
    """Determinants."""
    g.require_opset(11)
    return g("Det", x)


@rule()
def ModifiedXLogX(g: Nodes, x: str) -> str:
    """Computes x log x, 0 for 0."""
    zero = g.equal(x, g.const(0))
    return g("Mul", x, g("Log", g("Where", zero, g.const(1), x)))


@rule()
def LaplaceCDF(g: Nodes, x: str) -> str:
    """Distribution function of the Laplace distribution."""
    tail = g("Sub", g("Exp", g("Neg", g("Abs", x))), g.const(1))
    return g("Sub", g.const(0.5), g("Mul", g.const(0.5), g("Mul", g("Sign", x), tail)))


@rule()
def LaplaceICDF(g: Nodes, x: str) -> str:
    """Its inverse."""
    # 1 - 2 x has the same size in both tails, so that one logarithm serves both.
    h = g("Sub", g.const(1), g("Mul", g.const(2), x))
    return g("Mul", g("Sign", h), g("Log", g("Sub", g.const(1), g("Abs", h))))


@rule()
def BernoulliLogProb(g: Nodes, logit: str, x: str) -> str:
    """Log-probability of the Bernoulli distribution: logit (x - 1) - softplus(-logit).

    The logits must be finite.
    """
    x = g.cast(x, g.dtype())
    linear = g("Mul", logit, g("Sub", x, g.const(1)))
    y = g("Sub", linear, g("Softplus", g("Neg", logit)))
    if not g.func.binary_check:
        return y
    binary = g("Or", g.equal(x, g.const(0)), g.equal(x, g.const(1)))
    return g("Where", binary, y, g.const(-math.inf))
