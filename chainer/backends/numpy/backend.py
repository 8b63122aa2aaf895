"""The NumPy backend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy

from chainer.backends._cpu import CpuDevice
from chainer.core.arrays.device import Device
from chainer.core.arrays.lookup import HOST_FAMILY
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import Recorder


class NumpyBackend(Backend):
    """Arrays in host memory: ``numpy.ndarray``. Always available."""

    name = "numpy"
    array_types = (numpy.ndarray,)
    family = HOST_FAMILY

    @property
    def xp(self) -> ModuleType:
        return numpy

    @cached_property
    def _devices(self) -> Sequence[Device]:
        return (CpuDevice(),)

    def devices(self) -> Sequence[Device]:
        return self._devices

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> numpy.ndarray[Any, Any]:
        return array

    def wrap(self, array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        # Its products are matrix products, and its slices keep two axes.
        if isinstance(array, numpy.matrix):
            raise TypeError(
                "numpy.matrix is not supported, because x * y means another product there; convert "
                "it by numpy.asarray(x) (for a sparse matrix of SciPy: x.toarray() instead of "
                "x.todense())"
            )
        return array

    def to_host(self, array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        return array

    def random_mark(self, device: Device) -> Any:
        from chainer.backends.numpy.random_marks import mark

        return mark()

    def recorder(self, device: Device) -> Recorder:
        # Imported at first use: a program that captures nothing does not pay for it.
        from chainer.backends.numpy.recording.recorder import NumpyRecorder

        return NumpyRecorder()


backend = NumpyBackend()
