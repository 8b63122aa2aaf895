"""Training steps with two threads while another program uses a core; it makes the load itself"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from bench_case import Case
from capture_nets import Training
from fast_nets import NETS

UNIT = "ms"
PEERS = ["ours", "ours-fast"]
THREADS = [2]
MEASURED = True

#: Seconds of steps before the measurement, in which ``'auto'`` notices the load, and of it.
_WARM_UP, _MEASURED = 0.6, 0.6

#: Steps after which losses are compared.
_COMPARED = 3

#: What the other program does: it uses a core until the program that measures ends.
_LOAD = """
import sys, threading
threading.Thread(target=sys.stdin.read).start()
while threading.active_count() > 1:
    pass
"""

_SETTINGS = {"one thread": "1", "two threads": "", "auto": "auto"}

ROW_BUDGETS = [[f"{net}, auto", f"{net}, one thread", 1.3] for net in NETS]


def main(name):
    """Prints the loss after some steps, and the mean seconds of a step beside the other program."""
    training = Training(name, "@numpy", NETS)
    for _ in range(_COMPARED):
        training()
    loss = training.result()[0]
    # One program for two cores: each core but one of ours is busy.
    with subprocess.Popen([sys.executable, "-c", _LOAD], stdin=subprocess.PIPE):
        _repeat(training, _WARM_UP)
        print(loss, _repeat(training, _MEASURED))


def _repeat(step, seconds):
    """Returns the mean seconds of a step, called for about that long."""
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        step()
        count += 1
    return (time.perf_counter() - begin) / count


def _case(name, setting):
    def prepare():
        losses = []

        def seconds_per_step():
            # A process of its own: libraries read the number of threads when they are loaded.
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            if setting == "auto":
                environment["CHAINER_BLAS_THREADS"] = setting
            elif setting:
                for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
                    environment[variable] = setting
            program = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import busy"
            command = [sys.executable, "-W", "ignore", "-c", f"{program}; busy.main({name!r})"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            loss, seconds = map(float, done.stdout.split())
            losses[:] = [loss]
            return seconds

        return Case([("", seconds_per_step)], lambda: losses)

    return prepare


CASES = {
    f"{net}, {label}": _case(net, setting)
    for net in NETS
    for label, setting in _SETTINGS.items()
}
