"""Text output of extensions, on terminals and elsewhere."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

#: Default that signatures show. It means the sys.stdout of the time of the output, which a
#: notebook or a test may have replaced since the import.
STANDARD_OUTPUT = sys.stdout

#: Control sequence that erases everything below the cursor.
ERASE_BELOW = "\033[J"


class Output:
    """A text stream that may be a terminal.

    Args:
        stream: Stream; the default argument ``STANDARD_OUTPUT`` means ``sys.stdout``.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = None if stream is STANDARD_OUTPUT or stream is None else stream

    @property
    def _current(self) -> Any:
        return sys.stdout if self._stream is None else self._stream

    @property
    def is_terminal(self) -> bool:
        """Whether control sequences work."""
        isatty = getattr(self._current, "isatty", None)
        return isatty is not None and isatty()

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None where they are unknown, as in a file."""
        try:
            columns = os.get_terminal_size(self._current.fileno()).columns
        except (AttributeError, OSError, ValueError):  # no file, no terminal, or closed
            return None
        return columns or None

    def write(self, text: str) -> None:
        """Writes text and flushes the stream, so that it is shown at once."""
        stream = self._current
        stream.write(text)
        self.flush()

    def flush(self) -> None:
        """Flushes the stream, if it can."""
        stream = self._current
        if hasattr(stream, "flush"):
            stream.flush()
