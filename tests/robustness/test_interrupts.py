"""Short forms of ``interrupts.py`` and of ``kills.py --ctrl-c``."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys

import pytest

from chainer.core.utils.termination import interrupts_blocked

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX")


def run(program, *arguments):
    path = os.path.join(os.path.dirname(__file__), program)
    done = subprocess.run(
        [sys.executable, path, *arguments], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_some_places_of_a_repeated_step():
    count, wrong = re.findall(r"\d+", run("interrupts.py", "repeated", "--share", "0.05"))
    assert int(count) > 0
    assert wrong == "0"


@pytest.mark.slow
@pytest.mark.parametrize("program", ["recorded", "compared", "fit"])
def test_some_places(program):
    count, wrong = re.findall(r"\d+", run("interrupts.py", program, "--share", "0.01"))
    assert int(count) > 0
    assert wrong == "0"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_ctrl_c_in_trainings(kind):
    """The process that writes snapshots got Ctrl-C, too, and the training failed by its end."""
    arguments = ("--kills", "4", "--writer", "ProcessWriter", "--iterators", kind)
    assert "'temporary files': 0" in run("kills.py", "--ctrl-c", *arguments)


def is_blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def send_is_blocked(connection):
    connection.send(is_blocked())


def test_process_that_starts_in_a_block_does_not_get_ctrl_c():
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=send_is_blocked, args=(sender,))
    with interrupts_blocked():
        process.start()
    assert receiver.recv() is True
    process.join()
    assert not is_blocked()


def test_ctrl_c_in_a_block_comes_after_it():
    seen = []
    former = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interrupts_blocked():
            signal.raise_signal(signal.SIGINT)
            assert not seen
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, former)
