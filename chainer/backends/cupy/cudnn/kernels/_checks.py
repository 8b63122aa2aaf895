"""Which calls cuDNN can serve: functions of a call's shapes, dtypes and attributes.

Each returns True, or the reason why not.
"""

from __future__ import annotations

from chainer.backends.cupy.cudnn.kernels.convolutions import padding_behind
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.kernel import ArraySpec, CallSpec

_DTYPES = ("float16", "bfloat16", "float32", "float64")

#: cuDNN counts elements of a tensor in 32 bits.
_MAX_SIZE = (1 << 31) - 1


def _why_not(arrays: tuple[ArraySpec | None, ...]) -> str | None:
    """Returns what is wrong with the arrays themselves."""
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
    reason = _why_not(spec.arrays)
    if reason is not None:
        return reason
    x, W = spec.arrays[:2]
    assert x is not None
    assert W is not None
    if not 3 <= x.ndim <= 5:
        return f"{x.ndim - 2} spatial dimensions; cuDNN takes 1 to 3"
    if W.ndim != x.ndim:
        return f"W has {W.ndim} dimensions and x has {x.ndim}"
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
    windows = geometry.stride, geometry.pad, geometry.dilate
    for n, k, o, s, p, d in zip(in_size, W.shape[2:], out_size, *windows, strict=True):
        behind = padding_behind(n, k, o, s, p, d)
        if o < 1 or n < 1 or behind < 0 or (n + p + behind - (k - 1) * d - 1) // s + 1 != o:
            return f"output size {out_size} is not that of windows over size {in_size}"
    return True


def normalization(spec: CallSpec) -> bool | str:
    """Batch normalisation of arrays that do not lie as C does, hence with the channels last."""
    x, gamma, beta = spec.arrays
    assert x is not None
    assert gamma is not None
    assert beta is not None
    reason = _why_not((x,))
    if reason is not None:
        return reason
    if x.dtype == "float64":
        return "cuDNN normalises float16, bfloat16 and float32"
    if str(gamma.dtype) not in ("float32", str(x.dtype)):
        return f"parameters are of dtype {gamma.dtype}; cuDNN takes float32"
    if not 4 <= x.ndim <= 5:
        return f"{x.ndim} dimensions; cuDNN takes 4 or 5"
    if spec.attributes["axis"] != (0, *range(2, x.ndim)) or gamma.shape != x.shape[1:2]:
        return "cuDNN normalises over all axes but the second"
    if x.contiguous:
        return "cuDNN would rearrange an array whose channels do not lie last"
    if x.shape[1] * x.dtype.itemsize % 16:
        return f"{x.shape[1]} channels of {x.dtype} are not a multiple of 16 bytes"
    return True
