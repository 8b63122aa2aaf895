"""Writers of snapshots: they put a serialized state into a file, at once or in the background.

==================== ========================================================
SimpleWriter         writes before the training goes on
ThreadWriter         starts a thread for each snapshot
ProcessWriter        starts a process for each snapshot
ThreadQueueWriter    has one thread, which writes one snapshot after the other
ProcessQueueWriter   has one process, which does the same
==================== ========================================================
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from functools import cached_property
from multiprocessing import connection
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from typing import Any, Protocol

from chainer.core.typing import FilePath
from chainer.core.utils.start_method import default_start_method
from chainer.core.utils.termination import interrupts_blocked
from chainer.links.serializers.npz import save_npz
from chainer.training.extensions.snapshot_saving import SaveFunction, SnapshotTarget, Writer
from chainer.training.extensions.snapshot_state import freeze
from chainer.training.extensions.snapshot_workers import (
    Worker,
    call_and_catch,
    check_exit,
    raise_first,
)

#: Seconds after which the process of a queue ends if its trainer has died and nothing comes.
_PATIENCE = 5


class _ItemQueue(Protocol):
    """A queue between threads or processes."""

    def put(self, item: Any, /) -> Any: ...

    def get(self) -> Any: ...

    def task_done(self) -> Any: ...


class _SavingWriter(Writer):
    """Base class of writers that save by a function with keyword arguments."""

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: Any) -> None:
        self._savefun = savefun
        self._kwds = kwds


class SimpleWriter(_SavingWriter):
    """The simplest writer: writes the snapshot before the training goes on.

    Args:
        savefun: Function ``savefun(path, entries)`` that saves a dictionary of arrays;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    def __call__(self, filename: str, outdir: FilePath, target: SnapshotTarget) -> None:
        """Writes a snapshot.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target (dict or object): Arrays by name, or an object to serialize.
        """
        self.save(filename, outdir, target, self._savefun, **self._kwds)


class StandardWriter(_SavingWriter):
    """Base class of writers that start a worker for each snapshot.

    Snapshots are written one at a time: a call waits for the worker of the call before.

    Args:
        savefun: Function ``savefun(path, entries)`` that saves a dictionary of arrays;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    _worker: Worker | None = None
    #: Whether a snapshot was written since the last finalize(), and whether finalize() was called;
    #: read by subclasses and tests that were written for release 7.
    _started = False
    _finalized = False

    def __call__(self, filename: str, outdir: FilePath, target: SnapshotTarget) -> None:
        """Copies the state and starts a worker that writes it.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target (dict or object): Arrays by name, or an object to serialize.

        Raises:
            RuntimeError: If the snapshot before could not be written.
        """
        self.finalize()
        worker = self.create_worker(filename, outdir, freeze(target), **self._kwds)
        # Started before it is an attribute: a process that is not forked gets a copy of the
        # writer, and processes cannot be copied.
        with interrupts_blocked():
            worker.start()
            self._worker = worker
        self._started, self._finalized = True, False

    def create_worker(
        self, filename: str, outdir: FilePath, target: SnapshotTarget, **kwds: Any
    ) -> Worker:
        """Makes a worker for a snapshot: an object with the methods ``start`` and ``join``.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target (dict): Arrays by name.
            kwds: Further keyword arguments of the function that saves.
        """
        raise NotImplementedError(f"{type(self).__name__} must define create_worker()")

    def finalize(self) -> None:
        """Waits for the snapshot that is being written.

        Raises:
            RuntimeError: If it could not be written.
        """
        worker, self._worker = self._worker, None
        self._started, self._finalized = False, True
        if worker is not None:
            worker.join()
            check_exit(worker)


class _CatchingWriter(StandardWriter):
    """Base class of writers whose workers send their errors to the trainer.

    A subclass sets ``_errors``, a queue of the texts of errors.
    """

    _errors: Any

    def _make_worker(self, **arguments: Any) -> Worker:
        """Makes a thread or a process from the arguments that both classes take."""
        raise NotImplementedError(f"{type(self).__name__} must define _make_worker()")

    def create_worker(
        self, filename: str, outdir: FilePath, target: SnapshotTarget, **kwds: Any
    ) -> Worker:
        """Makes a worker that writes a snapshot; arguments as in the base class."""
        arguments = (self._errors, self.save, filename, outdir, target, self._savefun)
        return self._make_worker(target=call_and_catch, args=arguments, kwargs=kwds)

    def finalize(self) -> None:
        """Waits for the snapshot that is being written.

        Raises:
            RuntimeError: If it could not be written.
        """
        super().finalize()
        raise_first(self._errors)


class ThreadWriter(_CatchingWriter):
    """Writer that writes each snapshot in a thread of its own.

    Args:
        savefun: Function ``savefun(path, entries)`` that saves a dictionary of arrays;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: Any) -> None:
        super().__init__(savefun, **kwds)
        self._errors = queue.SimpleQueue()

    def _make_worker(self, **arguments: Any) -> Worker:
        return threading.Thread(**arguments)


class _InProcesses:
    """Makes the processes and queues of a writer."""

    # The name, not the module: where processes are spawned, the writer is pickled. Asked for before
    # the first queue, because queues fix the default of Python.
    @cached_property
    def _start_method(self) -> str | None:
        return default_start_method()

    @property
    def _processes(self) -> Any:
        # The module is looked into at each call, so that tests can replace multiprocessing.Process.
        if self._start_method is None:
            return multiprocessing
        return multiprocessing.get_context(self._start_method)


class ProcessWriter(_InProcesses, _CatchingWriter):
    """Writer that writes each snapshot in a process of its own.

    Takes the arguments of :class:`ThreadWriter`.
    """

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: Any) -> None:
        super().__init__(savefun, **kwds)
        self._errors = self._processes.SimpleQueue()

    def _make_worker(self, **arguments: Any) -> Worker:
        return self._processes.Process(**arguments)


class QueueWriter(Writer):
    """Base class of writers with one worker, which writes one snapshot after the other.

    A call does not wait for the snapshot before, as the other writers do. It costs the memory of
    all states that wait. The worker starts when the writer is made.

    Args:
        savefun: Function ``savefun(path, entries)`` that saves a dictionary of arrays;
            :func:`chainer.serializers.save_npz` by default.
        task: Function that writes a snapshot in the worker, called as a writer is. By default, the
            result of
            :meth:`create_task`.
    """

    _consumer: Worker | None = None
    #: As in StandardWriter.
    _started = False
    _finalized = False
    #: Whether the worker writes a snapshot at present; in the process of the worker.
    _writing = False

    def __init__(
        self,
        savefun: SaveFunction = save_npz,
        task: Callable[[str, FilePath, SnapshotTarget], Any] | None = None,
    ) -> None:
        self._task = self.create_task(savefun) if task is None else task
        self._queue = self.create_queue()
        self._errors: Any = self._create_error_queue()
        self._start()
        # Workers are daemons, which end with the program. The snapshots in the queue have to be
        # written before.
        atexit.register(_finalize_if_alive, weakref.ref(self))

    def _create_error_queue(self) -> Any:
        return queue.SimpleQueue()

    def _start(self) -> None:
        consumer = self.create_consumer(self._queue)
        # As in StandardWriter: started before it is an attribute.
        with interrupts_blocked():
            consumer.start()
            self._consumer = consumer
        self._started, self._finalized = True, False

    def create_task(self, savefun: SaveFunction) -> Callable[[str, FilePath, SnapshotTarget], Any]:
        """Makes what writes a snapshot in the worker.

        Args:
            savefun: Function that saves a dictionary of arrays.

        Returns:
            SimpleWriter: A writer.
        """
        return SimpleWriter(savefun)

    def create_queue(self) -> _ItemQueue:
        """Makes the queue, with methods ``put``, ``get`` and ``task_done``."""
        raise NotImplementedError(f"{type(self).__name__} must define create_queue()")

    def create_consumer(self, q: _ItemQueue) -> Worker:
        """Makes the worker, with methods ``start`` and ``join``, which runs :meth:`consume`.

        Args:
            q: The queue.
        """
        raise NotImplementedError(f"{type(self).__name__} must define create_consumer()")

    def __call__(self, filename: str, outdir: FilePath, target: SnapshotTarget) -> None:
        """Copies the state and puts it into the queue.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target (dict or object): Arrays by name, or an object to serialize.
        """
        if self._consumer is None:  # finalized, and used again by another run
            self._start()
        task = _TaskWithHooks(self._task, self._hooks) if self._hooks else self._task
        self._check(task)
        self._queue.put([task, filename, outdir, freeze(target)])

    def _check(self, task: Any) -> None:
        """Raises an error if the worker cannot get a task."""

    def consume(self, q: _ItemQueue) -> None:
        """Writes the snapshots of the queue until it gets None; runs in the worker.

        Args:
            q: The queue, with items ``[task, filename, outdir, target]``.
        """
        while True:
            item = q.get()
            if item is None:
                q.task_done()
                return
            # A snapshot that fails must not stop those after it.
            self._writing = True
            call_and_catch(self._errors, item[0], item[1], item[2], item[3])
            self._writing = False
            q.task_done()

    def finalize(self) -> None:
        """Waits until all snapshots are written, and ends the worker.

        Raises:
            RuntimeError: If one of them could not be written.
        """
        consumer, self._consumer = self._consumer, None
        self._started, self._finalized = False, True
        if consumer is None:
            return
        self._queue.put(None)
        # The worker ends after the last item. Unlike a join of the queue, this also ends if the
        # worker was killed.
        consumer.join()
        check_exit(consumer)
        join = getattr(self._queue, "join", None)
        if join is not None:  # at once, as the worker has ended; queues of programs may rely on it
            join()
        raise_first(self._errors)


class ThreadQueueWriter(QueueWriter):
    """Writer with one thread, which writes one snapshot after the other.

    Args:
        savefun: Function ``savefun(path, entries)`` that saves a dictionary of arrays;
            :func:`chainer.serializers.save_npz` by default.
        task: Function that writes a snapshot in the thread; see :class:`QueueWriter`.
    """

    def create_queue(self) -> _ItemQueue:
        """Makes the queue of the thread."""
        return queue.Queue()

    def create_consumer(self, q: _ItemQueue) -> Worker:
        """Makes the thread."""
        return threading.Thread(target=self.consume, args=(q,), daemon=True)


class ProcessQueueWriter(_InProcesses, QueueWriter):
    """Writer with one process, which writes one snapshot after the other.

    Takes the arguments of :class:`ThreadQueueWriter`.
    """

    def _create_error_queue(self) -> Any:
        return self._processes.SimpleQueue()

    def _check(self, task: Any) -> None:
        # The thread of the queue would drop the item, and `finalize` would wait for it for ever.
        try:
            ForkingPickler.dumps(task)
        except (AttributeError, TypeError, PicklingError) as error:
            error.add_note(
                "ProcessQueueWriter: the function that saves goes to the process by pickle: define "
                "it at the top of a module, not in a function and not as a lambda"
            )
            raise

    def create_queue(self) -> _ItemQueue:
        """Makes the queue of the process."""
        return self._processes.JoinableQueue()

    def create_consumer(self, q: _ItemQueue) -> Worker:
        """Makes the process."""
        return self._processes.Process(target=self._consume_in_process, args=(q,), daemon=True)

    def _consume_in_process(self, q: _ItemQueue) -> None:
        threading.Thread(target=self._end_with_parent, args=(q,), daemon=True).start()
        self.consume(q)

    def _end_with_parent(self, q: _ItemQueue) -> None:
        """Ends the process after its trainer was killed, when all that came is written."""
        parent = multiprocessing.parent_process()
        if parent is None:
            return
        connection.wait([parent.sentinel])
        # From a thread of its own: if the trainer was killed while it sent a snapshot, neither can
        # the queue be read, nor is its lock ever released.
        threading.Thread(target=q.put, args=(None,), daemon=True).start()
        idle = 0
        while idle < _PATIENCE:
            time.sleep(1)
            idle = 0 if self._writing else idle + 1
        os._exit(1)


class _TaskWithHooks:
    """Writes a snapshot and then calls functions.

    The worker of a queue may have been started before the functions were registered. So they travel
    with the task.

    Args:
        task: Writes the snapshot.
        hooks: Functions without arguments.
    """

    def __init__(self, task: Callable[..., Any], hooks: tuple[Callable[[], object], ...]) -> None:
        self._task = task
        self._hooks = hooks

    def __call__(self, filename: str, outdir: FilePath, target: SnapshotTarget) -> None:
        self._task(filename, outdir, target)
        for hook in self._hooks:
            hook()


def _finalize_if_alive(reference: weakref.ref[QueueWriter]) -> None:
    writer = reference()
    if writer is not None:
        writer.finalize()
