"""Backends of libraries whose arrays cannot be changed, or whose slices are copies."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy
from chainer.device import Device

from chainer_array_api.array import Array
from chainer_array_api.backend import ArrayAPIBackend
from chainer_array_api.functional import writing
from chainer_array_api.functional.boxes import BoxedArray, View
from chainer_array_api.functions import moves

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, Index


class FunctionalArrayBackend(ArrayAPIBackend):
    """A backend on a library whose arrays are immutable.

    Chainer's arrays are boxes that hold an array of the library. A write puts another array into
    the box, and views write through to it. The library needs the functions of the standard only:

    .. code-block:: python

        class DaskBackend(FunctionalArrayBackend):
            name = "dask"
            namespace = "array_api_compat.dask.array"
            native_types = ("dask.array.core:Array",)

    The default of a write computes with ``take`` and ``where`` of the standard. A library with
    updates of its own, such as JAX, overrides :meth:`get`, :meth:`set` and :meth:`add_at`.
    """

    array_base = BoxedArray

    @property
    def obstacle(self) -> str | None:
        """The library that is missing on this machine, with a remedy; None if none is."""
        try:
            importlib.import_module(self.namespace)
        except ImportError as error:
            hint = f"; {self.install}" if self.install else ""
            return f"cannot import {self.namespace!r} ({error}){hint}"
        return None

    def unavailable_reason(self) -> str | None:
        return self.obstacle

    # -- devices and the host ---------------------------------------------------------------------

    def find_devices(self) -> Sequence[Any]:
        found = super().find_devices()
        # Arrays that do not know their device are all in one place, whatever the library lists.
        return found if hasattr(self.nx.zeros((1,)), "device") else found[:1]

    def index_of(self, native: Any) -> int:
        device = getattr(native, "device", None)
        return self.native_devices.index(device) if device in self.native_devices else 0

    def native_device_of(self, x: Array) -> Any:
        return self.native_devices[self.index_of(x.native)]

    # Libraries without DLPack, such as Dask, convert their arrays by NumPy's own protocol.

    def in_host_memory(self, native: Any) -> bool:
        return not hasattr(native, "__dlpack_device__") or super().in_host_memory(native)

    def host_view(self, native: Any) -> numpy.ndarray[Any, Any]:
        return super().host_view(native) if _has_dlpack(native) else numpy.asarray(native)

    def host_copy(self, native: Any) -> numpy.ndarray[Any, Any]:
        return super().host_copy(native) if _has_dlpack(native) else numpy.asarray(native)

    def copy(self, array: ArrayLike, device: Device) -> Array:
        native, target = self.wrap(array).native, self.native_devices[device.index or 0]
        if self.index_of(native) != (device.index or 0):
            native = self.nx.asarray(native, device=target)
        return self.array_class(native)  # values never change

    # -- memory -----------------------------------------------------------------------------------

    def is_contiguous(self, native: Any) -> bool:
        return True

    def repeats_elements(self, native: Any) -> bool:
        return False

    def owner_of(self, x: Array) -> Any:
        node = cast(BoxedArray, x).node
        return node.root if isinstance(node, View) else None  # None: memory of its own

    def may_share_memory(self, first: ArrayLike, second: ArrayLike) -> bool:
        return False  # values never change

    # -- reading, writing, views ------------------------------------------------------------------

    def view(self, x: Array, there: Any, back: Any) -> Array:
        """Returns a view.

        Args:
            x: The array.
            there: Returns the value of the view, given the value of the array.
            back: Returns the new value of the array, given its old value and the value of the view.
        """
        return self.array_class.on(View(x.node, there, back))  # type: ignore[attr-defined]

    def assign(self, x: Array, native: Any) -> None:
        cast(BoxedArray, x).node.write(native)

    def get(self, x: Array, index: Index) -> Array:
        return writing.get(self, x, index)

    def set(self, x: Array, index: Index, value: ArrayLike) -> None:
        writing.write(self, x, index, value, add=False)

    def add_at(self, x: Array, index: Index, value: ArrayLike) -> None:
        writing.write(self, x, index, value, add=True)

    def taken(self, flat: Any, numbers: numpy.ndarray[Any, Any]) -> Any:
        """Returns elements of a native array with one axis.

        Args:
            flat: The array.
            numbers: The numbers of the elements, from 0, with one axis.
        """
        return self.nx.take(flat, writing.beside(self, flat, numbers), axis=0)

    def reshaped(self, x: Array, shape: tuple[int, ...]) -> Array:
        if math.prod(shape) != x.size:
            raise ValueError(f"cannot reshape array of size {x.size} into shape {shape}")
        before, moved = x.shape, self.moved
        return self.view(
            x,
            lambda v: moved(moves.reshape, (v,), (shape,)),
            lambda p, v: moved(moves.reshape, (v,), (before,)),
        )

    def permuted(self, x: Array, axes: tuple[int, ...]) -> Array:
        inverse = tuple(sorted(range(len(axes)), key=axes.__getitem__))
        moved = self.moved
        return self.view(
            x,
            lambda v: moved(moves.permute, (v,), (axes,)),
            lambda p, v: moved(moves.permute, (v,), (inverse,)),
        )

    def same(self, x: Array) -> Array:
        return self.view(x, None, None)

    def duplicate(self, x: Array) -> Array:
        return self.array_class(x.native)

    def rearrange(self, x: Any, view: Any) -> None:
        x.node = view.node


def _has_dlpack(native: Any) -> bool:
    return hasattr(native, "__dlpack__") and hasattr(native, "__dlpack_device__")
