"""Compiled loops on the threads of OpenMP."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
import warnings

import chainer
import numpy as np
import pytest

from chainer_numba import openmp, workers

START = """
    import os
    from concurrent.futures import ThreadPoolExecutor

    import chainer
    import chainer.functions as F
    import ideep4py
    import numpy as np

    from chainer_numba import native_threads, openmp, workers

    def share():
        assert openmp.SharedThreadsKernel(None).share()
        native_threads.run_with = None  # they are not asked any more

    def results(dtype="f"):
        data = np.random.RandomState(0).randn(2048, 1024).astype(dtype)
        data[3, 5], data[700, 9], data[1100, 2] = np.nan, np.inf, -np.inf
        x = chainer.Variable(data.T if dtype == "e" else data)
        with np.errstate(invalid="ignore"):
            y = F.softmax(F.sigmoid(x))
            z = F.softmax_cross_entropy(x[:0], np.zeros(0, "i")) if dtype == "f" else y
            F.sum(y * y).backward()
        return y.array, x.grad, z.array

    def same(found, expected):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_array_equal(x, y)

    chainer.config.kernels = ("numba",)
"""


def run(script, **variables):
    """Runs a script in a process of its own: threads are shared for the rest of a process."""
    pytest.importorskip("ideep4py")
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "2")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(START) + textwrap.dedent(script)],
        env=os.environ | threads | variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_loops_have_the_bits_of_the_workers(dtype):
    run(
        f"""
        expected = results({dtype!r})
        if {dtype!r} == "f":
            assert native_threads._count  # large enough for two threads
        share()
        for _ in range(3):
            same(results({dtype!r}), expected)
        """
    )


def test_parts_run_on_threads_of_openmp():
    run(
        """
        import threading

        share()
        found = set()
        for _ in range(2):
            workers.run_parts(lambda *_: found.add(threading.get_native_id()), (0, 1, 2), ())
        assert len(found) == 2 and threading.get_native_id() in found
        # Threads that Python did not start.
        assert threading.active_count() == 1
        """
    )


def test_one_thread_makes_all_parts_where_onednn_has_one():
    run(
        """
        import threading

        share()
        expected = results()
        ideep4py.limit_num_threads(1)
        ideep4py.ops.relu(np.ones((8, 8), "f"))
        found = []
        here = threading.get_native_id()
        part = lambda i, *_: found.append((i, threading.get_native_id()))
        workers.run_parts(part, (0, 1, 2), ())
        assert found == [(0, here), (1, here)], found
        same(results(), expected)
        """
    )


@pytest.mark.parametrize("variables", [{}, {"OMP_DYNAMIC": "true"}, {"OMP_THREAD_LIMIT": "2"}])
def test_more_parts_than_threads(variables):
    run(
        """
        share()
        found = []
        workers.run_parts(lambda *part: found.append(part), (0, 2, 4, 6, 8, 10), ("x",))
        assert sorted(found) == [(i, 2 * i, 2 * i + 2, "x") for i in range(5)]
        """,
        **variables,
    )


def test_calls_from_several_threads():
    run(
        """
        expected = results()
        share()
        def work(_):
            with chainer.using_config("kernels", ("numba",)):
                return results()
        with ThreadPoolExecutor(3) as pool:
            for found in pool.map(work, range(6)):
                same(found, expected)
        """
    )


def test_a_child_process_has_threads_of_its_own():
    run(
        """
        share()
        expected = results()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                same(results(), expected)
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        same(results(), expected)
        """
    )


def test_an_error_in_a_part_is_raised():
    run(
        """
        share()

        def loop(part, start, stop):
            if part:
                raise RuntimeError("no")

        for _ in range(2):
            try:
                workers.run_parts(loop, (0, 1, 2), ())
            except RuntimeError as error:
                assert str(error) == "no"
            else:
                raise AssertionError
        """
    )


def test_a_loop_within_a_part():
    run(
        """
        share()
        found = []
        inner = lambda *part: found.append(part)
        workers.run_parts(lambda *_: workers.run_parts(inner, (0, 1, 2), ()), (0, 1, 2), ())
        assert sorted(found) == [(0, 0, 1), (0, 0, 1), (1, 1, 2), (1, 1, 2)]
        """
    )


def test_not_without_openmp(monkeypatch):
    def missing(*args, **kwargs):
        raise OSError

    monkeypatch.setattr(ctypes, "CDLL", missing)
    openmp._openmp.cache_clear()
    try:
        assert not openmp.SharedThreadsKernel(None).share()
    finally:
        openmp._openmp.cache_clear()
    assert workers._run_elsewhere is None


def test_only_for_those_who_ask_for_these_kernels():
    shared_threads = chainer.kernel.get_operation("shared_threads")
    array = np.empty(0, np.float32)
    with warnings.catch_warnings(), chainer.using_config("accelerate", "never"):
        assert not shared_threads.select(array).share()
    with chainer.using_config("accelerate", "auto"):
        assert shared_threads.explain(array).chosen.provider == "numba"
