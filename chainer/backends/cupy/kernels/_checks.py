"""Which calls the CUDA kernels can serve: functions of shapes, data types and attributes.

Each returns True, or the reason why not.
"""

from __future__ import annotations

from chainer.core.arrays.kernel import CallSpec

#: Floating-point types of the sources.
_FLOATS = ("float16", "bfloat16", "float32", "float64")
# Limits of structures in the sources.
_MAX_NDIM = 3
_MAX_CHILDREN = 16
_NOT_ASKED = "chainer.config.cudnn_deterministic is False"


def anything(spec: CallSpec) -> bool | str:
    """All calls."""
    return True


def floating(spec: CallSpec) -> bool | str:
    """Arrays of the floating-point types of CUDA."""
    return _all_floating(spec, len(spec.arrays))


def labeled(spec: CallSpec) -> bool | str:
    """A floating-point array, and integer labels."""
    labels = spec.arrays[1]
    if labels is not None and labels.dtype.kind not in "iu":
        return f"labels of dtype {labels.dtype} are not supported"
    return _all_floating(spec, 1)


def embedding(spec: CallSpec) -> bool | str:
    """Indices of rows, and an array."""
    indices, table = spec.arrays[:2]
    if indices is not None and indices.dtype.kind not in "iu":
        return f"indices of dtype {indices.dtype} are not supported"
    if table is not None and table.dtype.name not in _FLOATS:
        return f"dtype {table.dtype} is not supported"
    return True


def windows(spec: CallSpec) -> bool | str:
    """Images of up to three dimensions."""
    n = len(spec.attributes["geometry"].stride)
    if n > _MAX_NDIM:
        return f"images have {n} dimensions, more than {_MAX_NDIM}"
    return _all_floating(spec, 1)


def convolution(spec: CallSpec) -> bool | str:
    """Images of up to three dimensions."""
    n = len(spec.attributes["geometry"].stride)
    if n > _MAX_NDIM:
        return f"images have {n} dimensions, more than {_MAX_NDIM}"
    return floating(spec)


def children(spec: CallSpec) -> bool | str:
    """Sources, and the cell states of up to 16 children."""
    if len(spec.arrays) - 1 > _MAX_CHILDREN:
        return f"there are {len(spec.arrays) - 1} children, more than {_MAX_CHILDREN}"
    return floating(spec)


def regions(spec: CallSpec) -> bool | str:
    """Images and regions of floating-point types of CUDA; numbers of images are of any type."""
    return _all_floating(spec, 2)


def deterministic_regions(spec: CallSpec) -> bool | str:
    """Images and regions, if ``config.cudnn_deterministic`` is set."""
    return regions(spec) if spec.deterministic else _NOT_ASKED


def deterministic(spec: CallSpec) -> bool | str:
    """Arrays of the floating-point types of CUDA, if ``config.cudnn_deterministic`` is set."""
    return floating(spec) if spec.deterministic else _NOT_ASKED


def deterministic_embedding(spec: CallSpec) -> bool | str:
    """Indices of rows and an array, if ``config.cudnn_deterministic`` is set."""
    return embedding(spec) if spec.deterministic else _NOT_ASKED


def _all_floating(spec: CallSpec, count: int) -> bool | str:
    for array in spec.arrays[:count]:
        if array is not None and array.dtype.name not in _FLOATS:
            return f"dtype {array.dtype} is not supported"
    return True
