"""Runs the tests in ``ranks`` in 1, 2 and 4 processes, one mpiexec for all of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chainermn.launching.finding import LaunchError, find_launcher

#: Numbers of processes; CHAINERMN_TEST_SIZES=2 runs one of them.
SIZES = [int(size) for size in os.environ.get("CHAINERMN_TEST_SIZES", "1,2,4").split(",")]
#: A deadlock is the usual failure. There is no second try.
SECONDS = 300


@pytest.mark.parametrize("size", SIZES)
def test_in_processes(size):
    try:
        launcher = find_launcher()
    except LaunchError as error:
        pytest.skip(f"no MPI: {error}")
    folder = Path(__file__).parent
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [
        *(launcher.path, "-n", str(size), sys.executable, "-m", "pytest", "-q", "-x"),
        *("-p", "no:cacheprovider", "-p", "no:xdist", str(folder / "ranks")),
    ]
    done = subprocess.run(
        command, cwd=folder.parent, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-8000:]
    assert output.count(" passed") == size, output[-8000:]
