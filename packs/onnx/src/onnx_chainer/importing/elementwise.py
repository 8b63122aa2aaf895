"""Operators that compute element by element.

Floating-point numbers go through Chainer's functions; integers and truth values, which have no
gradient, through functions of arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import broadcasts, constants
from onnx_chainer.importing.values import (
    Tensor,
    array_of,
    dtype_of,
    host_array,
    is_float,
    is_variable,
    ndim_of,
    number_of,
    same_dtype,
)
from onnx_chainer.optional import require

if TYPE_CHECKING:
    from chainer.typing import Array


def _unary(function: Callable[[Any], Any], name: str | None = None) -> Callable[..., Any]:
    """Makes the operator of a function; integers are computed by the function of arrays."""

    def compute(attributes: Attributes, x: Tensor) -> Tensor:
        if name is not None and not is_float(x):
            array = array_of(x)
            return getattr(get_array_module(array), name)(array)
        return function(x)

    return compute


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    @broadcasts
    def compute(attributes: Attributes, a: Tensor, b: Tensor) -> Tensor:
        return function(*_broadcast_of_opset_6(attributes, a, b))

    return compute


def _broadcast_of_opset_6(attributes: Attributes, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Inserts axes at the end of the second input, as operator sets before 7 wanted it."""
    axis = attributes.get("axis")
    if attributes.opset >= 7 or not attributes.get("broadcast", 0) or axis is None:
        return a, b
    ndim = array_of(a).ndim
    shape = array_of(b).shape
    return a, F.reshape(b, shape + (1,) * (ndim - axis % ndim - len(shape)))


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    @broadcasts
    def compute(attributes: Attributes, *values: Tensor) -> Tensor:
        if len(values) == 2:
            values = _broadcast_of_opset_6(attributes, *values)
        return numpy.asarray(function(*[array_of(value) for value in values]))

    return compute


@broadcasts
def _div(attributes: Attributes, a: Tensor, b: Tensor) -> Tensor:
    a, b = _broadcast_of_opset_6(attributes, a, b)
    if is_float(a):
        return a / b
    # Integers are divided towards zero; Python's operator rounds down.
    x, y = array_of(a), array_of(b)
    quotient = x // y
    if x.dtype.kind == "u":
        return quotient
    return quotient + ((x % y != 0) & ((x < 0) != (y < 0))).astype(quotient.dtype)


@broadcasts
@constants(1)
def _pow(attributes: Attributes, a: Tensor, b: Tensor) -> Tensor:
    a, b = _broadcast_of_opset_6(attributes, a, b)
    if not is_float(a):
        xp = get_array_module(array_of(a))
        return xp.power(array_of(a), array_of(b)).astype(dtype_of(a))
    if not is_variable(b) and array_of(b).size == 1 and ndim_of(b) <= ndim_of(a):
        # Products take a tenth of the time of NumPy's power. Normalizations spelled as several
        # operators have a square, GELU has a cube.
        exponent = number_of(b)
        if exponent == 2:
            return a * a
        if exponent == 3:
            return a * a * a
    return a ** same_dtype(b, a)


def _many(function: Callable[[Any, Any], Any], array_name: str) -> Callable[..., Any]:
    @broadcasts
    def compute(attributes: Attributes, first: Tensor, *others: Tensor) -> Tensor:
        for other in others:
            if is_float(first) and is_variable(first, other):
                first = function(*F.broadcast(first, other))
            else:
                xp = get_array_module(array_of(first))
                first = getattr(xp, array_name)(array_of(first), array_of(other))
        return first

    return compute


@broadcasts
def _mean(attributes: Attributes, *values: Tensor) -> Tensor:
    return _many(operator.add, "add")(attributes, *values) / len(values)


@constants(1, 2)
def _clip(
    attributes: Attributes, x: Tensor, low: Tensor | None = None, high: Tensor | None = None
) -> Tensor:
    least = attributes.get("min") if low is None else number_of(low)
    most = attributes.get("max") if high is None else number_of(high)
    if least is None and most is None:
        return x
    if not is_float(x):
        array = array_of(x)
        return get_array_module(array).clip(array, least, most).astype(array.dtype)
    if least is not None and most is not None and least > most:
        # The upper bound is applied last. Nothing depends on the elements.
        return get_array_module(array_of(x)).full_like(array_of(x), most)
    return F.clip(x, least, most)


#: Dtypes that Chainer's cast converts between; the gradient is converted back.
_ORDINARY = frozenset({"float16", "float32", "float64", "bfloat16"})


def _cast(attributes: Attributes, x: Tensor) -> Tensor:
    return _cast_to(attributes, x, attributes["to"])


@constants(1)
def _cast_like(attributes: Attributes, x: Tensor, like: Tensor) -> Tensor:
    onnx = require("onnx")
    return _cast_to(attributes, x, onnx.helper.np_dtype_to_tensor_dtype(dtype_of(like)))


def _cast_to(attributes: Attributes, x: Tensor, to: Any) -> Tensor:
    onnx = require("onnx")
    if isinstance(to, str):
        to = onnx.TensorProto.DataType.Tensor(to)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(to)
    source = dtype_of(x)
    if source.name in _ORDINARY and dtype.name in _ORDINARY:
        return F.cast(x, dtype)
    if source.kind in "iub" and (dtype.kind in "iub" or dtype.name in _ORDINARY):
        return array_of(x).astype(dtype)
    if source.name in _ORDINARY and dtype.kind in "iub":
        # Values that do not fit are undefined, and no reason for a warning.
        with numpy.errstate(invalid="ignore"):
            return array_of(x).astype(dtype)
    # Strings, and numbers of 8 bits and less. The reference implementation knows how they are
    # rounded, and the results for numbers that are too large.
    from onnx.reference.ops.op_cast import cast_to

    options = {"saturate": attributes.get("saturate", 1)}
    if "round_mode" in attributes:
        options["round_mode"] = attributes["round_mode"]
    return cast_to(host_array(x), to, **options)


@broadcasts
def _where(attributes: Attributes, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    mask = array_of(condition)
    if not is_variable(x, y) or not is_float(x):
        return get_array_module(mask).where(mask, array_of(x), array_of(y))
    shape = numpy.broadcast_shapes(mask.shape, array_of(x).shape, array_of(y).shape)
    mask = get_array_module(mask).broadcast_to(mask, shape)
    return F.where(mask, F.broadcast_to(x, shape), F.broadcast_to(y, shape))


def _gelu(attributes: Attributes, x: Tensor) -> Any:
    return F.gelu(x, attributes.get("approximate", "none") == "tanh")


def _hard_sigmoid(attributes: Attributes, x: Array) -> Tensor:
    alpha, beta = attributes.get("alpha", 0.2), attributes.get("beta", 0.5)
    return F.clip(alpha * x + beta, 0.0, 1.0)


@broadcasts
def _prelu(attributes: Attributes, x: Tensor, slope: Array) -> Tensor:
    zeros = _zeros(x)
    if attributes.opset < 7 and array_of(slope).ndim == 1 and array_of(slope).size > 1:
        # One slope for each channel.
        slope = F.reshape(slope, (-1,) + (1,) * (array_of(x).ndim - 2))
    if not is_float(x):
        array, factor = array_of(x), array_of(slope)
        return get_array_module(array).where(array < 0, array * factor, array)
    return F.maximum(x, zeros) + slope * F.minimum(x, zeros)


def _zeros(x: Tensor) -> Any:
    array = array_of(x)
    return get_array_module(array).zeros_like(array)


def _relu(attributes: Attributes, x: Tensor) -> Tensor:
    if is_float(x):
        return F.relu(x)
    return get_array_module(array_of(x)).maximum(array_of(x), 0)


@broadcasts
def _mod(attributes: Attributes, a: Tensor, b: Tensor) -> Tensor:
    if is_float(a):
        if attributes.get("fmod", 0):
            return F.fmod(*F.broadcast(a, b))
        return _floored_mod(a, b)
    name = "fmod" if attributes.get("fmod", 0) else "mod"
    return getattr(get_array_module(array_of(a)), name)(array_of(a), array_of(b))


def _floored_mod(a: Tensor, b: Tensor) -> Tensor:
    """Remainder that has the sign of the divisor, as in Python."""
    exact = get_array_module(array_of(a)).mod(array_of(a), array_of(b))
    if not is_variable(a, b):
        return exact
    # The formula has the gradient, the function of arrays the digits and the infinite cases.
    y: Any = a - F.floor(a / b) * b
    finite = get_array_module(exact).isfinite(y.array)
    return F.where(finite, y + (exact - y.array), exact)


def _identity(attributes: Attributes, x: Tensor) -> Tensor:
    return x


def _celu(attributes: Attributes, x: Array) -> Tensor:
    alpha = attributes.get("alpha", 1.0)
    return F.maximum(x, _zeros(x)) + F.minimum(alpha * F.expm1(x / alpha), _zeros(x))


def _elu(attributes: Attributes, x: Tensor) -> Tensor:
    return F.elu(x, attributes.get("alpha", 1.0))


def _leaky_relu(attributes: Attributes, x: Tensor) -> Tensor:
    return F.leaky_relu(x, attributes.get("alpha", 0.01))


def _selu(attributes: Attributes, x: Tensor) -> Any:
    alpha = attributes.get("alpha", 1.6732632423543772)
    return attributes.get("gamma", 1.0507009873554805) * F.elu(x, alpha)


def _thresholded_relu(attributes: Attributes, x: Tensor) -> Any:
    array = array_of(x)
    return x * (array > attributes.get("alpha", 1.0)).astype(array.dtype)


def _shrink(attributes: Attributes, x: Tensor) -> Any:
    array = array_of(x)
    bias, bound = attributes.get("bias", 0.0), attributes.get("lambd", 0.5)
    above, below = (array > bound).astype(array.dtype), (array < -bound).astype(array.dtype)
    if not is_float(x):
        return (array - bias) * above + (array + bias) * below
    return (x - bias) * above + (x + bias) * below


def _swish(attributes: Attributes, x: Array) -> Any:
    return x * F.sigmoid(attributes.get("alpha", 1.0) * x)


def _asinh(x: Array) -> Any:
    # The sign apart: x + sqrt(x ** 2 + 1) loses all digits for large negative numbers.
    size = F.absolute(x)
    return F.log(size + F.sqrt(size * size + 1)) * F.sign(x)


def _acosh(x: Array) -> Any:
    return F.log(x + F.sqrt(x * x - 1))


OPERATORS: dict[str, Callable[..., Any]] = {
    "Abs": _unary(F.absolute, "absolute"),
    "Acos": _unary(F.arccos),
    "Acosh": _unary(_acosh),
    "Add": _binary(operator.add),
    "And": _logical(numpy.logical_and),
    "Asin": _unary(F.arcsin),
    "Asinh": _unary(_asinh),
    "Atan": _unary(F.arctan),
    "Atanh": _unary(F.arctanh),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Ceil": _unary(F.ceil),
    "Celu": _celu,
    "Clip": _clip,
    "Cos": _unary(F.cos),
    "Cosh": _unary(F.cosh),
    "Div": _div,
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
    "Mean": _mean,
    "Min": _many(F.minimum, "minimum"),
    "Mish": lambda attributes, x: x * F.tanh(F.softplus(x)),
    "Mod": _mod,
    "Mul": _binary(operator.mul),
    "Neg": _unary(operator.neg, "negative"),
    "Not": _logical(numpy.logical_not),
    "Or": _logical(numpy.logical_or),
    "PRelu": _prelu,
    "Pow": _pow,
    "Reciprocal": _unary(lambda x: 1 / x),
    "Relu": _relu,
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": _unary(F.sigmoid),
    "Sign": _unary(F.sign, "sign"),
    "Sin": _unary(F.sin),
    "Sinh": _unary(F.sinh),
    "Softplus": _unary(F.softplus),
    "Softsign": _unary(lambda x: x / (1 + F.absolute(x))),
    "Sqrt": _unary(F.sqrt),
    "Sub": _binary(operator.sub),
    "Sum": _many(operator.add, "add"),
    "Swish": _swish,
    "Tan": _unary(F.tan),
    "Tanh": _unary(F.tanh),
    "ThresholdedRelu": _thresholded_relu,
    "Where": _where,
}
