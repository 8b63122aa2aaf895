"""What Chainer must know of the arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from chainer.backend import Backend
from chainer.device import Device

from chainer_made_backend.array import MadeBackendArray, bare, wrapped
from chainer_made_backend.namespace import xp


class MadeBackendBackend(Backend):
    """Arrays of type :class:`~chainer_made_backend.array.MadeBackendArray`.

    The base class has more methods, whose defaults are right for a library with one device that is
    always available: ``unavailable_reason``, ``devices``, ``device``, ``device_of``, ``use``,
    ``copy``, ``random``, ``synchronize``. Override those that differ.
    """

    #: Name in device specifiers: ``@made_backend``.
    name = "made_backend"
    #: Classes, or names such as ``"torch:Tensor"`` of classes that need not be imported for this.
    array_types = (MadeBackendArray,)
    #: What the arrays cannot do -> why, such as ``{"float16": "the library has no such dtype"}``.
    limitations: ClassVar[Mapping[str, str]] = {}

    @property
    def xp(self) -> Any:
        """Array namespace with NumPy's functions."""
        return xp

    def from_host(self, array: np.ndarray, device: Device) -> MadeBackendArray:
        """Returns a copy of a NumPy array on a device."""
        return wrapped(np.array(array))

    def to_host(self, array: MadeBackendArray) -> np.ndarray:
        """Returns the contents of an array as a NumPy array."""
        return np.array(bare(array))


backend = MadeBackendBackend()
