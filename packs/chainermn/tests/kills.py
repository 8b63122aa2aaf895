"""Kills a process of a training on several processes, and resumes it, until it ends.

Run ``python packs/chainermn/tests/kills.py --kills 1000``. One process at a time is killed by
SIGKILL after a random iteration, the launcher ends the others, and all are started again. At the
end the model equals the one of a training that was not interrupted, bit by bit, the training never
begins before the snapshot of an earlier kill, and no shared memory of MPI is left.

``chainer launch`` runs in a process that is forked from this one, which has
imported it and has found mpiexec: that takes a third of the time of a start. ``--command`` starts
the command itself.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import IO

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
from chainermn.launching.finding import Launcher, find_launcher
from chainermn.launching.launcher import Job
from test_failure import PROGRAMS, train_until_the_end
from test_failure import start as start_command

#: Kills of one training; after them it goes on to its end.
KILLS = 9


class ForkedLaunch:
    """Runs the launcher in a forked process, and looks like a :class:`subprocess.Popen`.

    Args:
        launcher: What starts processes of MPI.
        size: Number of processes.
        arguments: Arguments of the program that trains.
    """

    def __init__(self, launcher: Launcher, size: int, *arguments: object) -> None:
        reader, writer = os.pipe()
        # Closed by communicate().
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.setsid()
                os.dup2(writer, 1)
                os.dup2(self._errors.fileno(), 2)
                os.close(reader)
                os.close(writer)
                words = [str(PROGRAMS / "train.py"), *map(str, arguments)]
                status = Job(launcher, words, size, None, None).run()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                # Without what the parent would do at its end.
                os._exit(status)
        os.close(writer)
        self.stdout: IO[str] = os.fdopen(reader)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Waits for the end; returns the rest of the output, and the errors.

        Raises:
            subprocess.TimeoutExpired: If the launcher takes longer after its processes have ended.
        """
        text = self.stdout.read()
        self.stdout.close()
        end = time.monotonic() + timeout
        pid = status = 0
        while not pid:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("chainer launch", timeout)
            time.sleep(0.01)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        self.returncode = os.waitstatus_to_exitcode(status)
        self._errors.seek(0)
        with self._errors:
            return text, self._errors.read()


def segments() -> set[str]:
    """Returns the names of shared memory of MPICH that no process maps."""
    names = {name for name in os.listdir("/dev/shm") if name.startswith("mpich_shm_")}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                maps = (process / "maps").read_text()
            except OSError:
                continue
            names = {name for name in names if name not in maps}
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--size", type=int, default=2, help="number of processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", action="store_true", help="start `chainer launch` itself")
    options = parser.parse_args()
    start = functools.partial(ForkedLaunch, find_launcher())
    if options.command:
        start = start_command
    rng, done, before = random.Random(options.seed), 0, segments()
    last = 3 * 16 // options.size
    with tempfile.TemporaryDirectory() as parent:
        whole = Path(parent, "whole")
        train_until_the_end(whole, options.size, [], start=start)
        with np.load(whole / "model.npz") as file:
            expected = dict(file)
        while done < options.kills:
            out = Path(parent, str(done))
            kills = sorted(rng.randrange(1, last - 6) for _ in range(KILLS))
            resumed = train_until_the_end(out, options.size, kills, start=start)
            loaded = [number or 0 for number in resumed]
            assert loaded == sorted(loaded), loaded
            with np.load(out / "model.npz") as file:
                assert sorted(file) == sorted(expected)
                for name in file:
                    np.testing.assert_array_equal(file[name], expected[name])
            done += len(loaded) - 1
            print(f"{done} kills, resumed at {loaded}", flush=True)
    assert not segments() - before, segments() - before


if __name__ == "__main__":
    main()
