"""Names of types as Chainer 7 had them (public module ``chainer.types``).

``chainer.typing`` has the vocabulary of this release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from chainer.core.typing import (
    Array,
    ArrayModule,
    DeviceLike,
    DTypeLike,
    InitializerLike,
    Scalar,
    Shape,
)

ShapeSpec: TypeAlias = int | Sequence[int]
"""A shape, or the length of an array of one dimension."""

DTypeSpec: TypeAlias = DTypeLike
"""An argument of ``numpy.dtype``."""

NdArray: TypeAlias = Array
"""An array of any backend."""

Xp: TypeAlias = ArrayModule
"""An array namespace."""

ScalarValue: TypeAlias = Scalar
"""A number."""

AbstractInitializer: TypeAlias = Callable[[Array], None]
"""A function that fills an array."""

InitializerSpec: TypeAlias = InitializerLike
"""An initializer, as links accept it."""

DeviceSpec: TypeAlias = DeviceLike
"""An argument of :func:`chainer.get_device`."""

CudaDeviceSpec: TypeAlias = Any
"""A CUDA device, or its number."""

__all__ = [
    "AbstractInitializer",
    "CudaDeviceSpec",
    "DTypeSpec",
    "DeviceSpec",
    "InitializerSpec",
    "NdArray",
    "ScalarValue",
    "Shape",
    "ShapeSpec",
    "Xp",
]
