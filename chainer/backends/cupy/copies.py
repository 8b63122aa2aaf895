"""Copies of arrays between CUDA devices and streams, without waiting on the host."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from chainer.core.typing import Array


def copy_between_devices(cupy: ModuleType, source: Array, out: Array, stream: Any = None) -> None:
    """Copies an array to another device, in order with the work of the current streams of both.

    The host does not wait.

    Args:
        cupy: The module.
        source: Contiguous array.
        out: Contiguous array of the same shape and dtype.
        stream: Stream that makes the copy; the current one of the device of ``out`` if None.
    """
    with source.device:
        ready = cupy.cuda.get_current_stream().record()
    with out.device:
        current = cupy.cuda.get_current_stream()
        copying = current if stream is None else stream
        copying.wait_event(ready)
        if copying is not current:
            copying.wait_event(current.record())
        out.data.copy_from_device_async(source.data, source.nbytes, copying)
        done = copying.record()
        if copying is not current:
            current.wait_event(done)
    # Work on the device of the source waits for the copy, before it may reuse the memory.
    with source.device:
        cupy.cuda.get_current_stream().wait_event(done)


def copy_array(cupy: ModuleType, array: Array, out: Array, index: int | None, stream: Any) -> Array:
    """Copies an array; see :func:`chainer.backends.cuda.copy`.

    Args:
        cupy: The module.
        array: Array to be copied.
        out: Destination array or None.
        index: Index of the device of the copy if ``out`` is None; None for the same device.
        stream: Stream that makes the copy, or None.
    """
    if out is None:
        with cupy.cuda.Device(array.device.id if index is None else index):
            out = cupy.empty(array.shape, array.dtype)
    elif out.shape != array.shape:
        raise ValueError(f"out must have the shape {array.shape} of the array, got {out.shape}")
    with array.device:
        source = cupy.ascontiguousarray(array.astype(out.dtype, copy=False))
    if out.device != source.device:
        with out.device:
            target = out if out.flags.c_contiguous else cupy.empty(out.shape, out.dtype)
        copy_between_devices(cupy, source, target, stream)
        if target is not out:
            with out.device:
                out[...] = target
        return out
    with out.device:
        if stream is None or not out.flags.c_contiguous:
            out[...] = source
        else:
            current = cupy.cuda.get_current_stream()
            stream.wait_event(current.record())
            out.data.copy_from_device_async(source.data, source.nbytes, stream)
            current.wait_event(stream.record())
    return out
