"""Transfer of batches that overlaps with computation."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy

from chainer.core.arrays import backend
from chainer.core.arrays.device import Device
from chainer.core.typing import Array, Arrays, DeviceLike, HostArray
from chainer.training.dataset.convert import (
    Batch,
    Converted,
    Converter,
    Padding,
    concat_examples,
)

Stream: TypeAlias = Any
"""A ``cupy.cuda.Stream``, or None."""


class ConcatWithAsyncTransfer(Converter):
    """Interface to concatenate data and transfer them to GPU asynchronously.

    It enables to transfer next batch of input data to GPU while GPU is running kernels for training
    using current batch of input data.

    An instance of this class is mainly intended to be used as a converter function of an updater
    like below.

    .. code-block:: python

        from chainer.dataset import convert
        ...
        updater = chainer.training.updaters.StandardUpdater(
                       ...,
                       converter=convert.ConcatWithAsyncTransfer(),
                       ...)

    For devices in host memory there is nothing to overlap: it does what
    :func:`~chainer.dataset.concat_examples` does.

    Args:
        stream (cupy.cuda.Stream): CUDA stream. If None, a stream is automatically created on the
            first call. Data transfer operation is launched asynchronously using the stream.
        compute_stream (cupy.cuda.Stream): Stream of the computation, which waits for the transfer.
            If None, it is the one that is current when a batch is converted.

    Example:
        >>> convert = chainer.dataset.ConcatWithAsyncTransfer()
        >>> x, t = convert([(np.ones(2), 0), (np.zeros(2), 1)])
        >>> x.shape, t.shape
        ((2, 2), (2,))
    """

    def __init__(self, stream: Stream = None, compute_stream: Stream = None) -> None:
        self._stream = stream
        self._compute_stream = compute_stream
        self._channels: dict[Device, _Channel] = {}

    def __call__(
        self, batch: Batch, device: DeviceLike = None, padding: Padding = None
    ) -> Converted:
        """Concatenate data and transfer them to GPU asynchronously.

        Args:
            batch (list): A list of examples.
            device (int or device specifier): Device to which each array is sent; None or a host
                device means that the arrays stay in host memory.
            padding: Scalar value for extra elements, see :func:`~chainer.dataset.concat_examples`.

        Returns:
            Array, a tuple of arrays, or a dictionary of arrays. The type depends on the type of
            each example in the batch.

        Raises:
            RuntimeError: If the backend of the device is not available.

        .. seealso:: :func:`chainer.dataset.concat_examples`
        """
        target = None if device is None else backend.get_device(device)
        if target is None or not target.backend.is_accelerator:
            return concat_examples(batch, device, padding)
        columns = concat_examples(batch, None, padding)
        with target:
            channel = self._channels.get(target)
            if channel is None:
                channel = _Channel(target, self._stream, self._compute_stream)
                self._channels[target] = channel
            if isinstance(columns, tuple):
                return tuple(channel.send(columns))
            if isinstance(columns, dict):
                return dict(zip(columns, channel.send(tuple(columns.values()))))
            return channel.send((columns,))[0]


class _Channel:
    """Transfers to one device.

    Args:
        target: The device, which is current.
        stream: Stream of the transfers; a new one if None.
        compute_stream: Stream of the computation; the current one if None.
    """

    def __init__(self, target: Device, stream: Stream, compute_stream: Stream) -> None:
        self._xp = target.xp
        self._stream = self._xp.cuda.Stream(non_blocking=True) if stream is None else stream
        self._compute_stream = compute_stream
        # Page-locked host buffers of the last transfers, and the events that tell when they are
        # over.
        self._in_flight: list[tuple[Any, list[Any]]] = []
        # Device arrays for the next batch by shape and dtype, and the event after which the
        # computation has no more use for their memory.
        self._spare: dict[Any, list[Any]] = {}
        self._spare_event: Any = None

    def send(self, arrays: Arrays) -> list[Array]:
        """Returns the arrays on the device; the computation waits for their contents."""
        compute = self._compute_stream or self._xp.cuda.get_current_stream()
        with compute:
            results, fresh = self._allocate(arrays)
            # Memory that was allocated at the last call is free since then; the transfer need not
            # wait for the computation on the last batch. Fresh memory may still be in use by it.
            self._stream.wait_event(compute.record() if fresh else self._spare_event)
            buffers = [self._transfer(*pair) for pair in zip(arrays, results)]
            event = self._stream.record()
            compute.wait_event(event)
            for array in results:
                key = (array.shape, array.dtype)
                self._spare.setdefault(key, []).append(self._xp.empty_like(array))
            self._spare_event = compute.record()
        self._in_flight = [entry for entry in self._in_flight if not entry[0].done]
        self._in_flight.append((event, buffers))
        return results

    def _allocate(self, arrays: Arrays) -> tuple[list[Array], bool]:
        results: list[Any] = []
        fresh = False
        for array in arrays:
            spare = self._spare.get((array.shape, array.dtype))
            if spare:
                results.append(spare.pop())
            else:
                results.append(self._xp.empty(array.shape, array.dtype))
                fresh = True
        self._spare = {}
        return results, fresh

    def _transfer(self, array: HostArray, result: Array) -> HostArray:
        memory = self._xp.cuda.alloc_pinned_memory(max(array.nbytes, 1))
        pinned: HostArray = numpy.frombuffer(memory, array.dtype, array.size)
        pinned = pinned.reshape(array.shape)
        pinned[...] = array
        result.set(pinned, stream=self._stream)
        return pinned
