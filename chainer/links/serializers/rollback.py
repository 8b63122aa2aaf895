"""A load that fails leaves its target as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from chainer.links.serializer import Deserializer, Serializer
from chainer.links.serializers.npz_archive import is_none
from chainer.links.serializers.values import restore, to_host_array


@contextmanager
def unchanged_on_error(obj: Any) -> Iterator[None]:
    """Puts the serializable state of an object back when the block raises.

    The state is taken with the object's own ``serialize`` before the block starts, which costs one
    copy of its arrays in host memory. Parameters that were uninitialized become uninitialized
    again.

    Args:
        obj: Object that supports serialization.
    """
    state = _StateCopy()
    state.save(obj)
    lazy = [param for param in _parameters(obj) if param.array is None]
    try:
        yield
    except BaseException:
        _StateRestorer(state.values).load(obj)
        for param in lazy:
            param.array = None
            param.grad = None
        raise


class _StateCopy(Serializer):
    """Copies every value it is given."""

    def __init__(
        self, values: dict[str, numpy.ndarray[Any, Any]] | None = None, path: str = ""
    ) -> None:
        self.values = {} if values is None else values
        self._path = path

    def __getitem__(self, key: str) -> _StateCopy:
        return _StateCopy(self.values, f"{self._path}{key}\0")

    def __call__(self, key: str, value: Any) -> Any:
        array = to_host_array(key, value)
        self.values[self._path + key] = array.copy() if array is value else array
        return value


class _StateRestorer(Deserializer):
    """Puts copied values back; what was not there before is left alone."""

    def __init__(self, values: dict[str, numpy.ndarray[Any, Any]], path: str = "") -> None:
        self._values = values
        self._path = path

    def __getitem__(self, key: str) -> _StateRestorer:
        return _StateRestorer(self._values, f"{self._path}{key}\0")

    def __call__(self, key: str, value: Any) -> Any:
        stored = self._values.get(self._path + key)
        if stored is None or is_none(stored):
            return None
        return restore(key, stored, value, "the state before loading")


def _parameters(obj: Any) -> list[Any]:
    """Returns the parameters below a link, an optimizer or a trainer."""
    if hasattr(obj, "params"):
        return list(obj.params())
    target = getattr(obj, "target", None)
    if target is not None:
        return _parameters(target)
    updater = getattr(obj, "updater", obj)
    if hasattr(updater, "get_all_optimizers"):
        optimizers = updater.get_all_optimizers().values()
        return [param for optimizer in optimizers for param in _parameters(optimizer)]
    return []
