"""The iDeep backend."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy

from chainer.backends.ideep import library
from chainer.core.arrays.backend import HOST_FAMILY, Backend, get_backend
from chainer.core.arrays.device import Device

_ndarray = numpy.ndarray


class IdeepBackend(Backend):
    """Arrays of oneDNN: ``ideep4py.mdarray``, in host memory, possibly in blocks.

    They mix with NumPy arrays. Code written against ``xp`` (NumPy) gets plain arrays; kernels get
    mdarrays as they are, so that layouts last from one to the next.
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

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> Any:
        """Returns an mdarray of a NumPy array suited for it; others as they are.

        Suited are those of dtype float32 with one to four dimensions and at least one element.
        """
        if array.dtype != numpy.float32 or not 1 <= array.ndim <= 4 or not array.size:
            return array
        return library.require().mdarray(numpy.ascontiguousarray(array))

    def to_host(self, array: Any) -> numpy.ndarray[Any, Any]:
        if not _is_mdarray(array):
            return array
        plain = self.to_xp(array)
        return plain.copy() if array.layout.dense else plain

    @property
    def xp_backend(self) -> Backend:
        return get_backend("numpy")

    def to_xp(self, array: Any) -> Any:
        """Returns a NumPy array: a view, or a copy of what lies in blocks and stays so."""
        if array.__class__ is _ndarray:
            return array
        if not _is_mdarray(array):
            return array
        if not array.layout.dense:
            array = library.require().ops.dense(array)
        return array.__array__()

    def xp_view(self, array: Any) -> Any:
        """Returns a NumPy array that shares the memory; what lies in blocks is reordered."""
        # Not numpy.asarray: it would ask for several other protocols first.
        return array.__array__() if _is_mdarray(array) else array


def _is_mdarray(array: Any) -> bool:
    # Arrays of the NumPy backend come here, too, where both are mixed in a call.
    return hasattr(array, "is_mdarray")


backend = IdeepBackend()
