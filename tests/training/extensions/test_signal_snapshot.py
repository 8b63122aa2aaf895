from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import chainer
from chainer.training import extensions
from chainer.training.extensions import CSVLogger, SignalSnapshot
from tests.training.observed_training import (
    assert_same_rows,
    assert_same_weights,
    in_thread,
    make_trainer,
    observing,
)

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs POSIX signals")


class Kill:
    """Sends this process a signal within an iteration."""

    def __init__(self, number, iteration):
        self.number = number
        self.iteration = iteration

    def __call__(self, trainer):
        if trainer.updater.iteration == self.iteration:
            os.kill(os.getpid(), self.number)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_snapshot_and_stop_at_the_end_of_the_iteration(tmp_path, name, capfd):
    number = getattr(signal, name)
    before = signal.getsignal(number)
    after = []
    extension = SignalSnapshot()
    trainer = make_trainer(tmp_path, (3, "epoch"))
    trainer.extend(Kill(number, 7), name="kill", priority=400)
    trainer.extend(lambda trainer: after.append(trainer.updater.iteration), name="after")
    trainer.extend(extension)
    trainer.run()
    assert trainer.stop_reason == f"signal {name}"
    assert extension.received is number
    assert after == [1, 2, 3, 4, 5, 6, 7]
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot_iter_7"]
    assert signal.getsignal(number) == before
    assert capfd.readouterr().err == f"{name}: snapshot taken\n"


def test_resumed_run_equals_an_uninterrupted_one(tmp_path):
    def make(name, *extras):
        trainer = make_trainer(tmp_path / name, (3, "epoch"))
        trainer.extend(CSVLogger(trigger=(2, "iteration")))
        trainer.extend(extensions.LogReport(trigger=(2, "iteration")))
        for extra in extras:
            trainer.extend(extra, name=type(extra).__name__)
        return trainer

    whole = make("whole", SignalSnapshot(extensions.snapshot(autoload=True)))
    whole.run()
    for _ in range(2):
        resumed = make(
            "resumed",
            SignalSnapshot(extensions.snapshot(autoload=True)),
            Kill(signal.SIGUSR1, 9),
        )
        resumed.run()
    assert resumed.updater.iteration == whole.updater.iteration == 15
    assert_same_weights(resumed, whole)
    logs = [trainer.get_extension("LogReport").log for trainer in (whole, resumed)]
    assert_same_rows(*logs)


@pytest.mark.parametrize("signalled", [False, True])
def test_handlers_of_the_program_are_put_back(tmp_path, signalled):
    def handler(number, frame):
        raise AssertionError("not while training")

    previous = {
        number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGUSR1)
    }
    try:
        trainer = observing(tmp_path, [1, 2, 3], SignalSnapshot())
        if signalled:
            trainer.extend(Kill(signal.SIGTERM, 2), name="kill")
        trainer.run()
        assert trainer.updater.iteration == (2 if signalled else 3)
        assert signal.getsignal(signal.SIGTERM) is handler
        assert signal.getsignal(signal.SIGUSR1) is handler
    finally:
        for number, old in previous.items():
            signal.signal(number, old)


def test_handlers_are_put_back_after_an_error(tmp_path):
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)]
    trainer = observing(tmp_path, [1, 2, 3], SignalSnapshot())
    trainer.extend(lambda trainer: 1 / 0, name="error")
    with pytest.raises(ZeroDivisionError):
        trainer.run(show_loop_exception_msg=False)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)] == before


def test_a_snapshot_extension_with_options(tmp_path):
    model = chainer.Link(w=(2,))
    taken = extensions.snapshot_object(model, "model_{.updater.iteration}")
    trainer = observing(tmp_path, [1, 2, 3], SignalSnapshot(taken, [signal.SIGUSR1]))
    trainer.extend(Kill(signal.SIGUSR1, 2), name="kill")
    trainer.run()
    assert [path.name for path in tmp_path.iterdir()] == ["model_2"]


def test_other_threads_are_refused(tmp_path):
    trainer = observing(tmp_path, [1], SignalSnapshot())
    error = in_thread(lambda: trainer.run(show_loop_exception_msg=False))
    assert isinstance(error, RuntimeError)
    assert "main thread only" in str(error)
    assert "'worker'" in str(error)


@pytest.mark.parametrize("number", [signal.SIGKILL, 4711])
def test_signals_that_cannot_be_handled(number):
    with pytest.raises(ValueError, match="SIGKILL|4711"):
        SignalSnapshot(signals=[number])


PROGRAM = """
    import os, signal, sys, time
    from tests.training.observed_training import observing
    from chainer.training.extensions import SignalSnapshot
    def wait(trainer):
        print("iteration", trainer.updater.iteration, flush=True)
        {body}
    extension = SignalSnapshot()
    trainer = observing(sys.argv[1], [1, 2, 3], extension)
    trainer.extend(wait, name="wait")
    trainer.run()
    print("end", trainer.stop_reason, flush=True)
"""


def start(tmp_path, body):
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
    code = textwrap.dedent(PROGRAM).format(body=body)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))},
    )


def test_a_second_signal_ends_the_process(tmp_path):
    body = [
        "while extension.received is None: time.sleep(0.01)",
        "print(extension.received.name, flush=True)",
        "time.sleep(600)",
    ]
    process = start(tmp_path, "\n    ".join(body))
    assert process.stdout.readline() == "iteration 1\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "SIGTERM\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == -signal.SIGTERM
    process.communicate()
    assert not list(tmp_path.iterdir())


def test_a_program_of_its_own(tmp_path):
    process = start(tmp_path, "while extension.received is None: time.sleep(0.01)")
    assert process.stdout.readline() == "iteration 1\n"
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=120)
    assert (output, process.returncode) == ("end signal SIGTERM\n", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot_iter_1"]


def test_forked_children_die_of_the_signal(tmp_path):
    body = "\n    ".join(
        [
            "child = os.fork()",
            "if child == 0: time.sleep(600)",
            "time.sleep(0.1)",
            "os.kill(child, signal.SIGTERM)",
            "print('status', os.waitpid(child, 0)[1], flush=True)",
        ]
    )
    started = time.monotonic()
    process = start(tmp_path, body)
    output, _ = process.communicate(timeout=300)
    assert output.splitlines()[-1] == "end None"
    assert output.count(f"status {int(signal.SIGTERM)}\n") == 3
    assert time.monotonic() - started < 300
