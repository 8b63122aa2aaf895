"""Threads and processes that write snapshots, and how their errors come to the training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

#: Longest message of an error that is sent from another process. It must fit into the buffer of a
#: pipe, since the process is awaited before the pipe is read.
_LONGEST_MESSAGE = 10_000


class Worker(Protocol):
    """A thread, a process, or something like them."""

    def start(self) -> Any:
        """Starts the work."""

    def join(self) -> Any:
        """Waits until the work is done."""


class ErrorQueue(Protocol):
    """A queue of messages, between threads or processes."""

    def put(self, item: str, /) -> Any:
        """Appends a message."""

    def get(self) -> str:
        """Takes the first message."""
        ...

    def empty(self) -> bool:
        """Returns whether there is no message."""
        ...


def call_and_catch(
    errors: ErrorQueue, function: Callable[..., Any], *args: object, **kwargs: Any
) -> None:
    """Calls a function in a worker; a failure is sent to the training."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        errors.put(f"{type(error).__name__}: {error}"[:_LONGEST_MESSAGE])


def raise_first(errors: ErrorQueue) -> None:
    """Raises RuntimeError if a worker has sent an error."""
    messages: list[str] = []
    while not errors.empty():
        messages.append(errors.get())
    if messages:
        raise RuntimeError(f"writing a snapshot failed: {messages[0]}")


def check_exit(worker: Worker) -> None:
    """Raises RuntimeError if a worker is a process that has not ended by itself."""
    code = getattr(worker, "exitcode", 0)
    if isinstance(code, int) and code:  # None while it runs; a mock in tests
        raise RuntimeError(f"the process that wrote a snapshot ended with exit code {code}")
