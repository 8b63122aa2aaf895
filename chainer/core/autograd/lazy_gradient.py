"""Gradients that are objects until their array is read."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.accumulate import Scalar, add_arrays


class LazyGradient:
    """Object that a variable stores instead of a gradient array until ``grad`` is read."""

    __slots__ = ()

    def read(self, array: Any) -> Any:
        """Returns the gradient array. The variable stores it from then on.

        Args:
            array: Data array of the variable.
        """
        raise NotImplementedError(f"{type(self).__name__} must define read()")

    def plus(self, array: Any, gradient: Any) -> Any:
        """Returns what the variable stores after a backward pass has computed a further gradient.

        Args:
            array: Data array of the variable.
            gradient: The further gradient.

        Returns:
            array or LazyGradient: The sum. A subclass may return an object that remembers of what
            the sum consists.
        """
        total = add_arrays(self.read(array), gradient)
        # The sum of arrays without axes is a scalar in NumPy.
        return numpy.asarray(total) if isinstance(total, Scalar) else total


class _UndefinedGradient(LazyGradient):
    """Gradient full of NaN."""

    __slots__ = ()

    def read(self, array: Any) -> Any:
        backend = backend_of(array)
        with backend.use(backend.device_of(array)):
            return backend.xp.full_like(array, float("nan"))

    def plus(self, array: Any, gradient: Any) -> Any:
        return UndefinedSum(super().plus(array, gradient))


class UndefinedSum(LazyGradient):
    """Sum of gradients, all NaN because one of them was not cleared when the parameter was made.

    Args:
        total: The sum.
    """

    __slots__ = ("_total",)

    def __init__(self, total: Any) -> None:
        self._total = total

    def read(self, array: Any) -> Any:
        """Returns the sum."""
        return self._total


#: Gradient of parameters whose gradients have not been cleared yet.
UNDEFINED = _UndefinedGradient()
