"""Calls on several threads, from several threads, and after a fork."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import chainer
import chainer.functions as F
import numpy as np
import pytest

from chainer_numba import launching, workers


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


@pytest.mark.usefixtures("any_size", "with_numba")
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing_but_sums_of_parts(threads, use_threads):
    expected = results()
    use_threads(threads)
    first, second = results(), results()
    for a, b, c in zip(first, second, expected):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("any_size")
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
def test_a_child_process_has_threads_of_its_own(use_threads):
    use_threads(2)
    x = np.full((512, 512), -1, np.float32)
    F.sigmoid(x)  # the threads are running
    assert workers._team.workers
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if np.allclose(F.sigmoid(x).array, 1 / (1 + np.e)) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_an_error_in_a_thread_is_raised(use_threads):
    use_threads(2)

    def loop(part, start, stop):
        if part:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        launching.launch(loop, 1000, 1000)
