"""The tests of kernels and of gradients of models with less than this CPU has.

oneDNN has other code and other layouts for AVX2 than for AVX-512. It reads ``ONEDNN_MAX_CPU_ISA``
when it is loaded: the tests run again in a process of their own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = [
    str(HERE / "test_kernels.py"),
    f"{HERE / 'test_models.py'}::test_gradients_are_as_exact_as_those_of_numpy",
]


@pytest.mark.slow
def test_kernels_and_gradients_with_avx2():
    import ideep4py

    if not ideep4py.CPU_ISA.startswith("avx512"):
        pytest.skip(f"this CPU has {ideep4py.CPU_ISA}: the tests of this process run with it")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(
        command,
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"},
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
