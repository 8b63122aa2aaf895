"""Which calls cuDNN can serve: functions of a call's shapes, dtypes and attributes.

Each returns True, or the reason why not.
"""

from __future__ import annotations

from chainer.backends.convolution_checks import convolution_sizes, misfit
from chainer.backends.cupy.cudnn.kernels.convolutions import padding_behind
from chainer.core.arrays.kernel import ArraySpec, CallSpec

_DTYPES = ("float16", "bfloat16", "float32", "float64")

#: cuDNN counts the elements of a tensor in 32 bits.
_MAX_SIZE = (1 << 31) - 1


def _unsuitable(arrays: tuple[ArraySpec | None, ...]) -> str | None:
    """Returns why cuDNN does not take some arrays, whatever the operation."""
    dtype = None
    for i, array in enumerate(arrays):
        if array is None:
            continue
        dtype = array.dtype if dtype is None else dtype
        if str(array.dtype) not in _DTYPES:
            return f"array {i} is of dtype {array.dtype}; cuDNN takes {', '.join(_DTYPES)}"
        if array.dtype != dtype:
            return f"array {i} is of dtype {array.dtype}, others of {dtype}"
        if not array.size:
            return f"array {i} of shape {array.shape} is empty"
        if array.size > _MAX_SIZE:
            return f"array {i} has {array.size} elements; cuDNN takes at most {_MAX_SIZE}"
    return None


def convolution(spec: CallSpec) -> bool | str:
    """Convolutions and deconvolutions over one to three dimensions."""
    reason = _unsuitable(spec.arrays)
    if reason is not None:
        return reason
    sizes = convolution_sizes(spec, "cuDNN")
    if isinstance(sizes, str):
        return sizes
    stride, pad, dilate, _ = spec.attributes["geometry"]
    for n, o, k, s, p, d in zip(*sizes, stride, pad, dilate, strict=True):
        behind = padding_behind(n, k, o, s, p, d)
        if o < 1 or n < 1 or behind < 0 or (n + p + behind - (k - 1) * d - 1) // s + 1 != o:
            return misfit(sizes)
    return True


def normalization(spec: CallSpec) -> bool | str:
    """Batch normalization of arrays that are not C-contiguous, hence with the channels last."""
    x, gamma, beta = spec.arrays
    assert x is not None
    assert gamma is not None
    assert beta is not None
    reason = _unsuitable((x,))
    if reason is not None:
        return reason
    if x.dtype == "float64":
        return "cuDNN normalizes float16, bfloat16 and float32"
    if str(gamma.dtype) not in ("float32", str(x.dtype)):
        return f"parameters are of dtype {gamma.dtype}; cuDNN takes float32"
    if not 4 <= x.ndim <= 5:
        return f"{x.ndim} dimensions; cuDNN takes 4 or 5"
    if spec.attributes["axis"] != (0, *range(2, x.ndim)) or gamma.shape != x.shape[1:2]:
        return "cuDNN normalizes over all axes but the second"
    if x.contiguous:
        return "cuDNN would rearrange an array whose channels are not last"
    if x.shape[1] * x.dtype.itemsize % 16:
        return f"{x.shape[1]} channels of {x.dtype} are not a multiple of 16 bytes"
    return True
