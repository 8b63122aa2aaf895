"""Gradients that are made when somebody reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from chainer.core.backend import backend_of


class LazyGradient(ABC):
    """What a variable has in the place of a gradient array until its ``grad`` is read."""

    __slots__ = ()

    @abstractmethod
    def read(self, array: Any) -> Any:
        """Returns the gradient array. Called once.

        Args:
            array: Data array of the variable.
        """


class _UndefinedGradient(LazyGradient):
    """Gradient full of NaN."""

    __slots__ = ()

    def read(self, array: Any) -> Any:
        backend = backend_of(array)
        with backend.use(backend.device_of(array)):
            return backend.xp.full_like(array, float("nan"))


#: Gradient of parameters whose gradients were not cleared yet.
UNDEFINED = _UndefinedGradient()
