"""Parameters of normalizations, which have a data type of their own."""

from __future__ import annotations

import copy
from collections.abc import Callable

from chainer.core.autograd.parameter import Parameter
from chainer.core.typing import Array, DTypeLike, InitializerLike
from chainer.links.initializer import Initializer
from chainer.links.initializers import get_initializer
from chainer.links.link import Link


class _Typed(Initializer):
    """A callable that fills arrays, as an initializer of a data type."""

    def __init__(self, function: Callable[[Array], None], dtype: DTypeLike) -> None:
        self._function = function
        super().__init__(dtype)

    def __call__(self, array: Array) -> None:
        self._function(array)


def of_dtype(initializer: Callable[[Array], None], dtype: DTypeLike) -> Callable[[Array], None]:
    """Returns an initializer of a data type, whatever data type the given one has."""
    if not isinstance(initializer, Initializer):
        return _Typed(initializer, dtype)
    initializer = copy.copy(initializer)
    initializer.dtype = dtype
    return initializer


def typed_parameter(initializer: InitializerLike, default: float, dtype: DTypeLike) -> Parameter:
    """Returns an uninitialized parameter of a data type.

    Args:
        initializer: The argument that a link got as initializer.
        default: The value that None means.
        dtype: Data type of the parameter.
    """
    return Parameter(of_dtype(get_initializer(initializer, default), dtype))


class ScaleAndShift(Link):
    """Base class of normalizations with a scaling and a shifting parameter of one size.

    Attributes:
        gamma (Parameter): Scaling parameter.
        beta (Parameter): Shifting parameter.
    """

    gamma: Parameter
    beta: Parameter

    def _initialize_params(self, size: int) -> None:
        self.gamma.initialize(size)
        self.beta.initialize(size)
