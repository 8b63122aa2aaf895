"""How the arrays of a backend relate to those that its array namespace ``xp`` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from chainer.core.arrays.strides import broadcast_axes
from chainer.core.typing import Array

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend


class ArrayConversions:
    """What the framework asks of every backend so that opaque layouts are possible.

    A backend whose arrays are those that ``xp`` makes inherits these methods, which return the
    array itself. Others derive from
    :class:`~chainer.core.arrays.opaque_layouts.OpaqueLayoutBackend` and override them.

    Attributes:
        makes_xp_arrays: Whether ``xp`` makes the arrays of the backend, so that :meth:`to_xp`
            returns them unchanged. Set by the framework. Hot paths read it and skip the calls.
    """

    makes_xp_arrays: ClassVar[bool] = True

    @property
    def xp_backend(self) -> Backend:
        """The backend of the arrays that ``xp`` makes."""
        return cast("Backend", self)

    def wrap(self, array: Array) -> Array:
        """Returns an array in the form in which Variables hold it."""
        return array

    def to_xp(self, array: Array) -> Array:
        """Returns an array, for reading, in the type that ``xp`` makes."""
        return array

    def xp_view(self, array: Array) -> Array:
        """Returns an array, for writing, in the type that ``xp`` makes."""
        return self.to_xp(array)

    def broadcast_axes(self, array: Array) -> tuple[int, ...]:
        """Returns the axes along which all elements of an array are the same memory.

        Those of broadcast views. A gradient that has such axes is filled in when it is read. An
        array of unknown strides is taken to have none.
        """
        return broadcast_axes(array)
