"""The state of an iterator: position, order of the examples, and how they are saved."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsIndex

import numpy

from chainer.links.loaded_state import check_count, check_finite
from chainer.links.serializer import Deserializer
from chainer.training.iterators.order_samplers import Key, Order, random_key, shuffled

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class OrderSamplerLike(Protocol):
    """An order sampler, see :class:`~chainer.iterators.OrderSampler`."""

    def __call__(self, current_order: Order, current_position: int, /) -> Any:
        """Returns the order of the next epoch."""
        ...


class Segment(NamedTuple):
    """Examples of one epoch that are part of a batch."""

    epoch: int
    start: int
    indexes: slice | Order


@dataclass(frozen=True)
class IterationState:
    """State of an iteration over a dataset between two batches.

    Attributes:
        position: Examples of the current epoch that were visited.
        epoch: Number of completed epochs.
        is_new_epoch: Whether the last batch completed an epoch.
        order: Indexes in the order of the current epoch; None for the order of the dataset.
        key: Seed of the orders to come (and of the examples, where workers seed themselves).
        sampler: Order sampler of the user, or None.
    """

    position: int
    epoch: int
    is_new_epoch: bool
    order: Order | None
    key: Key
    sampler: OrderSamplerLike | None

    @classmethod
    def first(cls, size: int, shuffle: bool, sampler: OrderSamplerLike | None) -> IterationState:
        """Returns the state at the beginning.

        Args:
            size: Number of examples of the dataset.
            shuffle: Whether to shuffle where there is no sampler.
            sampler: Order sampler, or None.
        """
        order: Order | None = None
        if sampler is not None:
            order = _sample(sampler, numpy.arange(size), 0)
        elif shuffle:
            # Drawn from numpy.random, so that a seeded program sees the order it always saw.
            order = numpy.random.permutation(size)
        return cls(0, 0, False, order, random_key(), sampler)

    def restarted(self, size: int) -> IterationState:
        """Returns the state at the beginning of a new iteration.

        Args:
            size: Number of examples of the dataset.
        """
        order = self.order
        if self.sampler is not None:
            order = _sample(self.sampler, numpy.arange(size), 0)
        elif order is not None:
            order = numpy.random.permutation(size)
        return replace(self, position=0, epoch=0, is_new_epoch=False, order=order)

    def epoch_size(self, size: int) -> int:
        """Returns the number of examples of an epoch over a dataset of ``size`` examples."""
        return size if self.order is None else len(self.order)

    def epoch_detail(self, size: int) -> float:
        """Returns the number of epochs including the fraction of the current one."""
        epoch_size = self.epoch_size(size)
        return self.epoch + (self.position / epoch_size if epoch_size else 0.0)

    def advance(
        self, size: int, batch_size: int, repeat: bool, keep_sampler: bool = False
    ) -> tuple[IterationState, list[Segment]] | None:
        """Returns the state after the next batch and the examples of the batch.

        Args:
            size: Number of examples of the dataset.
            batch_size: Number of examples of the batch.
            repeat: Whether to go on after the first epoch.
            keep_sampler: Whether to leave the state of the sampler alone (and have the returned
                state hold another one), because the batch is fetched ahead. Samplers that do not
                say how to save their state are used as they are.

        Returns:
            The new state and the parts of the batch; None when the iteration is over.

        Raises:
            ValueError: If there is nothing to iterate over and ``repeat`` is True.
        """
        if not repeat and self.epoch > 0:
            return None
        epoch_size = self.epoch_size(size)
        if epoch_size == 0:
            if repeat:
                raise ValueError("dataset is empty, there is nothing to repeat")
            return None
        position, epoch, order, sampler = self.position, self.epoch, self.order, self.sampler
        segments: list[Segment] = []
        left = batch_size
        while left > 0:
            taken = min(left, epoch_size - position)
            window = slice(position, position + taken)
            if taken > 0:
                segments.append(
                    Segment(epoch, position, window if order is None else order[window])
                )
            position += taken
            left -= taken
            if position < epoch_size:
                break
            position, epoch = 0, epoch + 1
            if not repeat:
                break
            if sampler is not None:
                if keep_sampler and hasattr(sampler, "serialize"):
                    sampler = copy.deepcopy(sampler)
                current = numpy.arange(size) if order is None else order
                order = _sample(sampler, current, segments[-1].start, epoch_size)
            elif order is not None:
                order = shuffled(order, self.key, epoch)
        is_new = epoch != self.epoch
        return IterationState(position, epoch, is_new, order, self.key, sampler), segments


def _sample(
    sampler: OrderSamplerLike, order: Order, position: int, length: int | None = None
) -> Order:
    """Returns what an order sampler returns, checked.

    Args:
        sampler: Order sampler.
        order: Current order.
        position: Where the last batch started.
        length: Length that the result must have, or None for any.
    """
    result = numpy.asarray(sampler(order, position))
    if result.ndim != 1 or result.dtype.kind not in "iu":
        raise ValueError(
            "order_sampler must return a one-dimensional integer array, "
            f"got an array of shape {result.shape} and dtype {result.dtype}"
        )
    if length is not None and len(result) != length:
        raise ValueError(
            f"order_sampler must return orders of the same length, got {length}, then {len(result)}"
        )
    return result


def check_arguments(
    batch_size: SupportsIndex, shuffle: bool | None, order_sampler: OrderSamplerLike | None
) -> tuple[int, bool]:
    """Checks the arguments that all iterators have.

    Returns:
        Batch size and whether to shuffle.

    Raises:
        TypeError: If ``batch_size`` is not an integer.
        ValueError: If ``batch_size`` is not positive, or both ``shuffle`` and an order sampler are
            given.
    """
    try:
        size = operator.index(batch_size)
    except TypeError:
        other: Any = batch_size
        if hasattr(other, "__len__") and not isinstance(other, str):
            # Not its contents: that is a dataset, because the arguments are exchanged.
            kind = type(other).__name__
            raise TypeError(
                f"batch_size must be an integer, got an object of type {kind}; the dataset is the "
                "first argument"
            ) from None
        raise TypeError(f"batch_size must be an integer, got {batch_size!r}") from None
    if size < 1:
        raise ValueError(f"batch_size must be positive, got {size}")
    if order_sampler is not None and shuffle is not None:
        raise ValueError(f"shuffle must be None if an order_sampler is given, got {shuffle}")
    return size, shuffle is not False


def serialize_state(
    serializer: AbstractSerializer,
    state: IterationState,
    previous_epoch_detail: float | None,
    size: int,
    batch_size: int,
    order_name: str = "order",
) -> tuple[IterationState, float | None]:
    """Saves or loads the state of an iterator.

    Entries keep the names and forms of earlier releases, which can load the files of this release.
    An entry that only this release saves (the seed of the orders to come) may be missing in a file.

    Args:
        serializer: Serializer or deserializer.
        state: State to be saved, or to be replaced.
        previous_epoch_detail: The attribute of the iterator.
        size: Number of examples of the dataset.
        batch_size: Number of examples of a batch.
        order_name: Name under which the order is saved.

    Returns:
        The state and the previous epoch detail; both are read from the file if the serializer is a
        deserializer.
    """
    position = serializer("current_position", int(state.position))
    epoch = serializer("epoch", int(state.epoch))
    is_new_epoch = serializer("is_new_epoch", bool(state.is_new_epoch))
    order, key, sampler = state.order, state.key, state.sampler
    if order is not None:
        try:
            order = _serialize_order(serializer, order.copy(), order_name)
        except ValueError as error:
            error.add_note(
                f"The dataset has {size} examples. A snapshot can be resumed only with a dataset "
                "of the length that it was saved with."
            )
            raise
        if sampler is None:
            _check_indexes(order, size)
        _serialize_sampler(serializer, sampler)
    try:
        key = serializer("random_key", key.copy())
    except KeyError:  # saved by an earlier release
        pass
    try:
        # -1 instead of None, since some serializers do not support None.
        previous = serializer(
            "previous_epoch_detail",
            -1.0 if previous_epoch_detail is None else previous_epoch_detail,
        )
    except KeyError:  # saved by release 2 or earlier
        previous = earlier_epoch_detail(
            epoch, position, batch_size, len(order) if order is not None else size
        )
    if previous is None or previous < 0:
        previous = None
    if isinstance(serializer, Deserializer):
        epoch_size = size if order is None else len(order)
        position = check_count("current_position of an iterator", position, epoch_size)
        epoch = check_count("epoch of an iterator", epoch)
        if previous is not None:
            check_finite("previous_epoch_detail of an iterator", previous)
    return IterationState(position, epoch, is_new_epoch, order, key, sampler), previous


def earlier_epoch_detail(
    epoch: int, position: int, batch_size: int, epoch_size: int
) -> float | None:
    """Returns the epoch detail one batch before a position; None at the beginning.

    Files of releases 1 and 2 do not have the number.
    """
    if epoch == 0 and position == 0:
        return None
    # The first batch of a run may be smaller than the others, so that the result may be too low.
    return max(0.0, epoch + (position - batch_size) / max(epoch_size, 1))


def _check_indexes(order: Order, size: int) -> None:
    """Raises ValueError if a saved order has indexes that the dataset does not have."""
    if len(order) and not 0 <= order.min() <= order.max() < size:
        raise ValueError(
            f"the saved order has indexes from {order.min()} to {order.max()}, the dataset has "
            f"{size} examples; was it saved with another dataset?"
        )


def _serialize_sampler(serializer: AbstractSerializer, sampler: OrderSamplerLike | None) -> None:
    """Saves or loads the state of an order sampler that says how."""
    serialize = getattr(sampler, "serialize", None)
    if serialize is not None:
        try:
            serialize(serializer["order_sampler"])
        except KeyError:  # saved by an earlier release, or with another sampler
            pass


def _serialize_order(serializer: AbstractSerializer, order: Order, name: str) -> Order:
    try:
        loaded = serializer(name, order)
    except KeyError:
        # MultithreadIterator and the others name it differently; either can load the other's.
        loaded = serializer("order" if name == "_order" else "_order", order)
    if len(loaded) != len(order):
        raise ValueError(
            f"the saved order has {len(loaded)} examples, the iterator has {len(order)}; "
            "was it saved with another dataset?"
        )
    loaded = numpy.asarray(loaded)
    if loaded.dtype.kind not in "iu":
        raise TypeError(f"the saved order must consist of integers, got dtype {loaded.dtype}")
    return loaded


class EpochAttributes:
    """Attributes of iterators that visit the examples epoch by epoch."""

    _previous_epoch_detail: float | None
    _repeat: bool

    @property
    def previous_epoch_detail(self) -> float | None:
        """The value of :attr:`epoch_detail` at the previous iteration; None before the first."""
        return self._previous_epoch_detail

    @property
    def repeat(self) -> bool:
        """Whether the iterator loops over the dataset infinitely."""
        return self._repeat
