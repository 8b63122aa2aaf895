"""Growth of the resident memory by ten training steps on NumPy, with recording"""

from __future__ import annotations

import os
import subprocess
import sys

sys.path[:0] = [
    os.path.dirname(os.path.abspath(__file__)),
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
]  # run as a script, too

from bench_case import Case  # noqa: E402  (needs the line above)
from bench_memory import growth  # noqa: E402
from capture_nets import NETS, Training  # noqa: E402

UNIT = "MB"
MEASURED = True
PEERS = ["ours"]
ROW_BUDGETS = [[f"{name}, captured", f"{name}, as written", 1.1] for name in NETS]


def _case(name, way):
    def prepare():
        arguments = [sys.executable, os.path.abspath(__file__), name, way]

        def measure():
            process = subprocess.run(arguments, stdout=subprocess.PIPE, check=True)
            return float(process.stdout.split()[-1])

        return Case([("", measure)])

    return prepare


def train(name, way, steps):
    """Makes some steps."""
    training = Training(name)
    if way == "captured":
        training.capture()
    for _ in range(steps):
        training()


CASES = {
    f"{name}, {way}": _case(name, way) for name in NETS for way in ("as written", "captured")
}

if __name__ == "__main__":
    train("MLP b32", "captured", 5)  # loads code, so that arrays are left to count
    print(growth("resident", lambda: train(sys.argv[1], sys.argv[2], 10)))
