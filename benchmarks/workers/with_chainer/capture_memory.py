"""Peak of allocated memory on NumPy: steps as written, captured, and with the recording"""

from __future__ import annotations

import os
import subprocess
import sys

sys.path[:0] = [
    os.path.dirname(os.path.abspath(__file__)),
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
]  # run as a script, too

from bench_case import Case  # noqa: E402  (needs the line above)
from capture_nets import NETS, Training  # noqa: E402

UNIT = "MB"
MEASURED = True
PEERS = ["ours"]
ROW_BUDGETS = [[f"{name}, captured", f"{name}, as written", 1.1] for name in NETS]
WAYS = ("as written", "captured", "captured, with recording")


def _case(name, way):
    def prepare():
        arguments = [sys.executable, os.path.abspath(__file__), name, way]

        def measure():
            process = subprocess.run(arguments, stdout=subprocess.PIPE, check=True)
            return float(process.stdout.split()[-1])

        return Case([("", measure)])

    return prepare


def peak(name, way):
    """Returns the largest sum of blocks that Python and NumPy had allocated at one time."""
    import tracemalloc

    from chainer.core.utils import placed_memory

    # Large states are mapped, which tracemalloc does not see.
    placed_memory._HUGE = 1 << 60
    training = Training("MLP b32")  # loads code, so that arrays are left to count
    training.capture()
    for _ in range(5):
        training()
    tracemalloc.start()
    training = Training(name)
    if way != "as written":
        training.capture()
    for _ in range(5):
        training()
    if way != "captured, with recording":
        tracemalloc.reset_peak()
        for _ in range(5):
            training()
    return tracemalloc.get_traced_memory()[1]


CASES = {f"{name}, {way}": _case(name, way) for name in NETS for way in WAYS}

if __name__ == "__main__":
    print(peak(sys.argv[1], sys.argv[2]))
