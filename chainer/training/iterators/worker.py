"""The loop of a worker process of MultiprocessIterator."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import traceback
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy

from chainer.core.freed_memory import keep_freed_memory
from chainer.core.typing import DatasetLike
from chainer.training.iterators.shared_buffer import AttachedBuffer, Packed, pack


class Task(NamedTuple):
    """Examples to read.

    Attributes:
        number: Number of the task.
        indexes: Indexes of the examples.
        seeds: Seed of the random number generators for each example.
    """

    number: int
    indexes: list[int]
    seeds: list[int]


class WorkerError(NamedTuple):
    """An error that happened in a worker.

    Attributes:
        error: The exception, if it can be pickled.
        summary: Its type and message.
        text: Its traceback.
    """

    error: BaseException | None
    summary: str
    text: str


class WorkerTraceback(Exception):
    """Cause of an exception raised in a worker process: shows the traceback of the worker."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def work(pipe: Connection[Any, Any], dataset: DatasetLike, max_tasks: int | None) -> None:
    """Reads examples until told to stop.

    Before each example the global generators of NumPy and of the standard library are seeded, so
    that random augmentation does not depend on which worker reads an example, nor on how many there
    are.

    Args:
        pipe: Connection to the main process.
        dataset: Dataset to read.
        max_tasks: Number of tasks after which to end, or None.
    """
    # Ctrl-C reaches the whole group of processes; the main process decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    attached = AttachedBuffer()
    keep_freed_memory()
    done = 0
    while done != max_tasks:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        task, offer = message
        shared = attached.attach(offer, pipe)
        pipe.send((task.number, _run(dataset, task, shared)))
        done += 1


def _run(dataset: DatasetLike, task: Task, shared: memoryview | None) -> Packed | WorkerError:
    try:
        examples: list[Any] = []
        for index, seed in zip(task.indexes, task.seeds):
            numpy.random.seed(seed)
            random.seed(seed)
            examples.append(dataset[index])
        return pack(examples, shared)
    except (Exception, SystemExit) as error:
        return _describe(error)


def _describe(error: BaseException) -> WorkerError:
    summary = f"{type(error).__name__}: {error}"
    text = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an exception class may do anything when it is pickled
        return WorkerError(None, summary, text)
    return WorkerError(error, summary, text)


def raise_worker_error(failure: WorkerError) -> None:
    """Raises, in the main process, what was raised in a worker.

    Raises:
        BaseException: The same exception, with the traceback of the worker as its cause; a
            RuntimeError if the exception cannot be passed between processes.
    """
    cause = WorkerTraceback(failure.text)
    if failure.error is None or isinstance(failure.error, (StopIteration, SystemExit)):
        # Neither of the two may end the loop, or the program, that called next().
        raise RuntimeError(f"a worker process raised {failure.summary}") from cause
    raise failure.error from cause


def _end_with_parent() -> None:
    """Ends this process when the main process is gone, even if it was killed."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
