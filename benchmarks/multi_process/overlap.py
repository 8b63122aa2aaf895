"""Measures which part of the communication of gradients is hidden behind backward.

A step sends its gradients while backward computes others, and, for comparison, waits for each
message at once. What it spends in calls of MPI in the first case is not hidden: on processors that
are all busy, MPI takes the time that backward would have.
"""

import time

import chainermn
import numpy as np
from chainermn.communicators.communicator_base import CompletedRequest
from chainermn.sharding import FullyShardedOptimizer

import chainer


class Clock:
    """The seconds that were spent in calls."""

    def __init__(self):
        self.seconds = 0.0

    def call(self, function, *arguments):
        begin = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.seconds += time.perf_counter() - begin


class TimedRequest:
    def __init__(self, request, clock):
        self._request, self._clock = request, clock

    def test(self):
        return self._clock.call(self._request.test)

    def wait(self):
        return self._clock.call(self._request.wait)


def timed_communicator(is_blocking):
    """Returns a communicator that measures its sums of gradients, and the clock."""
    comm, clock = chainermn.create_communicator("naive"), Clock()

    def timed(original):
        def start(*arguments):
            request = clock.call(original, *arguments)
            if not is_blocking:
                return TimedRequest(request, clock)
            clock.call(request.wait)
            return CompletedRequest()

        return start

    comm.start_mean, comm.start_mean_at = timed(comm.start_mean), timed(comm.start_mean_at)
    return comm, clock


KINDS = {
    "buckets": lambda actual, comm: chainermn.create_multi_node_optimizer(
        actual, comm, overlap=True
    ),
    "zero3": FullyShardedOptimizer,
}


def overlap(comm, samples, make_model, words, shape):
    """Seconds in calls of MPI for gradients, of each kind, at once and while backward runs."""
    state = np.random.RandomState(comm.rank)
    x, t = (state.randint(0, words, shape).astype("i") for _ in range(2))
    runs, result = {}, {}
    for kind, make in KINDS.items():
        for is_blocking in (True, False):
            timed, clock = timed_communicator(is_blocking)
            model = make_model()
            optimizer = make(chainer.optimizers.Adam(), timed).setup(model)
            for _ in range(3):
                optimizer.update(model, x, t)
            name = f"{kind} {'at once' if is_blocking else 'overlapping'}"
            runs[name], result[name] = (optimizer, model, clock), []
    for _ in range(samples):
        for name, (optimizer, model, clock) in runs.items():
            comm.barrier()
            clock.seconds = 0.0
            optimizer.update(model, x, t)
            result[name].append(clock.seconds)
    return result


def hidden(seconds, kind):
    """Returns the part that is hidden, by the medians."""
    medians = [np.median(seconds[f"{kind} {way}"]) for way in ("overlapping", "at once")]
    return 1 - medians[0] / medians[1]
