"""Threads of NumPy's BLAS library stay out of the way of oneDNN's."""

import os
import subprocess
import sys
import textwrap

import pytest

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
