"""Threads of NumPy's BLAS library stay out of the way of oneDNN's."""

import os
import subprocess
import sys
import textwrap

import pytest

from chainer.backends.ideep import library
from chainer.core.arrays.kernel import Kernel, register_kernel
from chainer.core.config import blas_threads
from chainer.core.config.configuration import using_config
from chainer.core.registry import registries

SCRIPT = """
    import numpy as np
    import chainer
    import threadpoolctl

    def blas():
        np.ones((8, 8)) @ np.ones((8, 8))
        found = threadpoolctl.threadpool_info()
        return max(pool["num_threads"] for pool in found if pool["user_api"] == "blas")

    before = blas()
    chainer.functions.relu(np.ones(3, "f"))
    without = blas()
    chainer.config.use_ideep = "auto"
    chainer.functions.relu(np.ones(3, "f"))
    print(before, without, blas())
"""


def run(script, **variables):
    """Returns the output of a script, in a process of its own with these variables."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def counts(**variables):
    """Returns the threads of BLAS: at first, after a function on NumPy, after one on iDeep."""
    pytest.importorskip("threadpoolctl")
    return [int(count) for count in run(SCRIPT, **variables).split()]


def test_blas_gets_one_thread():
    assert counts(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2") == [2, 2, 1]


def test_not_where_ideep_has_one_thread():
    assert counts(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="2") == [2, 2, 2]


def test_not_where_the_user_forbids_it():
    variables = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    assert counts(CHAINER_IDEEP_LIMIT_BLAS="0", **variables) == [2, 2, 2]


BUSY = """
    import ctypes
    import numpy as np
    import chainer
    import chainer.functions as F
    from chainer.core.config import blas_threads, busy_threads

    openmp = ctypes.CDLL("libgomp.so.1")
    busy_threads.BusyMonitor._run = lambda self: None  # looks by hand
    busy_threads._load = lambda: 0.0
    chainer.config.use_ideep = "auto"
    x, W = np.ones((8, 16, 16, 16), "f"), np.ones((16, 16, 3, 3), "f")

    def step():
        gradient = chainer.Variable(W)
        y = F.convolution_2d(x, gradient)
        F.sum(y * y).backward()
        return [openmp.omp_get_max_threads(), float(gradient.grad.sum())]

    def busy(is_so):
        blas_threads._monitor._set(is_so, 0.0)
        return step()

    chainer.config.blas_threads = "auto"
    before = step()
    found = [busy(True), busy(False), busy(True)]
    chainer.config.blas_threads = None
    found.append(step())
    assert [count for count, _ in [before, *found]] == [2, 1, 2, 1, 2], found
    assert np.allclose([total for _, total in found], before[1], rtol=1e-5)
"""


def test_onednn_has_one_thread_while_other_programs_use_the_cores():
    pytest.importorskip("threadpoolctl")
    pytest.importorskip("ideep4py")
    run(BUSY, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")


CHANGES = """
    import ideep4py
    import numpy as np
    import chainer
    import chainer.functions as F
    import chainer.links as L
    from networks import LeNet5, Mixed

    chainer.config.use_ideep = "auto"
    rng = np.random.RandomState(0)
    random = lambda *shape: rng.randn(*shape).astype("f")
    images, rows, words = random(16, 1, 28, 28), random(20, 512), [random(16, 64) for _ in range(6)]
    lenet, mixed, norm = LeNet5(), Mixed(), L.LayerNormalization(512)
    lstm, gru = L.NStepLSTM(2, 64, 96, 0.0), L.NStepGRU(1, 64, 96, 0.0)

    def totals(run):
        def loss():
            y = run()
            return F.sum(y * y)
        return loss

    losses = {
        "lenet": (lenet, totals(lambda: lenet(images))),
        "mixed": (mixed, totals(lambda: mixed(images))),
        "norm": (norm, totals(lambda: F.gelu(F.softmax(norm(rows)) * rows, approximate="none"))),
        "lstm": (lstm, totals(lambda: F.concat(lstm(None, None, words)[2], axis=0))),
        "gru": (gru, totals(lambda: F.concat(gru(None, words)[1], axis=0))),
    }

    def gradients(name, forward, backward):
        model, loss = losses[name]
        np.random.seed(1)
        model.cleargrads()
        ideep4py.limit_num_threads(forward)
        value = loss()
        ideep4py.limit_num_threads(backward)
        value.backward()
        return [np.array(p.grad) for p in model.params()]

    for name in losses:
        expected = gradients(name, None, None)
        # Gradients of biases before a batch normalization are zero but for roundings.
        scale = max(np.abs(y).max() for y in expected)
        for forward, backward in ((None, 1), (1, None), (1, 1)):
            for x, y in zip(gradients(name, forward, backward), expected, strict=True):
                np.testing.assert_allclose(x / scale, y / scale, atol=1e-4, err_msg=name)
"""


def test_the_number_of_threads_may_change_between_forward_and_backward():
    pytest.importorskip("ideep4py")
    run(CHANGES, OMP_NUM_THREADS="2", PYTHONPATH=os.path.dirname(__file__))


def test_a_provider_that_takes_part_uses_the_threads_of_onednn(monkeypatch):
    calls = []

    class Provider:
        def share(self):
            calls.append("share")
            return True

    class Library:
        threads = 2

        def get_num_threads(self):
            return self.threads

        def limit_blas_threads(self):
            calls.append("limit")

    kernel = Kernel("shared_threads", "numpy:ndarray", "foreign", load=lambda backend: Provider())
    ideep4py = Library()
    monkeypatch.setattr(blas_threads, "_added", [])
    monkeypatch.delenv("CHAINER_IDEEP_LIMIT_BLAS", raising=False)
    register_kernel(kernel)
    try:
        library.arrange_threads(ideep4py)
        assert calls == ["limit"]  # the provider was not asked for
        with using_config("kernels", ("foreign",)):
            library.arrange_threads(ideep4py)
            assert calls == ["limit", "share", "limit"]
            monkeypatch.setenv("CHAINER_IDEEP_LIMIT_BLAS", "0")
            library.arrange_threads(ideep4py)
            assert calls == ["limit", "share", "limit", "share"]
            ideep4py.threads = 1
            library.arrange_threads(ideep4py)
            assert len(calls) == 4
    finally:
        registries.kernels.unregister(kernel.key)
