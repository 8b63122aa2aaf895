"""Order samplers that weight examples or put examples of similar size together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.training.iterators.order_samplers import Order, RandomSource, ShuffleOrderSampler

if TYPE_CHECKING:
    from chainer.core.typing import DatasetLike


class _RandomSampler(ShuffleOrderSampler):
    """Base of random samplers: a generator that is saved unless it is the global one."""

    def _uniform(self, size: int) -> numpy.ndarray[Any, Any]:
        generator = self._random
        if generator is None:
            return numpy.random.random(size)
        return generator.random(size)

    def _permutation(self, values: int | numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        generator = self._random
        return (numpy.random if generator is None else generator).permutation(values)


class WeightedOrderSampler(_RandomSampler):
    """Sampler that draws examples by their weights: for classes of different frequency.

    Examples are drawn independently, so that an epoch may have one of them several times and
    another one not at all.

    Args:
        weights (array): Weight of each example, shape ``(n,)``. They need not add up to one.
        n_samples (int): Number of examples of an epoch; by default the number of weights.
        random_state (numpy.random.RandomState, numpy.random.Generator or int): Source of the
            orders, or its seed; the global generator of ``numpy.random`` if None. A generator of
            one's own is saved with the iterator.

    Raises:
        ValueError: If a weight is negative or not finite, all are zero, or ``n_samples`` is not
            positive.

    Example:
        >>> sampler = chainer.iterators.WeightedOrderSampler([0, 1, 0], random_state=0)
        >>> sampler(np.arange(3), 0)
        array([1, 1, 1])
    """

    def __init__(
        self,
        weights: Sequence[float] | numpy.ndarray[Any, Any],
        n_samples: int | None = None,
        random_state: RandomSource | int | None = None,
    ) -> None:
        super().__init__(random_state)
        array = numpy.asarray(weights, numpy.float64)
        if array.ndim != 1 or not numpy.isfinite(array).all() or (array < 0).any():
            raise ValueError("weights must be a vector of finite numbers that are not negative")
        if not array.sum() > 0:
            raise ValueError("weights must not all be zero")
        self._n_samples = len(array) if n_samples is None else n_samples
        if self._n_samples <= 0:
            raise ValueError(f"n_samples must be positive, got {n_samples!r}")
        self._sums = numpy.cumsum(array / array.sum())

    def __call__(self, current_order: Order, current_position: int) -> Order:
        """Returns the indexes of examples, drawn with replacement."""
        drawn = numpy.searchsorted(self._sums, self._uniform(self._n_samples), side="right")
        # The last sum may be less than one by rounding; what is beyond it belongs to the last
        # example with a weight.
        last = numpy.searchsorted(self._sums, self._sums[-1])
        return numpy.minimum(drawn, last)


class BucketOrderSampler(_RandomSampler):
    """Sampler that makes batches of examples of similar size, such as sentences.

    Batches then need little padding. Examples are shuffled, cut into pools of several batches, and
    sorted by size within each pool; the batches are shuffled. The batch that is not full is the
    last one.

    Args:
        sizes (array, dataset or callable): Size of each example, shape ``(n,)``; or a dataset,
            whose examples have a length.
        batch_size (int): Size of a batch, as the iterator has it.
        pool (int): Number of batches of a pool: with more of them sizes are more similar, with
            fewer the orders are more random.
        random_state (numpy.random.RandomState, numpy.random.Generator or int): Source of the
            orders, or its seed; the global generator of ``numpy.random`` if None. A generator of
            one's own is saved with the iterator.
        key (callable): Returns the size of an example of a dataset; ``len`` by default.

    Raises:
        ValueError: If ``batch_size`` or ``pool`` is not positive.

    Example:
        >>> lengths = [9, 1, 8, 2, 9, 1, 8, 2]
        >>> sampler = chainer.iterators.BucketOrderSampler(lengths, batch_size=2, random_state=0)
        >>> iterator = chainer.iterators.SerialIterator(lengths, 2, order_sampler=sampler)
        >>> sorted(sorted(next(iterator)) for _ in range(4))
        [[1, 1], [2, 2], [8, 8], [9, 9]]
    """

    def __init__(
        self,
        sizes: Sequence[int] | numpy.ndarray[Any, Any] | DatasetLike,
        batch_size: int,
        pool: int = 100,
        random_state: RandomSource | int | None = None,
        key: Callable[[Any], int] | None = None,
    ) -> None:
        super().__init__(random_state)
        for name, value in (("batch_size", batch_size), ("pool", pool)):
            if value <= 0:
                raise ValueError(f"{name} must be positive, got {value!r}")
        numbers: Any = sizes
        if key is not None or (len(numbers) and numpy.ndim(numbers[0]) > 0):
            measure = len if key is None else key
            numbers = [measure(numbers[i]) for i in range(len(numbers))]
        self._sizes = numpy.asarray(numbers)
        self._batch_size = batch_size
        self._pool = pool

    def __call__(self, current_order: Order, current_position: int) -> Order:
        """Returns the indexes of all examples, in batches of similar size."""
        count, batch = len(self._sizes), self._batch_size
        order = self._permutation(count)
        step = batch * self._pool
        parts = [order[i : i + step] for i in range(0, count, step)]
        order = numpy.concatenate(
            [part[numpy.argsort(self._sizes[part], kind="stable")] for part in parts]
            or [numpy.empty(0, int)]
        )
        # A batch that is not full may only be the last one: otherwise all batches would shift.
        whole = count - count % batch
        batches = order[:whole].reshape(-1, batch)
        return numpy.concatenate([self._permutation(batches).ravel(), order[whole:]])
