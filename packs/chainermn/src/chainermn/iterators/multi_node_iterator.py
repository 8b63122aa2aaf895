"""Iterators of which one process reads the data for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer.backend import find_backend
from chainer.dataset import Iterator
from chainer.serializer import Serializer
from chainer.serializers import DictionarySerializer
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.typing import ArrayLike

#: Attributes of iterators that all processes have, as far as the iterator has them.
_STATE = (
    *("epoch", "is_new_epoch", "epoch_detail", "previous_epoch_detail", "current_position"),
    *("batch_size", "repeat"),
)


class _Stop:
    """The message that is broadcast at the end of the iteration."""


class _MultiNodeIterator(Iterator):
    """See :func:`create_multi_node_iterator`."""

    def __init__(self, actual_iterator: Any, communicator: CommunicatorBase, rank_master: int):
        self.communicator = communicator
        self.rank_master = rank_master
        self.is_master = communicator.rank == rank_master
        self.actual_iterator: Any = actual_iterator if self.is_master else None
        self._state: dict[str, Any] = {}
        # Entries of a file at the start of the epoch. The order of the examples is among them, and
        # only a new epoch changes it; the others are in the state, too.
        self._entries: dict[str, Any] = {}
        # An iterator over a stream has no dataset, or one without length.
        dataset: Any = getattr(actual_iterator, "dataset", None) if self.is_master else None
        size = len(dataset) if hasattr(dataset, "__len__") else None
        self.dataset_size = communicator.bcast_obj(size, root=rank_master)
        self._share_state()

    def _share_state(self) -> None:
        state = (self._own_state(), self._own_entries()) if self.is_master else None
        self._state, self._entries = self.communicator.bcast_obj(state, root=self.rank_master)

    def _own_state(self) -> dict[str, Any]:
        actual = self.actual_iterator
        return {name: getattr(actual, name) for name in _STATE if hasattr(actual, name)}

    def _own_entries(self) -> dict[str, Any]:
        """Returns the entries of a file of the iterator; none if it cannot be saved."""
        if getattr(type(self.actual_iterator), "serialize", None) is None:
            return {}
        serializer = DictionarySerializer()
        self.actual_iterator.serialize(serializer)
        return serializer.target

    def __repr__(self) -> str:
        reader = repr(self.actual_iterator) if self.is_master else f"rank {self.rank_master} reads"
        return f"<{type(self).__name__} ({reader})>"

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__.get("_state", {})
        actual = self.__dict__.get("actual_iterator")
        if actual is not None:
            return getattr(actual, name)
        if name in state:
            return state[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r} in this process")

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        actual = self.__dict__.get("actual_iterator")
        if actual is not None and name not in ("_state", "_entries") and hasattr(actual, name):
            setattr(actual, name, value)
        elif actual is None and name in self.__dict__.get("_state", {}):
            self._state[name] = value
        else:
            super().__setattr__(name, value)

    def __next__(self) -> Any:
        batch: Any = None
        message: Any = None
        if self.is_master:
            try:
                batch = next(self.actual_iterator)
                message = ("batch", _to_host(batch))
            except StopIteration:
                message = ("stop", None)
            except TypeError as error:
                message = ("error", str(error))
            state = self._own_state()
            entries = self._own_entries() if state.get("is_new_epoch") else None
            message = (*message, state, entries)
        # With their own dtypes, and any number of elements in each example.
        kind, data, self._state, entries = self.communicator.bcast_obj(
            message, root=self.rank_master
        )
        if entries is not None:
            self._entries = entries
        if kind == "stop":
            raise StopIteration
        if kind == "error":
            raise TypeError(data)
        return batch if self.is_master else data

    next = __next__

    def reset(self) -> None:
        """Starts again. Collective."""
        if self.is_master:
            self.actual_iterator.reset()
        self._share_state()

    def finalize(self) -> None:
        """Finalizes the iterator of the process that reads."""
        if self.is_master:
            self.actual_iterator.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the iterator of the process that reads. Loading is collective.

        All processes save the entries of that iterator, so any of their files can be resumed from.
        When entries are loaded, the file of the process that reads counts.

        Args:
            serializer: Serializer or deserializer.
        """
        if not isinstance(serializer, Serializer):
            # Only the process that reads has an iterator that continues.
            if self.is_master:
                self.actual_iterator.serialize(serializer)
            self._share_state()
            return
        if self.is_master:
            self.actual_iterator.serialize(serializer)
            return
        for name, value in {**self._entries, **self._state}.items():
            if name in self._entries:
                serializer(name, value)


def _to_host(batch: Any) -> Any:
    """Returns a batch that can be pickled everywhere.

    Raises:
        TypeError: If an example is neither an array, a number nor a tuple or dictionary of such.
    """
    return [_example(example) for example in batch]


def _example(example: Any) -> Any:
    if isinstance(example, tuple):
        return tuple(_example(each) for each in example)
    if isinstance(example, list):
        return [_example(each) for each in example]
    if isinstance(example, dict):
        return {name: _example(each) for name, each in example.items()}
    if isinstance(example, (numpy.generic, int, float)):
        return example
    backend = find_backend(type(example))
    if backend is None:
        raise TypeError(
            "a multi-node iterator takes examples of arrays and numbers, "
            f"got {type(example).__name__}"
        )
    return backend.to_host(example)


def create_multi_node_iterator(
    actual_iterator: Any, communicator: CommunicatorBase, rank_master: int = 0
) -> _MultiNodeIterator:
    """Makes an iterator that gives all processes the batches of one of them. Collective.

    Args:
        actual_iterator (~chainer.dataset.Iterator): Iterator of the process that reads; what others
            pass is ignored. Examples are arrays and numbers, or tuples and dictionaries of such.
        communicator (CommunicatorBase): Communicator.
        rank_master (int): Rank of the process that reads.

    Returns:
        ~chainer.dataset.Iterator: The iterator. ``next`` and ``serialize`` are collective.
    """
    return _MultiNodeIterator(actual_iterator, communicator, rank_master)
