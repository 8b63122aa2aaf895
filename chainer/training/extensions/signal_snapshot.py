"""A snapshot when the process is asked to end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

from chainer.training.extension import Extension
from chainer.training.extensions._snapshot import snapshot as default_snapshot

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


def _default_signals() -> tuple[signal.Signals, ...]:
    usr1 = getattr(signal, "SIGUSR1", None)  # not on Windows
    return (signal.SIGTERM,) if usr1 is None else (signal.SIGTERM, usr1)


class SignalSnapshot(Extension):
    """Trainer extension that takes a snapshot and stops when a signal says so.

    Job schedulers announce the end of a job by SIGTERM or SIGUSR1. The first signal lets the
    present iteration finish, all its extensions included; then a snapshot is taken and
    ``trainer.run()`` returns, with the signal named in ``trainer.stop_reason``. A second signal
    ends the process at once, as it would without this extension.

    The handlers are installed while the training loop runs, and those there were before are put
    back. Forked processes, such as workers of iterators, end by these signals as ever.

    Args:
        snapshot: Extension that takes the snapshot; ``extensions.snapshot()`` by default, whose
            files ``extensions.snapshot(autoload=True)`` finds.
        signals: The signals: SIGTERM and, where there is one, SIGUSR1 by default.

    Attributes:
        received: The signal that was received; None if there was none.

    Raises:
        ValueError: If a signal is unknown or cannot be handled, such as SIGKILL.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> import signal
        >>> trainer.extend(extensions.SignalSnapshot())
        >>> @training.make_extension(trigger=(2, "iteration"))
        ... def stopped_by_a_scheduler(trainer):
        ...     signal.raise_signal(signal.SIGTERM)
        >>> trainer.extend(stopped_by_a_scheduler)
        >>> trainer.run()
        >>> updater.iteration  # of four
        2
    """

    trigger = (1, "iteration")
    # After everything else, so that the snapshot holds what the others did in this iteration.
    priority = -1000

    def __init__(self, snapshot: Any = None, signals: Iterable[int] | None = None) -> None:
        self._snapshot = default_snapshot() if snapshot is None else snapshot
        signals = _default_signals() if signals is None else signals
        self._signals = [signal.Signals(number) for number in signals]
        for number in self._signals:
            if number.name in ("SIGKILL", "SIGSTOP"):
                raise ValueError(f"signals must be such as can be handled, got {number.name}")
        self.received: signal.Signals | None = None
        self._previous: dict[signal.Signals, Any] = {}
        self._owner = 0

    def restore(self, trainer: Trainer) -> None:
        """Lets the snapshot extension load what it finds, if it was told to.

        Args:
            trainer: Trainer that runs the training loop.
        """
        _call(self._snapshot, "restore", trainer)

    def initialize(self, trainer: Trainer) -> None:
        """Installs the handlers.

        Args:
            trainer: Trainer that runs the training loop.

        Raises:
            RuntimeError: If the trainer does not run in the main thread.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(
                "SignalSnapshot works in the main thread only, where Python delivers signals; "
                f"the trainer runs in {threading.current_thread().name!r}: call trainer.run() in "
                "the main thread, or leave this extension out"
            )
        self.received = None
        self._owner = os.getpid()
        _call(self._snapshot, "initialize", trainer)
        for number in self._signals:
            self._previous[number] = signal.getsignal(number)
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None or os.getpid() != self._owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.received = signal.Signals(number)

    def __call__(self, trainer: Trainer) -> None:
        """Takes the snapshot and stops, if a signal was received.

        Args:
            trainer: Trainer that calls this operator.
        """
        if self.received is not None:
            self._snapshot(trainer)
            trainer.stop(f"signal {self.received.name}")
            print(f"{self.received.name}: snapshot taken", file=sys.stderr, flush=True)

    def on_error(self, trainer: Trainer, exc: Exception, tb: Any) -> None:
        """Tells the snapshot extension about the error.

        Args:
            trainer: Trainer that runs the training loop.
            exc: The exception.
            tb: Its traceback.
        """
        _call(self._snapshot, "on_error", trainer, exc, tb)

    def finalize(self) -> None:
        """Puts the previous handlers back and waits for the snapshot."""
        previous, self._previous = self._previous, {}
        for number, handler in previous.items():
            # The trainer takes the handler back that it had installed for itself before this one:
            # where other code has set one in the meantime, that one stays.
            if signal.getsignal(number) == self._handle:
                # None represents a handler that was not installed by Python.
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
        _call(self._snapshot, "finalize")


def _call(extension: Any, method: str, *args: Any) -> None:
    function = getattr(extension, method, None)
    if function is not None:
        function(*args)
