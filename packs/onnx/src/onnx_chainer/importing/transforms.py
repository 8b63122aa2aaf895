"""Fourier transforms. Complex numbers are pairs of numbers, the last axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.limits import check_shape
from onnx_chainer.importing.shapes import pad_axes
from onnx_chainer.importing.values import Tensor, array_of, ints_of, number_of

if TYPE_CHECKING:
    from chainer.typing import Array


def _transformed(x: Array, axis: int, inverse: bool) -> Any:
    """Returns the transform along an axis, of pairs; real numbers have a last axis of length 1."""
    last = F.moveaxis(x, axis, -2)
    real = last[..., 0]
    if array_of(last).shape[-1] == 1:
        imaginary: Any = get_array_module(real.array).zeros_like(real.array)
    else:
        imaginary = last[..., 1]
    transform = F.ifft if inverse else F.fft
    return F.moveaxis(F.stack(transform((real, imaginary)), axis=-1), -2, axis)


@constants(1, 2)
def _dft(
    attributes: Attributes, x: Tensor, length: Tensor | None = None, axis: Tensor | None = None
) -> Tensor:
    ndim = array_of(x).ndim
    # The axis is an input since operator set 20, an attribute before.
    default = attributes.get("axis", 1) if attributes.opset < 20 else -2
    place = (default if axis is None else ints_of(axis)[0]) % ndim
    inverse, half = bool(attributes.get("inverse", 0)), bool(attributes.get("onesided", 0))
    n = array_of(x).shape[place]
    if inverse and half:
        # Half of a spectrum does not tell whether the whole has an even length: even is the rule.
        count = 2 * (n - 1) if length is None else int(number_of(length))
        x = _whole_spectrum(x, place, count)
        return F.get_item(_transformed(x, place, True), (..., slice(0, 1)))
    count = n if length is None else int(number_of(length))
    pairs = [(0, 0)] * ndim
    pairs[place] = (0, count - n)
    y = _transformed(pad_axes(x, pairs), place, inverse)
    if not half:
        return y
    return F.get_item(y, (*[slice(None)] * place, slice(0, count // 2 + 1)))


def _whole_spectrum(x: Array, axis: int, count: int) -> Any:
    """Returns the spectrum of real numbers of which one half is given: it is symmetric."""
    need = count // 2 + 1
    pairs = [(0, 0)] * array_of(x).ndim
    pairs[axis] = (0, need - array_of(x).shape[axis])
    x = pad_axes(x, pairs)
    lead = (slice(None),) * axis
    mirrored = F.get_item(x, (*lead, slice(count - need, 0, -1)))
    # The other half has the conjugate numbers.
    sign = numpy.array([1, -1], array_of(x).dtype)
    xp = get_array_module(array_of(x))
    return F.concat([x, mirrored * xp.broadcast_to(xp.asarray(sign), mirrored.shape)], axis=axis)


@constants(1, 2, 3)
def _stft(
    attributes: Attributes,
    signal: Tensor,
    frame_step: Tensor,
    window: Tensor | None = None,
    frame_length: Tensor | None = None,
) -> Tensor:
    step = int(number_of(frame_step))
    if frame_length is not None:
        size = int(number_of(frame_length))
    elif window is not None:
        size = array_of(window).shape[0]
    else:
        raise ValueError("STFT needs a window or a length of frames")
    array = array_of(signal)
    count = (array.shape[1] - size) // step + 1
    check_shape("STFT", (array.shape[0], count, size))
    places = numpy.arange(count)[:, None] * step + numpy.arange(size)[None, :]
    x: Any = F.get_item(signal, (slice(None), places))  # (batch, frames, size, 1 or 2)
    if array.ndim == 2:
        x = F.expand_dims(x, -1)
    if window is not None:
        xp = get_array_module(array)
        weights = array_of(window).astype(array.dtype).reshape(1, 1, -1, 1)
        x = x * xp.broadcast_to(weights, x.shape)
    y = _transformed(x, 2, False)
    if attributes.get("onesided", 1):
        y = F.get_item(y, (slice(None), slice(None), slice(0, size // 2 + 1)))
    return y


OPERATORS: dict[str, Callable[..., Any]] = {"DFT": _dft, "STFT": _stft}
