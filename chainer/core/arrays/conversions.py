"""How the arrays of a backend relate to those that its array namespace ``xp`` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from chainer.core.arrays.strides import broadcast_axes
from chainer.core.typing import Array

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend


class ArrayConversions:
    """Conversions between the arrays of a backend and the arrays that its ``xp`` makes.

    For most backends these are the same arrays. Such a backend inherits these methods, which
    return the array itself. Other backends derive from
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
        """Converts an array to the type that Variables store."""
        return array

    def to_xp(self, array: Array) -> Array:
        """Converts an array to the type that ``xp`` makes. The result is only read."""
        return array

    def xp_view(self, array: Array) -> Array:
        """Returns a view of an array, of the type that ``xp`` makes. It may be written to."""
        return self.to_xp(array)

    def broadcast_axes(self, array: Array) -> tuple[int, ...]:
        """Returns the axes along which all elements of an array are the same memory.

        Broadcast views have such axes. A gradient with such axes is copied to memory of its own
        when it is read. The result is empty for an array whose strides are unknown.
        """
        return broadcast_axes(array)
