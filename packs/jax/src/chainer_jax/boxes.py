"""Arrays that can be written, on JAX's arrays, which cannot; see chainer_array_api.functional."""

from __future__ import annotations

from typing import Any

from chainer_array_api.functional.boxes import (
    Box,
    BoxedArray,
    Described,
    Holder,
    Observer,
    Stale,
    View,
    state,
)

__all__ = ["Box", "Described", "Holder", "JaxArrayBase", "Observer", "Stale", "View", "state"]


class JaxArrayBase(BoxedArray):
    """An array on a box or a view of one that holds a ``jax.Array``."""

    __slots__ = ()

    @property
    def signature(self) -> Any:
        """Shape and dtype, as JAX has them: one object for all arrays that share them."""
        return self.node.read().aval
