"""Which calls oneDNN can serve: functions of a call's shapes, dtypes and attributes.

Each returns True, or the reason why not.
"""

from __future__ import annotations

from math import prod

from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.backends.operations.rnns import RNNLayout
from chainer.core.arrays.kernel import ArraySpec, CallSpec

#: Multiplications below which a matrix product through NumPy takes less time than the call costs.
SMALL_PRODUCT = 1 << 17
#: Elements below which a function of each element takes less time than the call costs.
SMALL_ARRAY = 1 << 14
#: Elements below which a cross entropy by NumPy is faster.
SMALL_SCORES = 1 << 14

_MAX_NDIM = 12


def _why_not(arrays: tuple[ArraySpec | None, ...]) -> str | None:
    """Returns what is wrong with the arrays themselves."""
    for i, array in enumerate(arrays):
        if array is None:
            continue
        if array.dtype != "float32":
            return f"array {i} is of dtype {array.dtype}; iDeep computes in float32"
        if not array.size:
            return f"array {i} of shape {array.shape} is empty"
        if not 1 <= array.ndim <= _MAX_NDIM:
            return f"array {i} has {array.ndim} dimensions; iDeep takes 1 to {_MAX_NDIM}"
        if not array.contiguous:
            return f"array {i} is not C-contiguous"
    return None


def elementwise(spec: CallSpec) -> bool | str:
    """Float32 arrays of any shape."""
    return _why_not(spec.arrays) or True


def large_elementwise(spec: CallSpec) -> bool | str:
    """Float32 arrays that are worth a call."""
    return _why_not(spec.arrays) or _why_not_small(spec.arrays[0]) or True


def _why_not_small(x: ArraySpec | None) -> str | None:
    assert x is not None
    return f"{x.size} elements are done faster by NumPy" if x.size < SMALL_ARRAY else None


def lstm_cell(spec: CallSpec) -> bool | str:
    """Float32 cells whose gates are worth a call."""
    return _why_not(spec.arrays) or _why_not_small(spec.arrays[1]) or True


def joining(spec: CallSpec) -> bool | str:
    """Float32 arrays joined or taken apart along an axis that exists."""
    x = spec.arrays[0]
    assert x is not None
    axis = spec.attributes["axis"]
    if not -x.ndim <= axis < x.ndim:
        return f"axis {axis} is out of range"
    return _why_not(spec.arrays) or True


def elu(spec: CallSpec) -> bool | str:
    """ELU whose gradient follows from its output."""
    if spec.attributes["alpha"] <= 0:
        return f"alpha must be positive, got {spec.attributes['alpha']}"
    return _why_not(spec.arrays) or True


def softmax(spec: CallSpec) -> bool | str:
    """Softmax along an axis that exists."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    (x,) = spec.arrays
    assert x is not None
    axis = spec.attributes["axis"]
    return True if -x.ndim <= axis < x.ndim else f"axis {axis} is out of range"


def convolution(spec: CallSpec) -> bool | str:
    """Convolutions and deconvolutions over one to three dimensions."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    x, W = spec.arrays[:2]
    assert x is not None
    assert W is not None
    if not 3 <= x.ndim <= 5:
        return f"{x.ndim - 2} spatial dimensions; iDeep takes 1 to 3"
    a = spec.attributes
    geometry: ConvolutionGeometry = a["geometry"]
    groups = geometry.groups
    if groups < 1 or W.shape[0] % groups:
        return f"the number of groups, {groups}, does not divide {W.shape[0]} channels"
    if a["transposed"]:
        in_size, out_size, channels = a["out_size"], x.shape[2:], W.shape[0]
    else:
        in_size, out_size, channels = x.shape[2:], a["out_size"], W.shape[1] * groups
    if x.shape[1] != channels:
        return f"x has {x.shape[1]} channels where W of shape {W.shape} needs {channels}"
    ksize = W.shape[2:]
    extent = tuple([(k - 1) * d + 1 for k, d in zip(ksize, geometry.dilate, strict=True)])
    return _fits(in_size, out_size, extent, geometry.stride, geometry.pad)


def _fits(
    in_size: tuple[int, ...],
    out_size: tuple[int, ...],
    extent: tuple[int, ...],
    stride: tuple[int, ...],
    pad: tuple[int, ...],
) -> bool | str:
    """Tells whether there are as many windows as fit, padding behind chosen freely."""
    for n, o, e, s, p in zip(in_size, out_size, extent, stride, pad, strict=True):
        behind = max((o - 1) * s + e - n - p, 0)
        if o < 1 or n < 1 or (n + p + behind - e) // s + 1 != o:
            return f"output size {out_size} is not that of windows over size {in_size}"
    return True


def linear(spec: CallSpec) -> bool | str:
    """Matrix products that are worth a call."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    x, W = spec.arrays[:2]
    assert x is not None
    assert W is not None
    if x.ndim != 2 or W.ndim != 2:
        return "x and W must be matrices"
    work = prod(x.shape) * W.shape[0]
    if work < SMALL_PRODUCT:
        return f"{work} multiplications are done faster by NumPy"
    return True


def pooling(spec: CallSpec) -> bool | str:
    """Pooling whose windows all see a part of the input."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    (x,) = spec.arrays
    assert x is not None
    if not 3 <= x.ndim <= 5:
        return f"{x.ndim - 2} spatial dimensions; iDeep takes 1 to 3"
    a = spec.attributes
    geometry: PoolingGeometry = a["geometry"]
    in_size, out_size = x.shape[2:], a["out_size"]
    ksize, stride, pad = geometry
    for n, k, s, p, o in zip(in_size, ksize, stride, pad, out_size, strict=True):
        if p >= k or (o - 1) * s - p >= n:
            return "a window is entirely in the padding"
    return _fits(in_size, out_size, ksize, stride, pad)


def normalization(spec: CallSpec) -> bool | str:
    """Batch normalisation with one parameter for each channel."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    x, gamma = spec.arrays[:2]
    assert x is not None
    assert gamma is not None
    if not 2 <= x.ndim <= 5:
        return f"{x.ndim} dimensions; iDeep takes 2 to 5"
    if spec.attributes["axis"] != (0, *range(2, x.ndim)) or gamma.shape != x.shape[1:2]:
        return "iDeep normalises over all axes but the second"
    return True


def response_normalization(spec: CallSpec) -> bool | str:
    """Local response normalisation over an odd number of channels."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    (x,) = spec.arrays
    assert x is not None
    if not 2 <= x.ndim <= 5:
        return f"{x.ndim} dimensions; iDeep takes 2 to 5"
    a = spec.attributes
    if a["n"] < 1 or a["n"] % 2 == 0:
        return f"n must be odd, got {a['n']}"
    if a["k"] <= 0:
        return f"k must be positive, got {a['k']}"
    return True


def cross_entropy(spec: CallSpec) -> bool | str:
    """Cross entropy of a matrix of scores."""
    x, _, weight = spec.arrays
    reason = _why_not((x, weight))
    if reason is not None:
        return reason
    assert x is not None
    if x.ndim != 2:
        return "the scores must be a matrix"
    if x.size < SMALL_SCORES:
        return f"{x.size} scores are done faster by NumPy"
    return True


def recurrence(spec: CallSpec) -> bool | str:
    """LSTM and GRU over sequences of one length."""
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    layout: RNNLayout = spec.attributes["layout"]
    if layout.mode not in ("lstm", "gru"):
        return f"iDeep has LSTM and GRU, not {layout.mode!r}"
    hx = spec.arrays[1]
    assert hx is not None
    if any(n != hx.shape[1] for n in layout.batch_sizes):
        return "iDeep takes sequences of one length"
    return True


def update(spec: CallSpec) -> bool | str:
    """Updates of float32 parameters."""
    return _why_not(spec.arrays) or True


def adam_update(spec: CallSpec) -> bool | str:
    """Adam without the variants AMSGrad and AdaBound."""
    if spec.arrays[4] is not None:
        return "iDeep has no AMSGrad"
    if spec.attributes.get("bounded"):
        return "iDeep has no AdaBound"
    return _why_not(spec.arrays) or True
