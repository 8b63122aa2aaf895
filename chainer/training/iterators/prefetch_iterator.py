"""Base of the iterators that read ahead."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from chainer.core.spans import measured
from chainer.core.typing import DatasetLike
from chainer.training.dataset.iterator import Iterator
from chainer.training.iterators.iteration_state import (
    EpochAttributes,
    IterationState,
    OrderSamplerLike,
    Segment,
    check_arguments,
    serialize_state,
)

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class PrefetchIterator(EpochAttributes, Iterator):
    """Iterator that has the next batches read while the current one is used.

    Its state follows the batches that it returned, not the batches that it has read ahead.
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
        self.batch_size, self._shuffle = check_arguments(batch_size, shuffle, order_sampler)
        self.dataset = dataset
        self._repeat = repeat
        self._n_prefetch = n_prefetch
        self._previous_epoch_detail: float | None = None
        self._state = IterationState.first(len(dataset), self._shuffle, order_sampler)
        #: Batches being read: what collects each, and the state after it.
        self._ahead: deque[tuple[Any, IterationState]] = deque()

    def __getstate__(self) -> dict[str, Any]:
        # A copy is at the same position. It reads ahead by itself, with workers of its own.
        state = {**self.__dict__, "_ahead": deque()}
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
            raise StopIteration
        handle, state = self._ahead.popleft()
        try:
            batch = self._collect(handle)
        except BaseException:
            self._cancel(handle)
            self._discard()
            raise
        self._previous_epoch_detail = self.epoch_detail
        self._state = state
        self._fill(self._n_prefetch)
        return batch

    next = __next__

    def _fill(self, count: int) -> None:
        while len(self._ahead) < count:
            last = self._ahead[-1][1] if self._ahead else self._state
            step = last.advance(len(self.dataset), self.batch_size, self._repeat, keep_sampler=True)
            if step is None:
                return
            state, segments = step
            self._ahead.append((self._submit(segments), state))

    def _discard(self) -> None:
        """Forgets what was read ahead."""
        # An iterator whose constructor failed has no such attribute, but is finalized as well.
        ahead: deque[tuple[Any, IterationState]] = self.__dict__.get("_ahead", deque())
        while ahead:
            self._cancel(ahead.popleft()[0])

    def _move_to(self, state: IterationState) -> None:
        self._discard()
        self._state = state

    @property
    def epoch(self) -> int:  # type: ignore[override]
        """Number of completed epochs."""
        return self._state.epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._move_to(replace(self._state, epoch=epoch))

    @property
    def current_position(self) -> int:
        """Number of examples of the current epoch that were visited."""
        return self._state.position

    @current_position.setter
    def current_position(self, position: int) -> None:
        self._move_to(replace(self._state, position=position))

    @property
    def is_new_epoch(self) -> bool:  # type: ignore[override]
        """Whether the last batch completed an epoch."""
        return self._state.is_new_epoch

    @is_new_epoch.setter
    def is_new_epoch(self, is_new_epoch: bool) -> None:
        self._move_to(replace(self._state, is_new_epoch=is_new_epoch))

    @property
    def order_sampler(self) -> OrderSamplerLike | None:
        """Order sampler, or None. Another one takes effect at the next epoch or :meth:`reset`."""
        return self._state.sampler

    @order_sampler.setter
    def order_sampler(self, order_sampler: OrderSamplerLike | None) -> None:
        self._move_to(replace(self._state, sampler=order_sampler))

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
        return self._state.epoch_detail(len(self.dataset))

    @property
    def shuffle(self) -> bool:
        """Whether the iterator shuffles the examples."""
        return self._shuffle

    def reset(self) -> None:
        """Goes back to the beginning; shuffles again if the iterator shuffles."""
        self._move_to(self._state.restarted(len(self.dataset)))
        self._previous_epoch_detail = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the internal state of the iterator.

        It consists of position, epoch, the current order and the seed of the orders to come.
        Batches that were read ahead do not count.

        Args:
            serializer: Serializer or deserializer.
        """
        before = self._state
        state, self._previous_epoch_detail = serialize_state(
            serializer,
            before,
            self._previous_epoch_detail,
            len(self.dataset),
            self.batch_size,
            self._order_name,
        )
        if _differs(before, state):
            self._move_to(state)


def _differs(before: IterationState, after: IterationState) -> bool:
    """Tells whether a state was loaded, rather than saved."""
    fields = ("position", "epoch", "is_new_epoch")
    if any(getattr(before, field) != getattr(after, field) for field in fields):
        return True
    if (before.key != after.key).any():
        return True
    if before.order is None or after.order is None:
        return before.order is not after.order
    return len(before.order) != len(after.order) or bool((before.order != after.order).any())
