"""Convolutions, poolings, normalizations and attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from chainer.testing.certification.opinfo.row import Arguments, Difference, Row


def _tuple(value: Any, ndim: int) -> tuple[int, ...]:
    """Returns a size for each axis. PyTorch takes a tuple of one, too."""
    if isinstance(value, int):
        return (value,) * ndim
    return tuple(value) if len(value) == ndim else tuple(value) * ndim


# -- convolutions ---------------------------------------------------------------------------------

_SAME = Difference(
    "padding='same' is not there: pad is a number",
    lambda given: given.kwargs.get("padding") == "same",
)


def _no_batch(ndim: int) -> Difference:
    return Difference("the input has a batch axis", lambda given: given.args[0].ndim != ndim + 2)


def _convolution(name: str) -> Callable[..., Any]:
    def call(
        F: Any,
        x: Any,
        W: Any,
        b: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        pad = 0 if padding == "valid" else padding
        return getattr(F, name)(x, W, b, stride, pad, dilate=dilation, groups=groups)

    return call


def _deconvolution(name: str, ndim: int) -> Callable[..., Any]:
    def call(
        F: Any,
        x: Any,
        W: Any,
        b: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        sizes = [_tuple(value, ndim) for value in (stride, padding, output_padding, dilation)]
        outsize = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + 1 + o
            for n, k, s, p, o, d in zip(x.shape[2:], W.shape[2:], *sizes, strict=True)
        )
        return getattr(F, name)(x, W, b, stride, padding, outsize, dilate=dilation, groups=groups)

    return call


def _too_large(ndim: int) -> Difference:
    def when(given: Arguments) -> bool:
        sizes = (
            _tuple(given.kwargs.get(n, d), ndim) for n, d in (("output_padding", 0), ("stride", 1))
        )
        return any(more >= step for more, step in zip(*sizes, strict=True))

    return Difference("outsize belongs to a convolution with this stride", when)


# -- poolings -------------------------------------------------------------------------------------


def _windows(given: Arguments, ndim: int) -> list[tuple[int, int, int, int]]:
    """Returns the length, the size of the window, the stride and the padding of each axis."""
    size = given.get(1, "kernel_size")
    stride, pad = given.get(2, "stride") or size, given.get(3, "padding", 0)
    values = [_tuple(value, ndim) for value in (size, stride, pad)]
    return list(zip(given.args[0].shape[2:], *values, strict=True))


def _rounded_up(ndim: int) -> Difference:
    def when(given: Arguments) -> bool:
        up = given.get(4, "ceil_mode", False)
        return up and any((n + 2 * p - k) % s for n, k, s, p in _windows(given, ndim))

    return Difference("windows that are not complete are left out", when)


def _only_padding(ndim: int) -> Difference:
    def when(given: Arguments) -> bool:
        windows = _windows(given, ndim) if given.kwargs.get("ceil_mode") else []
        return any(-(-(n + 2 * p - k) // s) * s >= n + p for n, k, s, p in windows)

    return Difference("cover_all has a window that covers the padding only, too", when)


def _divided(position: int) -> Difference:
    return Difference(
        "the divisor is the size of the window",
        lambda given: given.get(position, "divisor_override") is not None,
    )


def _padding_left_out(given: Arguments) -> bool:
    if given.get(5, "count_include_pad", True):
        return False
    return bool(numpy.any(given.get(3, "padding", 0)))


def _dilated(given: Arguments) -> bool:
    return set(_tuple(given.kwargs.get("dilation", 1), 1)) != {1}


def _average_pooling(name: str, ndim: int) -> Callable[..., Any]:
    def call(
        F: Any,
        x: Any,
        size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        keywords = {} if ndim == 2 else {"pad_value": 0 if count_include_pad else None}
        step = _tuple(stride or size, ndim)
        return getattr(F, name)(x, size, step, _tuple(padding, ndim), **keywords)

    return call


def _max_pooling(name: str) -> Callable[..., Any]:
    def call(
        F: Any,
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return getattr(F, name)(x, kernel_size, stride, padding, cover_all=ceil_mode)

    return call


def _pixels_of_none(given: Arguments) -> bool:
    return not isinstance(given.args[1], int) and None in given.args[1]


def _im2col(
    F: Any, x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    y = F.im2col(x, kernel_size, stride, padding, dilate=dilation)
    return F.reshape(y, (*y.shape[:2], math.prod(y.shape[2:])))


# -- normalizations -------------------------------------------------------------------------------


def _affine(x: Any, shape: Any, weight: Any, bias: Any) -> list[Any]:
    """Returns a weight and a bias; ones and zeros where PyTorch has none."""
    weight = x.xp.ones(shape, x.dtype) if weight is None else weight
    return [weight, x.xp.zeros(shape, x.dtype) if bias is None else bias]


def _batch_normalization(
    F: Any,
    x: Any,
    mean: Any,
    var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    affine = _affine(x, x.shape[1], weight, bias)
    if training:
        return F.batch_normalization(x, *affine, eps=eps)
    return F.fixed_batch_normalization(x, *affine, mean, var, eps=eps)


def _layer_normalization(
    F: Any, x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    size = math.prod(shape)
    affine = [F.reshape(p, (size,)) for p in _affine(x, shape, weight, bias)]
    y = F.layer_normalization(F.reshape(x, (-1, size)), *affine, eps=eps)
    return F.reshape(y, x.shape)


def _rms_normalization(
    F: Any, x: Any, shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    size = math.prod(shape)
    gamma = F.reshape(_affine(x, shape, weight, None)[0], (size,))
    eps = float(numpy.finfo(x.dtype).eps) if eps is None else eps
    return F.reshape(F.rms_normalization(F.reshape(x, (-1, size)), gamma, eps), x.shape)


def _group_normalization(
    F: Any, x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    return F.group_normalization(x, groups, *_affine(x, x.shape[1], weight, bias), eps=eps)


def _instance_normalization(
    F: Any,
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    return F.instance_normalization(x, weight, bias, eps=eps)


def _local_response_normalization(
    F: Any, x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    return F.local_response_normalization(x, size, k, alpha / size, beta)


def _other_norm(given: Arguments) -> bool:
    p, axis = given.kwargs.get("p", 2.0), given.kwargs.get("dim", 1)
    # Along an axis of length 1 all norms are the same.
    return p != 2 and (given.args[0].ndim == 0 or given.args[0].shape[axis] > 1)


# -- attention ------------------------------------------------------------------------------------


def _attention(
    F: Any,
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Any:
    return F.scaled_dot_product_attention(q, k, v, attn_mask, causal=is_causal, dropout=dropout_p)


def _other_lengths(given: Arguments) -> bool:
    q, k = given.args[:2]
    return given.kwargs.get("is_causal", False) and q.shape[-2] != k.shape[-2]


ROWS = (
    *(
        Row(
            f"convolution_{n}d",
            f"nn.functional.conv{n}d",
            _convolution(f"convolution_{n}d"),
            differences=(_no_batch(n), _SAME),
        )
        for n in (1, 2, 3)
    ),
    *(
        Row(
            f"deconvolution_{n}d",
            f"nn.functional.conv_transpose{n}d",
            _deconvolution(f"deconvolution_{n}d", n),
            differences=(_no_batch(n), _too_large(n)),
        )
        for n in (1, 2, 3)
    ),
    *(
        Row(
            f"average_pooling_{n}d",
            f"nn.functional.avg_pool{n}d",
            _average_pooling(f"average_pooling_{n}d", n),
            differences=(
                _divided(6),
                _rounded_up(n),
                # The function for images has no argument for it, as in release 7.
                *([Difference("the padding counts", _padding_left_out)] if n == 2 else []),
            ),
        )
        for n in (1, 2, 3)
    ),
    *(
        Row(
            f"max_pooling_{n}d",
            f"nn.functional.max_pool{n}d",
            _max_pooling(f"max_pooling_{n}d"),
            (0,),
            (
                _no_batch(n),
                Difference("windows have no gaps", _dilated),
                _only_padding(n),
            ),
        )
        for n in (1, 2, 3)
    ),
    Row(
        "adaptive_average_pooling_2d",
        "nn.functional.adaptive_avg_pool2d",
        differences=(
            _no_batch(2),
            Difference("both lengths of the result are given", _pixels_of_none),
        ),
    ),
    Row("im2col", "nn.functional.unfold", _im2col),
    Row(
        "batch_normalization",
        "nn.functional.batch_norm",
        _batch_normalization,
        differences=(
            Difference("the input has an axis of channels", lambda given: given.args[0].ndim == 1),
        ),
    ),
    Row("layer_normalization", "nn.functional.layer_norm", _layer_normalization),
    Row("group_normalization", "nn.functional.group_norm", _group_normalization),
    Row("instance_normalization", "nn.functional.instance_norm", _instance_normalization),
    Row("rms_normalization", "nn.functional.rms_norm", _rms_normalization),
    Row(
        "local_response_normalization",
        "nn.functional.local_response_norm",
        _local_response_normalization,
        differences=(
            Difference(
                "an even number of channels is centered otherwise",
                lambda given: given.args[1] % 2 == 0,
            ),
        ),
    ),
    Row(
        "normalize",
        "nn.functional.normalize",
        lambda F, x, p=2.0, dim=1, eps=1e-12: F.normalize(x, eps, dim),
        differences=(
            Difference("the norm is the Euclidean one", _other_norm),
            Difference("eps is added to the norm", lambda given: given.kwargs.get("eps", 0) > 1e-5),
        ),
    ),
    Row(
        "embed_id",
        "nn.functional.embedding",
        lambda F, W, x: F.embed_id(x, W),
        differences=(
            Difference("the ids have a batch axis", lambda given: given.args[1].ndim == 0),
        ),
    ),
    Row(
        "scaled_dot_product_attention",
        "nn.functional.scaled_dot_product_attention",
        _attention,
        differences=(
            Difference(
                "queries and keys have the same number of axes",
                lambda given: given.args[0].ndim != given.args[1].ndim,
            ),
            Difference("dropout is random", lambda given: given.kwargs["dropout_p"] > 0),
            Difference("the last query sees the last key", _other_lengths),
        ),
    ),
)
