"""The iDeep backend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy

from chainer.backends.ideep import library
from chainer.backends.ideep.device import Intel64Device
from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import HOST_FAMILY, get_backend
from chainer.core.arrays.opaque_layouts import OpaqueLayoutBackend
from chainer.core.arrays.protocol import Backend
from chainer.core.typing import Array


class IdeepBackend(OpaqueLayoutBackend):
    """Arrays of oneDNN: ``ideep4py.mdarray``, in host memory, some of them in blocked layouts.

    They can be mixed with NumPy arrays. Code written against ``xp`` (NumPy) gets NumPy arrays.
    Kernels get mdarrays as they are, so that a layout is kept from one kernel to the next.
    """

    name = "ideep"
    array_types = ("ideep4py:mdarray",)
    family = HOST_FAMILY

    @property
    def xp(self) -> ModuleType:
        return numpy

    def unavailable_reason(self) -> str | None:
        return library.find()[1]

    def version(self) -> str:
        ideep4py = library.require()
        onednn = ".".join(map(str, ideep4py.ONEDNN_VERSION))
        return f"{ideep4py.__version__} (oneDNN {onednn})"

    @cached_property
    def _devices(self) -> Sequence[Device]:
        return (Intel64Device(),)

    def devices(self) -> Sequence[Device]:
        return self._devices

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> Array:
        """Returns an mdarray if oneDNN has a layout for the array, else the array itself.

        It has for float32 arrays of one to four dimensions with at least one element.
        """
        if array.dtype != numpy.float32 or not 1 <= array.ndim <= 4 or not array.size:
            return array
        return library.require().mdarray(numpy.ascontiguousarray(array))

    def to_host(self, array: Array) -> numpy.ndarray[Any, Any]:
        if not _is_mdarray(array):
            return array
        dense = self.to_xp(array)
        # The view of a dense mdarray shares its memory; to_xp() made a copy of a blocked one.
        return dense.copy() if array.layout.dense else dense

    @property
    def xp_backend(self) -> Backend:
        return get_backend("numpy")

    def to_xp(self, array: Array) -> Array:
        """Returns a NumPy array: a view of a dense array, a copy of one in a blocked layout."""
        if array.__class__ is numpy.ndarray or not _is_mdarray(array):
            return array
        if not array.layout.dense:
            array = library.require().ops.dense(array)
        return array.__array__()

    def copy_to_xp(self, array: Array, out: Array) -> None:
        """Writes the elements to a NumPy array; oneDNN reorders a blocked array into its memory."""
        if not _is_mdarray(array) or array.layout.dense or not out.flags.c_contiguous:
            super().copy_to_xp(array, out)
        else:
            library.require().ops.from_numpy(out).set(array)

    def xp_if_plain(self, array: Array) -> Array:
        """Returns a NumPy array that shares the memory, if the array is dense."""
        return array.__array__() if _is_mdarray(array) and array.layout.dense else array

    def xp_view(self, array: Array) -> Array:
        """Returns a NumPy array that shares the memory; a blocked array is made dense first."""
        # Not numpy.asarray, which looks for several other protocols first.
        return array.__array__() if _is_mdarray(array) else array


def _is_mdarray(array: Array) -> bool:
    # Both kinds of arrays may be mixed in a call, so NumPy arrays come here as well.
    return hasattr(array, "is_mdarray")


backend = IdeepBackend()
