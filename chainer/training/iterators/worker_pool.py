"""Worker processes that read examples, and the thread that keeps them busy."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing import connection
from typing import Any, TypeAlias

from chainer.core.typing import DatasetLike
from chainer.core.utils.termination import interrupts_blocked
from chainer.training.iterators.buffer_pool import BufferPool
from chainer.training.iterators.shared_buffer import Packed, SharedBuffer, unpack
from chainer.training.iterators.worker import Task, WorkerError, raise_worker_error, work

Context: TypeAlias = Any
"""A context of :mod:`multiprocessing`, which starts processes in one of several ways."""


class WorkerDied(RuntimeError):
    """A worker process ended without being asked to."""


class _Worker:
    """A process, the pipe to it, and its shared memory.

    There are two buffers: while examples are taken out of one, the process fills the other.
    """

    def __init__(
        self,
        context: Context,
        dataset: DatasetLike,
        buffers: list[SharedBuffer],
        max_tasks: int | None,
    ) -> None:
        self.pipe, other_end = context.Pipe()
        self.buffers = buffers
        self.task: Task | None = None
        self.tasks_left = max_tasks
        self.process = context.Process(
            target=work, args=(other_end, dataset, max_tasks), daemon=True
        )
        try:
            with interrupts_blocked():
                self.process.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            # Classes of errors of pickle; 'fork' pickles nothing.
            error.add_note(
                "MultiprocessIterator: with the start method "
                f"{context.get_start_method()!r} the dataset goes to the workers by pickle: "
                "define its class and functions at the top of a module, not in a function and "
                "not as a lambda"
            )
            raise
        other_end.close()

    def give(self, task: Task) -> None:
        self.task = task
        buffer, other = self.buffers
        # Both need the size that one of them turned out to need.
        buffer.grow(other.wanted)
        self.pipe.send((task, buffer.offer()))
        buffer.send(self.pipe)

    def take_buffer(self) -> SharedBuffer:
        """Returns the buffer that the process has filled; the next task gets the other one."""
        self.task = None
        if self.tasks_left is not None:
            self.tasks_left -= 1
        self.buffers.reverse()
        return self.buffers[1]

    def end(self) -> None:
        """Ends the process: at once if it is busy, because its result is not needed."""
        if self.task is None and self.process.is_alive():
            try:
                self.pipe.send(None)
            except OSError:
                pass
            self.process.join(1)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(1)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()
        self.pipe.close()


class WorkerPool:
    """Processes that read examples of a dataset.

    A thread hands out tasks and takes the examples as they come, so that reading continues while
    the main thread is busy.

    Args:
        context: Context of :mod:`multiprocessing` (start method).
        dataset: Dataset; with the start methods other than fork it is pickled.
        n_processes: Number of processes.
        buffer_size: Size of the shared memory of each process at first: a number of bytes; 0 for no
            shared memory; None to determine it from the first examples.
        max_tasks: Number of tasks after which a process is replaced by a fresh one, or None.
    """

    def __init__(
        self,
        context: Context,
        dataset: DatasetLike,
        n_processes: int,
        buffer_size: int | None,
        max_tasks: int | None,
    ) -> None:
        self._pid = os.getpid()
        self._context = context
        self._dataset = dataset
        self._max_tasks = max_tasks
        self._may_share = buffer_size != 0
        self._memory = BufferPool()
        self._changed = threading.Condition()
        self._queue: deque[Task] = deque()
        self._results: dict[int, list[Any] | WorkerError] = {}
        self._wanted: set[int] = set()
        self._next_number = 0
        self._failure: BaseException | None = None
        self._closing = False
        self._wake_reader, self._wake_writer = context.Pipe(duplex=False)
        self._workers: list[_Worker] = []
        try:
            for _ in range(n_processes):
                buffers = [SharedBuffer(buffer_size or 0) for _ in range(2)]
                self._workers.append(self._start(buffers))
        except BaseException:
            self._end_workers()
            raise
        self._thread = threading.Thread(
            target=self._serve, name="MultiprocessIterator", daemon=True
        )
        self._thread.start()

    def _start(self, buffers: list[SharedBuffer]) -> _Worker:
        return _Worker(self._context, self._dataset, buffers, self._max_tasks)

    def submit(self, indexes: list[int], seeds: list[int]) -> int:
        """Has examples read.

        Returns:
            Number of the task.
        """
        with self._changed:
            number = self._next_number
            self._next_number += 1
            self._wanted.add(number)
            self._queue.append(Task(number, indexes, seeds))
            self._wake()
        return number

    def result(
        self, number: int, timeout: float | None, on_timeout: Callable[[], None]
    ) -> list[Any]:
        """Waits for examples.

        Args:
            number: Number of the task.
            timeout: Seconds after which ``on_timeout`` is called, and again after as many; None for
                never.
            on_timeout: Called without arguments. If it returns, waiting continues.

        Raises:
            BaseException: The error that the dataset raised.
            WorkerDied: If a worker process died.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while number not in self._results:
                if self._failure is not None:
                    raise self._failure
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    on_timeout()
                    deadline = None if timeout is None else time.monotonic() + timeout
                    continue
                self._changed.wait(left)
            self._wanted.discard(number)
            result = self._results.pop(number)
        if isinstance(result, WorkerError):
            raise_worker_error(result)
        return result  # type: ignore[return-value]

    def cancel(self, number: int) -> None:
        """Forgets a task, whether it is done or not."""
        if self._pid != os.getpid():
            # Inherited by a forked process. A thread of the parent may have held the lock at the
            # moment of the fork, and nothing here would release it.
            return
        with self._changed:
            self._wanted.discard(number)
            self._results.pop(number, None)
            self._queue = deque(task for task in self._queue if task.number != number)

    def close(self) -> None:
        """Ends the processes and gives their memory back. May be called more than once."""
        if self._pid != os.getpid():  # inherited by a forked process: not ours to close
            return
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._end_workers()
        self._wake_reader.close()
        self._wake_writer.close()

    def _wake(self) -> None:
        self._wake_writer.send_bytes(b"\0")

    def _end_workers(self) -> None:
        for worker in self._workers:
            worker.end()
            for buffer in worker.buffers:
                buffer.close()
        self._workers = []

    # -- the thread -------------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self._closing:
                self._hand_out()
                self._take_in()
        except BaseException as error:
            # Any error is passed on: otherwise the main thread would never stop waiting.
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.task is None and worker.tasks_left != 0:
                with self._changed:
                    if not self._queue:
                        return
                    task = self._queue.popleft()
                try:
                    worker.give(task)
                except OSError:
                    self._raise_died(worker)

    def _take_in(self) -> None:
        by_handle: dict[Any, _Worker] = {}
        for worker in self._workers:
            by_handle[worker.pipe] = worker
            by_handle[worker.process.sentinel] = worker
        ready = connection.wait([self._wake_reader, *by_handle])
        if self._wake_reader in ready:
            while self._wake_reader.poll():
                self._wake_reader.recv_bytes()
        for worker in {id(by_handle[h]): by_handle[h] for h in ready if h in by_handle}.values():
            # Batches that a worker sent before it died are still used.
            if not worker.pipe.poll():
                self._raise_died(worker)
            try:
                number, reply = worker.pipe.recv()
            except (EOFError, OSError):
                self._raise_died(worker)
            else:
                self._receive(worker, number, reply)

    def _receive(self, worker: _Worker, number: int, reply: Packed | WorkerError) -> None:
        buffer = worker.take_buffer()
        try:
            # The process goes on reading while its examples are taken out of the buffer.
            self._hand_out()
        finally:
            result = self._unpacked(buffer, number, reply)
            with self._changed:
                if number in self._wanted:
                    self._results[number] = result
                    self._changed.notify_all()
        if worker.tasks_left == 0:
            worker.process.join()
            worker.end()
            buffers = [buffer.for_another_worker() for buffer in worker.buffers]
            self._workers[self._workers.index(worker)] = self._start(buffers)

    def _unpacked(
        self, buffer: SharedBuffer, number: int, reply: Packed | WorkerError
    ) -> list[Any] | WorkerError:
        if isinstance(reply, WorkerError):
            return reply
        result = unpack(reply, buffer.view, self._memory) if number in self._wanted else []
        if reply.contents is not None and self._may_share:
            buffer.grow(reply.total)
        return result

    def _raise_died(self, worker: _Worker) -> None:
        worker.process.join(5)
        code = worker.process.exitcode
        how = f"exit code {code}"
        if code is not None and code < 0:
            how = f"signal {signal.Signals(-code).name}"
        doing = "" if worker.task is None else f" while it read {_shorten(worker.task.indexes)}"
        method = self._context.get_start_method()
        if method != "fork" and code == 1:
            # The worker has written its own error to the standard error stream.
            why = (
                "If its error, above, is about the bootstrapping phase, put the code of the main "
                "module under if __name__ == '__main__':, because the start method "
                f"{method!r} imports that module in each worker"
            )
        else:
            why = (
                "It may have run out of memory, or a library the dataset uses may not survive the "
                f"start method {method!r}"
            )
        raise WorkerDied(
            f"worker process {worker.process.pid} of MultiprocessIterator died ({how}){doing}. "
            f"{why}"
        )


def _shorten(indexes: list[int]) -> str:
    shown = [*map(str, indexes)]
    if len(shown) > 8:
        shown[2:-1] = ["..."]
    return f"examples [{', '.join(shown)}]"
