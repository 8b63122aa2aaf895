"""Backends on libraries whose arrays are immutable. A pytest plugin registers them."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import Any

import chainer
import numpy as np

from chainer_array_api import FunctionalArrayBackend

NO_FLOAT16 = {"float16": "the standard has no float16"}


class DaskBackend(FunctionalArrayBackend):
    """Dask: lazy arrays in blocks."""

    name = "dask"
    namespace = "array_api_compat.dask.array"
    native_types = ("dask.array.core:Array",)
    limitations = NO_FLOAT16

    def taken(self, flat: Any, numbers: np.ndarray[Any, Any]) -> Any:
        # Dask 2026.8 gives take(x, [0]) the length of x if the index is an array of Dask.
        return self.nx.take(flat, numbers, axis=0)


class NdonnxBackend(FunctionalArrayBackend):
    """ndonnx: arrays that write a model of ONNX."""

    name = "ndonnx"
    namespace = "ndonnx"
    native_types = ("ndonnx._array:Array",)
    limitations = {"complex": "ONNX has few operators of complex numbers"}

    def host_view(self, native: Any) -> np.ndarray[Any, Any]:
        return native.unwrap_numpy()

    host_copy = host_view


class SparseBackend(FunctionalArrayBackend):
    """sparse: arrays in coordinate format."""

    name = "sparse"
    namespace = "sparse"
    native_types = ("sparse:COO",)

    def taken(self, flat: Any, numbers: np.ndarray[Any, Any]) -> Any:
        return self.nx.take(flat, numbers, axis=0)  # its indices are arrays of NumPy

    def host_view(self, native: Any) -> np.ndarray[Any, Any]:
        return native.todense() if hasattr(native, "todense") else np.asarray(native)

    host_copy = host_view


class _MlxNamespace:
    """MLX by the names of the standard."""

    def __init__(self) -> None:
        self.library = importlib.import_module("mlx.core")
        self.bool = self.library.bool_

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.library, name)
        if name == "astype":
            return lambda x, dtype, copy=True: function(x, dtype)
        if name in ("sum", "prod"):
            return lambda x, dtype=None, **kwargs: function(
                x if dtype is None else x.astype(dtype), **kwargs
            )
        if name not in ("asarray", "empty", "zeros", "ones", "full", "arange", "linspace", "eye"):
            return function
        # Arrays of MLX are in memory that the processor and the GPU share: they have no device.
        return lambda *args, device=None, **kwargs: function(*args, **kwargs)


class MlxBackend(FunctionalArrayBackend):
    """MLX: lazy arrays in memory that the processor and the GPU share."""

    name = "mlx"
    namespace = "mlx.core"
    native_types = ("mlx.core:array",)

    @cached_property
    def nx(self) -> Any:
        return _MlxNamespace()

    def index_of(self, native: Any) -> int:
        return 0

    def host_view(self, native: Any) -> np.ndarray[Any, Any]:
        return np.array(native)

    host_copy = host_view


class ImmutableBackend(FunctionalArrayBackend):
    """array-api-strict, whose arrays are not written to: it shows that nothing needs it."""

    name = "immutable"
    namespace = "array_api_strict"
    native_types = ()
    limitations = {**NO_FLOAT16, "strides": "the standard has no strides"}


class Pack:
    """The pack of these backends."""

    chainer_api = 1

    @staticmethod
    def chainer_backends(registry: Any) -> None:
        for cls in (DaskBackend, NdonnxBackend, SparseBackend, MlxBackend, ImmutableBackend):
            registry.register(cls.name, cls())


chainer.plugins.register(Pack(), name="functional libraries")
