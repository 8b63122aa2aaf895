"""Which calls oneDNN can serve: functions of a call's shapes, dtypes and attributes.

Each returns True, or the reason why not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod

from chainer.backends.convolution_checks import ConvolutionSizes, convolution_sizes, misfit
from chainer.backends.operations.attentions import AttentionOptions
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.backends.operations.response_normalizations import ResponseParameters
from chainer.backends.operations.rnns import RNNLayout
from chainer.core.arrays.kernel import ArraySpec, CallSpec
from chainer.core.typing import Shape

# NumPy is faster below these sizes, where the fixed cost of a call of oneDNN outweighs its speed.
#: Multiplications of a matrix product.
SMALL_PRODUCT = 1 << 17
#: Elements of an array, for functions of each element.
SMALL_ARRAY = 1 << 14
#: Elements of rows that are normalized: forward of 128 x 128 takes 0.9 of the time with NumPy, of
#: 512 x 64 1.3 times as long (AMD EPYC with AVX2, one thread).
SMALL_ROWS = 1 << 15
#: Scores of a cross entropy.
SMALL_SCORES = 1 << 14

#: Queries of a head, and scores of all heads, from which an attention is worth its calls: 16 x 4
#: heads of 32 x 32 scores take 0.97 to 1.39 times as long with NumPy, with sizes of 16 and 64; 16 x
#: 16 heads of 16 x 16 scores take 0.9 times as long (AMD EPYC with AVX2, one thread).
FEW_QUERIES, FEW_SCORES = 32, 1 << 16
#: Keys up to which the scores of all queries of a head are computed at once, and scores that are
#: kept for the gradient. NumPy's kernel computes blocks, and keeps as many.
MOST_KEYS, MOST_SCORES = 1024, 1 << 24

#: oneDNN describes arrays of up to this number of dimensions.
_MAX_NDIM = 12

Check = Callable[[CallSpec], bool | str]


def _unsuitable(arrays: tuple[ArraySpec | None, ...]) -> str | None:
    """Returns why oneDNN does not take some arrays, whatever the operation."""
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


def _check(reason_against: Callable[[CallSpec], str | None]) -> Check:
    """Decorator: makes a check of a function that gets suitable arrays only."""

    @wraps(reason_against)
    def check(spec: CallSpec) -> bool | str:
        return _unsuitable(spec.arrays) or reason_against(spec) or True

    return check


def _array(spec: CallSpec, index: int = 0) -> ArraySpec:
    """Returns an array of a call that is never None."""
    array = spec.arrays[index]
    assert array is not None
    return array


def _axis_out_of_range(spec: CallSpec) -> str | None:
    ndim, axis = _array(spec).ndim, spec.attributes["axis"]
    return None if -ndim <= axis < ndim else f"axis {axis} is out of range"


def _too_small(x: ArraySpec) -> str | None:
    return f"{x.size} elements are done faster by NumPy" if x.size < SMALL_ARRAY else None


@_check
def elementwise(spec: CallSpec) -> None:
    """Float32 arrays of any shape."""
    return


@_check
def large_elementwise(spec: CallSpec) -> str | None:
    """Float32 arrays that are worth a call."""
    return _too_small(_array(spec))


@_check
def lstm_cell(spec: CallSpec) -> str | None:
    """Float32 cells whose gates are worth a call."""
    return _too_small(_array(spec, 1))


@_check
def joining(spec: CallSpec) -> str | None:
    """Float32 arrays that are joined or split along an axis that exists."""
    return _axis_out_of_range(spec)


@_check
def elu(spec: CallSpec) -> str | None:
    """ELU whose gradient follows from its output."""
    alpha = spec.attributes["alpha"]
    return None if alpha > 0 else f"alpha must be positive, got {alpha}"


@_check
def gelu(spec: CallSpec) -> str | None:
    """GELU of arrays that are worth a call, without approximation."""
    if spec.attributes["approximate"]:
        return "NumPy computes the approximation as fast"
    return _too_small(_array(spec))


@_check
def softmax(spec: CallSpec) -> str | None:
    """Softmax along an axis that exists."""
    return _axis_out_of_range(spec)


def attention(spec: CallSpec) -> bool | str:
    """Attention without dropout, whose scores are worth a call and need little memory."""
    q, k, v, mask, keep = spec.arrays
    options: AttentionOptions = spec.attributes["options"]
    assert q is not None  # the function has checked dtypes and shapes
    assert k is not None
    if keep is not None:
        return "dropout is left to NumPy"
    if options.causal or options.window is not None or options.softcap is not None:
        # NumPy's kernel leaves out blocks of scores that are hidden, and is as fast.
        return "causal masks, windows and caps are left to NumPy"
    if mask is not None and mask.dtype.kind != "b":
        return "numbers as a mask are left to NumPy"
    for array in (q, k, v):
        # Any order of axes: heads are transposed views.
        reason = _unsuitable((None if array is None else array._replace(contiguous=True),))
        if reason is not None:
            return reason
    if q.ndim < 3 or q.shape[:-2] != k.shape[:-2]:
        return "queries and keys must have the same number of heads"
    keys = k.shape[-2]
    scores = q.size // q.shape[-1] * keys
    if q.shape[-2] < FEW_QUERIES or scores < FEW_SCORES:
        return f"{scores} scores of {q.shape[-2]} queries of a head are done faster by NumPy"
    if keys > MOST_KEYS or scores > MOST_SCORES:
        return f"{scores} scores with {keys} keys are left to NumPy, which needs less memory"
    return True


@_check
def convolution(spec: CallSpec) -> str | None:
    """Convolutions and deconvolutions over one to three dimensions."""
    sizes = convolution_sizes(spec, "iDeep")
    if isinstance(sizes, str):
        return sizes
    geometry: ConvolutionGeometry = spec.attributes["geometry"]
    extent = tuple([(k - 1) * d + 1 for k, d in zip(sizes.ksize, geometry.dilate, strict=True)])
    return _misfit(sizes, extent, geometry.stride, geometry.pad)


def _misfit(sizes: ConvolutionSizes, extent: Shape, stride: Shape, pad: Shape) -> str | None:
    """Returns the reason if the number of windows is not the one that oneDNN computes.

    oneDNN takes the padding behind the image as an argument, so that any number of windows is
    possible which a larger padding makes possible.
    """
    for n, o, e, s, p in zip(sizes.image, sizes.windows, extent, stride, pad, strict=True):
        behind = max((o - 1) * s + e - n - p, 0)
        if o < 1 or n < 1 or (n + p + behind - e) // s + 1 != o:
            return misfit(sizes)
    return None


@_check
def linear(spec: CallSpec) -> str | None:
    """Matrix products that are worth a call."""
    x, W = _array(spec), _array(spec, 1)
    if x.ndim != 2 or W.ndim != 2:
        return "x and W must be matrices"
    work = prod(x.shape) * W.shape[0]
    return f"{work} multiplications are done faster by NumPy" if work < SMALL_PRODUCT else None


@_check
def pooling(spec: CallSpec) -> str | None:
    """Pooling whose windows all contain a part of the input."""
    x = _array(spec)
    if not 3 <= x.ndim <= 5:
        return f"{x.ndim - 2} spatial dimensions; iDeep takes 1 to 3"
    geometry: PoolingGeometry = spec.attributes["geometry"]
    ksize, stride, pad = geometry
    sizes = ConvolutionSizes(x.shape[2:], spec.attributes["out_size"], ksize)
    for n, o, k, s, p in zip(sizes.image, sizes.windows, *geometry, strict=True):
        if p >= k or (o - 1) * s - p >= n:
            return "a window is entirely in the padding"
    return _misfit(sizes, ksize, stride, pad)


@_check
def normalization(spec: CallSpec) -> str | None:
    """Batch normalization with one parameter for each channel."""
    x, gamma = _array(spec), _array(spec, 1)
    if not 2 <= x.ndim <= 5:
        return f"{x.ndim} dimensions; iDeep takes 2 to 5"
    if spec.attributes["axis"] != (0, *range(2, x.ndim)) or gamma.shape != x.shape[1:2]:
        return "iDeep normalizes over all axes but the second"
    return None


@_check
def row_normalization(spec: CallSpec) -> str | None:
    """Layer normalization of rows that are worth a call."""
    x = _array(spec)
    return f"{x.size} elements are done faster by NumPy" if x.size < SMALL_ROWS else None


@_check
def response_normalization(spec: CallSpec) -> str | None:
    """Local response normalization over an odd number of channels."""
    ndim = _array(spec).ndim
    parameters: ResponseParameters = spec.attributes["parameters"]
    if not 2 <= ndim <= 5:
        return f"{ndim} dimensions; iDeep takes 2 to 5"
    if parameters.n < 1 or parameters.n % 2 == 0:
        return f"n must be odd, got {parameters.n}"
    if parameters.k <= 0:
        return f"k must be positive, got {parameters.k}"
    return None


def cross_entropy(spec: CallSpec) -> bool | str:
    """Cross entropy of a matrix of scores."""
    x, _, weight = spec.arrays
    # The labels are integers, which the common check would refuse.
    reason = _unsuitable((x, weight))
    if reason is not None:
        return reason
    assert x is not None
    if x.ndim != 2:
        return "the scores must be a matrix"
    if x.size < SMALL_SCORES:
        return f"{x.size} scores are done faster by NumPy"
    return True


@_check
def recurrence(spec: CallSpec) -> str | None:
    """LSTM and GRU over sequences of one length."""
    layout: RNNLayout = spec.attributes["layout"]
    if layout.mode not in ("lstm", "gru"):
        return f"iDeep has LSTM and GRU, not {layout.mode!r}"
    batch = _array(spec, 1).shape[1]
    if any(n != batch for n in layout.batch_sizes):
        return "iDeep takes sequences of one length"
    return None


@_check
def update(spec: CallSpec) -> None:
    """Updates of float32 parameters."""
    return


@_check
def adam_update(spec: CallSpec) -> str | None:
    """Adam without the variants AMSGrad and AdaBound."""
    if spec.arrays[4] is not None:
        return "iDeep has no AMSGrad"
    if spec.attributes.get("bounded"):
        return "iDeep has no AdaBound"
    return None
