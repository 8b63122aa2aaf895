"""Converters of attention, smooth activations and losses of class labels."""

from __future__ import annotations

import math

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes, array_of


@rule()
def GELU(g: Nodes, x: str) -> str:
    """The input times the distribution function of the normal distribution."""
    if g.opset >= 20:
        return g("Gelu", x)
    erf = g("Erf", g("Mul", x, g.const(math.sqrt(0.5))))
    return g("Mul", g("Mul", g.const(0.5), x), g("Add", g.const(1), erf))


@rule()
def TanhGELU(g: Nodes, x: str) -> str:
    """The same approximated by tanh."""
    if g.opset >= 20:
        return g("Gelu", x, approximate="tanh")
    cube = g("Mul", x, g("Mul", x, x))
    inner = g("Add", x, g("Mul", g.const(0.044715), cube))
    tanh = g("Tanh", g("Mul", g.const(math.sqrt(2 / math.pi)), inner))
    return g("Mul", g("Mul", g.const(0.5), x), g("Add", g.const(1), tanh))


@rule()
def SiLU(g: Nodes, x: str) -> str:
    """The input times its sigmoid."""
    return g("Mul", x, g("Sigmoid", x))


@rule()
def QuickGELU(g: Nodes, x: str) -> str:
    """The input times the sigmoid of 1.702 times the input."""
    return g("Mul", x, g("Sigmoid", g("Mul", x, g.const(1.702))))


@rule()
def HardSwish(g: Nodes, x: str) -> str:
    """The input times a piecewise linear sigmoid."""
    if g.opset >= 14:
        return g("HardSwish", x)
    return g("Mul", x, g("HardSigmoid", x, alpha=1 / 6, beta=0.5))


@rule()
def Mish(g: Nodes, x: str) -> str:
    """The input times tanh(softplus(x))."""
    if g.opset >= 18:
        return g("Mish", x)
    return g("Mul", x, g("Tanh", g("Softplus", x)))


@rule()
def RotaryEmbedding(g: Nodes, x: str) -> str:
    """Rotations of pairs of elements by constant angles."""
    last = g.ndim() - 1
    half = g.func.cos.shape[-1]
    size = 2 * half
    if g.func.interleaved:
        first, second = numpy.arange(0, size, 2), numpy.arange(1, size, 2)
    else:
        first, second = numpy.arange(half), numpy.arange(half, size)
    cos, sin = g.const(array_of(g.func.cos)), g.const(array_of(g.func.sin))
    a, b = g.gather(x, first, last), g.gather(x, second, last)
    parts = [g("Sub", g("Mul", a, cos), g("Mul", b, sin))]
    parts += [g("Add", g("Mul", a, sin), g("Mul", b, cos))]
    others = numpy.arange(size, g.shape()[-1])
    if others.size:
        parts.append(g.gather(x, others, last))
    joined = g("Concat", *parts, axis=last)
    # Back to the places that the elements came from.
    order = numpy.argsort(numpy.concatenate([first, second, others]))
    return joined if (order == numpy.arange(order.size)).all() else g.gather(joined, order, last)


@rule()
def OneHotLabels(g: Nodes, t: str) -> str:
    """Ones where the class equals the label; zeros for labels to ignore."""
    dtype, ndim = g.dtype(), g.ndim()
    shape = [1, -1] + [1] * (ndim - 1)
    classes = g.const(numpy.arange(g.func.n_classes).reshape(shape), dtype)
    is_class = g("Equal", g.unsqueeze(t, [1]), classes)
    if 0 <= g.func.ignore_label < g.func.n_classes:
        kept = g("Not", g("Equal", t, g.const(g.func.ignore_label)))
        is_class = g("And", is_class, g.unsqueeze(kept, [1]))
    return g.cast(is_class, g.out_dtype)


@rule()
def IsLabel(g: Nodes, t: str) -> str:
    """One where a label is a given one."""
    return g.cast(g("Equal", t, g.const(g.func.value)), g.out_dtype)


@rule()
def ScaledDotProductAttention(g: Nodes, q: str, k: str, v: str, mask: str = "") -> str:
    """Softmax of the products of queries and keys, times the values."""
    options = g.func.options
    ratio, cap = options.ratio, options.softcap
    ndim, dtype = g.ndim(), g.dtype()
    perm = [*range(ndim - 2), ndim - 1, ndim - 2]
    k, v = (_repeated_heads(g, array, i) for array, i in ((k, 1), (v, 2)))
    scores = g("MatMul", g("Mul", q, g.const(options.scale)), g.transpose(k, perm))
    if cap is not None:
        scores = g("Mul", g("Tanh", g("Div", scores, g.const(cap))), g.const(cap))
    visible: list[str] = []
    if options.causal or options.window is not None:
        visible.append(_visible(g, scores))
    if mask and g.dtype(3).kind == "b":
        visible.append(mask)
    elif mask:
        scores = g("Add", scores, mask)
    # A finite number: where a query may attend to no key, a softmax of infinities is NaN.
    low = g.const(float(numpy.finfo(numpy.float32 if dtype.itemsize > 2 else dtype).min) / 4)
    for allowed in visible:
        scores = g("Where", allowed, scores, low)
    if mask and not visible:
        scores = g("Max", scores, low)
    weights = g.softmax(scores, ndim - 1, ndim)
    for allowed in visible:
        weights = g("Mul", weights, g.cast(allowed, dtype))
    if mask and g.dtype(3).kind != "b":
        finite = g("Less", g.const(-numpy.inf), mask)
        weights = g("Mul", weights, g.cast(finite, dtype))
    if ratio:
        from onnx_chainer.converters.noise import drop

        weights = drop(g, weights, ratio)
    return g("MatMul", weights, v)


def _repeated_heads(g: Nodes, array: str, index: int) -> str:
    """Returns keys or values with as many heads as the queries have."""
    ndim = g.ndim()
    heads, own = (g.shape(i)[-3] if ndim > 3 else 1 for i in (0, index))
    if heads == own:
        return array
    wide = [1] * (ndim - 2) + [heads // own, 1, 1]
    array = g("Expand", g.unsqueeze(array, [ndim - 2]), g.const(wide, numpy.int64))
    # Zeros copy the length of an axis, and the length of the texts is inferred.
    shape = [0] * (ndim - 3) + [heads, -1, g.shape(index)[-1]]
    return g("Reshape", array, g.const(shape, numpy.int64))


def _visible(g: Nodes, scores: str) -> str:
    """Returns which keys each query may attend to by its position."""
    options = g.func.options
    m, n = g.shape(0)[-2], g.shape(1)[-2]
    twin = g.params.application.twin
    changes = twin is not None and (twin.inputs[0].shape[-2] != m or twin.inputs[1].shape[-2] != n)
    if not changes or g.opset < 14:
        if changes:
            g.warn("before opset 14 the causal mask has the length of the sample")
        distance = numpy.arange(m)[:, None] + options.offset - numpy.arange(n)
        seen = distance >= 0 if options.causal else numpy.ones(distance.shape, bool)
        if options.window is not None:
            seen &= abs(distance) < options.window
        return g.const(seen, bool)
    shape = g("Shape", scores)
    ones = g("ConstantOfShape", g.slice(shape, [-2], [numpy.iinfo("q").max], [0]))
    # ConstantOfShape makes zeros of float32.
    ones = g("Add", ones, g.const(1, numpy.float32))
    offset = g.const(options.offset, numpy.int64)
    if options.offset and options.offset == n - m:
        # The last query is at the position of the last key, in texts of any length.
        ends = ((-1, numpy.iinfo("q").max), (-2, -1))
        lengths = [g.slice(shape, [start], [end], [0]) for start, end in ends]
        offset = g("Squeeze", g("Sub", *lengths), g.const([0], numpy.int64))
    window = options.window
    ahead = 0 if options.causal else window - 1
    ones = g("Trilu", ones, g("Add", offset, g.const(ahead, numpy.int64)), upper=0)
    if window is not None:
        ones = g("Trilu", ones, g("Sub", offset, g.const(window - 1, numpy.int64)), upper=1)
    return g.cast(ones, bool)
