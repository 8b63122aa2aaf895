"""Events of the framework that plugins may listen to, such as the start of training.

The rooms emit events by name; the plugin host listens and calls the hooks of the same name. Events
are for things that happen once in a while, never for single operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Listener = Callable[[str, dict[str, Any]], object]

_listeners: list[Listener] = []


def emit(event: str, **arguments: Any) -> None:
    """Tells all listeners about an event.

    Args:
        event: Name of the event, which is the name of a hook: ``'chainer_trainer_start'``.
        arguments: The arguments of the hook.
    """
    for listener in tuple(_listeners):
        listener(event, arguments)


def add_listener(listener: Listener) -> None:
    """Has a function called with name and arguments of every event.

    Args:
        listener: The function.
    """
    if listener not in _listeners:
        _listeners.append(listener)


def remove_listener(listener: Listener) -> None:
    """Takes :func:`add_listener` back.

    Args:
        listener: The function.
    """
    if listener in _listeners:
        _listeners.remove(listener)
