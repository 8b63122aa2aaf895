"""Gradients that are averaged in groups while backward computes the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import Link, Parameter
from chainer.backend import backend_of
from chainermn.communicators.communicator_base import CommunicatorBase, Request
from chainermn.communicators.gradients import initialized_params

if TYPE_CHECKING:
    from chainer import Variable
    from chainer.typing import Array

#: Large enough that latency does not count, small enough that most models have several.
DEFAULT_BUCKET_BYTES = 4 * 1024 * 1024


class Bucket:
    """Parameters whose gradients travel in one buffer.

    Args:
        params: Parameters of one dtype and device.

    Attributes:
        params: The parameters.
        missing: Ids of the parameters whose gradients are not in the buffer yet.
        request: The communication, once it was started.
    """

    def __init__(self, params: list[Parameter]) -> None:
        self.params = params
        first = params[0].array
        backend = backend_of(first)
        # MPI has no float16, and sums in float16 would overflow.
        dtype = numpy.float32 if first.dtype.itemsize == 2 else first.dtype
        with backend.use(backend.device_of(first)):
            self.buffer = backend.xp.empty(sum(param.size for param in params), dtype)
        self.views: dict[int, Array] = {}
        start = 0
        for param in params:
            part = self.buffer[start : start + param.size]
            self.views[id(param)] = part.reshape(param.shape)
            start += param.size
        self.missing: set[int] = set()
        self.request: Request | None = None

    def begin(self) -> None:
        """Empties the bucket."""
        self.missing = set(self.views)
        self.request = None


class GradientBuckets:
    """The buckets of a model.

    In the first backward pass, the order in which gradients become complete is noted. The order at
    rank 0 becomes the order of the buckets everywhere: all processes have to start the same sums in
    the same order.

    Args:
        comm: Communicator.
        target: The model.
        bucket_bytes: Size from which a bucket is full.
    """

    def __init__(self, comm: CommunicatorBase, target: Link, bucket_bytes: int) -> None:
        self._comm = comm
        self._bucket_bytes = bucket_bytes
        self._named = dict(initialized_params(target))
        self._names = {id(param): name for name, param in self._named.items()}
        self._order: list[str] = []
        self._buckets: list[Bucket] | None = None
        self._bucket_of: dict[int, Bucket] = {}
        self._next = 0
        #: Whether a backward pass has put gradients in that were not averaged yet.
        self.is_active = False

    def begin(self) -> None:
        """Prepares for a backward pass."""
        self.is_active = True
        self._order = []
        self._next = 0
        for bucket in self._buckets or ():
            bucket.begin()

    def add(self, variable: Variable, gradient: Array) -> None:
        """Takes a gradient that is complete; see :func:`backward_watched`.

        Args:
            variable: Parameter, or another leaf, which is ignored.
            gradient: Value that the backward pass adds to its gradient.
        """
        name = self._names.get(id(variable))
        if name is None:
            return
        if self._buckets is None:
            self._order.append(name)
            return
        bucket = self._bucket_of[id(variable)]
        view = bucket.views[id(variable)]
        previous = variable.grad
        view[...] = backend_of(view).to_xp(gradient)
        if previous is not None:  # of mini-batches before
            view += previous
        bucket.missing.discard(id(variable))
        self._start_complete()
        # MPI makes progress only while it is called.
        for started in self._buckets[: self._next]:
            if started.request is not None:
                started.request.test()

    def _start_complete(self) -> None:
        buckets = self._buckets or []
        while self._next < len(buckets) and not buckets[self._next].missing:
            bucket = buckets[self._next]
            bucket.request = self._comm.start_mean(bucket.buffer)
            self._next += 1

    def finish(self) -> None:
        """Starts what is left, waits, and writes the means into the gradients."""
        if self._buckets is None:
            self._make_buckets()
        buckets = self._buckets or []
        for bucket in buckets:
            for param in bucket.params:
                if id(param) in bucket.missing:
                    # The pass did not reach it, or this is the first pass.
                    view, grad = bucket.views[id(param)], param.grad
                    view[...] = 0 if grad is None else grad
            bucket.missing.clear()
        self._start_complete()
        for bucket in buckets:
            assert bucket.request is not None
            bucket.request.wait()
            for param in bucket.params:
                mean = bucket.views[id(param)].astype(param.dtype, copy=True)
                param.grad = mean
        self.is_active = False

    def _make_buckets(self) -> None:
        order = self._comm.bcast_obj(self._order)
        order += [name for name in self._named if name not in set(order)]
        groups: list[list[Parameter]] = []
        for name in order:
            param = self._named[name]
            key = (param.dtype, param.device)
            last = groups[-1] if groups else None
            full = last is None or sum(p.array.nbytes for p in last) >= self._bucket_bytes
            if last is None or full or (last[0].dtype, last[0].device) != key:
                groups.append([param])
            else:
                last.append(param)
        self._buckets = [Bucket(group) for group in groups]
        for bucket in self._buckets:
            bucket.begin()
            for param in bucket.params:
                self._bucket_of[id(param)] = bucket
