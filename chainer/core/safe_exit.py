"""Context managers that leave their block even if Ctrl-C arrives in the call of ``__exit__``.

Python looks for signals at the first instruction of a function. An exception that a signal raises
there leaves ``__exit__`` before its first line, and a ``with`` statement does not call it again. So
the block would stay in force for the rest of the process.

A ``with`` statement reads ``__exit__`` before it calls ``__enter__``, and keeps what it has read
until the block is left. :func:`safe_exit` gives it an object of its own. If that object dies before
``__exit__`` has done its work, the work is done then. A manager that is entered by a call of
``__enter__()``, without a ``with`` statement, stays in force, whether or not it is kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar, cast


class Enterable(Protocol):
    """A context manager that knows how often it is entered."""

    def _depth(self) -> int:
        """Returns the number of entries that are not left."""
        ...


_Leave = TypeVar("_Leave", bound=Callable[..., Any])


def safe_exit(leave: _Leave) -> _Leave:
    """Decorator of ``__exit__`` of a class that has a method ``_depth()``; see the module.

    Args:
        leave: The method ``__exit__``. It undoes one entry. If it is interrupted, it is called
            again; so it undoes an entry before it forgets it.
    """
    return cast("_Leave", _SafeExit(leave))


class _SafeExit:
    """The descriptor that :func:`safe_exit` puts in the place of a method."""

    def __init__(self, leave: Callable[..., Any]) -> None:
        self._leave = leave
        self.__doc__ = leave.__doc__

    def __get__(self, manager: Enterable | None, owner: type) -> Callable[..., Any]:
        leave = self._leave
        if manager is None:
            return leave
        depth = manager._depth()  # pyright: ignore[reportPrivateUsage]
        # The frame of a function that was interrupted lives as long as the traceback, with its
        # arguments. So the object that is watched must not be among them: it is a partial, which
        # passes others.
        watch: list[weakref.ref[Any]] = []
        call = partial(_call, leave, manager, watch)

        def left(_: object) -> None:
            while manager._depth() > depth:  # pyright: ignore[reportPrivateUsage]
                leave(manager, None, None, None)

        watch.append(weakref.ref(call, left))
        return call


def _call(
    leave: Callable[..., Any], manager: Enterable, watch: list[weakref.ref[Any]], *exc: Any
) -> Any:
    result = leave(manager, *exc)
    # Without the reference there is no callback. Python drops what a signal raises in callbacks, so
    # they run only after an interrupt.
    watch.clear()
    return result
