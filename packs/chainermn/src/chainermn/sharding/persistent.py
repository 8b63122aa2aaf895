"""Persistent values of models, such as running statistics, in sharded checkpoints."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backend import find_backend
from chainer.serializer import Serializer
from chainer.serializers import NpzDeserializer

if TYPE_CHECKING:
    from chainer import Link
    from chainer.typing import ArrayLike


class _Collector(Serializer):
    """Serializer that keeps what is not a parameter.

    Args:
        values: Values by name, which get more.
        params: Names of parameters.
        path: Where in the model this serializer is.
    """

    def __init__(self, values: dict[str, Any], params: Container[str], path: str) -> None:
        self._values, self._params, self._path = values, params, path

    def __getitem__(self, key: str) -> _Collector:
        return _Collector(self._values, self._params, f"{self._path}/{key}")

    def __call__(self, key: str, value: ArrayLike) -> ArrayLike:
        name = f"{self._path}/{key}"
        if name not in self._params and value is not None:
            backend = find_backend(type(value))
            self._values[name] = numpy.asarray(value if backend is None else backend.to_host(value))
        return value


def persistent_values(model: Link, params: Container[str]) -> dict[str, Any]:
    """Returns the values that a model saves besides its parameters, on the host, by name.

    Args:
        model: The model.
        params: Names of its parameters.
    """
    values: dict[str, Any] = {}
    model.serialize(_Collector(values, params, ""))
    return values


def load_persistent_values(model: Link, values: dict[str, Any]) -> None:
    """Gives a model values of :func:`persistent_values`; the others stay as they are.

    Args:
        model: The model.
        values: Values by name.
    """
    NpzDeserializer({name[1:]: value for name, value in values.items()}, strict=False).load(model)
