"""Iterator that reads examples in the main thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from chainer.core.spans import measured
from chainer.core.typing import DatasetLike
from chainer.training.dataset.batch import read_batch
from chainer.training.dataset.iterator import Iterator
from chainer.training.iterators._statemachine import IteratorState
from chainer.training.iterators.iteration_state import (
    NO_BATCH_YET,
    EpochAttributes,
    EpochOrders,
    IterationState,
    check_arguments,
    check_dataset,
    serialize_state,
)
from chainer.training.iterators.order_samplers import Order, OrderSamplerLike

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class SerialIterator(EpochAttributes, Iterator):
    """Dataset iterator that serially reads the examples.

    This is a simple implementation of :class:`~chainer.dataset.Iterator` that just visits each
    example in either the order of indexes or a shuffled order.

    To avoid unintentional performance degradation, the ``shuffle`` option is set to ``True`` by
    default. For validation, it is better to set it to ``False`` when the underlying dataset
    supports fast slicing. If the order of examples has an important meaning and the updater depends
    on the original order, this option should be set to ``False``.

    Orders are drawn from ``numpy.random``, whose state is part of the snapshot of a trainer: a run
    that is resumed in the middle sees the very examples that it would have seen without the
    interruption.

    This iterator saves ``-1`` instead of ``None`` in snapshots since some serializers do not
    support ``None``.

    Args:
        dataset: Dataset to iterate.
        batch_size (int): Number of examples within each batch.
        repeat (bool): If ``True``, it infinitely loops over the dataset. Otherwise, it stops
            iteration at the end of the first epoch.
        shuffle (bool): If ``True`` or ``None``, the order of examples is shuffled at the beginning
            of each epoch. Otherwise, examples are extracted in the order of indexes. Must be
            ``None`` if an order sampler is given.
        order_sampler (callable): Makes the order of each epoch instead, see
            :class:`~chainer.iterators.OrderSampler`.

    Attributes:
        dataset: Dataset.
        batch_size (int): Number of examples within each batch.
        epoch (int): Number of completed epochs.
        current_position (int): Number of examples of the current epoch that were visited.
        is_new_epoch (bool): Whether the last batch completed an epoch.

    Raises:
        ValueError: If ``batch_size`` is not positive.

    .. admonition:: Example

        >>> from chainer.iterators import SerialIterator
        >>> iterator = SerialIterator(['a', 'b', 'c'], 2, shuffle=False)
        >>> iterator.next(), iterator.next(), iterator.epoch_detail
        (['a', 'b'], ['c', 'a'], 1.3333333333333333)
    """

    # Plain attributes, because programs assign to them.
    current_position: int = 0
    epoch: int = 0
    is_new_epoch: bool = False

    def __init__(
        self,
        dataset: DatasetLike,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: OrderSamplerLike | None = None,
    ) -> None:
        self.batch_size, sampler = check_arguments(batch_size, shuffle, order_sampler)
        check_dataset(dataset, shuffle, repeat)
        self.dataset = dataset
        self._repeat = repeat
        self._shuffle = shuffle
        self._previous_epoch_detail = NO_BATCH_YET
        # Orders of a file that an iterator saved which reads ahead; this one draws none in advance.
        self._orders = EpochOrders()
        self._set_state(IterationState.first(len(dataset), sampler))

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _orders=self._orders.copy())
        return other

    def _set_state(self, state: IterationState) -> None:
        self.current_position = state.position
        self.epoch = state.epoch
        self.is_new_epoch = state.is_new_epoch
        self._order = state.order
        self.order_sampler = state.sampler

    def _get_state(self) -> IterationState:
        return IterationState(
            *(self.current_position, self.epoch, self.is_new_epoch),
            *(self._order, self.order_sampler),
        )

    @property
    def _state(self) -> IteratorState:
        """The state in the form of release 7, for subclasses of programs."""
        return self._get_state().as_tuple()

    @_state.setter
    def _state(self, state: IteratorState) -> None:
        self._set_state(self._get_state().replaced_by(state))

    def _current_order(self) -> Order | None:
        return self._order

    @measured("data")
    def __next__(self) -> list[Any]:
        """Returns the next batch; see :meth:`chainer.dataset.Iterator.__next__`.

        Raises:
            StopIteration: At the end of the first epoch, if ``repeat`` is False.
            ValueError: If the dataset is empty and ``repeat`` is True.
        """
        state = self._get_state()
        step = state.advance(len(self.dataset), self.batch_size, self.repeat, self._orders)
        if step is None:
            self._previous_epoch_detail = self.epoch_detail  # as in earlier releases
            raise StopIteration
        next_state, segments = step
        # The usual batch is within one epoch; the others are read in parts.
        batch = read_batch(self.dataset, segments[0].indexes)
        for segment in segments[1:]:
            batch.extend(read_batch(self.dataset, segment.indexes))
        # Set after the examples were read: if that fails, the iterator stays where it is.
        self._previous_epoch_detail = self.epoch_detail
        self._set_state(next_state)
        self._orders.begin(next_state.epoch)
        return batch

    next = __next__

    @property
    def epoch_detail(self) -> float:
        """Number of epochs including the fraction of the current one."""
        size = self._epoch_size
        return self.epoch + (self.current_position / size if size else 0.0)

    def reset(self) -> None:
        """Goes back to the beginning; shuffles again if the iterator shuffles."""
        self._orders.clear()
        self._set_state(IterationState.first(len(self.dataset), self.order_sampler))
        self._previous_epoch_detail = NO_BATCH_YET

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the internal state of the iterator.

        It consists of position, epoch, the current order and the state of the order sampler.

        Args:
            serializer: Serializer or deserializer.
        """
        state, self._previous_epoch_detail = serialize_state(
            serializer,
            self._get_state(),
            self._previous_epoch_detail,
            len(self.dataset),
            self.batch_size,
        )
        self._set_state(state)
        self._orders.serialize(serializer, state.epoch)
