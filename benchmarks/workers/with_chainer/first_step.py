"""The first step of LeNet in a new process: processor time and peak memory, code compiled already"""

from __future__ import annotations

import os
import subprocess
import sys
import time

sys.path[:0] = [
    os.path.dirname(os.path.abspath(__file__)),
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
]  # run as a script, too

from bench_case import Case  # noqa: E402  (needs the line above)

UNIT = "s"
MEASURED = True
PEERS = ["ours", "ours-fast"]

#: Programs and the unit of the figure that each prints. The last two are a floor: what the
#: providers' libraries need before Chainer does anything.
FIGURES = {
    "processor time": "step",
    "peak memory in GB": "step",
    "processor time of importing Numba and NumPy": "import numba",
    "processor time of importing NumPy": "import numpy",
}


def _case(name):
    def prepare():
        arguments = [sys.executable, os.path.abspath(__file__), name]

        def measure():
            process = subprocess.run(arguments, stdout=subprocess.PIPE, check=True)
            return float(process.stdout.split()[-1])

        measure()  # compiles, and reads the files
        return Case([("", measure)])

    return prepare


def figure(name):
    """Returns what a new process needed, in seconds or gigabytes."""
    program = FIGURES[name]
    if program == "step":
        from capture_nets import Training

        Training("LeNet b64")()
    else:
        __import__(program.split()[1])
    if "memory" not in name:
        return time.process_time()
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


CASES = {name: _case(name) for name in FIGURES}

if __name__ == "__main__":
    print(figure(sys.argv[1]))
