from __future__ import annotations

from typing import Any

from chainer.core import events


def test_listeners_get_name_and_arguments_until_removed() -> None:
    heard: list[tuple[str, dict[str, Any]]] = []

    def listen(event: str, arguments: dict[str, Any]) -> None:
        heard.append((event, arguments))

    events.add_listener(listen)
    events.add_listener(listen)  # once is enough
    try:
        events.emit("something", value=3)
    finally:
        events.remove_listener(listen)
    events.emit("something", value=4)
    events.remove_listener(listen)
    assert heard == [("something", {"value": 3})]
