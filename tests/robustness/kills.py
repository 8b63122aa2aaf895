"""Kills a training at random moments and resumes it, until it ends.

Run ``python tests/robustness/kills.py --kills 1000``. Each training is a process that is forked
from this one, which has imported everything, and is killed by SIGKILL; in half of the cases
together with the processes that it started. After each kill no file is unreadable and no finished
snapshot is lost, beyond what the writer promises. At the end the model and the log are those of a
training that was not interrupted, bit by bit, with dropout and shuffling; no temporary file, no
old snapshot, no shared memory and no process is left. With ``--ctrl-c`` the signal is SIGINT, which
must end the training within a minute, and must itself leave nothing behind.
"""

from __future__ import annotations

import argparse
import itertools
import json
import mmap
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

# One thread of the BLAS library: a process that is forked has no others.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers, training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers
from chainer.training.extensions.logs.growing_json import GrowingJsonFile
from chainer.training.extensions.logs.log_files import kept_files

WRITERS = (
    "SimpleWriter",
    "ThreadWriter",
    "ProcessWriter",
    "ThreadQueueWriter",
    "ProcessQueueWriter",
)
#: Kinds of iterators.
ITERATORS = {
    "serial": "SerialIterator",
    "processes": "MultiprocessIterator",
    "threads": "MultithreadIterator",
}
#: Status of a process that Ctrl-C ended.
INTERRUPTED = 130
ITERATIONS = 60
#: Snapshots are taken every two iterations, and the latest three are kept.
INTERVAL, RETAINED = 2, 3
#: Seconds of sleep in each iteration, so that not all of the time is the start of the training.
PAUSE = 0.003
#: Latest moment of a kill, as a part of the time of a whole training: those that continue are
#: shorter, and few should come to their end.
AT_MOST = 0.4


class Model(chainer.Chain):
    """A classifier with dropout, whose masks come from the global random generator."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(20, 60)
            self.l2 = L.Linear(60, 5)

    def forward(self, x: chainer.Variable, t: chainer.Variable) -> chainer.Variable:
        h = F.dropout(F.relu(self.l1(x)))
        loss = F.softmax_cross_entropy(self.l2(h), t)
        chainer.report({"loss": loss}, self)
        return loss


def make_trainer(out: str, writer: str, kind: str) -> training.Trainer:
    """Returns the trainer; it continues from the latest snapshot in ``out``."""
    np.random.seed(0)
    data = chainer.datasets.TupleDataset(
        np.random.rand(64, 20).astype("f"), (np.arange(64) % 5).astype("i")
    )
    if kind == "processes":
        iterator = chainer.iterators.MultiprocessIterator(data, 8, n_processes=2, n_prefetch=2)
    elif kind == "threads":
        iterator = chainer.iterators.MultithreadIterator(data, 8, n_threads=2)
    else:
        iterator = chainer.iterators.SerialIterator(data, 8)
    optimizer = chainer.optimizers.Adam().setup(Model())
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (ITERATIONS, "iteration"), out=out)
    # Each iteration writes the log: many kills fall into this, and the log gets several pages.
    log_report = extensions.LogReport(trigger=(1, "iteration"))
    # Snapshots of the second part of the training rely on the log file.
    log_report.entries_in_snapshot = ITERATIONS // 2
    trainer.extend(log_report)
    trainer.extend(
        extensions.snapshot(
            writer=getattr(snapshot_writers, writer)(), n_retains=RETAINED, autoload=True
        ),
        trigger=(INTERVAL, "iteration"),
    )
    return trainer


def train(out: str, writer: str, kind: str, pause: float) -> None:
    """Trains; what is killed."""
    trainer = make_trainer(out, writer, kind)
    trainer.extend(lambda _: time.sleep(pause), name="sleep", trigger=(1, "iteration"))

    def tell(trainer: training.Trainer) -> None:
        # After the snapshot, whose priority is higher: -100.
        iteration = trainer.updater.iteration // INTERVAL * INTERVAL
        Path(out, "progress").write_text(str(iteration))

    trainer.extend(tell, name="tell", trigger=(1, "iteration"), priority=-200)
    trainer.run()
    serializers.save_npz(os.path.join(out, "model"), trainer.updater.get_optimizer("main").target)


def _log(out: str) -> list[dict[str, float]]:
    entries = json.loads(Path(out, "log").read_text())
    return [{k: v for k, v in entry.items() if k != "elapsed_time"} for entry in entries]


def _snapshots(out: str) -> dict[str, int]:
    return {
        name: int(name.rpartition("_")[2])
        for name in os.listdir(out)
        if name.startswith("snapshot_iter_")
    }


def _read_all(out: str) -> int:
    """Reads every snapshot and the log.

    Returns:
        int: Iteration of the latest snapshot; 0 if there is none.
    """
    for name in _snapshots(out):
        try:
            with np.load(os.path.join(out, name)) as archive:
                for key in archive.files:
                    archive[key]
        except FileNotFoundError:
            # A process that outlived the one that was killed finished a newer snapshot, and so
            # removed this one.
            assert len(_snapshots(out)) >= RETAINED
    if os.path.exists(os.path.join(out, "log")):
        _log(out)
    return max(_snapshots(out).values(), default=0)


def _check_promise(out: str, writer: str, latest: int, before: int) -> None:
    """Compares the latest snapshot after a kill with what the writer promises."""
    assert latest >= before, f"snapshot {before} was complete earlier, now the latest is {latest}"
    progress = Path(out, "progress")
    if not progress.exists() or not progress.read_text():
        return
    done = int(progress.read_text())
    if writer in ("ThreadWriter", "ProcessWriter"):
        # Only the one that was being written. For queues there is no such bound.
        done -= INTERVAL
    if not writer.endswith("QueueWriter"):
        assert latest >= done, f"snapshot {done} is lost, the latest is {latest}"


class Child:
    """A training in a forked process, which leads a session of its own."""

    def __init__(self, out: str, writer: str, kind: str, pause: float) -> None:
        # Ctrl-C before the "try" below would make the child go on as the parent.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.setsid()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
                warnings.simplefilter("error")
                train(out, writer, kind, pause)
                status = 0
            except KeyboardInterrupt:
                status = INTERRUPTED
                # As Python does at its end: a snapshot in the background is completed.
                for other in (*threading.enumerate(), *multiprocessing.active_children()):
                    if other is not threading.current_thread() and not other.daemon:
                        other.join()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                # Without what the parent would do at its end.
                os._exit(status)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

    def ended(self, seconds: float) -> bool:
        """Waits. Returns whether the training came to its end."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                assert status == 0, f"the training failed: status {status}"
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, 0.005))

    def kill(self, everything: bool) -> None:
        """Kills the process, and those that it started if ``everything``."""
        if everything:
            # A session that the process has just been told to make may not exist yet.
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                os.kill(self.pid, signal.SIGKILL)
        else:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def interrupt(self, everything: bool) -> bool:
        """Presses Ctrl-C; returns False if the training came to its end instead.

        Args:
            everything: Whether the processes that it started get the signal, too, as in a terminal.
        """
        # Not before it leads its session: the signal would wait for its first instruction.
        while os.getpgid(self.pid) != self.pid:
            time.sleep(0.001)
        (os.killpg if everything else os.kill)(self.pid, signal.SIGINT)
        deadline = time.monotonic() + 60
        pid = status = 0
        while not pid:
            assert time.monotonic() < deadline, "Ctrl-C does not end the training"
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            time.sleep(0.002)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, INTERRUPTED), f"Ctrl-C ended the training with status {code}"
        return code == INTERRUPTED

    def others(self) -> list[str]:
        """Returns the command lines of processes of the session that run."""
        found: list[str] = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    stat = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
                    if int(stat[3]) == self.pid and stat[0] not in "ZX":
                        found.append(Path("/proc", name, "cmdline").read_text())
                except (FileNotFoundError, ProcessLookupError):
                    pass  # it has ended meanwhile
        return found


def _wait_for_others(children: list[Child]) -> None:
    deadline = time.monotonic() + 30
    for child in children:
        while left := child.others():
            assert time.monotonic() < deadline, f"processes are left: {left}"
            time.sleep(0.01)


def _shared_memory() -> set[str]:
    """Returns the names of shared memory that no process uses."""
    names = {name for name in os.listdir("/dev/shm") if name.startswith("psm_")}
    for process in os.listdir("/proc"):
        if process.isdigit() and names:
            try:
                maps = Path("/proc", process, "maps").read_text()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            names = {name for name in names if name not in maps}
    return names


def run(kills: int, writer: str, kind: str, seed: int, ctrl_c: bool = False) -> dict[str, int]:
    """Kills trainings a number of times.

    Args:
        kills: Number of kills.
        writer: Class of the writer of snapshots.
        kind: Kind of the iterator, a key of ``ITERATORS``.
        seed: Seed of the moments.
        ctrl_c: Whether Ctrl-C is pressed instead: no process and no temporary file may be left.

    Returns:
        dict: Number of kills; of trainings that came to their end; of kills that left a temporary
        file, which the next start removed; of those without any snapshot yet.
    """
    rng = random.Random(seed)
    counts = {"kills": 0, "ends": 0, "temporary files": 0, "no snapshot yet": 0}
    shared = _shared_memory()
    with tempfile.TemporaryDirectory() as parent:
        reference = os.path.join(parent, "reference")
        start = time.monotonic()
        assert Child(reference, writer, kind, PAUSE).ended(300)
        span = time.monotonic() - start
        expected = Path(reference, "model").read_bytes(), _log(reference)
        assert len(_snapshots(reference)) == RETAINED
        number = 0
        while counts["kills"] < kills:
            out = os.path.join(parent, f"out{number}")
            number += 1
            latest = 0
            children: list[Child] = []
            while True:
                children.append(Child(out, writer, kind, PAUSE))
                # From the first instruction of the process on.
                if children[-1].ended(rng.random() * AT_MOST * span):
                    break
                everything = rng.random() < 0.5
                if not ctrl_c:
                    children[-1].kill(everything)
                elif not children[-1].interrupt(everything):
                    break
                counts["kills"] += 1
                if ctrl_c:
                    _wait_for_others(children[-1:])
                    _check_shared_memory(shared)
                if not os.path.isdir(out):
                    continue
                counts["temporary files"] += any([n.endswith(".tmp") for n in os.listdir(out)])
                before, latest = latest, _read_all(out)
                if latest == before:  # the computer may be busier now
                    span *= 1.05
                _check_promise(out, writer, latest, before)
                counts["no snapshot yet"] += not latest
                assert not (ctrl_c and counts["temporary files"]), sorted(os.listdir(out))
                assert len(children) < 500, "the training does not come to its end"
            counts["ends"] += 1
            _wait_for_others(children)
            files = [name for name in os.listdir(out) if name.startswith(".")]
            assert not files, files
            # If the queue was long, the log had entries that no snapshot contained. They are kept.
            queue = writer.endswith("QueueWriter")
            assert queue or not kept_files(os.path.join(out, "log"))
            assert len(_snapshots(out)) == RETAINED, sorted(_snapshots(out))
            assert Path(out, "model").read_bytes() == expected[0], "another model"
            assert _log(out) == expected[1], "another log"
    _check_shared_memory(shared)
    return counts


def _check_shared_memory(before: set[str]) -> None:
    # Another program of this computer may have made some that it does not use yet.
    for _ in range(100):
        left = _shared_memory() - before
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"shared memory is left: {left}")


def _entries(seed: int) -> Iterator[dict[str, float]]:
    """Yields entries of a log of various lengths, few of which are larger than a page."""
    rng = random.Random(seed)
    for number in itertools.count():
        size = rng.choice((0, 1, 3, 10, 30, 30, 150))
        yield {"iteration": number, **{f"main/{key}": rng.random() for key in range(size)}}


def _write_log(path: str, seed: int, written: mmap.mmap) -> None:
    """Writes entries of a log until the process is killed, and says how many it has written."""
    log, entries = GrowingJsonFile(), []
    for entry in _entries(seed):
        entries.append(entry)
        log.write(path, entries)
        written[:8] = len(entries).to_bytes(8, "little")
        if len(entries) == 300:
            log.close()
            entries.clear()
            log = GrowingJsonFile()


def run_log(kills: int, seed: int) -> dict[str, int]:
    """Kills processes that do nothing but write a log.

    Args:
        kills: Number of kills.
        seed: Seed of the moments and the entries.

    Returns:
        dict: Number of kills, of those after which the log was there, and of entries in the logs.
    """
    rng = random.Random(seed)
    counts = {"kills": 0, "logs": 0, "entries": 0}
    with tempfile.TemporaryDirectory() as folder, mmap.mmap(-1, 8) as written:
        path = os.path.join(folder, "log")
        while counts["kills"] < kills:
            written[:8] = bytes(8)
            if os.path.exists(path):
                os.unlink(path)
            pid = os.fork()
            if pid == 0:
                try:
                    _write_log(path, seed + counts["kills"], written)
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(1)
            time.sleep(0.003 + rng.random() ** 2 * 0.1)
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            assert os.WIFSIGNALED(status), "the process that writes the log failed"
            counts["kills"] += 1
            if not os.path.exists(path):
                assert not any(written[:8]), "the log is lost"
                continue
            counts["logs"] += 1
            log = json.loads(Path(path).read_text())
            counts["entries"] += len(log)
            assert log, "the log is empty"
            start = log[0]["iteration"]
            wanted = itertools.islice(_entries(seed + counts["kills"] - 1), start, None)
            assert all([a == b for a, b in zip(log, wanted)]), "other entries"
            # The number is told after the entry is written.
            assert len(log) - int.from_bytes(written[:8], "little") in (0, 1) or len(log) == 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="for all writers together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--writer", choices=WRITERS, nargs="+", help="only these")
    parser.add_argument(
        "--iterators", choices=tuple(ITERATORS), nargs="+", default=("serial", "processes")
    )
    parser.add_argument("--ctrl-c", action="store_true", help="press Ctrl-C instead of killing")
    parser.add_argument(
        "--logs", type=int, default=1000, help="kills of processes that write only logs"
    )
    options = parser.parse_args()
    writers = options.writer or WRITERS
    with tempfile.TemporaryDirectory() as out:
        # Imports what is imported at first use: most of the time of a short training.
        train(out, "SimpleWriter", "serial", 0)
    if options.logs and not options.ctrl_c:
        print(f"logs: {run_log(options.logs, options.seed)}", flush=True)
    cases = [(writer, name) for name in options.iterators for writer in writers]
    for writer, kind in cases:
        count = -(-options.kills // len(cases))
        counts = run(count, writer, kind, options.seed, options.ctrl_c)
        print(f"{writer} with {ITERATORS[kind]}: {counts}", flush=True)


if __name__ == "__main__":
    main()
