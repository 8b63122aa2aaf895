"""What surrounds a call: hooks, configuration, the reporter, the user's line."""

from __future__ import annotations

from collections.abc import Hashable

from chainer.core.config.configuration import global_config, threads
from chainer.core.reporting import reporter as reporting
from chainer.core.reporting.reporter import Reporter
from chainer.links.link_hook import thread_hooks


def runs_as_written() -> bool:
    """Returns whether hooks or the debug mode have to see each function."""
    state = threads.state
    # A captured step within another one is part of it.
    return bool(state.hooks or state.debug or thread_hooks.hooks or state.recorder is not None)


def current_reporter() -> Reporter | None:
    """Returns the current reporter; None if there is none."""
    # This runs at each call, and get_current_reporter() would raise an error, which takes longer.
    reporters = reporting._local.reporters
    return reporters[-1] if reporters else None


def configuration() -> Hashable:
    """Returns the values of all configuration entries, of the process and of the thread."""
    # This runs at each call. Comparing whole dictionaries is faster than comparing each entry.
    shared = [v for k, v in vars(global_config).items() if k[0] != "_"]
    values = (*shared, None, *threads.state.values.items())
    try:
        hash(values)
    except TypeError:  # an entry of the user, such as a list
        return repr(values)
    return values


#: Packages whose lines say nothing to a user.
_LIBRARIES = ("chainer", "chainermn", "numpy", "scipy", "jax")


def with_place(error: BaseException) -> str:
    """Returns the text of an error with the line of the user's code where it was raised."""
    place = ""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _LIBRARIES and not package.startswith("chainer_"):
            place = f" ({frame.f_code.co_filename}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    return f"{error}{place}"
