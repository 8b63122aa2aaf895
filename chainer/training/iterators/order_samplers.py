"""Order samplers, which decide the order of the examples of an epoch."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy

from chainer.core.utils.repr_texts import ShowsArguments

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer

Order: TypeAlias = numpy.ndarray[Any, Any]
"""Numbers of examples: an array of integers of shape (n,)."""

Key: TypeAlias = numpy.ndarray[Any, Any]
"""Seed of the examples of an iterator: four uint32."""

RandomSource: TypeAlias = numpy.random.RandomState | numpy.random.Generator
"""A random number generator of NumPy."""


class OrderSamplerLike(Protocol):
    """An order sampler, see :class:`~chainer.iterators.OrderSampler`."""

    def __call__(self, current_order: Order, current_position: int, /) -> Any:
        """Returns the order of the next epoch."""
        ...


class OrderSampler(ShowsArguments):
    """Base class of all order samplers.

    An iterator calls its order sampler before each epoch and visits the examples in the order it
    returns. Samplers that are random and define ``serialize(serializer)`` have their state saved
    with the iterator, so that a resumed run continues as an uninterrupted one would.

    Example:
        >>> class Reversed(chainer.iterators.OrderSampler):
        ...     def __call__(self, current_order, current_position):
        ...         return np.arange(len(current_order))[::-1]
        ...
        >>> iterator = chainer.iterators.SerialIterator([10, 20, 30], 3, order_sampler=Reversed())
        >>> next(iterator)
        [30, 20, 10]
    """

    def __call__(self, current_order: Order, current_position: int) -> Order:
        """Samples the order of the next epoch.

        Args:
            current_order (numpy.ndarray): Order of the epoch that ends;
                ``numpy.arange(len(dataset))`` at first. Not to be modified.
            current_position (int): Where the last batch of the epoch started in ``current_order``;
                0 at first.

        Returns:
            numpy.ndarray: One-dimensional array of indexes. Indexes may be repeated or left out;
            the length is the number of examples of the epoch, and must be the same each time.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")


class ShuffleOrderSampler(OrderSampler):
    """Sampler that generates random orders.

    The orders equal the orders in release 7: successive calls of ``random_state.permutation``.
    Iterators with ``shuffle=True`` use this sampler.

    Args:
        random_state (numpy.random.RandomState, numpy.random.Generator or int): Source of the
            orders, or its seed; the global generator of ``numpy.random`` if None. A generator of
            one's own is saved with the iterator.

    Example:
        >>> sampler = chainer.iterators.ShuffleOrderSampler(np.random.RandomState(0))
        >>> iterator = chainer.iterators.SerialIterator(list(range(5)), 5, order_sampler=sampler)
        >>> sorted(next(iterator))
        [0, 1, 2, 3, 4]
    """

    def __init__(self, random_state: RandomSource | int | None = None) -> None:
        if isinstance(random_state, (int, numpy.integer)):
            random_state = numpy.random.RandomState(random_state)
        self._random: RandomSource | None = random_state

    def __call__(self, current_order: Order, current_position: int) -> Order:
        """Returns a random permutation of ``numpy.arange(len(current_order))``."""
        if self._random is None:
            # Asked for each time, because numpy.random.seed() may be called meanwhile.
            return numpy.random.permutation(len(current_order))
        return self._random.permutation(len(current_order))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the state of the generator, unless that is the global one.

        Args:
            serializer: Serializer or deserializer.
        """
        generator = self._random
        if generator is None:
            # Its state belongs to the program, not to this sampler.
            return
        if isinstance(generator, numpy.random.RandomState):
            state = serializer(
                "state", json.dumps(generator.get_state(legacy=False), default=_to_list)
            )
            generator.set_state(json.loads(state))
        else:
            bits = generator.bit_generator
            bits.state = json.loads(serializer("state", json.dumps(bits.state, default=_to_list)))


def _to_list(value: numpy.ndarray[Any, Any] | numpy.generic) -> Any:
    return value.tolist()


def random_key() -> Key:
    """Returns a seed that depends on the state of ``numpy.random``, without changing that.

    Returns:
        numpy.ndarray: Four uint32.
    """
    # A digest of the state: drawing a number would change the sequence that programs see.
    _, keys, position, *_ = numpy.random.get_state(legacy=True)
    digest = hashlib.sha256(numpy.asarray(keys).tobytes() + int(position).to_bytes(4, "little"))
    return numpy.frombuffer(digest.digest()[:16], numpy.uint32).copy()


def example_seeds(key: Key, epoch: int, start: int, count: int) -> list[int]:
    """Returns seeds for the random augmentation of successive examples.

    Args:
        key (numpy.ndarray): Result of :func:`random_key`.
        epoch (int): Number of the epoch.
        start (int): Position of the first example in the epoch.
        count (int): Number of examples.

    Returns:
        list of int: Integers of 32 bits, each depending on key, epoch and position only.
    """
    low, high = key.view(numpy.uint64).tolist()
    positions = numpy.arange(start, start + count, dtype=numpy.uint64)
    mixed = _mix(positions + numpy.uint64(low))
    mixed = _mix(mixed ^ numpy.uint64((high + epoch) & 0xFFFFFFFFFFFFFFFF))
    return (mixed >> numpy.uint64(32)).tolist()


def _mix(x: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Finalizer of splitmix64 (Steele et al., 2014): every bit of the input affects all bits."""
    x = x + numpy.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return x ^ (x >> numpy.uint64(31))
