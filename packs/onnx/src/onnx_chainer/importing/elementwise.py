"""Operators that compute element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from chainer import Variable
from chainer.backend import get_array_module
from onnx_chainer.importing.values import array_of, is_variable, number_of
from onnx_chainer.optional import require


def _unary(function: Callable[[Any], Any], name: str | None = None) -> Callable[..., Any]:
    """Makes the operator of a function; integers are computed by the function of arrays."""

    def compute(attributes: Any, x: Any) -> Any:
        if name is not None and array_of(x).dtype.kind != "f":
            return getattr(get_array_module(array_of(x)), name)(array_of(x))
        return function(x)

    return compute


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def compute(attributes: Any, a: Any, b: Any) -> Any:
        return function(a, b)

    return compute


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(attributes: Any, *values: Any) -> Any:
        return numpy.asarray(function(*[array_of(value) for value in values]))

    return compute


def _div(attributes: Any, a: Any, b: Any) -> Any:
    # Integers are divided without remainder.
    return a / b if array_of(a).dtype.kind == "f" else array_of(a) // array_of(b)


def _pow(attributes: Any, a: Any, b: Any) -> Any:
    if array_of(a).dtype != array_of(b).dtype:
        b = array_of(b).astype(array_of(a).dtype)
    return a**b


def _many(function: Callable[[Any, Any], Any], array_name: str) -> Callable[..., Any]:
    def compute(attributes: Any, first: Any, *others: Any) -> Any:
        for other in others:
            if is_variable(first, other):
                first = function(first, other)
            else:
                first = getattr(get_array_module(first), array_name)(first, other)
        return first

    return compute


def _clip(attributes: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    low = attributes.get("min", number_of(low))
    high = attributes.get("max", number_of(high))
    return x if low is None and high is None else F.clip(x, low, high)


def _cast(attributes: Any, x: Any) -> Any:
    dtype = require("onnx").helper.tensor_dtype_to_np_dtype(attributes["to"])
    if dtype.kind == "f" and array_of(x).dtype.kind == "f":
        return F.cast(x, dtype)
    return array_of(x).astype(dtype)


def _where(attributes: Any, condition: Any, x: Any, y: Any) -> Any:
    condition = array_of(condition)
    if not is_variable(x, y):
        return get_array_module(x).where(condition, x, y)
    shape = numpy.broadcast_shapes(condition.shape, x.shape, y.shape)
    condition = get_array_module(condition).broadcast_to(condition, shape)
    return F.where(condition, F.broadcast_to(x, shape), F.broadcast_to(y, shape))


def _dropout(attributes: Any, x: Any, ratio: Any = None, training: Any = None) -> Any:
    ratio = attributes.get("ratio", number_of(ratio))
    return F.dropout(x, 0.5 if ratio is None else ratio)


def _gelu(attributes: Any, x: Any) -> Any:
    if attributes.get("approximate", "none") == "tanh":
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1 + F.tanh(inner))
    return 0.5 * x * (1 + F.erf(x * 0.7071067811865476))


def _hard_sigmoid(attributes: Any, x: Any) -> Any:
    alpha, beta = attributes.get("alpha", 0.2), attributes.get("beta", 0.5)
    return F.clip(alpha * x + beta, 0.0, 1.0)


def _prelu(attributes: Any, x: Any, slope: Any) -> Any:
    return F.maximum(x, _zeros(x)) + slope * F.minimum(x, _zeros(x))


def _zeros(x: Any) -> Any:
    array = array_of(x)
    return get_array_module(array).zeros_like(array)


def _softplus(attributes: Any, x: Any) -> Any:
    return F.softplus(x)


def _random_normal_like(attributes: Any, x: Any) -> Any:
    xp = get_array_module(array_of(x))
    return Variable(xp.random.standard_normal(x.shape).astype(array_of(x).dtype))


def _mod(attributes: Any, a: Any, b: Any) -> Any:
    if not attributes.get("fmod", 0):
        return numpy.mod(array_of(a), array_of(b))
    return F.fmod(a, b)


def _identity(attributes: Any, x: Any) -> Any:
    return x


def _elu(attributes: Any, x: Any) -> Any:
    return F.elu(x, attributes.get("alpha", 1.0))


def _leaky_relu(attributes: Any, x: Any) -> Any:
    return F.leaky_relu(x, attributes.get("alpha", 0.01))


def _selu(attributes: Any, x: Any) -> Any:
    alpha = attributes.get("alpha", 1.6732632423543772)
    return attributes.get("gamma", 1.0507009873554805) * F.elu(x, alpha)


OPERATORS: dict[str, Callable[..., Any]] = {
    "Abs": _unary(F.absolute, "absolute"),
    "Acos": _unary(F.arccos),
    "Add": _binary(operator.add),
    "And": _logical(numpy.logical_and),
    "Asin": _unary(F.arcsin),
    "Atan": _unary(F.arctan),
    "Atanh": _unary(F.arctanh),
    "Cast": _cast,
    "Ceil": _unary(F.ceil),
    "Clip": _clip,
    "Cos": _unary(F.cos),
    "Cosh": _unary(F.cosh),
    "Div": _div,
    "Dropout": _dropout,
    "Elu": _elu,
    "Equal": _logical(operator.eq),
    "Erf": _unary(F.erf),
    "Exp": _unary(F.exp),
    "Floor": _unary(F.floor),
    "Gelu": _gelu,
    "Greater": _logical(operator.gt),
    "GreaterOrEqual": _logical(operator.ge),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda attributes, x: x * F.clip(x / 6 + 0.5, 0.0, 1.0),
    "Identity": _identity,
    "LeakyRelu": _leaky_relu,
    "Less": _logical(operator.lt),
    "LessOrEqual": _logical(operator.le),
    "Log": _unary(F.log),
    "Max": _many(F.maximum, "maximum"),
    "Min": _many(F.minimum, "minimum"),
    "Mish": lambda attributes, x: x * F.tanh(F.softplus(x)),
    "Mod": _mod,
    "Mul": _binary(operator.mul),
    "Neg": _unary(operator.neg),
    "Not": _logical(numpy.logical_not),
    "Or": _logical(numpy.logical_or),
    "PRelu": _prelu,
    "Pow": _pow,
    "RandomNormalLike": _random_normal_like,
    "Reciprocal": _unary(lambda x: 1 / x),
    "Relu": _unary(F.relu),
    "Selu": _selu,
    "Sigmoid": _unary(F.sigmoid),
    "Sign": _unary(F.sign, "sign"),
    "Sin": _unary(F.sin),
    "Sinh": _unary(F.sinh),
    "Softplus": _softplus,
    "Sqrt": _unary(F.sqrt),
    "Sub": _binary(operator.sub),
    "Sum": _many(operator.add, "add"),
    "Tan": _unary(F.tan),
    "Tanh": _unary(F.tanh),
    "Where": _where,
}
