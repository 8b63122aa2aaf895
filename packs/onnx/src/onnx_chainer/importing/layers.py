"""Operators with weights, poolings and normalizations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from chainer import Variable, config
from onnx_chainer.importing.shapes import pad_axes
from onnx_chainer.importing.values import array_of, ints_of


def _windows(
    attributes: Any, x: Any, ksize: Any
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Returns strides, dilations, and the padding before and behind."""
    ndim = array_of(x).ndim - 2
    strides = attributes.get("strides", [1] * ndim)
    dilations = attributes.get("dilations", [1] * ndim)
    mode = attributes.get("auto_pad", "NOTSET")
    pads = attributes.get("pads", [0] * (2 * ndim))
    if mode == "VALID":
        pads = [0] * (2 * ndim)
    elif mode.startswith("SAME"):
        before, behind = [], []
        for n, k, s, d in zip(x.shape[2:], ksize, strides, dilations, strict=True):
            total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
            small, large = total // 2, total - total // 2
            before.append(small if mode == "SAME_UPPER" else large)
            behind.append(large if mode == "SAME_UPPER" else small)
        pads = before + behind
    return list(strides), list(dilations), list(pads[:ndim]), list(pads[ndim:])


def _padded(x: Any, before: list[int], behind: list[int], value: float = 0.0) -> Any:
    return pad_axes(x, [(0, 0), (0, 0), *zip(before, behind, strict=True)], value=value)


def _conv(attributes: Any, x: Any, W: Any, b: Any = None) -> Any:
    strides, dilations, before, behind = _windows(attributes, x, W.shape[2:])
    if before != behind:
        x, before = _padded(x, before, behind), [0] * len(before)
    return F.convolution_nd(
        x, W, b, tuple(strides), tuple(before), dilate=tuple(dilations),
        groups=attributes.get("group", 1),
    )  # fmt: skip


def _conv_transpose(attributes: Any, x: Any, W: Any, b: Any = None) -> Any:
    strides, dilations, before, behind = _windows(attributes, x, W.shape[2:])
    extra = attributes.get("output_padding", [0] * len(strides))
    # The whole output first; then padding cuts, and the extra output has zeros (and the bias).
    full = [
        s * (n - 1) + (k - 1) * d + 1
        for n, k, s, d in zip(x.shape[2:], W.shape[2:], strides, dilations, strict=True)
    ]
    sizes = attributes.get("output_shape")
    if sizes is not None:
        total = [f + e - o for f, e, o in zip(full, extra, sizes[-len(full) :], strict=True)]
        before = [t // 2 for t in total]
        behind = [t - t // 2 for t in total]
    y = F.deconvolution_nd(
        x, W, None, tuple(strides), 0, dilate=tuple(dilations),
        groups=attributes.get("group", 1),
    )  # fmt: skip
    cut = [(-p, e - q) for p, q, e in zip(before, behind, extra, strict=True)]
    y = pad_axes(y, [(0, 0), (0, 0), *cut])
    return y if b is None else F.bias(y, b)


def _gemm(attributes: Any, a: Any, b: Any, c: Any = None) -> Any:
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    transa, transb = bool(attributes.get("transA", 0)), bool(attributes.get("transB", 0))
    if transb and not transa and alpha == beta == 1 and (c is None or array_of(c).ndim == 1):
        return F.linear(a, b, c)
    y = F.matmul(a, b, transa, transb)
    y = y if alpha == 1 else y * alpha
    return y if c is None else y + (c if beta == 1 else c * beta)


def _max_pool(attributes: Any, x: Any) -> Any:
    ksize = attributes["kernel_shape"]
    strides, dilations, before, behind = _windows(attributes, x, ksize)
    if any([d != 1 for d in dilations]) or attributes.outputs > 1:
        raise ValueError("MaxPool with dilations or indexes cannot be loaded")
    ceil = bool(attributes.get("ceil_mode", 0))
    if before != behind:
        x, before = _padded(x, before, behind, -numpy.inf), [0] * len(before)
    return F.max_pooling_nd(x, tuple(ksize), tuple(strides), tuple(before), cover_all=ceil)


def _average_pool(attributes: Any, x: Any) -> Any:
    ksize = attributes["kernel_shape"]
    strides, _, before, behind = _windows(attributes, x, ksize)
    if attributes.get("ceil_mode", 0):
        raise ValueError("AveragePool with ceil_mode cannot be loaded")
    counted = bool(attributes.get("count_include_pad", 0))

    def pool(x: Any, pad: list[int], value: int | None) -> Any:
        return F.average_pooling_nd(x, tuple(ksize), tuple(strides), tuple(pad), pad_value=value)

    if before == behind:
        return pool(x, before, 0 if counted else None)
    none = [0] * len(before)
    y = pool(_padded(x, before, behind), none, 0)
    if counted:
        return y
    ones = _padded(numpy.ones_like(array_of(x)), before, behind)
    return y / pool(ones, none, 0)


def _global(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(attributes: Any, x: Any) -> Any:
        return function(x, axis=tuple(range(2, array_of(x).ndim)), keepdims=True)

    return compute


def _batch_normalization(
    attributes: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any
) -> Any:
    eps = attributes.get("epsilon", 1e-5)
    if not config.train:
        if attributes.get("training_mode", 0):
            y = F.batch_normalization(x, gamma, beta, eps=eps)
        else:
            y = F.fixed_batch_normalization(x, gamma, beta, mean, var, eps=eps)
    else:
        decay = attributes.get("momentum", 0.9)
        y = F.batch_normalization(
            x, gamma, beta, eps=eps, running_mean=array_of(mean), running_var=array_of(var),
            decay=decay,
        )  # fmt: skip
    # The running statistics are updated in place.
    return (y, array_of(mean), array_of(var))[: max(attributes.outputs, 1)]


def _softmax(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(attributes: Any, x: Any) -> Any:
        ndim = array_of(x).ndim
        if attributes.opset >= 13:
            return function(x, axis=attributes.get("axis", -1) % ndim)
        axis = attributes.get("axis", 1) % ndim
        if axis == ndim - 1:
            return function(x, axis=axis)
        # The axes from there on were one.
        rows = int(numpy.prod(x.shape[:axis]))
        return F.reshape(function(F.reshape(x, (rows, -1)), axis=1), x.shape)

    return compute


def _lrn(attributes: Any, x: Any) -> Any:
    n = attributes["size"]
    alpha = attributes.get("alpha", 1e-4) / n
    return F.local_response_normalization(
        x, n, attributes.get("bias", 1.0), alpha, attributes.get("beta", 0.75)
    )


def _group_normalization(attributes: Any, x: Any, gamma: Any, beta: Any) -> Any:
    eps = attributes.get("epsilon", 1e-5)
    return F.group_normalization(x, attributes["num_groups"], gamma, beta, eps=eps)


def _instance_normalization(attributes: Any, x: Any, gamma: Any, beta: Any) -> Any:
    eps = attributes.get("epsilon", 1e-5)
    gamma, beta = (Variable(v) if not isinstance(v, Variable) else v for v in (gamma, beta))
    return F.group_normalization(x, x.shape[1], gamma, beta, eps=eps)


def _layer_normalization(attributes: Any, x: Any, gamma: Any, beta: Any = None) -> Any:
    ndim = array_of(x).ndim
    axes = tuple(range(attributes.get("axis", -1) % ndim, ndim))
    centered = x - F.average(x, axis=axes, keepdims=True)
    var = F.average(centered * centered, axis=axes, keepdims=True)
    y = centered / F.sqrt(var + attributes.get("epsilon", 1e-5)) * gamma
    return y if beta is None else y + beta


def _resize(attributes: Any, x: Any, *others: Any) -> Any:
    scales = others[1] if len(others) > 1 else others[0] if others else None
    sizes = others[2] if len(others) > 2 else None
    if sizes is not None and array_of(sizes).size:
        target = ints_of(sizes)
    else:
        target = [int(n * s) for n, s in zip(x.shape, numpy.asarray(array_of(scales)))]
    if tuple(target[:2]) != tuple(x.shape[:2]) or len(target) != 4:
        raise ValueError(f"Resize to {target} cannot be loaded: it must resize images")
    mode = attributes.get("mode", "nearest")
    where = attributes.get("coordinate_transformation_mode", "half_pixel")
    if mode == "linear" and where in ("align_corners", "half_pixel", "pytorch_half_pixel"):
        return F.resize_images(x, tuple(target[2:]), align_corners=where == "align_corners")
    if mode == "nearest" and all([t % n == 0 for t, n in zip(target[2:], x.shape[2:])]):
        # Whole factors repeat pixels, whatever the rule of coordinates.
        for axis in (2, 3):
            x = F.repeat(x, target[axis] // x.shape[axis], axis)
        return x
    raise ValueError(f"Resize with mode {mode!r} and {where!r} cannot be loaded")


def _matmul(attributes: Any, a: Any, b: Any) -> Any:
    return F.matmul(a, b)


def _einsum(attributes: Any, *xs: Any) -> Any:
    return F.einsum(attributes["equation"], *xs)


OPERATORS: dict[str, Callable[..., Any]] = {
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_normalization,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "GlobalAveragePool": _global(F.average),
    "GlobalMaxPool": _global(F.max),
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance_normalization,
    "LRN": _lrn,
    "LayerNormalization": _layer_normalization,
    "LogSoftmax": _softmax(F.log_softmax),
    "MatMul": _matmul,
    "MaxPool": _max_pool,
    "Resize": _resize,
    "Softmax": _softmax(F.softmax),
}
