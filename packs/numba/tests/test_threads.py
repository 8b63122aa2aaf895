"""Calls on several threads, from several threads, and after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import chainer
import chainer.functions as F
import numba
import numpy as np
import pytest

from chainer_numba import divided_calls, launching, native_threads, workers


def results():
    random = np.random.RandomState(0)
    x = chainer.Variable(random.randn(70, 300).astype(np.float32))
    images = chainer.Variable(random.randn(6, 8, 40, 40).astype(np.float32))
    labels = random.randint(0, 300, 70)
    outputs = [
        F.sigmoid(x),
        F.softmax(x),
        F.softmax(images),
        F.layer_normalization(x, np.ones(300, np.float32), np.zeros(300, np.float32)),
        F.batch_normalization(x, np.ones(300, np.float32), np.zeros(300, np.float32)),
        F.max_pooling_2d(images, 2),
        F.sum(images, axis=1),
        F.softmax_cross_entropy(x, labels),
    ]
    total = sum(F.sum(y * y) for y in outputs)
    total.backward()
    return [y.array for y in outputs] + [x.grad, images.grad]


@pytest.fixture(params=["native", "python"])
def kind_of_threads(request, monkeypatch):
    """Threads without Python, which only Linux has, and threads of Python."""
    if request.param == "python":
        monkeypatch.setattr(native_threads, "run_with", lambda threads: None)
    elif native_threads.run_with(0) is None:
        pytest.skip("only threads of Python on this system")
    return request.param


@pytest.mark.usefixtures("any_size", "with_numba", "kind_of_threads")
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing_but_sums_of_parts(threads, use_threads):
    expected = results()
    use_threads(threads)
    first, second = results(), results()
    for a, b, c in zip(first, second, expected):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("any_size", "kind_of_threads")
def test_calls_from_several_threads(use_threads):
    use_threads(2)

    def work(_):
        with chainer.using_config("kernels", ("numba",)):
            return results()

    expected = work(None)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(work, range(6)):
            for a, b in zip(found, expected):
                np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("with_numba")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_has_threads_of_its_own(use_threads, kind_of_threads):
    use_threads(2)
    x = np.full((512, 512), -1, np.float32)
    F.sigmoid(x)  # the threads are running
    assert native_threads._count if kind_of_threads == "native" else workers._team.workers
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if np.allclose(F.sigmoid(x).array, 1 / (1 + np.e)) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.usefixtures("kind_of_threads")
def test_an_error_in_a_thread_is_raised(use_threads):
    use_threads(2)

    def loop(part, start, stop):
        if part:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        launching.launch(loop, 1000, 1000)


# Not kept on disk: the name of the module of a test depends on how it is run.
@numba.njit(nogil=True)
def _marked(part, start, stop, number, flag, x, y, z):
    for i in range(start, stop):
        y[i] += x[i] + number if flag else 0
        z[i] = part


@numba.njit(nogil=True)
def _refusing(part, start, stop, x):
    if part == 1:
        raise ValueError("no such row")
    x[start:stop] += 1


@pytest.fixture
def run_with():
    if native_threads.run_with(0) is None:
        pytest.skip("only threads of Python on this system")
    return native_threads.run_with


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_each_part_is_computed_once(run_with, parts, dtype):
    size = 200
    x, y, z = np.arange(size, dtype=dtype), np.zeros(size, dtype), np.zeros(size, np.int64)
    bounds = [size * i // parts for i in range(parts + 1)]
    calls = 50
    for _ in range(calls):
        assert divided_calls.call(_marked, run_with(2), bounds, (3, True, x, y, z))
    np.testing.assert_array_equal(y, calls * (np.arange(size) + 3))
    expected = [i for i in range(parts) for _ in range(bounds[i], bounds[i + 1])]
    np.testing.assert_array_equal(z, expected)


def test_views_and_read_only_arrays(run_with):
    x = np.arange(40.0)[::4]
    x.flags.writeable = False
    y, z = np.zeros((10, 2))[:, 1], np.zeros(10)
    assert divided_calls.call(_marked, run_with(1), (0, 5, 10), (0, True, x, y, z))
    np.testing.assert_array_equal(y, x)


def test_a_part_that_fails(run_with):
    x = np.zeros(10)
    assert not divided_calls.call(_refusing, run_with(1), (0, 5, 10), (x,))
    with pytest.raises(ValueError, match="no such row"):
        workers.run_parts(_refusing, (0, 5, 10), (x,))
    # The threads are as good as before.
    test_each_part_is_computed_once(run_with, 3, np.float32)


def test_threads_wake_up(run_with):
    # Long enough for the threads to have gone to sleep.
    for _ in range(3):
        test_each_part_is_computed_once(run_with, 3, np.float32)
        time.sleep(0.02)


def test_a_busy_thread_is_not_waited_for(run_with):
    """The caller computes the parts that no other thread has begun."""
    code = """
import numpy as np
from chainer_numba import divided_calls, native_threads
native_threads.threading.Thread.start = lambda thread: None
from test_threads import _marked
x, y, z = np.arange(40.0), np.zeros(40), np.zeros(40)
assert divided_calls.call(_marked, native_threads.run_with(3), (0, 10, 20, 40), (1, True, x, y, z))
assert (y == x + 1).all()
"""
    folder = os.path.dirname(__file__)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, timeout=240)
