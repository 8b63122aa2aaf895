"""Training steps with two threads while another program uses a core; it makes the load itself"""

from __future__ import annotations

import subprocess
import sys
import time

import chainer
from bench_case import Case
from capture_nets import Training

UNIT = "ms"
PEERS = ["ours"]
THREADS = [2]
MEASURED = True

#: Seconds of steps before the measurement, in which ``'auto'`` notices the load, and of it.
_WARM_UP, _MEASURED = 0.3, 0.4

#: What the other program does.
_LOAD = "while True: pass"

_NETS = ["MLP b32", "wide MLP b100", "LeNet b64", "LSTM 35x20"]
_SETTINGS = {"one thread": 1, "two threads": None, "auto": "auto"}

ROW_BUDGETS = [[f"{net}, auto", f"{net}, one thread", 1.3] for net in _NETS]


def _case(name, setting):
    def prepare():
        training = Training(name, "@numpy")

        def seconds_per_step():
            # One program for two cores: each core but one of ours is busy.
            with subprocess.Popen([sys.executable, "-c", _LOAD]) as load:
                try:
                    with chainer.using_config("blas_threads", setting):
                        _repeat(training, _WARM_UP)
                        return _repeat(training, _MEASURED)
                finally:
                    load.kill()

        return Case([("", seconds_per_step)], training.result)

    return prepare


def _repeat(step, seconds):
    """Returns the mean seconds of a step, called for about that long."""
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        step()
        count += 1
    return (time.perf_counter() - begin) / count


CASES = {
    f"{net}, {label}": _case(net, setting)
    for net in _NETS
    for label, setting in _SETTINGS.items()
}
