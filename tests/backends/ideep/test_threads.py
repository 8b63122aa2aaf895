"""Threads of NumPy's BLAS library stay out of the way of oneDNN's."""

import os
import subprocess
import sys
import textwrap

import pytest

from chainer.backends.ideep import library
from chainer.core.arrays.kernel import Kernel, register_kernel
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


def counts(**variables):
    """Returns the threads of BLAS: at first, after a function on NumPy, after one on iDeep."""
    pytest.importorskip("threadpoolctl")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(count) for count in done.stdout.split()]


def test_blas_gets_one_thread():
    assert counts(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2") == [2, 2, 1]


def test_not_where_ideep_has_one_thread():
    assert counts(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="2") == [2, 2, 2]


def test_not_where_the_user_forbids_it():
    variables = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    assert counts(CHAINER_IDEEP_LIMIT_BLAS="0", **variables) == [2, 2, 2]


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
