"""Gradients whose array is made when it is read."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import backend_of


class LazyGradient:
    """Object that a variable stores instead of a gradient array until ``grad`` is read."""

    __slots__ = ()

    def read(self, array: Any) -> Any:
        """Returns the gradient array. The variable stores it from then on.

        Args:
            array: Data array of the variable.
        """
        raise NotImplementedError(f"{type(self).__name__} must define read()")


class _UndefinedGradient(LazyGradient):
    """Gradient full of NaN."""

    __slots__ = ()

    def read(self, array: Any) -> Any:
        backend = backend_of(array)
        with backend.use(backend.device_of(array)):
            return backend.xp.full_like(array, float("nan"))


#: Gradient of parameters whose gradients have not been cleared yet.
UNDEFINED = _UndefinedGradient()
