"""Base of the iterators that read ahead."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from chainer.core.spans import measured
from chainer.core.typing import DatasetLike
from chainer.links.serializer import Deserializer
from chainer.training.dataset.iterator import Iterator
from chainer.training.iterators._statemachine import IteratorState
from chainer.training.iterators.iteration_state import (
    NO_BATCH_YET,
    EpochAttributes,
    EpochOrders,
    IterationState,
    Segment,
    check_arguments,
    check_dataset,
    serialize_state,
)
from chainer.training.iterators.order_samplers import Order, OrderSamplerLike

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class PrefetchIterator(EpochAttributes, Iterator):
    """Iterator that has the next batches read while the current one is used.

    Its state is the one after the batches it returned, not after the batches it has read ahead.
    Assigning to ``epoch``, ``current_position``, ``is_new_epoch``, ``repeat`` or ``order_sampler``
    discards what was read ahead.

    Args:
        dataset: Dataset to iterate.
        batch_size (int): Number of examples within each batch.
        repeat (bool): Whether to loop over the dataset infinitely.
        shuffle (bool): Whether to shuffle the examples (None means True).
        order_sampler: Order sampler, or None.
        n_prefetch (int): Number of batches to read ahead.
    """

    _order_name = "order"

    #: Attributes that hold threads or processes. Copies and pickles have None there.
    _worker_attributes: ClassVar[Sequence[str]] = ()

    def __init__(
        self,
        dataset: DatasetLike,
        batch_size: int,
        repeat: bool,
        shuffle: bool | None,
        order_sampler: OrderSamplerLike | None,
        n_prefetch: int,
    ) -> None:
        self.batch_size, sampler = check_arguments(batch_size, shuffle, order_sampler)
        check_dataset(dataset, shuffle, repeat)
        self.dataset = dataset
        self._repeat = repeat
        self._shuffle = shuffle is not False
        self._n_prefetch = n_prefetch
        self._previous_epoch_detail = NO_BATCH_YET
        self._orders = EpochOrders()
        self._place = IterationState.first(len(dataset), sampler)
        #: Batches being read: what collects each, and the state after it.
        self._ahead: deque[tuple[Any, IterationState]] = deque()

    def __getstate__(self) -> dict[str, Any]:
        # A copy is at the same position. It reads ahead by itself, with workers of its own.
        state = {**self.__dict__, "_ahead": deque(), "_orders": self._orders.copy()}
        state.update(dict.fromkeys(self._worker_attributes))
        return state

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__getstate__())
        return other

    @abstractmethod
    def _submit(self, segments: list[Segment]) -> Any:
        """Has the examples of a batch read; returns what :meth:`_collect` takes."""

    @abstractmethod
    def _collect(self, handle: Any, /) -> list[Any]:
        """Waits for a batch and returns it."""

    @abstractmethod
    def _cancel(self, handle: Any, /) -> None:
        """Gives up a batch that was submitted."""

    @measured("data")
    def __next__(self) -> list[Any]:
        """Returns the next batch.

        This is a part of the iterator protocol of Python. It may raise the :class:`StopIteration`
        exception when it stops the iteration.

        Returns:
            list: The examples.

        Raises:
            StopIteration: At the end of the first epoch, if ``repeat`` is False.
            ValueError: If the dataset is empty and ``repeat`` is True.
            Exception: The error that the dataset raised, with the traceback of the worker. The
                iterator stays where it is; another call reads the same batch again.
        """
        self._fill(1)
        if not self._ahead:
            self._previous_epoch_detail = self.epoch_detail  # as in earlier releases
            raise StopIteration
        handle, state = self._ahead.popleft()
        try:
            batch = self._collect(handle)
        except BaseException:
            self._cancel(handle)
            self._discard()
            raise
        self._previous_epoch_detail = self.epoch_detail
        self._place = state
        self._orders.begin(state.epoch)
        self._fill(self._n_prefetch)
        return batch

    next = __next__

    def _fill(self, count: int) -> None:
        while len(self._ahead) < count:
            last = self._ahead[-1][1] if self._ahead else self._place
            step = last.advance(len(self.dataset), self.batch_size, self._repeat, self._orders)
            if step is None:
                return
            state, segments = step
            self._ahead.append((self._submit(segments), state))

    def _discard(self) -> None:
        """Forgets the examples that were read ahead, not the orders that were drawn for them."""
        # An iterator whose constructor failed has no such attribute, but is finalized as well.
        ahead: deque[tuple[Any, IterationState]] = self.__dict__.get("_ahead", deque())
        while ahead:
            self._cancel(ahead.popleft()[0])

    def _move_to(self, state: IterationState) -> None:
        self._discard()
        self._orders.clear()
        self._place = state

    @property
    def _state(self) -> IteratorState:
        """The state in the form of release 7, for subclasses of programs."""
        return self._place.as_tuple()

    @_state.setter
    def _state(self, state: IteratorState) -> None:
        self._move_to(self._place.replaced_by(state))

    def _current_order(self) -> Order | None:
        return self._place.order

    @property
    def epoch(self) -> int:  # type: ignore[override]
        """Number of completed epochs."""
        return self._place.epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._move_to(replace(self._place, epoch=epoch))

    @property
    def current_position(self) -> int:
        """Number of examples of the current epoch that were visited."""
        return self._place.position

    @current_position.setter
    def current_position(self, position: int) -> None:
        self._move_to(replace(self._place, position=position))

    @property
    def is_new_epoch(self) -> bool:  # type: ignore[override]
        """Whether the last batch completed an epoch."""
        return self._place.is_new_epoch

    @is_new_epoch.setter
    def is_new_epoch(self, is_new_epoch: bool) -> None:
        self._move_to(replace(self._place, is_new_epoch=is_new_epoch))

    @property
    def order_sampler(self) -> OrderSamplerLike | None:
        """Order sampler, or None. Another one takes effect at the next epoch or :meth:`reset`."""
        return self._place.sampler

    @order_sampler.setter
    def order_sampler(self, order_sampler: OrderSamplerLike | None) -> None:
        self._move_to(replace(self._place, sampler=order_sampler))

    @property
    def repeat(self) -> bool:
        """Whether the iterator goes on after the first epoch."""
        return self._repeat

    @repeat.setter
    def repeat(self, repeat: bool) -> None:
        self._discard()
        self._repeat = repeat

    @property
    def epoch_detail(self) -> float:
        """Number of epochs including the fraction of the current one."""
        size = self._epoch_size
        return self.epoch + (self.current_position / size if size else 0.0)

    @property
    def shuffle(self) -> bool:
        """Whether the iterator shuffles the examples."""
        return self._shuffle

    def reset(self) -> None:
        """Goes back to the beginning; shuffles again if the iterator shuffles."""
        # The batches first: the sampler must not be called while workers use the dataset.
        self._discard()
        self._move_to(IterationState.first(len(self.dataset), self.order_sampler))
        self._previous_epoch_detail = NO_BATCH_YET

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the internal state of the iterator.

        It consists of position, epoch, the current order, the state of the order sampler, and the
        orders that it drew for batches that were read ahead. These batches do not count.

        Args:
            serializer: Serializer or deserializer.
        """
        state, self._previous_epoch_detail = serialize_state(
            serializer,
            self._place,
            self._previous_epoch_detail,
            len(self.dataset),
            self.batch_size,
            self._order_name,
        )
        if isinstance(serializer, Deserializer):
            self._move_to(state)
        self._orders.serialize(serializer, state.epoch)
