"""Updates that end midway: signals wait for their end, and an optimizer remembers what is left.

An update changes arrays in place. A copy of all arrays would take as much memory as the model, so
an update that an exception ends is not undone: the optimizer tells of it at its next call.
"""

# Rules and parameters keep for this package what a call for each would take as long as an update.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import _signal
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.utils.termination import deferred

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.optimizer import Optimizer

#: Attribute of an optimizer: how its last update ended, if an exception has ended it midway.
_ATTRIBUTE = "_half_update"

#: Parameters that a warning names.
_NAMED = 3


def _left_alone(number: int, frame: Any) -> None:
    """Represents a handler of Ctrl-C that is not Python's, and stays. It is never called."""


class HeldSignals:
    """Holds Ctrl-C and SIGTERM back while parameters are updated, so that no update is half done.

    Only the handlers that Python calls are replaced, not the signal mask: other threads could get
    the signal. A second Ctrl-C is not held back: a hook may take long.
    """

    _received: tuple[int, Any] | None = None
    _previous: Any = None

    def hold(self) -> Callable[[int, Any], Any] | None:
        """Replaces the handler and returns it; None where there is nothing to hold back."""
        # The C functions: those of the module signal take as long as a small update.
        previous: Any = _signal.getsignal(_signal.SIGINT)
        if not callable(previous):
            # Ignored, as in programs that a shell starts in the background, or left to the system.
            # SIGTERM is held back there, too.
            if threading.current_thread() is not threading.main_thread():
                return None
            deferred.depth += 1
            return _left_alone
        self._previous = previous
        try:
            _signal.signal(_signal.SIGINT, self)
        except ValueError:  # handlers run in the main thread only, so this one is not interrupted
            return None
        deferred.depth += 1
        return previous

    def release(self, previous: Callable[[int, Any], Any] | None) -> None:
        """Puts the handler back, and calls it if the signal has come.

        Args:
            previous: Result of :meth:`hold`.
        """
        if previous is None:
            return
        deferred.depth -= 1
        if previous is not _left_alone:
            _signal.signal(_signal.SIGINT, previous)
        try:
            if self._received is not None:
                previous(*self._received)
        finally:
            if deferred.status is not None:
                deferred.exit()

    def __call__(self, number: int, frame: Any) -> None:
        """Handles Ctrl-C: the first one waits."""
        if self._received is not None:
            self._previous(number, frame)
        self._received = number, frame


def remember(optimizer: Optimizer, unfinished: Iterable[Parameter], error: BaseException) -> None:
    """Makes an optimizer remember that an exception has ended its update.

    Args:
        optimizer: The optimizer.
        unfinished: Parameters that may not have been updated. If there are none, the update is
            complete.
        error: The exception. Its traceback tells of the parameters, too.
    """
    left = {id(param) for param in unfinished}
    if not left:
        return
    assert optimizer.target is not None
    names = [name for name, param in optimizer.target.namedparams() if id(param) in left]
    text = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        text += f" and {len(names) - _NAMED} more"
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = (
        f"{type(optimizer).__name__}.update() number {optimizer.t} was ended by {reason}. These "
        f"parameters and their states may not have been updated, or in part only: {text}. All "
        "others were updated. Load a snapshot to start from a complete state"
    )
    optimizer.__dict__[_ATTRIBUTE] = message
    error.add_note(message)


def forget(optimizer: Optimizer) -> None:
    """Makes an optimizer forget a half update, because its state was replaced."""
    optimizer.__dict__.pop(_ATTRIBUTE, None)


def tell(optimizer: Optimizer, stacklevel: int) -> None:
    """Warns once of an update that was ended midway.

    Args:
        optimizer: The optimizer, of which the caller knows that there was one.
        stacklevel: As for :func:`warnings.warn`, from the caller of this function.
    """
    message = optimizer.__dict__.pop(_ATTRIBUTE, None)
    if message is not None:
        warnings.warn(message, RuntimeWarning, stacklevel=stacklevel + 1)
