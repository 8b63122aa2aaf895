"""Events of the framework that plugins may listen to, such as the start of training.

Packages emit events by name. The plugin host listens and calls the hooks of the same name. Events
are for what happens rarely, never for single operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Listener = Callable[[str, dict[str, Any]], object]

_listeners: list[Listener] = []


def emit(event: str, **arguments: Any) -> None:
    """Calls all listeners with an event.

    Args:
        event: Name of the event, which is the name of a hook: ``'chainer_trainer_start'``.
        arguments: The arguments of the hook.
    """
    for listener in tuple(_listeners):
        listener(event, arguments)


def add_listener(listener: Listener) -> None:
    """Calls a function with the name and the arguments of every event from now on.

    Args:
        listener: The function.
    """
    if listener not in _listeners:
        _listeners.append(listener)


def remove_listener(listener: Listener) -> None:
    """Removes a function that :func:`add_listener` added.

    Args:
        listener: The function.
    """
    if listener in _listeners:
        _listeners.remove(listener)
