"""Connections: convolutions of other shapes than the plain two-dimensional one."""

# pyright: basic
from __future__ import annotations

import itertools

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value
from chainer.testing.specs.windows import pair, windows


def convolution(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    """Products of windows and filters, in any number of dimensions."""
    parts = []
    # Each group is a convolution of its own.
    for xs, Ws in zip(np.split(x, groups, axis=1), np.split(W, groups, axis=0)):
        cut = windows(xs, W.shape[2:], stride, pad, dilate, cover_all)
        spatial = tuple(range(2, x.ndim))
        kernel = tuple(axis + len(spatial) for axis in spatial)
        parts.append(np.moveaxis(np.tensordot(cut, Ws, ((1, *kernel), (1, *spatial))), -1, 1))
    y = np.concatenate(parts, axis=1)
    return y if b is None else y + b.reshape(1, -1, *[1] * (x.ndim - 2))


def deconvolution(x, W, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1):
    """Each element adds its multiple of the filter to the output."""
    count = x.ndim - 2
    stride, pad, dilate = pair(stride, count), pair(pad, count), pair(dilate, count)
    spans = [d * (k - 1) + 1 for k, d in zip(W.shape[2:], dilate)]
    full = [s * (n - 1) + span for s, n, span in zip(stride, x.shape[2:], spans)]
    if outsize is None:
        # The smallest size that a convolution of the same stride brings to the size of the input.
        outsize = [n - 2 * p for n, p in zip(full, pad)]
    # A given size may be larger than what the filters reach.
    room = [max(n, size + 2 * p) for n, size, p in zip(full, outsize, pad)]
    channels = W.shape[1]
    y = np.zeros((len(x), channels * groups, *room), x.dtype)
    size = x.shape[1] // groups
    for place in itertools.product(*map(range, x.shape[2:])):
        cut = tuple(slice(i * s, i * s + n, d) for i, s, n, d in zip(place, stride, spans, dilate))
        for g in range(groups):
            rows = slice(g * size, (g + 1) * size)
            part = np.tensordot(x[(slice(None), rows, *place)], W[rows], (1, 0))
            y[(slice(None), slice(g * channels, (g + 1) * channels), *cut)] += part
    y = y[(..., *[slice(p, p + n) for p, n in zip(pad, outsize)])]
    return y if b is None else y + b.reshape(1, -1, *[1] * count)


def _depthwise(x, W, b=None, stride=1, pad=0):
    cut = windows(x, W.shape[2:], stride, pad)
    # The outputs of one input channel are neighbors.
    y = np.einsum("nchwij,mcij->ncmhw", cut, W)
    y = y.reshape(len(x), W.shape[0] * W.shape[1], *y.shape[3:])
    return y if b is None else y + b[:, None, None]


def _local(x, W, b=None, stride=1):
    # The filters decide how many positions there are; what is left of the input is not used.
    cut = windows(x, W.shape[4:], stride, 0)[:, :, : W.shape[1], : W.shape[2]]
    y = np.einsum("nchwij,ohwcij->nohw", cut, W)
    return y if b is None else y + b


def _shift(x, ksize=3, dilate=1):
    (kh, kw), (dy, dx) = pair(ksize), pair(dilate)
    offsets = [(i - kh // 2, j - kw // 2) for i in range(kh) for j in range(kw)]
    # The group that is not moved is the last one, so that it takes the channels left over.
    offsets[len(offsets) // 2], offsets[-1] = offsets[-1], offsets[len(offsets) // 2]
    size = x.shape[1] // len(offsets)
    height, width = x.shape[2:]
    y = np.zeros_like(x)
    for c, i, j in itertools.product(*map(range, x.shape[1:])):
        oy, ox = offsets[min(c // size, len(offsets) - 1)]
        row, column = i - oy * dy, j - ox * dx
        if 0 <= row < height and 0 <= column < width:
            y[:, c, i, j] = x[:, c, row, column]
    return y


SPECS = (
    OpSpec(
        "convolution_nd",
        reference=convolution,
        samples=lambda draw: [
            Sample(draw((2, 3, 7)), draw((2, 3, 3)), draw((2,)), stride=2),
            Sample(draw((2, 2, 3, 4, 3)), draw((2, 2, 2, 3, 2)), stride=(1, 2, 1), pad=1),
            Sample(draw((1, 2, 5, 4)), draw((4, 1, 2, 2)), draw((4,)), pad=1, groups=2),
            # An axis of 6 is not a whole number of strides: ``cover_all`` adds a position.
            Sample(draw((1, 2, 6, 7)), draw((3, 2, 2, 3)), dilate=2, stride=2, cover_all=True),
            Sample(draw((0, 3, 7)), draw((2, 3, 3)), draw((2,)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)ConvolutionND.*in_types\[0\]\.shape\[1\] == in_types\[1\]\.shape",
                _f(2, 3, 5, 5),
                _f(4, 2, 3, 3),
            ),
            invalid_value("Output sizes should be positive", _f(2, 3, 2, 2), _f(4, 3, 3, 3)),
            invalid_value("stride", _f(2, 3, 5), _f(4, 3, 3), stride=(1, 2)),
        ],
    ),
    OpSpec(
        "deconvolution_2d",
        reference=deconvolution,
        samples=lambda draw: [
            Sample(draw((2, 3, 4, 3)), draw((3, 2, 3, 3)), draw((2,))),
            Sample(draw((2, 2, 3, 3)), draw((2, 3, 4, 4)), stride=2, pad=1),
            # One more row than necessary.
            Sample(draw((1, 2, 3, 3)), draw((2, 1, 3, 3)), stride=2, outsize=(8, 7)),
            Sample(draw((1, 4, 3, 3)), draw((4, 2, 2, 2)), draw((4,)), groups=2, stride=(1, 3)),
            Sample(draw((1, 2, 3, 3)), draw((2, 2, 2, 2)), dilate=2, stride=2, pad=1),
            Sample(draw((0, 3, 4, 3)), draw((3, 2, 3, 3)), draw((2,)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[1\] == in_types\[1\]\.shape\[0\]",
                _f(2, 3, 5, 5),
                _f(2, 4, 3, 3),
            ),
            invalid_type(
                r"\(8 - \(in_types\[1\]\.shape\[3\] .* <= in_types\[0\]\.shape\[3\]",
                _f(2, 3, 5, 5),
                _f(3, 4, 3, 3),
                outsize=(7, 8),
            ),
            ErrorInput(
                _f(2, 3, 1, 1),
                _f(3, 4, 3, 3),
                pad=2,
                # The class of error that the documentation of the function names.
                error=RuntimeError,
                match="Height in the output must be positive",
            ),
            invalid_value(
                "deterministic argument is not supported anymore",
                _f(2, 3, 5, 5),
                _f(3, 4, 3, 3),
                deterministic=True,
            ),
        ],
    ),
    OpSpec(
        "deconvolution_nd",
        reference=deconvolution,
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), draw((3, 2, 3)), draw((2,)), stride=2),
            Sample(draw((1, 2, 3, 2, 3)), draw((2, 2, 2, 3, 2)), stride=(1, 2, 2), pad=1),
            Sample(draw((1, 2, 3)), draw((2, 1, 3)), stride=3, outsize=(10,)),
            Sample(draw((0, 3, 4)), draw((3, 2, 3)), draw((2,)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[2\]\.shape\[0\] == in_types\[1\]\.shape\[1\]",
                _f(2, 3, 5),
                _f(3, 4, 3),
                _f(5),
            )
        ],
    ),
    OpSpec(
        "depthwise_convolution_2d",
        reference=_depthwise,
        samples=lambda draw: [
            Sample(draw((2, 3, 4, 5)), draw((2, 3, 3, 3)), draw((6,))),
            Sample(draw((2, 2, 5, 5)), draw((1, 2, 3, 2)), stride=2, pad=1),
            Sample(draw((0, 3, 4, 5)), draw((2, 3, 3, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)DepthwiseConvolution2D.*in_types\[0\]\.shape\[1\] == in_types\[1\]",
                _f(2, 4, 5, 5),
                _f(3, 3, 3, 3),
            ),
            invalid_type(
                r"in_types\[1\]\.shape\[0\] \* in_types\[1\]\.shape\[1\]",
                _f(2, 4, 5, 5),
                _f(3, 4, 3, 3),
                _f(10),
            ),
        ],
    ),
    OpSpec(
        "dilated_convolution_2d",
        reference=convolution,
        samples=lambda draw: [
            Sample(draw((2, 2, 6, 5)), draw((3, 2, 3, 2)), draw((3,)), dilate=2, pad=1),
            Sample(draw((1, 2, 6, 5)), draw((1, 2, 2, 2)), dilate=(1, 3), stride=2, cover_all=True),
        ],
    ),
    OpSpec(
        "local_convolution_2d",
        reference=_local,
        samples=lambda draw: [
            Sample(draw((2, 3, 5, 5)), draw((2, 3, 3, 3, 3, 3)), draw((2, 3, 3))),
            Sample(draw((2, 2, 5, 6)), draw((2, 2, 3, 2, 3, 2)), stride=2),
            Sample(draw((0, 2, 3, 3)), draw((1, 2, 2, 2, 2, 2)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[1\] == in_types\[1\]\.shape\[3\]",
                _f(2, 3, 7, 7),
                _f(2, 5, 5, 4, 3, 3),
            ),
            invalid_type(
                r"in_types\[2\]\.shape == in_types\[1\]\.shape\[:3\]",
                _f(2, 3, 7, 7),
                _f(2, 5, 5, 3, 3, 3),
                _f(2, 5, 4),
            ),
            invalid_type(r"in_types\[0\]\.shape\[2\] >= ", _f(2, 3, 6, 7), _f(2, 5, 5, 3, 3, 3)),
        ],
    ),
    OpSpec(
        "shift",
        reference=_shift,
        samples=lambda draw: [
            # Ten channels in nine groups: one is left over.
            Sample(draw((2, 10, 3, 4))),
            Sample(draw((1, 7, 5, 5)), ksize=(1, 3), dilate=2),
            Sample(draw((0, 9, 3, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.shape\[1\] >= 9", _f(2, 8, 7, 7)),
            invalid_value("kh must be odd", _f(2, 8, 7, 7), ksize=2),
        ],
    ),
)
