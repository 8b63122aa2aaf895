"""Normalizations and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer import Variable, config
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import changes, constants
from onnx_chainer.importing.values import Tensor, array_of, ndim_of
from onnx_chainer.optional import require

if TYPE_CHECKING:
    from chainer.typing import Array


@changes(3, 4)
@constants(3, 4)
def _batch_normalization(
    attributes: Attributes, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, var: Tensor
) -> tuple[Tensor, ...]:
    eps = attributes.get("epsilon", 1e-5)
    if attributes.opset < 9 and not attributes.get("spatial", 1):
        attributes.refuse("spatial", 0)
    asked = bool(attributes.get("training_mode", 0))
    if not config.train and not asked:
        y = F.fixed_batch_normalization(x, gamma, beta, mean, var, eps=eps)
        return (y, array_of(mean), array_of(var))[: max(attributes.outputs, 1)]
    decay = attributes.get("momentum", 0.9)
    if asked:
        # The graph trains: its statistics are outputs, and the deviation is of the whole batch.
        y = F.batch_normalization(x, gamma, beta, eps=eps)
        array = array_of(x)
        axes = (0, *range(2, array.ndim))
        found_mean = array.mean(axis=axes, dtype=array_of(mean).dtype)
        found_var = array.var(axis=axes, dtype=array_of(var).dtype)
        mean = array_of(mean) * decay + found_mean * (1 - decay)
        var = array_of(var) * decay + found_var * (1 - decay)
        return (y, mean, var)[: max(attributes.outputs, 1)]
    # The running statistics of the link are updated in place.
    y = F.batch_normalization(
        x, gamma, beta, eps=eps, running_mean=array_of(mean), running_var=array_of(var),
        decay=decay,
    )  # fmt: skip
    return (y, array_of(mean), array_of(var))[: max(attributes.outputs, 1)]


def _softmax_function(x: Array, axis: int) -> Any:
    if array_of(x).dtype.itemsize >= 4:
        return F.softmax(x, axis=axis)
    # In types of 16 bits ONNX rounds every step; Chainer's softmax rounds the result alone.
    e = F.exp(x - array_of(x).max(axis=axis, keepdims=True))
    return e / F.broadcast_to(F.sum(e, axis=axis, keepdims=True), e.shape)


def _softmax(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(attributes: Attributes, x: Tensor) -> Tensor:
        ndim = ndim_of(x)
        if attributes.opset >= 13:
            return function(x, axis=attributes.get("axis", -1) % ndim)
        axis = attributes.get("axis", 1) % ndim
        if axis == ndim - 1:
            return function(x, axis=axis)
        # The axes from there on were one.
        shape = array_of(x).shape
        rows = int(numpy.prod(shape[:axis]))
        return F.reshape(function(F.reshape(x, (rows, -1)), axis=1), shape)

    return compute


def _hardmax(attributes: Attributes, x: Tensor) -> Tensor:
    """One at the first largest element, zero elsewhere; it has no gradient."""
    array = array_of(x)
    xp = get_array_module(array)
    axis = attributes.get("axis", -1 if attributes.opset >= 13 else 1) % array.ndim
    rows = array
    if attributes.opset < 13:
        rows = array.reshape(int(numpy.prod(array.shape[:axis])), -1)
        axis = 1
    index = xp.expand_dims(rows.argmax(axis=axis), axis)
    places = xp.arange(rows.shape[axis]).reshape([-1 if i == axis else 1 for i in range(rows.ndim)])
    return (places == index).astype(array.dtype).reshape(array.shape)


def _lrn(attributes: Attributes, x: Tensor) -> Tensor:
    n = attributes["size"]
    if n % 2 == 0:
        attributes.refuse("size")
    alpha = attributes.get("alpha", 1e-4) / n
    return F.local_response_normalization(
        x, n, attributes.get("bias", 1.0), alpha, attributes.get("beta", 0.75)
    )


def _group_normalization(attributes: Attributes, x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    eps = attributes.get("epsilon", 1e-5)
    groups = attributes["num_groups"]
    channels = array_of(x).shape[1]
    if attributes.opset < 21 and array_of(gamma).shape[0] != channels:
        # Until operator set 21 there was one scale for each group.
        gamma, beta = (F.repeat(v, channels // groups, axis=0) for v in (gamma, beta))
    return F.group_normalization(x, groups, _variable(gamma), _variable(beta), eps=eps)


def _instance_normalization(
    attributes: Attributes, x: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    eps = attributes.get("epsilon", 1e-5)
    channels = array_of(x).shape[1]
    return F.group_normalization(x, channels, _variable(gamma), _variable(beta), eps=eps)


def _variable(value: Tensor) -> Variable:
    return value if isinstance(value, Variable) else Variable(value, requires_grad=False)


def _computed_in(attributes: Attributes) -> Any:
    """Returns the dtype in which a normalization computes its statistics: float32 by default."""
    return require("onnx").helper.tensor_dtype_to_np_dtype(attributes.get("stash_type", 1))


def _layer_normalization(
    attributes: Attributes, x: Tensor, gamma: Tensor, beta: Tensor | None = None
) -> tuple[Tensor, ...]:
    shape = array_of(x).shape
    ndim = len(shape)
    first = attributes.get("axis", -1) % ndim
    eps = attributes.get("epsilon", 1e-5)
    dtype = array_of(x).dtype
    if attributes.outputs < 2 and dtype.itemsize >= 4 and array_of(gamma).shape == shape[first:]:
        # One function for rows. The mean and the deviation are not wanted, as in most models.
        size = array_of(gamma).size
        flat = [
            F.reshape(v, (size,)) for v in (gamma, _zeros_like(gamma) if beta is None else beta)
        ]
        y = F.layer_normalization(F.reshape(x, (-1, size)), *flat, eps=eps)
        return (F.reshape(y, shape),)
    axes = tuple(range(first, ndim))
    wide = x if dtype.itemsize >= 4 else F.cast(x, _computed_in(attributes))
    mean = F.average(wide, axis=axes, keepdims=True)
    centered = wide - mean
    var = F.average(centered * centered, axis=axes, keepdims=True)
    inverse = 1 / F.sqrt(var + eps)
    y = F.cast(centered * inverse, dtype) * gamma
    return (y if beta is None else y + beta, mean, inverse)[: max(attributes.outputs, 1)]


def _zeros_like(value: Tensor) -> Tensor:
    array = array_of(value)
    return get_array_module(array).zeros_like(array)


def _rms_normalization(attributes: Attributes, x: Tensor, gamma: Tensor) -> Tensor:
    ndim = ndim_of(x)
    axes = tuple(range(attributes.get("axis", -1) % ndim, ndim))
    dtype = array_of(x).dtype
    wide = x if dtype.itemsize >= 4 else F.cast(x, _computed_in(attributes))
    mean = F.average(wide * wide, axis=axes, keepdims=True)
    return F.cast(wide / F.sqrt(mean + attributes.get("epsilon", 1e-5)), dtype) * gamma


def _lp_normalization(attributes: Attributes, x: Array) -> Tensor:
    axis, p = attributes.get("axis", -1), attributes.get("p", 2)
    if p == 1:
        size = F.sum(F.absolute(x), axis=axis, keepdims=True)
    elif p == 2:
        size = F.sqrt(F.sum(x * x, axis=axis, keepdims=True))
    else:
        attributes.refuse("p")
    # Where all elements are zero the result is zero.
    array = size.array
    xp = get_array_module(array)
    return x / F.where(array == 0, xp.ones_like(array), size)


def _mean_variance_normalization(attributes: Attributes, x: Array) -> Tensor:
    axes = tuple(attributes.get("axes", (0, 2, 3)))
    centered = x - F.average(x, axis=axes, keepdims=True)
    var = F.average(centered * centered, axis=axes, keepdims=True)
    return centered / (F.sqrt(var) + 1e-9)


OPERATORS: dict[str, Callable[..., Any]] = {
    "BatchNormalization": _batch_normalization,
    "GroupNormalization": _group_normalization,
    "Hardmax": _hardmax,
    "InstanceNormalization": _instance_normalization,
    "LRN": _lrn,
    "LayerNormalization": _layer_normalization,
    "LogSoftmax": _softmax(F.log_softmax),
    "LpNormalization": _lp_normalization,
    "MeanVarianceNormalization": _mean_variance_normalization,
    "RMSNormalization": _rms_normalization,
    "Softmax": _softmax(_softmax_function),
}
