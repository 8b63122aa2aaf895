"""Tests that run in each process of an MPI program: ``mpiexec -n 2 pytest tests/ranks``.

All processes collect the same tests and run them in the same order. When one fails, the whole
program is aborted with its report: the others may be waiting for its messages.
"""

import faulthandler
import os
import shutil
import sys
import tempfile

import numpy as np
import pytest

#: Where a test hangs, stacks of all processes are printed and the program ends.
SECONDS_FOR_A_TEST = 240


@pytest.fixture(scope="session")
def comm():
    import chainermn

    made = chainermn.create_communicator("naive")
    yield made
    made.barrier()  # others may still read files of this process


def pytest_configure(config):
    # Of its own: processes that clean the folder of all users at once disturb each other.
    if config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="chainermn-tests-")
        config.add_cleanup(lambda: shutil.rmtree(config.option.basetemp, ignore_errors=True))


@pytest.fixture
def everyone(comm):
    """Returns what a function of the rank gives for each rank: what other processes have."""
    return lambda function: [function(rank) for rank in range(comm.size)]


@pytest.fixture(scope="session")
def shared_path(comm, tmp_path_factory):
    """A folder that all processes know."""
    path = tmp_path_factory.mktemp("shared") if comm.rank == 0 else None
    return comm.bcast_obj(path)


@pytest.fixture(autouse=True)
def _together(comm):
    np.random.seed(comm.rank)
    faulthandler.dump_traceback_later(SECONDS_FOR_A_TEST, exit=True)
    comm.barrier()
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        from chainermn.mpi import load_mpi

        world = load_mpi().COMM_WORLD
        if world.Get_size() > 1:
            print(
                f"rank {world.Get_rank()} failed in {item.nodeid}:\n{report.longreprtext}",
                file=sys.__stderr__,
                flush=True,
            )
            os.fsync(2) if os.path.isfile("/dev/stderr") else None
            world.Abort(1)
    return report
