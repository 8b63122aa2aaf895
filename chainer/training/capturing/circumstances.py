"""What surrounds a call: hooks, configuration, the reporter, the user's code."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Hashable
from functools import cache

from chainer.core.config.configuration import (
    configuration_changes,
    global_config,
    threads,
)
from chainer.core.reporting import reporter as reporting
from chainer.core.reporting.reporter import Reporter
from chainer.links.link_hook import hook_count, thread_hooks


def runs_as_written() -> bool:
    """Returns whether hooks or the debug mode have to see each function."""
    state = threads.state
    # A captured step within another one is part of it. Hooks of links are asked for only if there
    # are any: the count takes less time to read than what each thread has for itself.
    if state.hooks or state.debug or state.recorder is not None:
        return True
    return bool(hook_count.value and thread_hooks.hooks)


def current_reporter() -> Reporter | None:
    """Returns the current reporter; None if there is none."""
    # This runs at each call, and get_current_reporter() would raise an error, which takes longer.
    reporters = reporting._current.get()
    return reporters[-1] if reporters else None


class _Known(threading.local):
    """The configuration of a thread when it was last asked for."""

    marks: tuple[object, ...] = ()
    values: Hashable = None


_known = _Known()


def configuration() -> Hashable:
    """Returns the values of all configuration entries, of the process and of the thread."""
    # This runs at each call. Usually nothing has changed since the last one.
    state = threads.state
    marks = configuration_changes.value, state, state.enable_backprop
    if marks == _known.marks:
        return _known.values
    shared = [v for k, v in vars(global_config).items() if k[0] != "_"]
    values = (*shared, None, *state.values.items())
    try:
        found = _settings.setdefault(values, _Settings())
    except TypeError:
        return repr(values)  # an entry of the user, such as a list, whose contents may change
    _known.marks, _known.values = marks, found
    return found


class _Settings:
    """Represents the values of all entries: its hash takes less time than the one of 20 values."""

    __slots__ = ("__weakref__",)


#: The configurations of records, while these are there.
_settings: weakref.WeakValueDictionary[Hashable, _Settings] = weakref.WeakValueDictionary()


@cache
def is_of_user(module: str) -> bool:
    """Returns whether a module belongs to the user, and not to a library."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names or package.startswith("chainer"):
        return package == "__main__"
    file = getattr(sys.modules.get(module), "__file__", None)
    # A module without a file is a notebook, or code that exec() runs.
    return file is None or ("site-packages" not in file and "dist-packages" not in file)


def with_place(error: BaseException) -> str:
    """Returns the text of an error with the line of the user's code where it was raised."""
    place = ""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if is_of_user(str(frame.f_globals.get("__name__", ""))):
            place = f" ({frame.f_code.co_filename}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return f"{error}{place}"
