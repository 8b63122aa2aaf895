"""Imports of modules that other threads may be importing at the same time."""

from __future__ import annotations

import importlib
import re
import sys
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")

#: Number of attempts and the pause between them: together longer than most imports take.
_ATTEMPTS = 100
_PAUSE_SECONDS = 0.01


class _Depth(threading.local):
    value = 0


_depth = _Depth()


def patiently(function: Callable[[], T]) -> T:
    """Calls a function that imports modules, and calls it again if a concurrent import stopped it.

    If the imports of two threads need each other, Python ends the deadlock: one of the threads gets
    an error, or a module that is not complete yet. The other thread goes on, so a later attempt
    succeeds.

    Args:
        function: The function. Calling it twice must be as good as calling it once.

    Returns:
        Its result.
    """
    # Only the outermost call tries again: the other thread may wait for an import of this one.
    if _depth.value:
        return function()
    _depth.value += 1
    try:
        for _ in range(_ATTEMPTS):
            try:
                return function()
            except Exception as error:
                # With one thread it is an ordinary circular import.
                if not is_unfinished_import(error) or threading.active_count() == 1:
                    raise
            time.sleep(_PAUSE_SECONDS)
        return function()
    finally:
        _depth.value -= 1


def import_module(name: str) -> ModuleType:
    """Imports a module, its packages first.

    An ``import`` statement takes the import lock of the module before the locks of its packages. A
    thread that imports the package, which imports the module, takes them in the other order.

    Args:
        name: Dotted name.
    """
    module = sys.modules.get(name)
    # Also if it is complete: importlib then waits for no lock.
    if module is None:
        for end in (i for i, letter in enumerate(name) if letter == "."):
            importlib.import_module(name[:end])
    return importlib.import_module(name)


def is_unfinished_import(error: BaseException | None) -> bool:
    """Returns whether an error, or a cause of it, is due to a module that is being imported.

    Args:
        error: The error; None is accepted.
    """
    if is_deadlock(error):
        return True
    while error is not None:
        if isinstance(error, (ImportError, AttributeError)) and _lacks_a_name(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def is_deadlock(error: BaseException | None) -> bool:
    """Returns whether an error, or a cause of it, is the one by which Python ends a deadlock.

    Args:
        error: The error; None is accepted.
    """
    while error is not None:
        # Python's class is not public.
        if type(error).__name__ == "_DeadlockError":
            return True
        error = error.__cause__ or error.__context__
    return False


def is_nested() -> bool:
    """Returns whether this thread is inside of a call of :func:`patiently`."""
    return _depth.value > 0


#: Texts of Python about a name that a module lacks. The second kind says "partially initialized" as
#: long as the module is not complete, which may have changed before the text was made.
#: Compiled at its first use, because that takes half a millisecond of each `import chainer`.
_MISSING = (
    r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"
    r"|module '(?P<owner>[\w.]+)' has no attribute '(?P<attribute>\w+)'"
)


def _lacks_a_name(error: ImportError | AttributeError) -> bool:
    for text in (part for part in error.args if isinstance(part, str)):
        if "partially initialized module" in text:
            return True
        match = re.match(_MISSING, text)
        if match is not None:
            module = sys.modules.get(match["module"] or match["owner"])
            if (match["name"] or match["attribute"]) in getattr(module, "__dict__", ()):
                return True  # another thread defined it in the meantime
    return False
