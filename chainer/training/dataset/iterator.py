"""The interface of iterators over datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from chainer.core.foreign_names import CheckedKeywords
from chainer.core.utils.repr_texts import Plain, call_text, dataset_text, read_or_none

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer


class Iterator(CheckedKeywords):
    """Base class of all dataset iterators.

    Iterator iterates over the dataset, yielding a minibatch at each iteration. Minibatch is a list
    of examples. Each implementation should implement an iterator protocol (e.g., the
    :meth:`__next__` method).

    Note that, even if the iterator supports setting the batch size, it does not guarantee that each
    batch always contains the same number of examples. For example, if you let the iterator stop at
    the end of the sweep, the last batch may contain a fewer number of examples.

    The interface between the iterator and the underlying dataset is not fixed, and up to the
    implementation.

    Each implementation should provide the following attributes (not needed to be writable).

    - ``batch_size``: Number of examples within each minibatch.
    - ``epoch``: Number of completed sweeps over the dataset.
    - ``epoch_detail``: Floating point number version of the epoch. For example, if the iterator is
      at the middle of the dataset at the third epoch, then this value is 2.5.
    - ``previous_epoch_detail``: The value of ``epoch_detail`` at the previous iteration. This value
      is None before the first iteration.
    - ``is_new_epoch``: True if the epoch count was incremented at the last update.

    Each implementation should also support serialization to resume/suspend the iteration.

    Example:
        An iterator that gives one example after the other:

        >>> class OneByOne(chainer.dataset.Iterator):
        ...     batch_size = 1
        ...     def __init__(self, dataset):
        ...         self.dataset = dataset
        ...         self.position = 0
        ...     def __next__(self):
        ...         if self.position == len(self.dataset):
        ...             raise StopIteration
        ...         self.position += 1
        ...         return [self.dataset[self.position - 1]]
        >>> list(OneByOne([3, 4]))
        [[3], [4]]
    """

    def __repr__(self) -> str:
        dataset = read_or_none(lambda: getattr(self, "dataset", None))
        text = None if dataset is None else Plain(dataset_text(dataset))
        names = ("batch_size", "_repeat", "_shuffle", "epoch", "epoch_detail")
        values = [(n.lstrip("_"), read_or_none(lambda n=n: getattr(self, n))) for n in names]
        return call_text(self, [("dataset", text), *values])

    # Declared for type checkers only: subclasses without an attribute raise AttributeError.
    batch_size: Any
    epoch: Any
    is_new_epoch: Any

    def __iter__(self) -> Iterator:
        """Returns self."""
        return self

    def __next__(self) -> Any:
        """Returns the next batch.

        This is a part of the iterator protocol of Python. It may raise the :class:`StopIteration`
        exception when it stops the iteration.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __next__()")

    def next(self) -> Any:
        """Python2 alternative of ``__next__``.

        It calls :meth:`__next__` by default.
        """
        return self.__next__()

    def finalize(self) -> None:
        """Finalizes the iterator and possibly releases the resources.

        This method does nothing by default. Implementation may override it to better handle the
        internal resources. It may be called more than once.
        """

    def __del__(self) -> None:
        """Calls :meth:`finalize`, so that an iterator that is garbage ends its workers."""
        self.finalize()

    def __enter__(self) -> Self:
        """With statement context manager method

        This method returns the iterator itself. Implementation may override it to better handle the
        internal resources by with statement.
        """
        return self

    def __exit__(self, *_: object) -> None:
        """With statement context manager method

        It calls :meth:`finalize`. Implementation may override it to better handle the internal
        resources by with statement.
        """
        self.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the internal state of the iterator.

        This is a method to support serializer protocol of Chainer.

        .. note::
            It should only serialize the internal state that changes over the iteration. It should
            not serialize what is set manually by users such as the batch size.

        Args:
            serializer: Serializer or deserializer.
        """
