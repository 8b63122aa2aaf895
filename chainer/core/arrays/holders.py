"""Objects that hold an array and can be given in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.core.typing import Array


class ArrayHolder:
    """Base class of :class:`chainer.Variable`.

    The package ``autograd`` imports this one, so that functions of arrays cannot ask for Variables
    by their class. They ask whether an argument is an array holder, which reads nothing of it.
    """

    __slots__ = ()

    @property
    def array(self) -> Array:
        """The array."""
        raise NotImplementedError(f"{type(self).__name__} does not define array")


def array_of(value: object) -> Any:
    """Returns the array of an array holder; another object as it is.

    Args:
        value: Any object.

    Example:
        >>> from chainer.core.arrays.holders import array_of
        >>> array_of(chainer.Variable(np.ones(2))), array_of(3)
        (array([1., 1.]), 3)
    """
    return value.array if isinstance(value, ArrayHolder) else value
