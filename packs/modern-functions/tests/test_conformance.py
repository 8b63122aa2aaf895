"""Chainer's conformance suite on the table of this distribution."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from chainer_modern import pack
from chainer_modern.specs import SPECS


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_conformance(backend):
    if backend == "strict" and find_spec("chainer_strict_backend") is None:
        pytest.skip("the strict backend of Chainer's own tests is not installed")
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
        *("--pyargs", "chainer.testing.conformance.test_operations"),
        *("--chainer-specs", "chainer_modern.specs:SPECS", "--chainer-backend", backend),
    ]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **threads}, check=False
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    assert " passed" in result.stdout


def test_every_function_is_in_the_table():
    covered = {name for spec in SPECS for name in spec.functions}
    assert covered == set(pack.FUNCTIONS)
