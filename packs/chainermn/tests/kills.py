"""Kills a process of a training on several processes, and resumes it, until it ends.

Run ``python packs/chainermn/tests/kills.py --kills 1000``. One process at a time is killed by
SIGKILL after a random iteration, ``chainer launch`` ends the others, and all are started again. At
the end the model equals the one of a training that was not interrupted, bit by bit, the training
never begins before the snapshot of an earlier kill, and no shared memory of MPI is left.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
from test_failure import train_until_the_end


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
    options = parser.parse_args()
    rng, done, before = random.Random(options.seed), 0, segments()
    last = 3 * 16 // options.size
    with tempfile.TemporaryDirectory() as parent:
        whole = Path(parent, "whole")
        train_until_the_end(whole, options.size, [])
        with np.load(whole / "model.npz") as file:
            expected = dict(file)
        while done < options.kills:
            out = Path(parent, str(done))
            kills = sorted(rng.randrange(1, last - 6) for _ in range(5))
            loaded = [number or 0 for number in train_until_the_end(out, options.size, kills)]
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
