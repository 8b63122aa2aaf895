"""Iterator over batches that NVIDIA DALI makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from chainer.core.spans import measured
from chainer.core.utils._experimental import experimental
from chainer.training.dataset.iterator import Iterator
from chainer.training.iterators.iteration_state import earlier_epoch_detail

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class PipelineLike(Protocol):
    """The members of a pipeline that :class:`DaliIterator` uses."""

    batch_size: int

    def build(self) -> Any:
        """Prepares the pipeline."""
        ...

    def epoch_size(self) -> Any:
        """Returns a dictionary with the number of examples that each reader has."""
        ...

    def run(self) -> Any:
        """Returns the next batch."""
        ...


class DaliIterator(Iterator):
    """Iterator over the batches of a pipeline of `NVIDIA DALI`_.

    DALI reads and augments examples on the GPU. This iterator only counts: what a pipeline returns
    for a batch is passed on as it is, and a converter makes arrays of it. Whether examples are
    shuffled is up to the pipeline.

    .. note::
        This feature is experimental. Chainer does not import DALI itself; the pipeline is made with
        the package ``nvidia-dali``, or is any object with the same methods.

    .. _NVIDIA DALI: https://docs.nvidia.com/deeplearning/dali/

    Args:
        pipeline (nvidia.dali.Pipeline): Pipeline, an object with the attribute ``batch_size`` and
            the methods ``build``, ``epoch_size`` and ``run``. It is built by the first
            :meth:`next`.
        repeat (bool): If ``True``, it infinitely loops over the pipeline. Otherwise, it stops
            iteration at the end of the first epoch.

    Attributes:
        epoch (int): Number of completed epochs.
        current_position (int): Number of examples of the current epoch that were visited.
        is_new_epoch (bool): Whether the last batch completed an epoch.
        epoch_size (int): Number of examples of an epoch; 1 before the pipeline is built.

    Example:
        A pipeline of NVIDIA DALI has these methods, too:

        >>> class Pipeline:
        ...     batch_size = 2
        ...     def build(self):
        ...         pass
        ...     def epoch_size(self):
        ...         return {"reader": 4}
        ...     def run(self):
        ...         return "a batch"
        >>> iterator = chainer.iterators.DaliIterator(Pipeline(), repeat=False)
        >>> list(iterator)
        ['a batch', 'a batch']
        >>> iterator.epoch, iterator.epoch_size
        (1, 4)
    """

    def __init__(self, pipeline: PipelineLike, repeat: bool = True) -> None:
        experimental("chainer.iterators.DaliIterator")
        self.pipeline = pipeline
        self._repeat = repeat
        self._is_built = False
        self.epoch_size = 1
        self.reset()

    def reset(self) -> None:
        """Sets the counters back. The position of the pipeline does not change."""
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False
        self._previous_epoch_detail: float | None = None

    @measured("data")
    def __next__(self) -> Any:
        """Returns what the pipeline returns for the next batch.

        Raises:
            StopIteration: At the end of the first epoch, if ``repeat`` is False.
        """
        if not self._is_built:
            # Building takes long and allocates memory, so it waits until a batch is needed.
            self.pipeline.build()
            self.epoch_size = next(iter(self.pipeline.epoch_size().values()))
            self._is_built = True
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        self._previous_epoch_detail = self.epoch_detail
        batch = self.pipeline.run()
        epochs, position = divmod(self.current_position + self.batch_size, self.epoch_size)
        self.is_new_epoch = epochs > 0
        self.epoch += epochs if self._repeat else min(epochs, 1)
        self.current_position = position if self._repeat or not epochs else 0
        return batch

    next = __next__

    @property
    def batch_size(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of examples within each batch."""
        return self.pipeline.batch_size

    @property
    def repeat(self) -> bool:
        """Whether the iterator loops over the pipeline infinitely."""
        return self._repeat

    @property
    def epoch_detail(self) -> float:
        """Number of epochs including the fraction of the current one."""
        return self.epoch + self.current_position / self.epoch_size

    @property
    def previous_epoch_detail(self) -> float | None:
        """The value of :attr:`epoch_detail` at the previous iteration; None before the first."""
        return self._previous_epoch_detail

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the counters. The pipeline does not go to the saved position by itself.

        Args:
            serializer: Serializer or deserializer.
        """
        self.current_position = serializer("current_position", self.current_position)
        self.epoch = serializer("epoch", self.epoch)
        self.is_new_epoch = serializer("is_new_epoch", self.is_new_epoch)
        previous = self._previous_epoch_detail
        try:
            # -1 instead of None, since some serializers do not support None.
            loaded = serializer("previous_epoch_detail", -1.0 if previous is None else previous)
        except KeyError:
            loaded = earlier_epoch_detail(
                self.epoch, self.current_position, self.batch_size, self.epoch_size
            )
        self._previous_epoch_detail = None if loaded is None or loaded < 0 else loaded
