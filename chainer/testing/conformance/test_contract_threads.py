"""The contract of threads: threads that compute at the same time do not disturb each other."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import os
import sys
import threading
import time

import numpy as np
import pytest

import chainer
from chainer.core.arrays.backend import using_device
from chainer.core.autograd.variable import Variable
from chainer.core.registry import registries
from chainer.testing.array import to_host
from chainer.testing.conformance.contract import assert_on_device
from chainer.testing.conformance.refusals import requires

_THREADS, _ROUNDS = 4, 3

#: Code that is not the plugin's: to interrupt it would take time and find nothing.
_NOT_UNDER_TEST = tuple(os.path.dirname(str(module.__file__)) + os.sep for module in (chainer, np))
_STANDARD_LIBRARY = os.path.dirname(str(threading.__file__)) + os.sep


@pytest.fixture
def often_switching():
    """Threads take turns after each second line of the code under test.

    Without it a race would show by chance only, and the less the more the machine has to do.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threading.settrace(_trace)
    yield
    threading.settrace(None)  # pyright: ignore[reportArgumentType]
    sys.setswitchinterval(before)


def _trace(frame, event, argument):
    """Traces the frames of the code under test, and lets other threads run between its lines."""
    file = frame.f_code.co_filename
    if file.startswith(_NOT_UNDER_TEST):
        return None
    if file.startswith(_STANDARD_LIBRARY) and "site-packages" not in file:
        return None
    if frame.f_lineno % 2:
        time.sleep(1e-6)
    return _trace


def _together(work):
    """Runs ``work(number)`` in several threads at once; returns the results by number."""
    results, errors = {}, []
    barrier = threading.Barrier(_THREADS)

    def run(number):
        try:
            barrier.wait(timeout=60)
            results[number] = [work(number, turn) for turn in range(_ROUNDS)]
        except BaseException as error:  # raised below, in the thread of the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def _gradient(device, number, turn):
    """Returns the value and the gradient of a small network, whose shapes depend on the thread."""
    functions = registries.functions
    rng = np.random.default_rng(100 * number + turn)
    x, W = (rng.uniform(-1, 1, shape).astype("f") for shape in ((3 + number, 4), (2, 4)))
    with using_device(device):
        v = Variable(device.send(x))
        y = functions.get("softmax")(functions.get("linear")(v, device.send(W)), axis=1)
        functions.get("sum")(functions.get("tanh")(y) * y).backward()
    return np.array(to_host(y)), np.array(to_host(v.grad))


@requires("threads")
def test_threads_compute_what_one_thread_computes(device, often_switching):
    results = _together(lambda number, turn: _gradient(device, number, turn))
    for number, found in results.items():
        for turn, arrays in enumerate(found):
            for array, expected in zip(arrays, _gradient(device, number, turn), strict=True):
                np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-7)


@requires("threads")
def test_threads_have_current_devices_of_their_own(backend, often_switching):
    devices = backend.devices()

    def work(number, turn):
        place = devices[(number + turn) % len(devices)]
        with place:
            assert backend.device() == place
            array = backend.xp.zeros((2,), "float32")
            assert_on_device(array + 1, place)

    _together(work)


@requires("threads")
def test_threads_transfer_at_the_same_time(backend, device, often_switching):
    def work(number, turn):
        host = np.full((50,), 10 * number + turn, np.float32)
        with device:
            there = backend.from_host(host, device) * 2
        np.testing.assert_array_equal(backend.to_host(there), host * 2)

    _together(work)
