"""Order of the work that ConcatWithAsyncTransfer submits, seen on a stand-in for CUDA."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from chainer.core.arrays import backend
from chainer.training.dataset.async_transfer import ConcatWithAsyncTransfer


class Event:
    def __init__(self, stream, number):
        self.stream, self.number, self.done = stream, number, False


class Stream:
    """Notes what is submitted to it."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def record(self):
        event = Event(self.name, len(self.log))
        self.log.append((self.name, "record", event.number))
        return event

    def wait_event(self, event):
        self.log.append((self.name, "wait", event.stream, event.number))


class Array(np.ndarray):
    def set(self, values, stream):
        stream.log.append((stream.name, "copy"))
        np.copyto(self, values)


class Device:
    """A device with a current stream; ``log`` is what was submitted, in order."""

    def __init__(self, name):
        self.name = name
        self.log = []
        self.allocated = 0
        compute, device = Stream("compute", self.log), self
        self.backend = SimpleNamespace(is_accelerator=True)

        def empty(shape, dtype):
            device.allocated += 1
            return np.empty(shape, dtype).view(Array)

        self.xp = SimpleNamespace(
            empty=empty,
            empty_like=lambda a: np.empty(a.shape, a.dtype).view(Array),
            cuda=SimpleNamespace(
                Stream=lambda non_blocking: Stream("transfer", self.log),
                get_current_stream=lambda: compute,
                alloc_pinned_memory=bytearray,
            ),
        )

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


@pytest.fixture
def devices(monkeypatch):
    found = {name: Device(name) for name in ("@cupy:0", "@cupy:1")}
    real = backend.get_device
    monkeypatch.setattr(backend, "get_device", lambda spec: found.get(spec) or real(spec))
    return found


def batch(start):
    return [(np.full(3, start + i, "f"), np.int32(i)) for i in range(2)]


def test_the_computation_waits_for_the_transfer(devices):
    convert = ConcatWithAsyncTransfer()
    x, t = convert(batch(0), "@cupy:0")
    np.testing.assert_array_equal(x, [[0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(t, [0, 1])
    log = devices["@cupy:0"].log
    recorded = [i for i, entry in enumerate(log) if entry[:2] == ("transfer", "record")]
    waited = [i for i, entry in enumerate(log) if entry[:3] == ("compute", "wait", "transfer")]
    copied = [i for i, entry in enumerate(log) if entry == ("transfer", "copy")]
    assert len(copied) == 2
    assert max(copied) < recorded[0] < waited[0]
    # Fresh memory may be in use by what was submitted before.
    assert log.index(("compute", "record", 0)) < log.index(("transfer", "wait", "compute", 0))


def test_the_next_transfer_overlaps_with_the_computation(devices):
    convert = ConcatWithAsyncTransfer()
    device = devices["@cupy:0"]
    convert(batch(0), "@cupy:0")
    allocated, spared = device.allocated, device.log[-1]
    assert spared[:2] == ("compute", "record")
    device.log.append(("compute", "training step"))
    x, _ = convert(batch(5), "@cupy:0")
    np.testing.assert_array_equal(x[:, 0], [5, 6])
    assert device.allocated == allocated
    # It waits for the point before the training step, not for the step.
    step = device.log.index(("compute", "training step"))
    wait = next(entry for entry in device.log[step:] if entry[:2] == ("transfer", "wait"))
    assert wait == ("transfer", "wait", "compute", spared[2])


def test_each_device_has_a_stream(devices):
    convert = ConcatWithAsyncTransfer()
    for _ in range(3):
        for name in devices:
            convert(batch(0), name)
    for device in devices.values():
        assert device.allocated == 2
        assert sum(entry == ("transfer", "copy") for entry in device.log) == 6


def test_dictionaries_single_arrays_and_empty_ones(devices):
    convert = ConcatWithAsyncTransfer()
    result = convert([{"a": np.ones(2, "f")}] * 3, "@cupy:0")
    assert result["a"].shape == (3, 2)
    assert convert([np.zeros((0, 2), "f")] * 2, "@cupy:0").shape == (2, 0, 2)


def test_buffers_are_kept_until_the_transfer_is_over(devices):
    convert = ConcatWithAsyncTransfer()
    for _ in range(3):
        convert(batch(0), "@cupy:0")
    (channel,) = convert._channels.values()
    assert len(channel._in_flight) == 3
    for event, _ in channel._in_flight:
        event.done = True
    convert(batch(0), "@cupy:0")
    assert len(channel._in_flight) == 1


def test_host_devices():
    assert type(ConcatWithAsyncTransfer()(batch(0), -1)[0]) is np.ndarray
    assert type(ConcatWithAsyncTransfer()(batch(0), None)[1]) is np.ndarray
