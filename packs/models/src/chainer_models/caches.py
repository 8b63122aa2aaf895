"""Keys and values of the tokens that a model has read, so that it reads each token once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from chainer.backend import get_array_module
from chainer.typing import Array

#: Length of the first memory of a growing store; it doubles whenever it is full.
_FIRST_LENGTH = 64


class Kept(NamedTuple):
    """Keys and values for the attention of the tokens that were added last.

    Attributes:
        keys: Shape ``(B, H, S, D)``.
        values: Shape ``(B, H, S, E)``.
        visible: False for keys of padding, shape ``(B, S)``; None if there is no padding.
        is_ordered: Whether key ``S - 1`` is the newest, ``S - 2`` the one before and so on. If not,
            the single query attends to all of them.
    """

    keys: Array
    values: Array
    visible: Array | None
    is_ordered: bool


class Store(Protocol):
    """Memory of one layer."""

    def add(self, keys: Array, values: Array, visible: Array | None) -> Kept:
        """Adds keys and values of new tokens, and returns all that these may attend to."""
        ...

    def reorder(self, rows: Array) -> None:
        """Replaces each row of the batch by another one."""
        ...

    def contents(self) -> list[Array]:
        """Returns keys and values at the places that are in use."""
        ...

    def visible(self) -> Array | None:
        """Returns which places have no padding, or None."""
        ...

    def fixed_length(self, length: int) -> int:
        """Returns the number of places that ``length`` tokens need; token ``i`` is at ``i`` modulo
        it.
        """
        ...


class _RowsOfBatch:
    """Arrays with a row for each text of the batch."""

    def __init__(self) -> None:
        self._arrays: list[Array] | None = None
        self._visible: Array | None = None
        self._length = 0

    def reorder(self, rows: Array) -> None:
        """Replaces each row of the batch by another one.

        Args:
            rows: Index of the row that each row becomes.
        """
        if self._arrays is not None:
            self._arrays = [memory[rows] for memory in self._arrays]
        if self._visible is not None:
            self._visible = self._visible[rows]

    def contents(self) -> list[Array]:
        """Returns keys and values at the places that are in use.

        Raises:
            ValueError: If nothing was added yet.
        """
        if self._arrays is None:
            raise ValueError("the store must have keys and values, and is empty")
        return [memory[:, :, : self._length] for memory in self._arrays]

    def visible(self) -> Array | None:
        """Returns which places have no padding, shape ``(B, S)``; None if there is none."""
        return self._visible


class GrowingStore(_RowsOfBatch):
    """Memory of all tokens, which doubles when it is full."""

    def add(self, keys: Array, values: Array, visible: Array | None) -> Kept:
        """Adds keys and values of new tokens, and returns all of them.

        Args:
            keys: Shape ``(B, H, T, D)``.
            values: Shape ``(B, H, T, E)``.
            visible: False for padding, shape ``(B, T)``; None if there is none.
        """
        # Each token of a text calls it for each layer, when the weights have driven all else out of
        # the cache: most calls find enough memory and no padding.
        start = self._length
        stop = start + keys.shape[2]
        if self._arrays is None or stop > self._arrays[0].shape[2]:
            self._arrays = self._enlarged(keys, values, stop)
        self._length = stop
        k, v = self._arrays
        k[:, :, start:stop] = keys
        v[:, :, start:stop] = values
        if visible is not None or self._visible is not None:
            xp = get_array_module(keys)
            self._visible = _joined(xp, self._visible, visible, len(keys), start, stop)
        return Kept(k[:, :, :stop], v[:, :, :stop], self._visible, True)

    def _enlarged(self, keys: Array, values: Array, stop: int) -> list[Array]:
        """Returns memory for ``stop`` tokens and more, with what is known."""
        xp = get_array_module(keys)
        if self._arrays is None:
            return [_memory(xp, a, max(stop, _FIRST_LENGTH)) for a in (keys, values)]
        larger = [_memory(xp, a, 2 * stop) for a in self._arrays]
        for new, old in zip(larger, self._arrays, strict=True):
            new[:, :, : self._length] = old[:, :, : self._length]
        return larger

    def fixed_length(self, length: int) -> int:
        """Returns the number of places that some tokens need: one for each.

        Args:
            length: Number of tokens.
        """
        return length


class RingStore(_RowsOfBatch):
    """Memory of the last tokens only, for attention to a window.

    Args:
        window: Number of keys that a query attends to, its own among them.
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def add(self, keys: Array, values: Array, visible: Array | None) -> Kept:
        """Adds keys and values of new tokens, and returns what they may attend to.

        Args:
            keys: Shape ``(B, H, T, D)``.
            values: Shape ``(B, H, T, E)``.
            visible: False for padding, shape ``(B, T)``; None if there is none.
        """
        xp = get_array_module(keys)
        window, count = self.window, keys.shape[2]
        if self._arrays is None:
            self._arrays = [_memory(xp, a, window) for a in (keys, values)]
        start, self._length = self._length, self._length + count
        if count == 1 and start + 1 >= window:
            return self._replace_oldest(xp, start, keys, values, visible)
        # The memory in the order of the tokens, and the new ones behind it.
        # Every new query has a window of its own: old keys are returned before the new ones replace
        # them.
        known = min(start, window)
        order = xp.arange(start - known, start) % window
        parts = [
            xp.concatenate([memory[:, :, order], new], axis=2)
            for memory, new in zip(self._arrays, (keys, values), strict=True)
        ]
        old = None if self._visible is None else self._visible[:, order]
        seen = _joined(xp, old, visible, len(keys), known, known + count)
        kept = min(count, window)
        places = xp.arange(self._length - kept, self._length) % window
        for memory, new in zip(self._arrays, (keys, values), strict=True):
            memory[:, :, places] = new[:, :, count - kept :]
        if seen is not None:
            memory = xp.ones((len(keys), window), bool) if self._visible is None else self._visible
            memory[:, places] = seen[:, -kept:]
            self._visible = memory
        return Kept(parts[0], parts[1], seen, True)

    def fixed_length(self, length: int) -> int:
        """Returns the number of places that some tokens need: a window at most.

        Args:
            length: Number of tokens.
        """
        return min(length, self.window)

    def _replace_oldest(
        self, xp: Any, start: int, keys: Array, values: Array, visible: Array | None
    ) -> Kept:
        """Writes one token over the oldest: a full ring is returned as it is, without a copy."""
        assert self._arrays is not None
        place = start % self.window
        for memory, new in zip(self._arrays, (keys, values), strict=True):
            memory[:, :, place] = new[:, :, 0]
        if self._visible is not None:
            self._visible[:, place] = True if visible is None else visible[:, 0]
        return Kept(self._arrays[0], self._arrays[1], self._visible, False)


class Cache:
    """Keys and values of all layers.

    Args:
        windows: Window of each layer; None for a layer that attends to all tokens.

    Attributes:
        length (int): Number of tokens that were added.
        padding (array): Number of tokens of padding at the beginning of each text, shape ``(B,)``;
            None if there are none.
        stores (list): The memory of each layer.
        cross (list): For each layer the keys and values of an encoder's output, once computed.
    """

    def __init__(self, windows: Sequence[int | None]) -> None:
        self.length = 0
        self.padding: Array | None = None
        self.stores: list[Store] = [
            GrowingStore() if window is None else RingStore(window) for window in windows
        ]
        self.cross: list[list[Array]] = [[] for _ in windows]

    def positions(self, xp: Any, count: int) -> Array:
        """Returns the positions of the tokens that are added next, without padding.

        Args:
            xp: The array module.
            count: Number of these tokens.
        """
        return xp.arange(self.length, self.length + count)

    def advance(self, count: int) -> None:
        """Notes that the keys of some tokens were added to all stores.

        Args:
            count: Number of these tokens.
        """
        self.length += count

    def reorder(self, rows: Array) -> None:
        """Replaces each row of the batch by another one, as beam search does.

        Args:
            rows: Index of the row that each row becomes.
        """
        if self.padding is not None:
            self.padding = self.padding[rows]
        for store in self.stores:
            store.reorder(rows)


def _memory(xp: Any, like: Array, length: int) -> Array:
    batch, heads, _, size = like.shape
    return xp.zeros((batch, heads, length, size), like.dtype)


def _joined(
    xp: Any, old: Array | None, new: Array | None, batch: int, start: int, stop: int
) -> Array | None:
    """Returns which keys are no padding; None if there is no padding at all."""
    if old is None and new is None:
        return None
    old = xp.ones((batch, start), bool) if old is None else old[:, :start]
    new = xp.ones((batch, stop - start), bool) if new is None else new
    return xp.concatenate([old, new], axis=1)
