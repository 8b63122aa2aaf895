"""Whether ``chainer.config.cast_inputs`` was turned on in this process.

Links look at the entry in each call once it was turned on anywhere, and never before: a call of a
link should not cost more for an option that few programs need.
"""

from __future__ import annotations

from collections.abc import Callable


class CastRequest:
    """Remembers that input casts were requested, and tells a listener once."""

    def __init__(self) -> None:
        self._is_made = False
        self._listener: Callable[[], None] | None = None

    def make(self, value: object) -> None:
        """Called with each value of the entry.

        Args:
            value: The value; a true one is a request.
        """
        if value and not self._is_made:
            self._is_made = True
            if self._listener is not None:
                self._listener()

    def on_request(self, listener: Callable[[], None]) -> None:
        """Registers the listener, which is called at once if the request was made before.

        Args:
            listener: Function without arguments.
        """
        self._listener = listener
        if self._is_made:
            listener()


cast_request = CastRequest()
