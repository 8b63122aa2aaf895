"""What decides the order of the examples of an epoch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer

Order = numpy.ndarray[Any, Any]


OrderSamplerLike: TypeAlias = Callable[[Order, int], Order]
"""An :class:`OrderSampler`, or any function of the current order and position."""


class OrderSampler:
    """Base class of all order samplers.

    An iterator calls its order sampler before each epoch and visits the examples in the order it
    returns. Samplers that are random and define ``serialize(serializer)`` have their state saved
    with the iterator, so that a resumed run continues as an uninterrupted one would.
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

    This is what iterators with ``shuffle=True`` do, with a generator of one's own.

    Args:
        random_state (numpy.random.RandomState, numpy.random.Generator or int): Source of the
            orders, or its seed. If None, a new one is derived from the state of ``numpy.random`` at
            the first call.
    """

    def __init__(self, random_state: Any = None) -> None:
        if isinstance(random_state, (int, numpy.integer)):
            random_state = numpy.random.RandomState(random_state)
        self._random: Any = random_state

    def __call__(self, current_order: Order, current_position: int) -> Order:
        """Returns a random permutation of the current order."""
        return self._generator().permutation(current_order)

    def _generator(self) -> Any:
        if self._random is None:
            self._random = numpy.random.RandomState(random_key())
        return self._random

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the state of the generator.

        Args:
            serializer: Serializer or deserializer.
        """
        generator = self._generator()
        if isinstance(generator, numpy.random.RandomState):
            state = serializer(
                "state", json.dumps(generator.get_state(legacy=False), default=_to_list)
            )
            generator.set_state(json.loads(state))
        else:
            bits = generator.bit_generator
            bits.state = json.loads(serializer("state", json.dumps(bits.state, default=_to_list)))


def _to_list(value: Any) -> Any:
    return value.tolist()  # arrays and NumPy scalars in the state of a generator


def random_key() -> numpy.ndarray[Any, Any]:
    """Returns a seed that depends on the state of ``numpy.random``, without changing that.

    Returns:
        numpy.ndarray: Four uint32.
    """
    # A hash of the state: drawing a number would change what the program draws next.
    _, keys, position, *_ = numpy.random.get_state(legacy=True)
    digest = hashlib.sha256(numpy.asarray(keys).tobytes() + int(position).to_bytes(4, "little"))
    return numpy.frombuffer(digest.digest()[:16], numpy.uint32).copy()


def shuffled(order: Order, key: numpy.ndarray[Any, Any], epoch: int) -> Order:
    """Returns the order of an epoch: a permutation that depends on the arguments only.

    Every later order follows from the current one, the key and the number of the epoch. An iterator
    that was saved and loaded therefore goes on as if it had not been interrupted. Other uses of
    ``numpy.random`` in between, and prefetching, do not change the orders.

    Args:
        order (numpy.ndarray): Order of the epoch before.
        key (numpy.ndarray): What :func:`random_key` returned.
        epoch (int): Number of the epoch that begins.
    """
    return numpy.random.RandomState([*key.tolist(), epoch & 0xFFFFFFFF]).permutation(order)


def example_seeds(key: numpy.ndarray[Any, Any], epoch: int, start: int, count: int) -> list[int]:
    """Returns seeds for the random augmentation of successive examples.

    Args:
        key (numpy.ndarray): What :func:`random_key` returned.
        epoch (int): Number of the epoch.
        start (int): Position of the first example in the epoch.
        count (int): Number of examples.

    Returns:
        list of int: Integers of 32 bits, each depending on key, epoch and position only.
    """
    # All examples in a few array operations. A generator for each would take longer than reading.
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
