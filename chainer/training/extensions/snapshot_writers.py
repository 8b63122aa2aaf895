"""Writers of snapshots: they put a serialized state into a file, at once or in the background."""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from chainer.core.utils.atomic_file import replacing
from chainer.links.serializers.npz import save_npz

SaveFunction = Callable[..., Any]


class _SerializedState:
    """A state that was taken before: saving it saves what the object was then."""

    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = entries

    def serialize(self, serializer: Any) -> None:
        for key, value in self._entries.items():
            serializer(key, None if value.dtype == object else value)


def _take_state(target: Any) -> _SerializedState:
    """Copies everything an object serializes."""
    from chainer.links.serializers.npz import DictionarySerializer

    serializer = DictionarySerializer()
    serializer.save(target)
    return _SerializedState({key: array.copy() for key, array in serializer.target.items()})


def write_file(savefun: SaveFunction, path: str, target: Any, **kwargs: Any) -> None:
    """Saves an object into a file that is replaced as a whole."""
    with replacing(path) as temporary:
        savefun(temporary, target, **kwargs)


class Writer:
    """Base class of snapshot writers.

    Args:
        savefun: Function ``savefun(path, object)`` that saves an object;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: Any) -> None:
        self._savefun = savefun
        self._kwds = kwds

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Writes a snapshot, or has it written.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target: Object to serialize.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")

    def finalize(self) -> None:
        """Waits until everything is written; errors of the background are raised here."""


class SimpleWriter(Writer):
    """The simplest writer: writes the snapshot before the training goes on.

    Args:
        savefun: Function ``savefun(path, object)`` that saves an object;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Writes a snapshot.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target: Object to serialize.
        """
        write_file(self._savefun, os.path.join(outdir, filename), target, **self._kwds)


class _BackgroundWriter(Writer):
    """Takes the state at once and writes it in the background, one snapshot at a time."""

    def __init__(self, savefun: SaveFunction = save_npz, **kwds: Any) -> None:
        super().__init__(savefun, **kwds)
        self._worker: Any = None
        self._errors: Any = self._make_error_queue()

    def _make_error_queue(self) -> Any:
        return queue.SimpleQueue()

    def _start(self, target: Callable[..., None], *args: Any) -> Any:
        raise NotImplementedError

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Takes the state of the object and has it written.

        Args:
            filename (str): Name of the file.
            outdir (str): Directory of the file.
            target: Object to serialize.
        """
        self.finalize()  # writes must not overtake each other
        path = os.path.join(outdir, filename)
        self._worker = self._start(
            _write_and_catch, self._errors, self._savefun, path, _take_state(target), self._kwds
        )

    def finalize(self) -> None:
        """Waits for the snapshot that is being written.

        Raises:
            RuntimeError: If writing failed.
        """
        if self._worker is None:
            return
        self._worker.join()
        code = getattr(self._worker, "exitcode", 0)
        self._worker = None
        if not self._errors.empty():
            raise RuntimeError(f"writing a snapshot failed: {self._errors.get()}")
        if code:
            raise RuntimeError(f"the process that wrote a snapshot ended with exit code {code}")


def _write_and_catch(
    errors: Any, savefun: SaveFunction, path: str, state: _SerializedState, kwds: dict[str, Any]
) -> None:
    try:
        write_file(savefun, path, state, **kwds)
    except Exception as error:
        errors.put(f"{type(error).__name__}: {error}")


class ThreadWriter(_BackgroundWriter):
    """Writer that writes each snapshot in a thread of its own.

    Args:
        savefun: Function ``savefun(path, object)`` that saves an object;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    def _start(self, target: Callable[..., None], *args: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=args)
        thread.start()
        return thread


class ProcessWriter(_BackgroundWriter):
    """Writer that writes each snapshot in a process of its own.

    Args:
        savefun: Function ``savefun(path, object)`` that saves an object;
            :func:`chainer.serializers.save_npz` by default.
        kwds: Further keyword arguments of ``savefun``.
    """

    def _make_error_queue(self) -> Any:
        return multiprocessing.SimpleQueue()

    def _start(self, target: Callable[..., None], *args: Any) -> multiprocessing.Process:
        process = multiprocessing.Process(target=target, args=args)
        process.start()
        return process
