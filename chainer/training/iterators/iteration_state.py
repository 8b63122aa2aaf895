"""The state of an iterator: position, order of the examples, and how they are saved."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, SupportsIndex

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.misuse import expect_flags, warn_once
from chainer.links.loaded_state import check_count, check_finite, load_optional
from chainer.links.serializer import Deserializer
from chainer.training.dataset.dataset_mixin import expect_positions
from chainer.training.iterators._statemachine import IteratorState
from chainer.training.iterators.order_samplers import (
    Order,
    OrderSamplerLike,
    ShuffleOrderSampler,
)

if TYPE_CHECKING:
    from chainer.core.typing import DatasetLike
    from chainer.links.serializer import AbstractSerializer


#: ``previous_epoch_detail`` before the first batch. Files have a number instead of None, since some
#: serializers do not support None, and subclasses of programs set the attribute to it.
NO_BATCH_YET = -1.0


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
        sampler: Makes the order of each epoch; None keeps the current one.
    """

    position: int
    epoch: int
    is_new_epoch: bool
    order: Order | None
    sampler: OrderSamplerLike | None

    @classmethod
    def first(cls, size: int, sampler: OrderSamplerLike | None) -> IterationState:
        """Returns the state at the beginning.

        Args:
            size: Number of examples of the dataset.
            sampler: Order sampler, or None for the order of the dataset.
        """
        order = None if sampler is None else _sample(sampler, numpy.arange(size), 0)
        return cls(0, 0, False, order, sampler)

    def as_tuple(self) -> IteratorState:
        """Returns the state in the form of release 7."""
        return IteratorState(self.position, self.epoch, self.is_new_epoch, self.order)

    def replaced_by(self, state: IteratorState) -> IterationState:
        """Returns a state that is given in the form of release 7, with the sampler of this one."""
        return IterationState(*state, self.sampler)

    def epoch_size(self, size: int) -> int:
        """Returns the number of examples of an epoch over a dataset of ``size`` examples."""
        return size if self.order is None else len(self.order)

    def advance(
        self, size: int, batch_size: int, repeat: bool, orders: EpochOrders
    ) -> tuple[IterationState, list[Segment]] | None:
        """Returns the state after the next batch and the examples of the batch.

        Args:
            size: Number of examples of the dataset.
            batch_size: Number of examples of the batch.
            repeat: Whether to go on after the first epoch.
            orders: Draws the orders of the epochs that begin within the batch.

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
        position, epoch, order = self.position, self.epoch, self.order
        segments: list[Segment] = []
        start, left = position, batch_size
        while left > 0:
            taken = min(left, epoch_size - position)
            window = slice(position, position + taken)
            if taken > 0:
                segments.append(
                    Segment(epoch, position, window if order is None else order[window])
                )
                start = position
            position += taken
            left -= taken
            if position < epoch_size:
                break
            position, epoch = 0, epoch + 1
            # The order after the last epoch is drawn, too, as release 7 does: what a program draws
            # from numpy.random afterwards depends on it.
            if self.sampler is not None and order is not None:
                order = orders.order_of(epoch, self.sampler, order, start)
            if not repeat:
                break
        return IterationState(position, epoch, epoch != self.epoch, order, self.sampler), segments


class EpochOrders:
    """Draws the order of each epoch once.

    Iterators that read ahead draw orders before they are needed. An order that was drawn is kept
    until its epoch begins: it is not drawn again when the batches that were read ahead are given
    up, and it is saved, because the random generator of a resumed run is already beyond it.
    """

    def __init__(self) -> None:
        self._drawn: dict[int, Order] = {}

    def copy(self) -> Self:
        """Returns a copy, for a copy of the iterator."""
        other = type(self)()
        other._drawn = dict(self._drawn)
        return other

    def order_of(
        self, epoch: int, sampler: OrderSamplerLike, current_order: Order, position: int
    ) -> Order:
        """Returns the order of an epoch.

        Args:
            epoch: Number of the epoch.
            sampler: Draws the order where it is not drawn yet.
            current_order: Order of the epoch before.
            position: Where the last batch of that epoch starts.
        """
        if epoch not in self._drawn:
            self._drawn[epoch] = _sample(sampler, current_order, position, len(current_order))
        return self._drawn[epoch]

    def begin(self, epoch: int) -> None:
        """Forgets the orders up to the one of ``epoch``, which is a part of the state now."""
        if self._drawn:
            self._drawn = {number: o for number, o in self._drawn.items() if number > epoch}

    def clear(self) -> None:
        """Forgets all orders, because the iterator was moved to another place."""
        self._drawn.clear()

    def serialize(self, serializer: AbstractSerializer, epoch: int) -> None:
        """Saves or loads the orders that were drawn ahead.

        Args:
            serializer: Serializer or deserializer.
            epoch: Epoch of the state, which was loaded if the serializer is a deserializer.
        """
        if not isinstance(serializer, Deserializer):
            if self._drawn:
                serializer(
                    "orders_ahead", numpy.stack([self._drawn[n] for n in sorted(self._drawn)])
                )
            return
        loaded = load_optional(serializer, "orders_ahead", None)
        orders = () if loaded is None else numpy.asarray(loaded)
        self._drawn = dict(enumerate(orders, epoch + 1))


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


def check_dataset(dataset: DatasetLike, shuffle: bool | None, repeat: bool) -> None:
    """Checks the dataset of an iterator, and the arguments that are truth values.

    Raises:
        TypeError: If the dataset has no length: a generator, for example.
    """
    require_attribute("dataset", dataset, "__len__", "a list, an array or a dataset with a length")
    if isinstance(dataset, (str, bytes)):
        warn_once(
            "dataset",
            "text",
            f"dataset is the text {dataset[:40]!r}, whose examples are characters: give a list, or "
            "a dataset such as TextDataset, which reads a file",
        )
    expect_positions(dataset, "dataset")
    expect_flags("the iterator", shuffle=shuffle, repeat=repeat)


def check_arguments(
    batch_size: SupportsIndex, shuffle: bool | None, order_sampler: OrderSamplerLike | None
) -> tuple[int, OrderSamplerLike | None]:
    """Checks the arguments that all iterators have.

    Returns:
        Batch size and order sampler, which is None for the order of the dataset.

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
        raise ValueError(
            # The first line is the text of release 7.
            "`shuffle` is not `None` and a custom `order_sampler` is set. Please set `shuffle` to "
            "`None` to use the custom order sampler.\n"
            f"shuffle must be None if an order_sampler is given, got {shuffle}"
        )
    if order_sampler is None and shuffle is not False:
        order_sampler = ShuffleOrderSampler()
    return size, order_sampler


def serialize_state(
    serializer: AbstractSerializer,
    state: IterationState,
    previous_epoch_detail: float,
    size: int,
    batch_size: int,
    order_name: str = "order",
) -> tuple[IterationState, float]:
    """Saves or loads the state of an iterator.

    Entries keep the names and forms of earlier releases, which can load what is saved here.

    Args:
        serializer: Serializer or deserializer.
        state: State to be saved, or to be replaced.
        previous_epoch_detail: The attribute of the iterator; -1 before the first batch.
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
    order, sampler = state.order, state.sampler
    if order is not None:
        try:
            order = _serialize_order(serializer, order.copy(), order_name)
        except ValueError as error:
            error.add_note(
                f"The dataset has {size} examples. A snapshot can be resumed only with a dataset "
                "of the length that it was saved with."
            )
            raise
        if sampler is None or type(sampler) is ShuffleOrderSampler:
            _check_indexes(order, size)
        _serialize_sampler(serializer, sampler)
    elif order_name == "_order" and not isinstance(serializer, Deserializer):
        # The MultithreadIterator of earlier releases reads the entry without shuffling, too.
        serializer(order_name, None)
    try:
        previous = serializer("previous_epoch_detail", previous_epoch_detail)
    except KeyError:  # saved by release 2 or earlier
        previous = earlier_epoch_detail(
            epoch, position, batch_size, len(order) if order is not None else size
        )
    if previous is None or previous < 0:
        previous = NO_BATCH_YET
    if isinstance(serializer, Deserializer):
        epoch_size = size if order is None else len(order)
        position = check_count("current_position of an iterator", position, epoch_size)
        epoch = check_count("epoch of an iterator", epoch)
        previous = check_finite("previous_epoch_detail of an iterator", previous)
    return IterationState(position, epoch, is_new_epoch, order, sampler), previous


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

    dataset: DatasetLike
    order_sampler: OrderSamplerLike | None
    _previous_epoch_detail: float
    _repeat: bool
    _orders: EpochOrders

    @property
    def previous_epoch_detail(self) -> float | None:
        """The value of :attr:`epoch_detail` at the previous iteration; None before the first."""
        previous = self._previous_epoch_detail
        return None if previous is None or previous < 0 else previous

    @property
    def repeat(self) -> bool:
        """Whether the iterator loops over the dataset infinitely."""
        return self._repeat

    @property
    def _epoch_size(self) -> int:
        """Number of examples of an epoch; a subclass may have another one."""
        order = self._current_order()
        return len(self.dataset) if order is None else len(order)

    def _current_order(self) -> Order | None:
        raise NotImplementedError
